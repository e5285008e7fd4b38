// Why a step problem can have no solution: a few rows that contradict each other. By Farkas' lemma,
// weights y with
//
//   y ≥ 0 on normals, 0 on tangents, free on unbounded bilateral rows, ≥ 0 (≤ 0) on bilateral rows
//   that are bounded from below (above) only, 0 on those bounded on both sides,
//   Rᵀy = 0,  C y = 0,  Kᵀy = 0   and   yᵀb < 0
//
// (R = [G; J], b the biases with the signs of u and s) exclude any solution: every solution has
// yᵀ(s, u) ≥ 0 by (T2) and (T3), and yᵀ(s, u) = yᵀb whatever w and x are. The weights are looked
// for where a problem without friction and with a little compliance sends its impulses, and are
// checked afterwards. Rows with compliance have no part in it, however stiff they are: C y = 0.
#pragma once

#include <vector>

#include "stiction/problem/step_problem.h"

namespace stiction {

struct Contradiction {
  std::vector<int> rows;      // bilateral rows with a weight
  std::vector<int> contacts;  // contacts with a weight
  bool is_found() const { return !rows.empty() || !contacts.empty(); }
};

/// Empty if there is none, or none was found. Meant for small problems: above a few hundred rows it
/// does not try. In floating point the weights balance to rounding only, so that what is excluded
/// are solutions whose velocities stay below a million times those of biases and momenta.
Contradiction find_contradiction(const StepProblem& problem);

}  // namespace stiction
