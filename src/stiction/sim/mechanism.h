// What can be said of the joints of a model before it moves.
#pragma once

#include <string>
#include <vector>

#include "stiction/model/model.h"

namespace stiction {

/// Joint rows (indices as in Model::joint_row_names) of rigid constraints that depend on others at
/// a state: the motion is the same without them. Which of several rows that depend on each other
/// are named is decided by the order of elimination. None for models whose masses are not definite.
std::vector<int> find_redundant_rows(const Model& model, const State& state);

/// Constraints that a configuration violates by more than `tolerance`, the worst first, in words:
/// "'loop.x' by 0.12". At most eight.
std::string describe_violations(const Model& model, const State& state, double tolerance);

}  // namespace stiction
