// The ways to step rigid bodies that the laws are asked of, all of them: every scheme, and spook
// with its position iteration.
#pragma once

#include <string>
#include <vector>

#include "stiction/model/rigid_body_system.h"
#include "stiction/sim/simulation.h"

namespace stiction::testing {

struct Rule {
  std::string scheme;
  bool iterates = false;  // the positions of a step; spook only
  std::string name() const { return scheme + (iterates ? ", iterated" : ""); }
};

std::vector<Rule> all_rules();

SimulationOptions options_of(const Rule& rule, double h);

/// The bodies of a model that has nothing before them.
const RigidBodySystem& system_of(const Simulation& simulation);

}  // namespace stiction::testing
