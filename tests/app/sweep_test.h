// Studies in a folder of their own, and what they leave there.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/app/program.h"

namespace stiction {

class SweepTest : public ProgramTest {
 protected:
  /// A study of the woodpecker with these further entries; the path of its file.
  std::string study(const std::string& rest) const;
  std::string text(const std::string& name) const;
  int num_lines(const std::string& name) const;
  /// Processes that runs of this test's study are executed in: those whose parent is one of the
  /// program, too.
  std::vector<pid_t> run_processes() const;
  /// Crashes what runs once the journal of the study in the folder `out` has this many lines.
  SubprocessOptions crash_after(int journal_lines) const;
};

}  // namespace stiction
