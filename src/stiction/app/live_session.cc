#include "stiction/app/live_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/error.h"
#include "stiction/scheme/scheme.h"
#include "stiction/solve/solvers.h"

namespace stiction {
namespace {

using nlohmann::json;
using Seconds = std::chrono::duration<double>;

/// [s] A run that is so far behind does not try to catch up.
constexpr double kMaxLag = 0.2;
/// Waits are no longer than this, so that an interrupt is heard.
constexpr Seconds kLongestWait{0.03};
/// Steps that are due within this time are taken together: to sleep takes time as well.
constexpr double kShortestWait = 2e-3;  // [s]
/// How long a page waits for an answer.
constexpr std::chrono::seconds kPatience{3};
constexpr std::int64_t kMaxStepsAtOnce = 100000;
constexpr double kMaxSpeed = 1000;

bool is_pull(const json& command) { return command.is_object() && command.contains("pull"); }

}  // namespace

LiveSession::LiveSession(LiveRun& run, const LiveSessionOptions& options, Record record,
                         std::function<void()> flush)
    : run_(run),
      record_(std::move(record)),
      flush_(std::move(flush)),
      speed_(options.speed),
      is_paused_(options.starts_paused) {
  publish_settings();
  publish();
}

bool LiveSession::run(const std::function<bool()>& should_stop) {
  restart_clock();
  while (!should_stop()) {
    if (obey_all()) publish();
    const bool is_idle = (is_paused_ && steps_wanted_ == 0) || run_.is_at_end();
    if (is_idle) {
      if (!is_flushed_) {
        flush_();
        is_flushed_ = true;
        publish();
      }
      wait(kLongestWait);
      restart_clock();
      continue;
    }
    if (const double early = steps_wanted_ > 0 ? 0 : compute_wait(); early > kShortestWait) {
      wait(Seconds(early));
      continue;
    }
    take_step();
  }
  return was_rejected_;
}

void LiveSession::take_step() {
  try {
    run_.step();
    was_rejected_ = false;
    message_.clear();
    steps_wanted_ = std::max<std::int64_t>(0, steps_wanted_ - 1);
  } catch (const StepRejected& rejected) {
    // The state is that before the step: with other settings the run may go on.
    was_rejected_ = true;
    message_ = rejected.what();
    is_paused_ = true;
    steps_wanted_ = 0;
    record_(run_.apply({{"restart", true}}));
  }
  is_flushed_ = false;
  if (const auto now = Clock::now(); now >= next_publication_ || is_paused_) publish();
}

double LiveSession::compute_wait() {
  if (speed_ == 0) return 0;
  const double done = run_.simulation().state().t - time_start_;
  const double early = done / speed_ - Seconds(Clock::now() - clock_start_).count();
  if (early < -kMaxLag) restart_clock();
  return early;
}

void LiveSession::restart_clock() {
  clock_start_ = Clock::now();
  time_start_ = run_.simulation().state().t;
}

void LiveSession::wait(Seconds time) {
  std::unique_lock lock(mutex_);
  has_news_.wait_for(lock, std::min(time, kLongestWait), [&] { return !requests_.empty(); });
}

/// Whether there was anything to obey.
bool LiveSession::obey_all() {
  std::deque<Request> requests;
  {
    const std::lock_guard lock(mutex_);
    requests.swap(requests_);
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    // Of several moves of the hand within a step only the last one counts.
    const bool is_overtaken =
        i + 1 < requests.size() && is_pull(requests[i].command) && is_pull(requests[i + 1].command);
    requests[i].fault.set_value(is_overtaken ? "" : obey(requests[i].command));
  }
  return !requests.empty();
}

std::string LiveSession::obey(const json& command) {
  try {
    if (!command.is_object() || command.size() != 1)
      throw InputError("a command is an object with one key");
    const std::string& key = command.begin().key();
    if (key == "pause" || key == "play" || key == "step" || key == "speed") {
      obey_session(key, command.front());
    } else {
      const json done = run_.apply(command);
      record_(done);
      if (key == "set") publish_settings();
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void LiveSession::obey_session(const std::string& key, const json& value) {
  if (key == "pause") {
    is_paused_ = true;
    steps_wanted_ = 0;
  } else if (key == "play") {
    is_paused_ = false;
    restart_clock();
  } else if (key == "step") {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1 ||
        value.get<std::int64_t>() > kMaxStepsAtOnce)
      throw InputError(fmt::format("step is {}, must be an integer from 1 to {}", value.dump(),
                                   kMaxStepsAtOnce));
    is_paused_ = true;
    steps_wanted_ += value.get<std::int64_t>();
  } else {
    if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > kMaxSpeed)
      throw InputError(fmt::format("speed is {}, must be from 0 to {}", value.dump(), kMaxSpeed));
    speed_ = value.get<double>();
    restart_clock();
  }
}

void LiveSession::command(const std::string& text) {
  json command = json::parse(text, nullptr, false);
  if (command.is_discarded()) throw InputError("the command is no JSON");
  std::future<std::string> answer;
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back({.command = std::move(command), .fault = {}});
    answer = requests_.back().fault.get_future();
  }
  has_news_.notify_one();
  if (answer.wait_for(kPatience) != std::future_status::ready) return;
  if (const std::string fault = answer.get(); !fault.empty()) throw InputError(fault);
}

void LiveSession::publish() {
  constexpr std::chrono::milliseconds kPeriod{20};
  const auto now = Clock::now();
  next_publication_ = now + kPeriod;
  const double t = run_.simulation().state().t;
  const std::lock_guard lock(mutex_);
  const double wall = Seconds(now - clock_start_).count();
  if (wall > 0.1) standing_.real_speed = (t - time_start_) / wall;
  standing_.time = t;
  standing_.speed = speed_;
  standing_.step = run_.simulation().summary().steps;
  standing_.is_paused = is_paused_;
  standing_.is_at_end = run_.is_at_end();
  standing_.message = message_;
}

void LiveSession::publish_settings() {
  const SimulateSettings& settings = run_.settings();
  json parameters = json::object();
  for (const auto& [name, value] : find_parameters(run_.text()))
    parameters[name] =
        run_.world().parameters.contains(name) ? run_.world().parameters.at(name) : value;
  json now = {{"h", settings.h},
              {"duration", settings.duration},
              {"scheme", settings.scheme},
              {"solver", settings.solver},
              {"friction", to_text(settings.friction)},
              {"friction_factor", run_.world().friction_factor},
              {"parameters", std::move(parameters)}};
  if (run_.can_pull()) {
    const Eigen::Vector3d gravity = run_.gravity();
    now["gravity"] = {gravity[0], gravity[1], gravity[2]};
  }
  const std::lock_guard lock(mutex_);
  standing_.settings = std::move(now);
}

json LiveSession::status() const {
  const std::lock_guard lock(mutex_);
  return {{"time", standing_.time},
          {"step", standing_.step},
          {"state", standing_.is_at_end   ? "end"
                    : standing_.is_paused ? "paused"
                                          : "running"},
          {"speed", standing_.speed},
          {"realSpeed", standing_.real_speed},
          {"message", standing_.message},
          {"settings", standing_.settings},
          {"canPull", run_.can_pull()},
          {"schemes", scheme_names()},
          {"solvers", all_solver_names()}};
}

}  // namespace stiction
