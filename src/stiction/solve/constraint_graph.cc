#include "stiction/solve/constraint_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stiction {
namespace {

// A direction in which the rows of a group move a body by less than this, relative to what all of
// their bodies do, does not count. Also keeps light bodies from being eliminated after heavy ones.
constexpr double kWeakDirection = 1e-6;
// Rows with more compliance than this share of what their bodies give them may be eliminated first.
// That costs as many digits as the share is small, which refinement brings back.
constexpr double kStiffShare = 1e-8;

/// Rank of a positive semidefinite matrix (row-major, overwritten) after scaling by `diagonal`.
int compute_rank(std::vector<double>& S, const std::vector<double>& diagonal,
                 std::vector<char>& is_done) {
  const int n = static_cast<int>(diagonal.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double scale = std::sqrt(diagonal[i] * diagonal[j]);
      S[i * n + j] = scale > 0 ? S[i * n + j] / scale : 0;
    }
  is_done.assign(n, 0);
  for (int rank = 0; rank < n; ++rank) {
    int best = -1;
    for (int i = 0; i < n; ++i)
      if (!is_done[i] && (best < 0 || S[i * n + i] > S[best * n + best])) best = i;
    const double pivot = S[best * n + best];
    if (!(pivot > kWeakDirection)) return rank;
    is_done[best] = 1;
    for (int i = 0; i < n; ++i) {
      if (is_done[i]) continue;
      const double factor = S[i * n + best] / pivot;
      for (int j = 0; j < n; ++j) S[i * n + j] -= factor * S[best * n + j];
    }
  }
  return n;
}

/// In-place Cholesky factor of a row-major matrix, lower part. False if it is not positive
/// definite.
bool factor_cholesky(std::vector<double>& A, int n) {
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k) A[j * n + j] -= A[j * n + k] * A[j * n + k];
    if (!(A[j * n + j] > 0)) return false;
    A[j * n + j] = std::sqrt(A[j * n + j]);
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) A[i * n + j] -= A[i * n + k] * A[j * n + k];
      A[i * n + j] /= A[j * n + j];
    }
  }
  return true;
}

double compliance_of_row(const StepProblem& problem, int row) {
  return row < problem.num_bilateral() ? problem.compliance[row]
                                       : problem.contact_compliance[row - problem.num_bilateral()];
}

}  // namespace

RowPlace ConstraintGraph::place_of_row(const StepProblem& problem, int row) {
  if (row < problem.num_bilateral()) return {&problem.bilateral, row, 0};
  const BlockRows& rows = problem.contacts;
  const int contact_row = row - problem.num_bilateral();
  // Rows of contacts are consecutive: binary search for the contact that holds this one.
  int low = 0, high = rows.num_row_blocks();
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (rows.row_start(middle) <= contact_row ? low : high) = middle;
  }
  return {&rows, low, contact_row - rows.row_start(low)};
}

void ConstraintGraph::build(const StepProblem& problem, const std::vector<char>& candidates) {
  dof_start_ = problem.dof_start;
  candidates_ = candidates;
  std::vector<int> rows, key_start{0}, keys;
  for (int row = 0; row < problem.num_rows(); ++row) {
    if (!candidates[row]) continue;
    rows.push_back(row);
    const RowPlace place = place_of_row(problem, row);
    for (int k = 0; k < place.num_entries(); ++k) keys.push_back(place.block(k));
    std::sort(keys.begin() + key_start.back(), keys.end());
    key_start.push_back(static_cast<int>(keys.size()));
  }
  const auto is_before = [&](int a, int b) {
    const auto begin = keys.begin();
    return std::lexicographical_compare(begin + key_start[a], begin + key_start[a + 1],
                                        begin + key_start[b], begin + key_start[b + 1]);
  };
  std::vector<int> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), is_before);
  groups_.clear();
  bodies_.clear();
  slot_row_.clear();
  row_slot_.assign(problem.num_rows(), -1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int k = order[i];
    if (i == 0 || is_before(order[i - 1], k)) {
      Group group{.body_begin = static_cast<int>(bodies_.size()),
                  .num_bodies = key_start[k + 1] - key_start[k],
                  .slot_begin = static_cast<int>(slot_row_.size())};
      for (int e = key_start[k]; e < key_start[k + 1]; ++e) {
        bodies_.push_back(keys[e]);
        group.width += body_size(keys[e]);
      }
      groups_.push_back(group);
    }
    ++groups_.back().num_slots;
    row_slot_[rows[k]] = static_cast<int>(slot_row_.size());
    slot_row_.push_back(rows[k]);
  }
  list_groups_of_bodies();
  for (Group& group : groups_) classify(problem, group, group.is_safe, group.is_compliant);
}

void ConstraintGraph::list_groups_of_bodies() {
  body_group_start_.assign(num_bodies() + 1, 0);
  for (const int body : bodies_) ++body_group_start_[body + 1];
  for (int b = 0; b < num_bodies(); ++b) body_group_start_[b + 1] += body_group_start_[b];
  body_groups_.resize(bodies_.size());
  std::vector<int> next(body_group_start_.begin(), body_group_start_.end() - 1);
  for (int g = 0; g < num_groups(); ++g)
    for (int k = 0; k < groups_[g].num_bodies; ++k)
      body_groups_[next[bodies_[groups_[g].body_begin + k]]++] = g;
}

