#include "tests/app/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
#include <pty.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

namespace stiction {

namespace {

/// Reading and writing end of a pipe, or master and slave of a terminal.
struct Channel {
  int read_end = -1, write_end = -1;

  static Channel make(bool is_terminal) {
    int ends[2] = {-1, -1};
    const bool is_good = is_terminal ? ::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr) == 0
                                     : ::pipe(ends) == 0;
    if (!is_good) ADD_FAILURE() << "no pipe or terminal";
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    return {ends[0], ends[1]};
  }
  void close_read_end() {
    if (read_end >= 0) ::close(read_end);
    read_end = -1;
  }
};

/// The child's side of fork: never returns.
[[noreturn]] void become(const std::vector<std::string>& arguments,
                         const SubprocessOptions& options, int out, int err) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const auto redirect = [](const std::string& path, int channel, int target) {
    return ::dup2(path.empty() ? channel : ::open(path.c_str(), O_WRONLY | O_CREAT, 0600), target);
  };
  if (::chdir(options.folder.c_str()) != 0 || redirect(options.stdout_file, out, 1) < 0 ||
      redirect(options.stderr_file, err, 2) < 0)
    ::_exit(126);
  if (options.file_size_limit >= 0) {
    const auto limit = static_cast<rlim_t>(options.file_size_limit);
    const rlimit limits = {limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &limits);
  }
  if (options.obeys_permissions && ::geteuid() == 0 &&
      (::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE) != 0 ||
       ::prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH) != 0))
    ::_exit(126);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

/// Takes what is there; closes the channel at its end (a terminal ends with an error).
void drain(Channel& channel, std::string& text) {
  char chunk[4096];
  const ssize_t size = ::read(channel.read_end, chunk, sizeof chunk);
  if (size > 0)
    text.append(chunk, static_cast<std::size_t>(size));
  else if (size == 0 || errno != EINTR)
    channel.close_read_end();
}

}  // namespace

SubprocessResult run_subprocess(const std::vector<std::string>& arguments,
                                const SubprocessOptions& options) {
  using Clock = std::chrono::steady_clock;
  Channel out = Channel::make(false), err = Channel::make(options.has_terminal);
  const pid_t child = ::fork();
  if (child == 0) become(arguments, options, out.write_end, err.write_end);
  ::close(out.write_end);
  ::close(err.write_end);

  SubprocessResult result;
  const auto began = Clock::now();
  bool was_signalled = options.signal == 0;
  while (out.read_end >= 0 || err.read_end >= 0) {
    pollfd channels[] = {{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}};
    ::poll(channels, 2, 5);
    if (channels[0].revents != 0) drain(out, result.out);
    if (channels[1].revents != 0) drain(err, result.err);
    if (!was_signalled && options.signal_when()) {
      ::kill(child, options.signal);
      was_signalled = true;
    }
    if (std::chrono::duration<double>(Clock::now() - began).count() > options.timeout) {
      ADD_FAILURE() << "timeout of " << arguments[0] << "\n" << result.err;
      ::kill(child, SIGKILL);
      break;
    }
  }
  out.close_read_end();
  err.close_read_end();
  int status = 0;
  ::waitpid(child, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return result;
}

}  // namespace stiction
