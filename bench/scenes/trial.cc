#include "bench/scenes/trial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>

#include "bench/scenes/measure.h"
#include "bench/scenes/report.h"

namespace stiction::bench {
namespace {

constexpr int kMaxKeptBodies = 500;       // of scenes whose every frame is kept
constexpr int kMaxMeasuredBodies = 2000;  // of scenes that are measured after every step
constexpr int kMeasuredEvery = 10;        // steps, of larger ones

/// [s] of the processor: scenes that take less are run again and again for so long, or so often.
/// Means over a millisecond say more of the machine than of an engine.
constexpr double kLongEnough = 0.5;
constexpr int kMaxRepeats = 50;

/// On the wall, in limits of processor time: for one that waits, on a machine that is busy.
constexpr double kPatience = 20;
constexpr int kPollMilliseconds = 200;

/// [s] of the processor by all threads of this process: an engine that starts threads of its own
/// gains nothing by it here.
double read_process_clock() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double read_wall_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// m g times the height of the scene, over all that moves.
double compute_energy_scale(const SceneDescription& scene) {
  double mass = 0, low = 0, high = 0;
  for (const SceneBody& body : scene.bodies) {
    if (body.is_static) continue;
    mass += body.mass;
    low = std::min(low, body.position.z());
    high = std::max(high, body.position.z());
  }
  return mass * kGravity * std::max(high - low, 1.0);
}

/// Steps a world and looks at it after each one.
class Run {
 public:
  Run(const SceneCase& scene, TrialResult& result)
      : case_(scene),
        scene_(scene.description),
        result_(result),
        penetration_(scene_),
        bodies_(make_start(scene_)),
        next_(bodies_),
        start_energy_(compute_energy(scene_, bodies_)),
        trajectory_{.h = scene_.h, .frames = {bodies_}} {
    result_.energy_scale = compute_energy_scale(scene_);
    result_.penetration_max = result_.penetration_settled = 0;
    result_.joint_gap = result_.drift = result_.energy_gain = 0;
  }

  void advance(SceneWorld& world, const TrialLimits& limits) {
    const double begin = read_process_clock();
    const int num_steps = scene_.num_steps();
    const int settled_from = first_settled();
    for (int k = 0; k < num_steps; ++k) {
      if (read_process_clock() - begin > limits.seconds) {
        result_.trouble = fmt::format("stopped after {} of {} steps, {:.0f} s", k, num_steps,
                                      read_process_clock() - begin);
        break;
      }
      const double seconds = step(world);
      if (world.is_lost() || !std::all_of(next_.begin(), next_.end(), is_finite)) {
        result_.trouble = fmt::format("gave up at {:.2f} s", k * scene_.h);
        break;
      }
      bodies_ = next_;
      times_.total += seconds;
      ++result_.steps;
      if (k >= settled_from) times_.settled += seconds;
      look(k >= settled_from, k + 1 == num_steps || is_looked_at(k));
    }
    note(times_);
    if (result_.steps <= settled_from) result_.penetration_settled = kUnknown;
    finish(world, num_steps);
  }

  /// Whether the times are those of too short a run, and another one may be had.
  bool is_worth_repeating(double limit) const {
    return result_.trouble.empty() && spent_ < std::min(kLongEnough, limit) &&
           num_repeats_ < kMaxRepeats;
  }

  /// The same steps, of which nothing is looked at. The least times count.
  void repeat(SceneWorld& world) {
    ++num_repeats_;
    Times times;
    for (int k = 0; k < result_.steps; ++k) {
      const double seconds = step(world);
      times.total += seconds;
      if (k >= first_settled()) times.settled += seconds;
    }
    note(times);
  }

 private:
  struct Times {
    double total = 0, settled = 0;  // [s] of all steps, and of those after the scene has settled
  };

  int first_settled() const {
    return static_cast<int>(std::lround(scene_.settled_from / scene_.h));
  }

  double step(SceneWorld& world) {
    const double before = read_process_clock();
    world.step();
    const double seconds = read_process_clock() - before;
    world.read(next_);
    return seconds;
  }

  void note(const Times& times) {
    const auto keep_least = [](double seconds, double& least) {
      if (!(seconds >= least)) least = seconds;  // unknown is not a number
    };
    spent_ += times.total;
    keep_least(times.total / std::max(result_.steps, 1), result_.seconds_mean);
    if (result_.steps > first_settled())
      keep_least(times.settled / (result_.steps - first_settled()), result_.seconds_settled);
  }

  bool is_looked_at(int step) const {
    return scene_.num_bodies() <= kMaxMeasuredBodies || step % kMeasuredEvery == 0;
  }

