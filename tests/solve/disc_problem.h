// Random step problems for solvers of Coulomb's law itself: those of random_problem.h with the disc
// as friction section, and condensed problems u = W r + q of chosen rank and symmetry.
#pragma once

#include <cstdint>

#include "tests/solve/random_problem.h"

namespace stiction::testing {

StepProblem disc_problem(std::uint64_t seed, const RandomProblemOptions& options = {});

struct CondensedOptions {
  int num_contacts = 10;
  int num_tangents = 2;
  int rank = 30;  // of the symmetric part of W
  double mu_max = 1;
  double skew = 0;         // size of the part of W that is not symmetric
  double scale_ratio = 1;  // largest over smallest scale of contacts
};

/// W = J (I + skew part) Jᵀ and q = J v, which has a solution for any μ: q lies in the range of J.
StepProblem condensed_problem(std::uint64_t seed, const CondensedOptions& options);

}  // namespace stiction::testing
