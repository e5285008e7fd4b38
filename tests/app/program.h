// The program under test, run in a temporary folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/subprocess.h"
#include "tests/base/temporary_folder.h"

namespace stiction {

std::string example(const std::string& name);

std::vector<std::string> lines_of(const std::string& text);

nlohmann::json parse_json(const std::string& text);

class ProgramTest : public ::testing::Test {
 protected:
  SubprocessResult stiction(std::vector<std::string> arguments,
                            SubprocessOptions options = {}) const;

  std::string file(const std::string& name) const { return folder_.file(name); }
  bool has_file(const std::string& name) const;
  std::vector<std::string> files() const;
  std::string scene_file(const std::string& text) const;

  /// The table of a recording of this folder, line by line, header first.
  std::vector<std::string> table(const std::string& recording) const;

  /// True once the recording holds several flushes, so that at least one of them is complete; for
  /// signals in the middle of a run.
  std::function<bool()> is_well_under_way(const std::string& recording) const;

 private:
  TemporaryFolder folder_;
};

}  // namespace stiction
