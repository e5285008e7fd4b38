// The program under test, run in a temporary folder of its own.
#pragma once

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/subprocess.h"
#include "tests/base/temporary_folder.h"

namespace stiction {

inline std::string example(const std::string& name) {
  return STICTION_SOURCE_DIR "/examples/" + name + ".json";
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class ProgramTest : public ::testing::Test {
 protected:
  SubprocessResult stiction(std::vector<std::string> arguments,
                            SubprocessOptions options = {}) const {
    arguments.insert(arguments.begin(), STICTION_PROGRAM);
    options.folder = file("");
    return run_subprocess(arguments, options);
  }

  std::string file(const std::string& name) const { return folder_.file(name); }
  bool has_file(const std::string& name) const { return std::filesystem::exists(file(name)); }
  std::vector<std::string> files() const {
    std::vector<std::string> names = folder_.file_names();
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string scene_file(const std::string& text) const {
    write_bytes(file("scene.json"), text);
    return file("scene.json");
  }

  /// The table of a recording of this folder, line by line, header first.
  std::vector<std::string> table(const std::string& recording) const {
    const SubprocessResult result = stiction({"export", recording, "--csv", "table.csv"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::vector<std::string> lines = lines_of(read_bytes(file("table.csv")));
    std::filesystem::remove(file("table.csv"));
    return lines;
  }

  /// True once the recording holds several flushes, so that at least one of them is complete; for
  /// signals in the middle of a run.
  std::function<bool()> is_well_under_way(const std::string& recording) const {
    return [path = file(recording)] {
      std::error_code ignored;
      return std::filesystem::exists(path, ignored) &&
             std::filesystem::file_size(path, ignored) > 3'000'000;
    };
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace stiction
