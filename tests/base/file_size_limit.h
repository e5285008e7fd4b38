// Runs a piece of a test in a child process whose files may not grow beyond a limit: the nearest
// thing to a full disk that needs no special rights.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace stiction {

inline constexpr int kUncaught = 99;

/// The exit status of `action` (which returns an int) in a child; kUncaught if it throws, -1 if the
/// child crashed.
template <class Action>
int run_with_file_size_limit(long limit, const Action& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limits = {static_cast<rlim_t>(limit), static_cast<rlim_t>(limit)};
    ::setrlimit(RLIMIT_FSIZE, &limits);
    try {
      ::_exit(action());
    } catch (...) {
      ::_exit(kUncaught);  // the child must not go on with its parent's tests
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace stiction
