// The laws of one step problem with an answer to it (T1)–(T4), one figure for each body, row and
// contact. Figures are relative and free of units as those of the certificate are, scaled as (T20),
// (T21) and (T22) say, but taken apart: the certificate's one figure for a contact bounds its
// distance from the cone, its lack of complementarity and its lack of dissipation, each with a
// constant that is derived below. Shares no code with certificates, solvers or schemes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stiction/audit/audit_report.h"
#include "stiction/problem/step_problem.h"

namespace stiction {

/// How far rounding may have moved what the figures are made of. Empty lists are zeros.
struct ProblemRounding {
  VectorXd p{}, w{};                           // [N s], [m/s] per velocity
  std::vector<double> rows{}, contact_rows{};  // [m/s] of s and u
  double place = 0;  // [m] how large coordinates are: arms of impulses are differences of them
};

/// Names for messages.
struct ProblemNames {
  std::function<std::string(int)> block, row, contact;
};

/// Bounds on what a certificate of the answer may say, from below and from above.
struct ResidualBounds {
  double momentum_low = 0, momentum_high = 0;
  double bilateral_low = 0, bilateral_high = 0;
  double cone_low = 0, cone_high = 0;
  void include(const ResidualBounds& other);
};

/// Checks kMomentum, kJointRows, kEffortBounds, kCones, kComplementarity and kDissipation. Bounds
/// from above are the larger of those of the whole and of what moves alone: runs with sleep certify
/// islands at rest apart. Those islands are not looked at alone: errors there are 1e-12 or less,
/// far below what is forgiven.
ResidualBounds check_problem_laws(const StepProblem& problem, const StepSolution& solution,
                                  const ProblemRounding& rounding, double tolerance,
                                  const ProblemNames& names, AuditReport& report);

/// The point of μν·B nearest to β, for one or two tangents; `radius` is μν.
Eigen::Vector2d nearest_in_section(const FrictionSection& section, int num_tangents, double radius,
                                   const Eigen::Vector2d& beta);
/// σ_B(x) = max {bᵀx : b ∈ B}.
double section_support(const FrictionSection& section, int num_tangents, const Eigen::Vector2d& x);
/// max {‖b‖ : b ∈ B}.
double section_radius(const FrictionSection& section, int num_tangents);

}  // namespace stiction
