#include "bench/solvers/trial.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <ctime>
#include <limits>

#include "stiction/base/error.h"
#include "stiction/problem/certificate.h"

namespace stiction::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kEnoughSeconds = 0.2;  // of repetitions
constexpr int kEnoughRepetitions = 200;
constexpr double kSetupSeconds = 1;  // for reshaping the problem, beside the time limit
constexpr double kMaxSlowdown = 4;   // of the clock against the processor's time, if others compute

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double process_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Short solves by the clock, which is fine and is read quickly: the least of many counts. Long
/// ones, which a busy machine interrupts, by the time that the processor spent on them, which some
/// machines count in ticks of milliseconds. There is one thread.
double time_solve(Session& session, int& iterations) {
  constexpr double kShortSeconds = 0.25;
  session.reset();
  const double process_start = process_seconds();
  const Clock::time_point start = Clock::now();
  iterations = session.solve();
  const double seconds = seconds_since(start);
  return seconds < kShortSeconds ? seconds : std::min(seconds, process_seconds() - process_start);
}

TrialResult measure(const Contender& contender, const ProblemFile& file, double tolerance) {
  TrialResult result;
  const std::unique_ptr<Session> session = contender.prepare(file, tolerance);
  result.seconds = time_solve(*session, result.iterations);
  const StepSolution answer = session->answer();
  result.error = compute_published_error(file.kind, file.problem, answer);
  result.residual = std::isfinite(result.error) ? certify(file.problem, answer).residual()
                                                : std::numeric_limits<double>::infinity();
  double total = result.seconds;
  for (int i = 1; i < kEnoughRepetitions && total < kEnoughSeconds; ++i) {
    int iterations = 0;
    const double seconds = time_solve(*session, iterations);
    result.seconds = std::min(result.seconds, seconds);
    total += seconds;
  }
  return result;
}

TrialResult measure_with_grace(const Contender& contender, const ProblemFile& file,
                               double tolerance, double time_limit) {
  TrialResult result;
  for (const double factor : {1.0, 0.1, 0.01}) {
    result = measure(contender, file, factor * tolerance);
    result.status =
        result.error <= tolerance ? TrialResult::Status::kSolved : TrialResult::Status::kInaccurate;
    const bool is_close = result.error > tolerance && result.error <= 100 * tolerance;
    if (!is_close || 4 * result.seconds > time_limit) break;
  }
  return result;
}

/// The child's life: silent, and without the parent's farewell.
[[noreturn]] void run_child(int pipe, const Contender& contender, const ProblemFile& file,
                            double tolerance, double time_limit) {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  const auto seconds = static_cast<rlim_t>(std::ceil(time_limit + kSetupSeconds));
  const rlimit limits = {seconds, seconds};
  ::setrlimit(RLIMIT_CPU, &limits);
  TrialResult result;
  try {
    result = measure_with_grace(contender, file, tolerance, time_limit);
  } catch (const std::exception&) {
    ::_exit(1);
  }
  const bool is_sent = ::write(pipe, &result, sizeof result) == sizeof result;
  ::_exit(is_sent ? 0 : 1);
}

/// Waits for the child's result; a child that never sleeps is stopped by its limit before.
TrialResult await(int pipe, double seconds) {
  pollfd wait{pipe, POLLIN, 0};
  TrialResult result;
  const Clock::time_point start = Clock::now();
  int ready = 0;
  do {
    const double left = seconds - seconds_since(start);
    ready = ::poll(&wait, 1, static_cast<int>(std::max(0.0, left) * 1000));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return {TrialResult::Status::kTimeout, seconds, INFINITY, INFINITY, 0};
  if (::read(pipe, &result, sizeof result) != sizeof result)
    return {TrialResult::Status::kCrashed, seconds_since(start), INFINITY, INFINITY, 0};
  return result;
}

}  // namespace

const char* to_text(TrialResult::Status status) {
  switch (status) {
    case TrialResult::Status::kSolved:
      return "solved";
    case TrialResult::Status::kInaccurate:
      return "inaccurate";
    case TrialResult::Status::kTimeout:
      return "timeout";
    case TrialResult::Status::kCrashed:
      return "crashed";
  }
  return "unknown";
}

TrialResult run_trial(const Contender& contender, const ProblemFile& file, double tolerance,
                      double time_limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw IoError("cannot make a pipe");
  const pid_t child = ::fork();
  if (child < 0) throw IoError("cannot start a process");
  if (child == 0) run_child(ends[1], contender, file, tolerance, time_limit);
  ::close(ends[1]);
  TrialResult result = await(ends[0], kMaxSlowdown * (time_limit + kSetupSeconds));
  ::kill(child, SIGKILL);
  rusage usage = {};
  ::wait4(child, nullptr, 0, &usage);
  ::close(ends[0]);
  const bool is_late = static_cast<double>(usage.ru_utime.tv_sec) >= time_limit;
  if (result.status == TrialResult::Status::kCrashed && is_late) result.seconds = time_limit;
  if (result.seconds >= time_limit) result.status = TrialResult::Status::kTimeout;
  return result;
}

}  // namespace stiction::bench
