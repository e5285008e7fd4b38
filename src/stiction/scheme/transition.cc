#include "stiction/scheme/transition.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {
namespace {

/// A slip that begins in the substep, from less than this share of its change, has no direction
/// that it could lose.
constexpr double kNoSlip = 1e-6;
/// Nor has one that is rounding beside what friction can change in the substep.
constexpr double kSlipRounding = 1e-9;

/// T diag(M)⁻¹Tᵀ summed over the tangents of a contact: velocity per friction impulse.
double tangent_mobility(const StepProblem& problem, int index) {
  const BlockRows& rows = problem.contacts;
  double sum = 0;
  for (int e = rows.entry_start(index); e < rows.entry_start(index + 1); ++e) {
    const ConstRowMatrixMap mass = problem.mass_block(rows.entry_block(e));
    const int columns = rows.entry_columns(e);
    for (int i = columns; i < rows.num_rows(index) * columns; ++i) {
      const double entry = rows.entry_values(e)[i];
      sum += entry * entry / std::abs(mass(i % columns, i % columns));
    }
  }
  return sum;
}

/// Relative tangential velocity of a contact at a given velocity of the system.
Eigen::Vector2d slip_at(const StepAssembly& assembly, int index, const VectorXd& v) {
  const StepProblem& problem = assembly.problem();
  const BlockRows& rows = problem.contacts;
  Eigen::Vector2d slip = Eigen::Vector2d::Zero();
  for (int i = 1; i < rows.num_rows(index); ++i) {
    slip[i - 1] = assembly.contact_drifts()[rows.row_start(index) + i];
    for (int e = rows.entry_start(index); e < rows.entry_start(index + 1); ++e) {
      const int columns = rows.entry_columns(e);
      slip[i - 1] +=
          ConstVectorMap(rows.entry_values(e) + static_cast<std::ptrdiff_t>(i) * columns, columns)
              .dot(v.segment(problem.dof_start[rows.entry_block(e)], columns));
    }
  }
  return slip;
}

}  // namespace

double TransitionWatch::margin_of(const Substep& substep, int index, ContactStatus status) const {
  constexpr double kHolds = std::numeric_limits<double>::infinity();
  const StepProblem& problem = substep.assembly.problem();
  const int start = problem.contacts.row_start(index);
  const ContactStatus now = contact_status(problem, substep.solution, index);
  if (now == ContactStatus::kOpen) {
    const double rate = contact_velocity(problem, substep.solution, index)[0];
    return rate > slow_rate_ ? -rate : kHolds;
  }
  const int num_tangents = problem.contacts.num_rows(index) - 1;
  if (num_tangents == 0 || problem.mu[index] == 0) return kHolds;
  const Eigen::Vector2d slip = slip_at(substep.assembly, index, substep.v_end);
  double friction = 0;
  for (int i = 1; i <= num_tangents; ++i)
    friction = std::hypot(friction, substep.solution.r[start + i]);
  const double room = problem.mu[index] * substep.solution.r[start] - friction;
  if (status == ContactStatus::kStick)
    return now == ContactStatus::kStick ? std::max(room, 0.0) : -slip.norm();
  const Eigen::Vector2d slip_before = slip_at(substep.assembly, index, substep.v_start);
  const double largest_change =
      problem.mu[index] * substep.solution.r[start] * tangent_mobility(problem, index);
  if (slip_before.norm() <=
      std::max(kNoSlip * (slip - slip_before).norm(), kSlipRounding * largest_change))
    return kHolds;
  if (now == ContactStatus::kStick) return -std::max(room, std::numeric_limits<double>::min());
  // In space a slip may turn without coming to rest.
  return num_tangents == 1 ? slip.dot(slip_before) / slip_before.norm() : slip.norm();
}

bool TransitionWatch::begin(const Substep& substep, const std::vector<ContactStatus>& status,
                            double slow_rate) {
  watched_.clear();
  slow_rate_ = slow_rate;
  const std::vector<int>& contacts = substep.assembly.contact_indices();
  for (int j = 0; j < static_cast<int>(contacts.size()); ++j) {
    const ContactStatus before = status[contacts[j]];
    if (before == ContactStatus::kOpen) continue;
    const double value = margin_of(substep, j, before);
    if (value < 0) watched_.push_back({.index = j, .status = before, .scale = -value});
  }
  if (watched_.empty()) return false;
  margin(substep);
  return true;
}

double TransitionWatch::margin(const Substep& substep) {
  double smallest = std::numeric_limits<double>::infinity();
  bool has_change = false;
  for (const Watched& watched : watched_) {
    const double value = margin_of(substep, watched.index, watched.status);
    smallest = std::min(smallest, value / watched.scale);
    if (value >= 0) continue;
    if (!has_change) changes_.clear();
    has_change = true;
    ContactStatus now = contact_status(substep.assembly.problem(), substep.solution, watched.index);
    // A slip that reverses comes to rest first; whether it stays there is for the next substep.
    if (watched.status == ContactStatus::kSlip && now == ContactStatus::kSlip)
      now = ContactStatus::kStick;
    changes_.push_back({substep.assembly.contact_indices()[watched.index], now});
  }
  return smallest;
}

}  // namespace stiction
