#include "stiction/app/live_command.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <mutex>

#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/app/live_session.h"
#include "stiction/app/progress.h"
#include "stiction/app/run_files.h"
#include "stiction/app/scene_loading.h"
#include "stiction/app/summary.h"
#include "stiction/app/view_page.h"
#include "stiction/app/view_server.h"
#include "stiction/record/recorded_commands.h"
#include "stiction/record/recording_observer.h"
#include "stiction/record/recording_stream.h"
#include "stiction/view/viewed_recording.h"

namespace stiction {
namespace {

/// What pages see is at most so old.
constexpr std::chrono::milliseconds kFlushPeriod{30};

/// A recording that is written by one thread and read by another: HDF5 is for one at a time.
class SharedSink final : public RecordingSink {
 public:
  SharedSink(const std::string& path, const RecordingLayout& layout, std::mutex& mutex)
      : writer_(path, layout), mutex_(mutex) {
    writer_.set_max_delay(kFlushPeriod);
  }

  void append(const StepRow& row) override {
    const std::lock_guard lock(mutex_);
    writer_.append(row);
  }
  void append_event(const EventRow& event) override {
    const std::lock_guard lock(mutex_);
    writer_.append_event(event);
  }
  void append_command(const CommandRow& command) {
    const std::lock_guard lock(mutex_);
    writer_.append_command(command);
  }
  void flush() {
    const std::lock_guard lock(mutex_);
    writer_.flush();
  }
  void close(std::string_view status) override {
    const std::lock_guard lock(mutex_);
    writer_.close(status);
  }

 private:
  RecordingWriter writer_;
  std::mutex& mutex_;
};

/// Records a run with what was done to it.
class LiveRecorder {
 public:
  LiveRecorder(LiveRun& run, const std::string& path, std::mutex& mutex) : run_(run) {
    RecordingLayout layout =
        make_recording_layout(run.simulation(), run.name(), run.text(), run.settings().every);
    layout.has_commands = true;
    layout.has_turning = true;  // the scheme may become one that needs it
    auto sink = std::make_unique<SharedSink>(path, layout, mutex);
    sink_ = sink.get();
    observer_.emplace(std::move(sink), run.simulation(), run.settings().every);
    run.simulation().add_observer(*observer_);
    sink_->flush();
  }

  void record(const nlohmann::json& command) {
    const Simulation& simulation = run_.simulation();
    sink_->append_command(
        {.step = simulation.summary().steps, .time = simulation.state().t, .text = command.dump()});
  }
  void flush() { sink_->flush(); }
  void close(std::string_view status) { observer_->close(run_.simulation(), status); }

 private:
  LiveRun& run_;
  SharedSink* sink_ = nullptr;  // of the observer
  std::optional<RecordingObserver> observer_{};
};

struct Outcome {
  std::string status = "complete";
  int exit_status = kDone;
};

int finish(const RunOptions& options, const LiveRun& run, RunReport report,
           const Outcome& outcome) {
  report.scene = run.name();
  report.simulated = run.simulation().state().t;
  report.steps = run.simulation().summary().steps;
  report.status = outcome.status;
  if (options.is_json)
    print_result(to_json(report, run.simulation()));
  else if (!options.is_quiet)
    print_result(to_summary(report, run.simulation()));
  return outcome.exit_status;
}

Outcome judge(const LiveRun& run, bool was_rejected) {
  if (was_rejected) return {"rejected", kAboveTolerance};
  if (!run.is_at_end()) return {"interrupted", kInterrupted};
  if (run.simulation().summary().steps_above_tolerance > 0)
    return {"above tolerance", kAboveTolerance};
  return {};
}

/// What a page may ask for: the recording so far, and how the run stands.
class LivePage {
 public:
  LivePage(const std::string& recording, const std::string& scene, std::mutex& mutex,
           const LiveSession& session, std::string token)
      : recording_(recording, {.folders = {std::filesystem::path(scene).parent_path().string(), ".",
                                           "examples"},
                               .is_live = true}),
        mutex_(mutex),
        session_(session),
        token_(std::move(token)) {}

