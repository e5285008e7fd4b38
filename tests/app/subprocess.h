// Runs a program as a child process and keeps what it says: no shell, so no quoting, and ways to
// treat it badly (signals, a full disk, a terminal).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace stiction {

struct SubprocessOptions {
  std::string folder = ".";        // current folder of the child
  long file_size_limit = -1;       // [bytes] files may not grow beyond; -1: no limit
  bool has_terminal = false;       // stderr is a terminal
  bool obeys_permissions = false;  // also if the tests are run by the superuser
  std::string stdout_file{};       // instead of capturing
  std::string stderr_file{};       // instead of capturing
  int signal = 0;                  // sent once when `signal_when` becomes true
  std::function<bool()> signal_when{};
  double timeout = 60;  // [s] then the child is killed and the test fails
};

struct SubprocessResult {
  int exit_code = -1;  // −number of the signal that ended it
  std::string out, err;
};

/// Runs `arguments`, the path of the program first, to its end.
SubprocessResult run_subprocess(const std::vector<std::string>& arguments,
                                const SubprocessOptions& options = {});

}  // namespace stiction
