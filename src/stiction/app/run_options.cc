#include "stiction/app/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/app/scene_loading.h"
#include "stiction/base/worker_pool.h"
#include "stiction/scene/stepping_reader.h"
#include "stiction/scheme/scheme.h"
#include "stiction/solve/solvers.h"

namespace stiction {
namespace {

/// Checks a number of the command line. (CLI11's own checks let NaN pass.)
CLI::Validator finite_number(const std::string& range, bool (*is_good)(double)) {
  return {[=](const std::string& text) -> std::string {
            double value = 0;
            if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && is_good(value))
              return "";
            return fmt::format("is '{}', must be {}", text, range);
          },
          ""};
}

CLI::Validator positive() {
  return finite_number("a finite number > 0", [](double x) { return x > 0; });
}

CLI::Validator at_least_0() {
  return finite_number("a finite number >= 0", [](double x) { return x >= 0; });
}

CLI::Validator count() {
  return finite_number("an integer > 0", [](double x) { return x >= 1 && x == std::floor(x); });
}

CLI::Validator thread_count() {
  return finite_number(fmt::format("an integer from 1 to {}", kMaxThreads),
                       [](double x) { return x >= 1 && x <= kMaxThreads && x == std::floor(x); });
}

/// A flag `--x,!--no-x` that has no value unless it is given. (CLI11 itself takes an optional for a
/// count of flags, and sets it to none of them where the flag is absent.)
void add_switch(CLI::App& command, const std::string& names, std::optional<bool>& value,
                const std::string& description) {
  command.add_flag_function(
      names, [&value](std::int64_t balance) { value = balance > 0; }, description);
}

/// How to simulate.
void add_settings(CLI::App& command, RunOptions& options) {
  command.add_option("--scheme", options.scheme, "time-stepping scheme (stiction list schemes)")
      ->check(CLI::IsMember(scheme_names()));
  command.add_option("--solver", options.solver, "solver (stiction list solvers)")
      ->check(CLI::IsMember(all_solver_names()));
  command
      .add_option("--friction", options.friction, "disc, box or polygon:K, for spatial contacts")
      ->check([](const std::string& text) -> std::string {
        return try_parse_friction_section(text) ? "" : "expected disc, box or polygon:K, K even";
      });
  command.add_option("--h", options.h, "time step [s]")->check(positive());
  command.add_option("--duration", options.duration, "simulated time [s]")->check(at_least_0());
  command.add_option("--tol", options.tolerance, "tolerance on every step's residual")
      ->check(positive());
  command.add_option("--on-failure", options.on_failure, "what to do with steps above tolerance")
      ->check(CLI::IsMember(on_failure_names()));
}

/// Variants of the schemes.
void add_stepping(CLI::App& command, RunOptions& options) {
  command
      .add_option("--projection", options.projection,
                  "project positions onto the constraints after every step")
      ->check(CLI::IsMember({"on", "off"}));
  command.add_option("--jacobians", options.jacobians, "force derivatives, trapezoidal schemes")
      ->check(CLI::IsMember(force_jacobians_names()));
  command.add_flag("--no-events", options.has_no_events,
                   "locate neither collisions nor transitions within a step");
  command
      .add_option("--error-tol", options.error_tolerance,
                  "choose substeps by this tolerance on their error; 0: do not")
      ->check(at_least_0());
  command.add_flag("--position-iteration", options.iterates_positions,
                   "scheme spook: iterate every step to its end");
  command.add_flag("--project-start", options.projects_start,
                   "move the start to where constraints, gaps and velocities agree");
  add_switch(command, "--sleep,!--no-sleep", options.sleeps,
             "leave out what is at rest to rounding, until something changes");
}

/// What is written where.
void add_files(CLI::App& command, RunOptions& options) {
  CLI::Option* out =
      command.add_option("--out", options.out, "recording; default NAME.h5 in the current folder");
  command
      .add_flag("--no-recording", options.has_no_recording, "simulate without writing a recording")
      ->excludes(out);
  command.add_option("--every", options.every, "record every N-th step")->check(count());
  command.add_option("--save", options.save, "write a checkpoint at the end");
  command.add_option("--restore", options.restore, "continue from a checkpoint");
  CLI::Option* dump = command.add_option("--dump", options.dump,
                                         "write the problem of --dump-step, or of a rejected step");
  command.add_option("--dump-step", options.dump_step, "number of the step for --dump")
      ->check(count())
      ->needs(dump);
}

/// A run that is looked at and steered, and one that repeats it.
void add_live(CLI::App& command, RunOptions& options) {
  CLI::Option* view =
      command.add_flag("--view", options.is_live, "show and steer the run in the browser");
  command.add_flag("--paused", options.starts_paused, "with --view: wait for the page")
      ->needs(view);
  command
      .add_option("--speed", options.speed,
                  "with --view: simulated seconds per second; 0: as fast as it can")
      ->capture_default_str()
      ->check(at_least_0())
      ->needs(view);
  command.add_option("--port", options.port, "with --view: port, or the next free one")
      ->capture_default_str()
      ->check(CLI::Range(1, 65535))
      ->needs(view);
  command
      .add_option("--host", options.host,
                  "with --view: serve other machines at this address, to those with the token")
      ->needs(view);
  command.add_flag("!--no-browser", options.opens_browser, "with --view: open no browser")
      ->needs(view);
  CLI::Option* replay = command.add_option("--replay", options.replay,
                                           "repeat the run of a recording, what was done to it "
                                           "included; needs no scene");
  for (const char* name : {"--no-recording", "--save", "--restore", "--dump", "--budget"})
    view->excludes(command.get_option(name));
  const std::vector<std::string> allowed{"--help",  "--out",  "--threads",
                                         "--quiet", "--json", "--replay"};
  for (CLI::Option* option : command.get_options())
    if (std::find(allowed.begin(), allowed.end(), option->get_name()) == allowed.end())
      replay->excludes(option);
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& options) {
  command.add_option("scene", options.scene, "scene file (JSON, comments allowed)");
  add_settings(command, options);
  add_stepping(command, options);
  add_files(command, options);
  command
      .add_option("--threads", options.threads,
                  "threads for contacts and islands; results are the same for any number")
      ->check(thread_count());
  command
      .add_option("--budget", options.budget,
                  "wall time for a step [ms]: solvers stop at it with their best answer")
      ->check(positive());
  command.add_flag("--quiet", options.is_quiet, "no progress, no summary");
  command.add_flag("--json", options.is_json, "print one JSON object and nothing else");
  add_live(command, options);
}

SimulateSettings merged_settings(SimulateSettings settings, const RunOptions& options) {
  const auto take = [](const auto& option, auto& setting) {
    if (option) setting = *option;
  };
  take(options.scheme, settings.scheme);
  take(options.solver, settings.solver);
  take(options.on_failure, settings.on_failure);
  take(options.h, settings.h);
  take(options.duration, settings.duration);
  take(options.tolerance, settings.tolerance);
  take(options.every, settings.every);
  take(options.sleeps, settings.sleep);
  settings.collision.num_threads = options.threads;
  if (options.friction) settings.friction = *try_parse_friction_section(*options.friction);
  if (options.projects_start) settings.project_start = true;

  SteppingOptions& stepping = settings.stepping;
  take(options.error_tolerance, stepping.error_control.tolerance);
  if (options.projection) stepping.projection = *options.projection == "on";
  if (options.jacobians) stepping.jacobians = *try_parse_force_jacobians(*options.jacobians);
  if (options.iterates_positions) stepping.spook.position_iteration = true;
  if (options.has_no_events) stepping.events.collisions = stepping.events.transitions = false;
  return settings;
}

}  // namespace stiction
