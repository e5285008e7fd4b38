// What a run has to say at its end: a few lines for people, one JSON object for programs.
#pragma once

#include <string>

#include "stiction/sim/simulation.h"

namespace stiction {

struct RunReport {
  std::string scene;
  std::string status;      // complete, above tolerance, rejected, interrupted
  std::string recording;   // path, empty if none
  std::int64_t steps = 0;  // of this run
  double simulated = 0;    // [s]
  double wall = 0;         // [s]
};

/// The object of `run --json`, indented, with a line end.
std::string to_json(const RunReport& report, const Simulation& simulation);
/// The summary for people.
std::string to_summary(const RunReport& report, const Simulation& simulation);

}  // namespace stiction
