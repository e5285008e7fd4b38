#include "stiction/scheme/reflected_rounding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace stiction {
namespace {

/// τ as a share of speeds: ten times that to which transitions are located, a hundredth of what a
/// step is forgiven, both by default. Less than solvers leave in what rolls would be taken back
/// here and there, and the rest gathered (2e-10 m/s at 1e-13 of 2 m/s, in 6,000 steps).
constexpr double kRounding = 1e-11;
/// What a row with compliance that was reflected so far is off by, in C|λ|, with room for its load
/// to change.
constexpr double kOfYield = 4;
/// Of a sum of a dozen terms.
constexpr double kOfSum = 16 * std::numeric_limits<double>::epsilon();

}  // namespace

void ReflectedRounding::take_back(const VectorXd& v, const StepSolution& impulses,
                                  StepAssembly& assembly) {
  if (assembly.problem().num_rows() == 0) return;
  measure_limits(v, impulses, assembly.problem());
  take_back_joints(v, impulses, assembly);
  take_back_contacts(v, assembly.problem());
}

/// A share of |v| + (|p − M̂v| + Σ|R_iᵀx_i|)/M̂, by the diagonal of M̂: the size is enough.
void ReflectedRounding::measure_limits(const VectorXd& v, const StepSolution& impulses,
                                       const StepProblem& problem) {
  limits_.resize(problem.num_dofs());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const ConstRowMatrixMap mass = problem.mass_block(b);
    const int start = problem.dof_start[b], n = problem.block_size(b);
    for (int k = 0; k < n; ++k)
      limits_[start + k] = std::abs(problem.p[start + k] - mass.row(k).dot(v.segment(start, n)));
  }
  add_impulses(problem.bilateral, impulses.lambda.data(), problem);
  add_impulses(problem.contacts, impulses.r.data(), problem);
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const ConstRowMatrixMap mass = problem.mass_block(b);
    for (int k = 0; k < problem.block_size(b); ++k) {
      double& limit = limits_[problem.dof_start[b] + k];
      limit = kRounding * (limit / std::abs(mass(k, k)) + std::abs(v[problem.dof_start[b] + k]));
    }
  }
}

void ReflectedRounding::add_impulses(const BlockRows& rows, const double* impulses,
                                     const StepProblem& problem) {
  for (int j = 0; j < rows.num_row_blocks(); ++j)
    for (int e = rows.entry_start(j); e < rows.entry_start(j + 1); ++e) {
      const ConstRowMatrixMap entry = rows.entry_matrix(j, e);
      double* limits = limits_.data() + problem.dof_start[rows.entry_block(e)];
      for (int i = 0; i < entry.rows(); ++i)
        for (int k = 0; k < entry.cols(); ++k)
          limits[k] += std::abs(entry(i, k) * impulses[rows.row_start(j) + i]);
    }
}

ReflectedRounding::Range ReflectedRounding::range_of(const BlockRows& rows, int row_block, int row,
                                                     const VectorXd& v,
                                                     const StepProblem& problem) const {
  Range range;
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
    const ConstRowMatrixMap entry = rows.entry_matrix(row_block, e);
    const int start = problem.dof_start[rows.entry_block(e)];
    for (int k = 0; k < entry.cols(); ++k) {
      range.least += kOfSum * std::abs(entry(row, k) * v[start + k]);
      range.most += std::abs(entry(row, k)) * limits_[start + k];
    }
  }
  return range;
}

void ReflectedRounding::take_back_joints(const VectorXd& v, const StepSolution& impulses,
                                         StepAssembly& assembly) {
  using Kind = StepAssembly::JointRow::Kind;
  StepProblem& problem = assembly.problem();
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    const Kind kind = assembly.joint_rows()[i].kind;
    if (kind == Kind::kSpring || kind == Kind::kTurning) continue;
    const double slack =
        problem.bilateral.times(i, 0, problem.dof_start.data(), v.data()) - problem.bias[i];
    const double yield = problem.compliance[i] * std::abs(impulses.lambda[i]);
    Range range = range_of(problem.bilateral, i, 0, v, problem);
    range.most += kOfYield * yield;
    if (!range.contains(std::abs(slack))) continue;
    problem.bias[i] += 0.5 * slack;
    problem.compliance[i] *= 0.5;
  }
}

/// The normal, and the tangents together: what slides across a tangent has no rounding along it.
void ReflectedRounding::take_back_contacts(const VectorXd& v, StepProblem& problem) const {
  const BlockRows& rows = problem.contacts;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    double* bias = problem.contact_bias.data() + rows.row_start(j);
    std::array<double, 3> u = {};
    Range range;
    for (int i = 0; i < rows.num_rows(j); ++i) {
      u[i] = rows.times(j, i, problem.dof_start.data(), v.data()) + bias[i];
      const Range own = range_of(rows, j, i, v, problem);
      range = {std::max(range.least, own.least), std::max(range.most, own.most)};
    }
    if (range.contains(std::abs(u[0]))) bias[0] -= 0.5 * u[0];
    if (!range.contains(std::hypot(u[1], u[2]))) continue;
    for (int i = 1; i < rows.num_rows(j); ++i) bias[i] -= 0.5 * u[i];
  }
}

}  // namespace stiction
