#include "tests/solve/disc_problem.h"

#include <cmath>

#include "stiction/base/random.h"

namespace stiction::testing {

StepProblem disc_problem(std::uint64_t seed, const RandomProblemOptions& options) {
  StepProblem problem = random_problem(seed, options);
  for (FrictionSection& section : problem.section) section = FrictionSection::disc();
  return problem;
}

StepProblem condensed_problem(std::uint64_t seed, const CondensedOptions& options) {
  Random random(seed * 7919 + 13);
  const int rows = options.num_contacts * (1 + options.num_tangents);
  MatrixXd J(rows, options.rank), S = MatrixXd::Identity(options.rank, options.rank);
  VectorXd v(options.rank);
  for (int j = 0; j < options.rank; ++j) {
    v[j] = random.normal();
    for (int k = 0; k < j; ++k) {
      const double entry = options.skew * random.normal();
      S(j, k) += entry;
      S(k, j) -= entry;
    }
  }
  StepProblem problem;
  for (int c = 0; c < options.num_contacts; ++c) {
    const double scale = std::pow(options.scale_ratio, random.uniform(0, 1));
    for (int k = 0; k <= options.num_tangents; ++k)
      for (int j = 0; j < options.rank; ++j)
        J(c * (1 + options.num_tangents) + k, j) = scale * random.normal();
    problem.add_contact({.num_tangents = options.num_tangents,
                         .mu = random.uniform(0, options.mu_max),
                         .section = {},
                         .key = static_cast<std::uint64_t>(c)});
  }
  const MatrixXd W = J * S * J.transpose();
  const VectorXd q = J * v;
  for (int i = 0; i < rows; ++i) {
    problem.contact_bias[i] = q[i];
    problem.coupling.add_row();
    for (int k = 0; k < rows; ++k) problem.coupling.add_entry(k, W(i, k));
  }
  return problem;
}

}  // namespace stiction::testing