bool ConstraintGraph::has_bodies_of(const Group& group, const RowPlace& place) const {
  if (group.num_bodies != place.num_entries()) return false;
  const auto begin = bodies_.begin() + group.body_begin;
  for (int k = 0; k < group.num_bodies; ++k)
    if (!std::binary_search(begin, begin + group.num_bodies, place.block(k))) return false;
  return true;
}

bool ConstraintGraph::fits_placed(const StepProblem& problem) const {
  if (dof_start_ != problem.dof_start || num_rows() != problem.num_rows()) return false;
  for (const Group& group : groups_)
    for (int slot = group.slot_begin; slot < group.slot_begin + group.num_slots; ++slot)
      if (slot_row_[slot] >= 0 && !has_bodies_of(group, place_of_row(problem, slot_row_[slot])))
        return false;
  return true;
}

bool ConstraintGraph::try_place(const StepProblem& problem, const std::vector<char>& candidates) {
  if (dof_start_ != problem.dof_start) return false;
  std::vector<int> slot_row(slot_row_.size(), -1), row_slot(problem.num_rows(), -1);
  std::vector<int> filled(groups_.size(), 0);
  for (int row = 0; row < problem.num_rows(); ++row) {
    if (!candidates[row]) continue;
    const RowPlace place = place_of_row(problem, row);
    int found = -1;
    if (place.num_entries() > 0) {
      const int body = place.block(0);
      for (int k = body_group_begin(body); k < body_group_begin(body + 1) && found < 0; ++k)
        if (has_bodies_of(groups_[body_groups_[k]], place)) found = body_groups_[k];
    } else if (!groups_.empty() && groups_[0].num_bodies == 0) {
      found = 0;  // the empty key sorts first
    }
    if (found < 0 || filled[found] == groups_[found].num_slots) return false;
    row_slot[row] = groups_[found].slot_begin + filled[found]++;
    slot_row[row_slot[row]] = row;
  }
  slot_row_ = slot_row;
  row_slot_ = row_slot;
  candidates_ = candidates;
  return true;
}

/// Adds G_b M̂_b⁻¹G_bᵀ of one body to S. False if M̂_b is not positive definite.
bool ConstraintGraph::condense(const StepProblem& problem, const Group& group, int body_index,
                               std::vector<double>& S) {
  const int body = bodies_[group.body_begin + body_index], n = body_size(body);
  const int m = group.num_slots;
  const double* mass = problem.mass_values.data() + problem.mass_start[body];
  std::vector<double>&L = mass_factor_, &Y = moved_;
  L.assign(mass, mass + static_cast<std::ptrdiff_t>(n) * n);
  if (!factor_cholesky(L, n)) return false;
  Y.assign(static_cast<std::size_t>(m) * n, 0.0);
  for (int i = 0; i < m; ++i) {
    const int row = slot_row_[group.slot_begin + i];
    if (row < 0) continue;
    const RowPlace place = place_of_row(problem, row);
    for (int k = 0; k < place.num_entries(); ++k) {
      if (place.block(k) != body) continue;
      double* y = Y.data() + static_cast<std::size_t>(i) * n;
      std::copy(place.values(k), place.values(k) + n, y);
      for (int a = 0; a < n; ++a) {
        for (int b = 0; b < a; ++b) y[a] -= L[a * n + b] * y[b];
        y[a] /= L[a * n + a];
      }
    }
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j)
      S[i * m + j] += std::inner_product(Y.begin() + static_cast<std::ptrdiff_t>(i) * n,
                                         Y.begin() + static_cast<std::ptrdiff_t>(i + 1) * n,
                                         Y.begin() + static_cast<std::ptrdiff_t>(j) * n, 0.0);
  return true;
}

bool ConstraintGraph::has_same_freedom(const StepProblem& problem, int g) {
  bool is_safe = false, is_compliant = false;
  classify(problem, groups_[g], is_safe, is_compliant);
  return is_safe == groups_[g].is_safe && is_compliant == groups_[g].is_compliant;
}

/// Tells what the order may do with a group, from the numbers of its rows and bodies.
void ConstraintGraph::classify(const StepProblem& problem, const Group& group, bool& is_safe,
                               bool& is_compliant) {
  const int m = group.num_slots;
  is_safe = is_compliant = false;
  const std::size_t size = static_cast<std::size_t>(m) * m;
  whole_.assign(size, 0.0);
  for (int k = 0; k < group.num_bodies; ++k) {
    std::vector<double>& part = parts_[k % 2];
    part.assign(size, 0.0);
    if (!condense(problem, group, k, part)) return;
    for (std::size_t i = 0; i < size; ++i) whole_[i] += part[i];
  }
  diagonal_.resize(m);
  is_compliant = true;
  for (int i = 0; i < m; ++i) {
    const int row = slot_row_[group.slot_begin + i];
    const double compliance = row < 0 ? 1 : compliance_of_row(problem, row);
    is_compliant = is_compliant && compliance > kStiffShare * whole_[i * m + i];
    diagonal_[i] = whole_[i * m + i] += compliance;
    for (std::vector<double>& part : parts_)
      if (group.num_bodies == 2) part[i * m + i] += compliance;
  }
  if (group.num_bodies != 2) return;
  const int rank = compute_rank(whole_, diagonal_, is_done_);
  is_safe = compute_rank(parts_[0], diagonal_, is_done_) == rank &&
            compute_rank(parts_[1], diagonal_, is_done_) == rank;
}

}  // namespace stiction
