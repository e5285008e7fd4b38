#include "stiction/app/simulation_options.h"

#include <algorithm>

#include "stiction/base/check.h"
#include "stiction/scheme/scheme.h"
#include "stiction/solve/solvers.h"

namespace stiction {
namespace {

OnFailure to_on_failure(const std::string& name) {
  const std::vector<std::string> names = on_failure_names();
  const auto found = std::find(names.begin(), names.end(), name);
  ST_DEMAND(found != names.end());
  return static_cast<OnFailure>(found - names.begin());
}

}  // namespace

KnownNames known_names() { return {.schemes = scheme_names(), .solvers = all_solver_names()}; }

std::vector<std::string> on_failure_names() {
  return {"reject", "retry-smaller", "accept-and-flag"};
}

SimulationOptions to_simulation_options(const SimulateSettings& settings) {
  return {.scheme = settings.scheme,
          .solver = settings.solver,
          .h = settings.h,
          .tolerance = settings.tolerance,
          .friction = settings.friction,
          .on_failure = to_on_failure(settings.on_failure),
          .penetration_tolerance = settings.penetration_tolerance,
          .project_start = settings.project_start,
          .sleep = settings.sleep,
          .stepping = settings.stepping,
          .collision = settings.collision};
}

}  // namespace stiction
