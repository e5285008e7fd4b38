#include "stiction/app/study_workers.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <utility>

#include "stiction/base/atomic_file.h"
#include "stiction/base/check.h"
#include "stiction/base/error.h"

namespace stiction {
namespace {

constexpr int kPollMs = 100;

/// Whole messages over a socket; false at its end.
bool send_bytes(int socket, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_bytes(int socket, void* data, std::size_t size) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// SIGALRM after so many seconds; 0: none.
void set_alarm(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>(1e6 * (seconds - static_cast<double>(timer.it_value.tv_sec)));
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

/// What a child does until its parent is gone or has no more.
[[noreturn]] void work_in_child(const Study& study, int socket) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The terminal's interrupt is for the parent, which then ends its children.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGALRM, SIG_DFL);
  std::int64_t run = 0;
  while (receive_bytes(socket, &run, sizeof run)) {
    set_alarm(study.time_limit);
    const std::string bytes = pack(execute_run(study, run));
    set_alarm(0);
    const std::uint64_t size = bytes.size();
    if (!send_bytes(socket, &size, sizeof size) || !send_bytes(socket, bytes.data(), bytes.size()))
      break;
  }
  ::_exit(0);
}

class Pool {
 public:
  Pool(const StudyWork& work, int num_workers) : work_(work) {
    for (int i = 0; i < num_workers && i < static_cast<int>(work.runs.size()); ++i)
      workers_.push_back(std::make_unique<RunProcess>(work.study));
  }

  bool run() {
    for (auto& worker : workers_) give_next(worker);
    while (num_busy() > 0) {
      if (work_.should_stop()) return false;
      std::vector<pollfd> sockets;
      for (const auto& worker : workers_)
        sockets.push_back({worker ? worker->socket() : -1, POLLIN, 0});
      if (::poll(sockets.data(), sockets.size(), kPollMs) < 0 && errno != EINTR)
        throw IoError("cannot wait for workers: " + system_reason(errno));
      for (std::size_t i = 0; i < workers_.size(); ++i)
        if (workers_[i] && sockets[i].revents != 0) receive(workers_[i]);
    }
    return true;
  }

 private:
  int num_busy() const {
    int count = 0;
    for (const auto& worker : workers_) count += worker ? 1 : 0;
    return count;
  }

  /// A worker without work is let go.
  void give_next(std::unique_ptr<RunProcess>& worker) {
    if (next_ == work_.runs.size())
      worker.reset();
    else
      worker->start(work_.runs[next_++]);
  }

  void receive(std::unique_ptr<RunProcess>& worker) {
    work_.deliver(worker->finish());
    give_next(worker);
  }

  const StudyWork& work_;
  std::vector<std::unique_ptr<RunProcess>> workers_;
  std::size_t next_ = 0;
};

}  // namespace

void RunProcess::spawn() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw IoError("cannot start a worker: " + system_reason(errno));
  const pid_t process = ::fork();
  if (process < 0) {
    const std::string reason = system_reason(errno);
    ::close(ends[0]);
    ::close(ends[1]);
    throw IoError("cannot start a worker: " + reason);
  }
  if (process == 0) {
    ::close(ends[0]);
    work_in_child(study_, ends[1]);
  }
  ::close(ends[1]);
  process_ = process;
  socket_ = ends[0];
}

void RunProcess::start(std::int64_t run) {
  ST_DEMAND(!is_busy());
  if (process_ <= 0) spawn();
  run_ = run;
  // If the process died since its last run, that shows when the row is awaited.
  send_bytes(socket_, &run, sizeof run);
}

std::optional<StudyRow> RunProcess::try_take() {
  std::uint64_t size = 0;
  if (!receive_bytes(socket_, &size, sizeof size)) return std::nullopt;
  std::string bytes(size, '\0');
  if (!receive_bytes(socket_, bytes.data(), size)) return std::nullopt;
  return unpack(bytes);
}

StudyRow RunProcess::finish() {
  ST_DEMAND(is_busy());
  const std::int64_t run = std::exchange(run_, -1);
  if (std::optional<StudyRow> row = try_take()) return std::move(*row);
  return explain_death(study_, run, end(false));
}

/// How the process ended; waits for it.
int RunProcess::end(bool by_force) {
  if (process_ <= 0) return 0;
  if (by_force) ::kill(process_, SIGKILL);
  // Workers started later hold copies of this end: closing it alone would not be noticed.
  ::shutdown(socket_, SHUT_RDWR);
  ::close(socket_);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = socket_ = -1;
  return status;
}

bool run_in_processes(const StudyWork& work, int num_workers) {
  return Pool(work, num_workers).run();
}

StudyRow explain_death(const Study& study, std::int64_t run, int wait_status) {
  if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGALRM && study.time_limit > 0)
    return make_failure(study, run, "time limit",
                        fmt::format("the run took longer than {} s", study.time_limit));
  if (WIFSIGNALED(wait_status))
    return make_failure(study, run, "crashed",
                        fmt::format("the process of the run was ended by signal {} ({})",
                                    WTERMSIG(wait_status), ::strsignal(WTERMSIG(wait_status))));
  return make_failure(study, run, "crashed",
                      fmt::format("the process of the run ended with status {}",
                                  WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1));
}

std::string pack(const StudyRow& row) {
  return fmt::format("{} {} {} {}", row.run, row.is_done ? 1 : 0, row.wall, row.text);
}

StudyRow unpack(const std::string& bytes) {
  StudyRow row;
  char* at = nullptr;
  row.run = std::strtoll(bytes.c_str(), &at, 10);
  row.is_done = std::strtol(at, &at, 10) != 0;
  row.wall = std::strtod(at, &at);
  row.text = bytes.substr(static_cast<std::size_t>(at - bytes.c_str()) + 1);
  return row;
}

}  // namespace stiction
