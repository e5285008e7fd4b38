// trapezoidal-2 lets rows act on v⁺ where the start fulfils them to rounding (T39). Whether it did
// is decided by impulses of the step before, which a recording need not have: rows that may have
// been are right on w, on v⁺, and in between.
#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/audit/phase_problem.h"

namespace stiction {
namespace {

/// A hundred times the scheme's share, which is the default tolerance, and twice what it allows for
/// yielding: impulses of the step before are not those of this one.
constexpr double kUnresolved = 1e-9, kOfYield = 8;

}  // namespace

/// What is rounding in a velocity: a share of what forces and impulses make of it, and of itself.
VectorXd PhaseProblem::measure_unresolved(const AuditedPhase& phase) const {
  const VectorXd& v = phase.start.v;
  VectorXd size = VectorXd::Zero(v.size());
  const auto add = [&](const BlockRows& from, const std::vector<double>& impulses) {
    for (int j = 0; j < from.num_row_blocks(); ++j)
      for (int e = from.entry_start(j); e < from.entry_start(j + 1); ++e) {
        const ConstRowMatrixMap entry = from.entry_matrix(j, e);
        const ConstVectorMap own(impulses.data() + from.row_start(j), entry.rows());
        size.segment(problem.dof_start[from.entry_block(e)], entry.cols()) +=
            entry.cwiseAbs().transpose() * own.cwiseAbs();
      }
  };
  add(problem.bilateral, solution.lambda);
  add(problem.contacts, solution.r);
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const ConstRowMatrixMap mass = problem.mass_block(b);
    const int start = problem.dof_start[b], n = problem.block_size(b);
    const ConstVectorMap p(problem.p.data() + start, n);
    auto own = size.segment(start, n);
    own += (p - mass * v.segment(start, n)).cwiseAbs();
    own = kUnresolved *
          (own.cwiseQuotient(mass.diagonal().cwiseAbs()) + v.segment(start, n).cwiseAbs());
  }
  return size;
}

void PhaseProblem::admit_taken_back(const AuditedPhase& phase) {
  const VectorXd unresolved = measure_unresolved(phase);
  const auto velocity = [&](const BlockRows& from, int row_block, int row) {
    return from.times(row_block, row, problem.dof_start.data(), phase.start.v.data());
  };
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    if (rows[i].kind == Row::Kind::kSpring) continue;
    const double slack = std::abs(velocity(problem.bilateral, i, 0) - problem.bias[i]);
    const double yield = problem.compliance[i] * std::abs(solution.lambda[i]);
    if (slack <= abs_times(problem.bilateral, i, 0, unresolved) + kOfYield * yield)
      rows[i].rounding += 0.5 * (slack + yield);
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int first = problem.contacts.row_start(j), count = problem.contacts.num_rows(j);
    std::array<double, 3> slack = {};
    double limit = 0;
    for (int i = 0; i < count; ++i) {
      slack[i] = std::abs(velocity(problem.contacts, j, i) + problem.contact_bias[first + i]);
      limit = std::max(limit, abs_times(problem.contacts, j, i, unresolved));
    }
    if (slack[0] <= limit) contact_rounding[first] += 0.5 * slack[0];
    if (std::hypot(slack[1], slack[2]) > limit) continue;
    for (int i = 1; i < count; ++i) contact_rounding[first + i] += 0.5 * slack[i];
  }
}

}  // namespace stiction