  void look(bool is_settled, bool is_measured) {
    if (scene_.num_bodies() <= kMaxKeptBodies) trajectory_.frames.push_back(bodies_);
    if (!is_measured) return;
    const double depth = penetration_.compute(bodies_);
    result_.penetration_max = std::max(result_.penetration_max, depth);
    if (is_settled) result_.penetration_settled = std::max(result_.penetration_settled, depth);
    result_.joint_gap = std::max(result_.joint_gap, compute_joint_gap(scene_, bodies_));
    result_.drift = std::max(result_.drift, compute_drift(scene_, bodies_));
    const double gain = compute_energy(scene_, bodies_) - start_energy_;
    result_.energy_gain = std::max(result_.energy_gain, gain / result_.energy_scale);
  }

  void finish(const SceneWorld& world, int num_steps) {
    result_.energy_end = (compute_energy(scene_, bodies_) - start_energy_) / result_.energy_scale;
    result_.kinetic_end = compute_kinetic_energy(scene_, bodies_);
    result_.residual = world.residual_max();
    result_.steps_above_tolerance = world.steps_above_tolerance();
    if (result_.steps < num_steps || !case_.judge) return;
    if (scene_.duration < case_.judged_from) {
      result_.remark =
          fmt::format("errors not measured: known from {:.3g} s on", case_.judged_from);
      return;
    }
    if (scene_.num_bodies() > kMaxKeptBodies) trajectory_.frames.push_back(bodies_);
    result_.errors = case_.judge(scene_, trajectory_);
  }

  const SceneCase& case_;
  const SceneDescription& scene_;
  TrialResult& result_;
  PenetrationMeasure penetration_;
  std::vector<BodyState> bodies_, next_;
  double start_energy_;
  Trajectory trajectory_;
  Times times_;
  double spent_ = 0;  // [s] in steps of all runs
  int num_repeats_ = 0;
};

/// [s] of the processor that another process has used. (A limit set in that process would make its
/// own clock tick in steps of a few milliseconds.)
double read_clock_of(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Everything that a child writes until it closes its end of the pipe or its time is over. False:
/// the time was over.
bool read_all(int pipe, pid_t child, double seconds, std::string& text) {
  const double end = read_wall_clock() + kPatience * seconds;
  std::array<char, 4096> buffer{};
  while (read_wall_clock() < end && read_clock_of(child) < seconds) {
    pollfd waited{.fd = pipe, .events = POLLIN, .revents = 0};
    if (poll(&waited, 1, kPollMilliseconds) == 0) continue;
    const ssize_t count = read(pipe, buffer.data(), buffer.size());
    if (count <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return false;
}

[[noreturn]] void run_child(const SceneCase& scene, const SceneContender& contender,
                            const TrialLimits& limits, int pipe) {
  // Engines write to the terminal what the table says anyway.
  const int nothing = open("/dev/null", O_WRONLY);
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  const std::string text = to_json(run_trial(scene, contender, limits)).dump();
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(pipe, text.data() + done, text.size() - done);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  close(pipe);
  _exit(0);  // without destructors of the parent's objects
}

}  // namespace

TrialResult run_trial(const SceneCase& scene, const SceneContender& contender,
                      const TrialLimits& limits) {
  TrialResult result{.contender = contender.name(), .setting = contender.setting};
  try {
    Run run(scene, result);
    run.advance(*contender.make(scene.description), limits);
    while (run.is_worth_repeating(limits.seconds)) run.repeat(*contender.make(scene.description));
  } catch (const Unsupported& error) {
    result.trouble = fmt::format("not supported: {}", error.what());
  } catch (const std::exception& error) {
    result.trouble = error.what();
  }
  return result;
}

TrialResult run_trial_apart(const SceneCase& scene, const SceneContender& contender,
                            const TrialLimits& limits) {
  TrialResult failed{.contender = contender.name(), .setting = contender.setting};
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    run_child(scene, contender, limits, ends[1]);
  }
  close(ends[1]);
  std::string text;
  const bool is_complete = read_all(ends[0], child, limits.end(), text);
  close(ends[0]);
  if (!is_complete) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (!is_complete) {
    failed.trouble = fmt::format("ended within a step after {:.0f} s", limits.end());
    return failed;
  }
  if (WIFSIGNALED(status)) {
    failed.trouble = fmt::format("crashed: {}", strsignal(WTERMSIG(status)));
    return failed;
  }
  if (text.empty()) {
    failed.trouble = fmt::format("ended the process with {}", WEXITSTATUS(status));
    return failed;
  }
  return trial_from_json(nlohmann::json::parse(text));
}

}  // namespace stiction::bench
