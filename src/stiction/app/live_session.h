// Lets a run go on in time with the clock on the wall, and takes commands of pages between its
// steps. One thread runs; any others send commands and ask how it stands.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <string>

#include "stiction/app/live_run.h"

namespace stiction {

struct LiveSessionOptions {
  double speed = 1;  // simulated seconds per second; 0: as fast as it can
  bool starts_paused = false;
};

class LiveSession {
 public:
  /// `record` is told of every command that changes the run, `flush` to let readers see all steps.
  using Record = std::function<void(const nlohmann::json& command)>;
  LiveSession(LiveRun& run, const LiveSessionOptions& options, Record record,
              std::function<void()> flush);

  /// Steps, waits and obeys until `should_stop`, which is asked between steps. Whether the last
  /// step that was tried was rejected.
  [[nodiscard]] bool run(const std::function<bool()>& should_stop);

  /// For other threads. A command is one of LiveRun::apply, or {"pause": true}, {"play": true},
  /// {"step": COUNT}, {"speed": FACTOR}. Waits until it was obeyed, but not longer than a long step
  /// takes. Throws InputError.
  void command(const std::string& text);
  /// How the run stands and what can be chosen.
  nlohmann::json status() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Request {
    nlohmann::json command;
    std::promise<std::string> fault;  // empty: obeyed
  };
  struct Standing {
    double time = 0, speed = 0, real_speed = 0;
    std::int64_t step = 0;
    bool is_paused = false, is_at_end = false;
    std::string message{};
    nlohmann::json settings{};
  };

  bool obey_all();
  std::string obey(const nlohmann::json& command);
  void obey_session(const std::string& key, const nlohmann::json& value);
  void take_step();
  void wait(std::chrono::duration<double> time);
  /// [s] until the next step is due.
  double compute_wait();
  void restart_clock();
  void publish();
  void publish_settings();

  LiveRun& run_;
  Record record_;
  std::function<void()> flush_;

  // Of the thread that runs:
  double speed_;
  bool is_paused_, was_rejected_ = false, is_flushed_ = false;
  std::int64_t steps_wanted_ = 0;
  std::string message_{};
  Clock::time_point clock_start_{}, next_publication_{};
  double time_start_ = 0;

  // Of all:
  mutable std::mutex mutex_{};
  std::condition_variable has_news_{};
  std::deque<Request> requests_{};
  Standing standing_{};
};

}  // namespace stiction
