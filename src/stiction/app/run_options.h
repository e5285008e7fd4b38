// Options of `stiction run`: what the command line says, and how it overrules the scene.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "stiction/scene/scene.h"

namespace stiction {

struct RunOptions {
  std::string scene;
  // Those that are given win over the block "simulate" of the scene.
  std::optional<std::string> scheme, solver, friction, on_failure, jacobians, projection;
  std::optional<double> h, duration, tolerance, error_tolerance;
  std::optional<int> every;
  std::optional<bool> sleeps;
  bool has_no_events = false;
  bool projects_start = false;
  bool iterates_positions = false;

  int threads = 1;
  double budget = 0;  // [ms] of wall time for a step; 0: none
  std::string out;
  std::string save, restore;
  std::string dump;
  std::int64_t dump_step = 0;
  bool has_no_recording = false;
  bool is_quiet = false;
  bool is_json = false;

  // While it runs, in the browser:
  bool is_live = false;
  bool starts_paused = false;
  bool opens_browser = true;
  double speed = 1;  // simulated seconds per second; 0: as fast as it can
  int port = 8765;
  std::string host;

  std::string replay;  // a recording of such a run
};

/// Adds the options to the command; their values are checked while the command line is parsed.
void add_run_options(CLI::App& command, RunOptions& options);

/// Settings of the scene with those of the command line on top.
SimulateSettings merged_settings(SimulateSettings settings, const RunOptions& options);

}  // namespace stiction
