// Random step problems that have a solution by theorem 2.1 of Anitescu & Potra 2002 and are as
// nasty as it allows: degenerate and duplicate contacts, redundant joints, large mass ratios,
// nonsymmetric mass, compliance, bounded rows, strange units. The same seed gives the same problem
// everywhere.
#pragma once

#include <cstdint>

#include "stiction/problem/step_problem.h"

namespace stiction::testing {

struct RandomProblemOptions {
  int max_contacts = 40;
  int max_bodies = 30;
  int max_bilateral = 8;
  double mu_max = 2;
  double mass_ratio_max = 1e8;
  bool allow_spatial = true;
  bool allow_strange_units = true;
};

StepProblem random_problem(std::uint64_t seed, const RandomProblemOptions& options = {});

}  // namespace stiction::testing
