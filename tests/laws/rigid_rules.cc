#include "tests/laws/rigid_rules.h"

#include "stiction/scheme/scheme.h"

namespace stiction::testing {

std::vector<Rule> all_rules() {
  std::vector<Rule> rules;
  for (const std::string& scheme : scheme_names()) rules.push_back({scheme});
  rules.push_back({"spook", true});
  return rules;
}

SimulationOptions options_of(const Rule& rule, double h) {
  SimulationOptions options{.scheme = rule.scheme, .h = h};
  options.stepping.spook.position_iteration = rule.iterates;
  return options;
}

const RigidBodySystem& system_of(const Simulation& simulation) {
  return dynamic_cast<const RigidBodySystem&>(*simulation.model().parts()[0].system);
}

}  // namespace stiction::testing