  std::optional<ViewResource> find(std::string_view name) {
    if (name == "recordings.json")
      return ViewResource{"application/json", R"({"count": 1, "live": true})"};
    if (name == "live.json") {
      nlohmann::json status = session_.status();
      status["token"] = token_;
      return ViewResource{"application/json",
                          status.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
    }
    if (!name.starts_with("0/")) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return recording_.find(name.substr(2));
  }

 private:
  ViewedRecording recording_;
  std::mutex& mutex_;
  const LiveSession& session_;
  std::string token_;
};

void announce(const ViewServer& server, const RunOptions& options) {
  if (server.port() != options.port)
    print_message(
        fmt::format("stiction: port {} is in use, taking {}\n", options.port, server.port()));
  print_message(fmt::format("stiction: the run is at {}\n", server.address()));
  if (options.opens_browser && !open_browser(server.address()))
    print_message("stiction: no browser could be opened; open that address in one\n");
  print_message("stiction: Ctrl-C ends it\n");
}

/// The folder where the scene's files are, as a path in it: meshes are sought as `view` does.
std::string find_place(const std::string& text, const std::string& recording) {
  std::string place;
  for (const std::string& folder : {std::filesystem::path(recording).parent_path().string(),
                                    std::string(), std::string("examples")}) {
    place = (std::filesystem::path(folder) / "scene").string();
    Diagnostics diagnostics(place);
    if (read_scene(text, known_names(), diagnostics)) break;
  }
  return place;
}

}  // namespace

int run_live(const RunOptions& options) {
  SceneOverrides overrides;
  if (options.projects_start) overrides.project_start = true;
  const std::optional<Scene> scene = load_scene(options.scene, overrides);
  if (!scene) return kBadInput;
  const std::string page = read_view_page();
  LiveRun run(make_live_text(*scene, options), options.scene, options.threads);
  RunReport report;
  report.recording = recording_path(options, run.name());
  check_files_differ(options, report.recording);
  if (!options.is_quiet && !options.is_json) print_notes(run.simulation());

  std::mutex hdf5;
  LiveRecorder recorder(run, report.recording, hdf5);
  LiveSession session(
      run, {.speed = options.speed, .starts_paused = options.starts_paused},
      [&](const nlohmann::json& command) { recorder.record(command); }, [&] { recorder.flush(); });
  const std::string token = make_token();
  LivePage resources(report.recording, options.scene, hdf5, session, token);
  ServerOptions server_options{.port = options.port};
  server_options.command_token = token;
  server_options.on_command = [&](const std::string& command) {
    session.command(command);
    return std::string("{}");
  };
  if (!options.host.empty()) {
    server_options.host = options.host;
    server_options.token = make_token();
  }
  ViewServer server(std::move(server_options), page,
                    [&](std::string_view name) { return resources.find(name); });
  listen_to_interrupts();
  server.start();
  announce(server, options);
  const auto began = std::chrono::steady_clock::now();
  const bool was_rejected = session.run(was_interrupted);
  report.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  server.stop();
  const Outcome outcome = judge(run, was_rejected);
  recorder.close(outcome.status);
  return finish(options, run, std::move(report), outcome);
}

int replay_run(const RunOptions& options) {
  std::vector<RecordedCommand> commands;
  std::int64_t last_step = 0;
  std::string text;
  {
    const RecordingStream stream(options.replay);
    text = stream.header().scene;
    const Hdf5File file = Hdf5File::open(options.replay);
    if (!file.has("commands"))
      throw InputError(fmt::format(
          "'{}' was not made by 'stiction run --view': run its scene instead", options.replay));
    commands = read_recorded_commands(file);
    if (stream.header().num_rows == 0)
      throw InputError(fmt::format("'{}' has no complete step", options.replay));
    last_step = file.read_range<std::int64_t>("step", stream.header().num_rows - 1, 1).front();
  }
  LiveRun run(text, find_place(text, options.replay), options.threads);
  RunReport report;
  report.recording = recording_path(options, run.name());
  check_files_differ(options, report.recording);
  std::mutex nobody_else;
  LiveRecorder recorder(run, report.recording, nobody_else);
  ProgressBar progress(0, run.settings().duration, !options.is_quiet && !options.is_json);
  run.simulation().add_observer(progress);
  listen_to_interrupts();
  const auto began = std::chrono::steady_clock::now();
  const auto step_to = [&](std::int64_t step) {
    while (run.simulation().summary().steps < step && !run.is_at_end() && !was_interrupted())
      run.step();
  };
  bool was_rejected = false;
  try {
    for (const RecordedCommand& command : commands) {
      if (command.step > last_step) break;
      step_to(command.step);
      if (was_interrupted()) break;
      recorder.record(run.apply(nlohmann::json::parse(command.text)));
    }
    step_to(last_step);
  } catch (const StepRejected& rejected) {
    progress.clear();
    print_message(fmt::format("stiction: {}\n", rejected.what()));
    was_rejected = true;
  } catch (const nlohmann::json::exception&) {
    throw InputError(fmt::format("'{}': one of its commands is no JSON", options.replay));
  }
  run.simulation().remove_observer(progress);
  report.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  // All that was recorded is all that there is to repeat.
  Outcome outcome = judge(run, was_rejected);
  if (!was_rejected && run.simulation().summary().steps == last_step) outcome = {};
  recorder.close(outcome.status);
  return finish(options, run, std::move(report), outcome);
}

}  // namespace stiction
