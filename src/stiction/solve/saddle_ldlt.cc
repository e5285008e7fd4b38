#include "stiction/solve/saddle_ldlt.h"

#include <algorithm>
#include <cmath>

#include "stiction/solve/saddle_ldlt_kernel.h"

namespace stiction {
namespace {

// A pivot that has cancelled to this part of its scale is one of a dependent row: rounding leaves
// about 1e-16 times the growth of the elimination, two contacts at a distance of a millionth of
// the bodies' size leave 1e-12.
constexpr double kTinyPivot = 1e-12;
constexpr double kWeakPivot = 1e-6;         // of an early group: worth a second look
constexpr double kLeastCompliance = 1e-10;  // of rows that were eliminated first, of their mobility
constexpr double kAsymmetry = 1e-12;        // of a mass block, relative: rounding of its assembly

bool is_symmetric(const double* block, int n) {
  double largest = 0, difference = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      largest = std::max(largest, std::abs(block[i * n + j]));
      difference = std::max(difference, std::abs(block[i * n + j] - block[j * n + i]));
    }
  return !(difference > kAsymmetry * largest);
}

}  // namespace

SaddleLdlt::Status SaddleLdlt::factor(const StepProblem& problem, const std::vector<char>& active,
                                      const std::vector<double>& extra_compliance) {
  // After a failure the order may be one for other numbers.
  if (has_failed_ || !place_rows(problem, active)) rebuild(problem, active);
  const bool is_new = !is_factored_;  // the order is made for these numbers then
  Status status = Status::kNonsymmetric;
  if (load(problem, active, extra_compliance)) {
    status = Status::kIndefinite;
    if (is_new || has_compliance_left()) status = factor_fronts();
    if (!is_new && (status != Status::kFactored || has_unsafe_pivot(problem))) {
      rebuild(problem, std::vector<char>(graph_.candidates()));
      (void)load(problem, active, extra_compliance);
      status = factor_fronts();
    }
  }
  is_factored_ = status == Status::kFactored;
  has_failed_ = !is_factored_;
  if (is_factored_) {
    std::fill(is_changed_.begin(), is_changed_.end(), 0);
    name_redundant_rows();
  }
  return status;
}

/// Factors the fronts that hold changed numbers, and those above them.
SaddleLdlt::Status SaddleLdlt::factor_fronts() {
  fronts_refactored_ = 0;
  flops_ = 0;
  const bool has_changed =
      std::find(is_changed_.begin(), is_changed_.end(), 1) != is_changed_.end();
  const bool is_all_stale = !is_factored_ || (is_lean_ && has_changed);
  for (std::size_t f = 0; f < fronts_.size(); ++f) {
    const Front& front = fronts_[f];
    bool is_stale = is_all_stale;
    for (int i = front.item_begin; i < front.item_end; ++i)
      is_stale = is_stale || is_changed_[items_[i].node];
    for (int c = front.child_begin; c < front.child_end; ++c)
      is_stale = is_stale || is_stale_[children_[c]];
    is_stale_[f] = is_stale;
    if (!is_stale) continue;
    ++fronts_refactored_;
    flops_ += front.flops;
    if (!refactor(static_cast<int>(f))) return Status::kIndefinite;
  }
  return Status::kFactored;
}

/// Whether the present graph has a place for every active row.
bool SaddleLdlt::place_rows(const StepProblem& problem, const std::vector<char>& active) {
  if (num_analyses_ == 0) return false;
  bool is_known = graph_.num_rows() == problem.num_rows();
  for (int row = 0; is_known && row < problem.num_rows(); ++row)
    is_known = !active[row] || graph_.row_slot(row) >= 0;
  if (is_known && graph_.fits_placed(problem)) return true;
  if (!graph_.try_place(problem, active)) return false;
  is_exact_ = false;
  return true;
}

/// Copies the numbers of the problem and marks the nodes where they have changed. False if a mass
/// block is not symmetric.
bool SaddleLdlt::load(const StepProblem& problem, const std::vector<char>& active,
                      const std::vector<double>& extra) {
  if (!load_bodies(problem)) return false;
  for (int g = 0; g < graph_.num_groups(); ++g) load_group(problem, g, active, extra);
  return true;
}

bool SaddleLdlt::load_bodies(const StepProblem& problem) {
  for (int b = 0; b < graph_.num_bodies(); ++b) {
    const double* block = problem.mass_values.data() + problem.mass_start[b];
    const int n = graph_.body_size(b);
    for (int i = 0; i < n * n; ++i) store(value_start_[b] + i, block[i], b);
    if (is_changed_[b] && !is_symmetric(block, n)) return false;
  }
  return true;
}

void SaddleLdlt::load_group(const StepProblem& problem, int g, const std::vector<char>& active,
                            const std::vector<double>& extra) {
  const ConstraintGraph::Group& group = graph_.group(g);
  const int node = graph_.num_bodies() + g;
  const std::size_t compliances =
      value_start_[node] + static_cast<std::size_t>(group.num_slots) * group.width;
  for (int i = 0; i < group.num_slots; ++i) {
    const int slot = group.slot_begin + i, row = graph_.slot_row(slot);
    const bool is_active = row >= 0 && active[row];
    if ((active_slot_[slot] != 0) != is_active) is_changed_[node] = 1;
    active_slot_[slot] = is_active;
    std::fill(packed_.begin(), packed_.begin() + group.width, 0.0);
    double compliance = 1;  // of a row that is switched off: its equation is x = 0
    if (is_active) {
      const RowPlace place = ConstraintGraph::place_of_row(problem, row);
      for (int k = 0; k < place.num_entries(); ++k) {
        int column = 0;
        for (int e = 0; graph_.body(group.body_begin + e) != place.block(k); ++e)
          column += graph_.body_size(graph_.body(group.body_begin + e));
        std::copy(place.values(k), place.values(k) + place.columns(k), packed_.begin() + column);
      }
      compliance = row < problem.num_bilateral()
                       ? problem.compliance[row]
                       : problem.contact_compliance[row - problem.num_bilateral()];
      if (!extra.empty()) compliance += extra[row];
    }
    const std::size_t at = value_start_[node] + static_cast<std::size_t>(i) * group.width;
    for (int k = 0; k < group.width; ++k) store(at + k, packed_[k], node);
    store(compliances + i, compliance, node);
  }
}

/// Groups that were eliminated early for their compliance still have enough of it: a cheap estimate
/// with the diagonal of M̂.
bool SaddleLdlt::has_compliance_left() const {
  for (int g = 0; g < graph_.num_groups(); ++g) {
    const ConstraintGraph::Group& group = graph_.group(g);
    const int node = graph_.num_bodies() + g;
    if (!group.is_compliant || !is_changed_[node]) continue;
    const double* values = values_.data() + value_start_[node];
    const double* compliance = values + static_cast<std::ptrdiff_t>(group.num_slots) * group.width;
    for (int i = 0; i < group.num_slots; ++i) {
      double mobility = 0;
      for (int e = 0; e < group.num_bodies; ++e) {
        const int body = graph_.body(group.body_begin + e), n = graph_.body_size(body);
        const double* mass = values_.data() + value_start_[body];
        for (int k = 0; k < n; ++k, ++values) mobility += *values * *values / mass[k * n + k];
      }
      if (!(compliance[i] >= kLeastCompliance * mobility)) return false;
    }
  }
  return true;
}

/// Early groups rest on numbers. If the pivot of one has become weak, it is looked at again:
/// dependent rows of the group are no reason to worry, a body that does not tell its rows apart any
/// more is.
bool SaddleLdlt::has_unsafe_pivot(const StepProblem& problem) {
  for (std::size_t f = 0; f < fronts_.size(); ++f) {
    if (!is_stale_[f]) continue;
    const Front& front = fronts_[f];
    for (int k = front.first_node; k < front.first_node + front.num_nodes; ++k) {
      const int g = order_[k] - graph_.num_bodies();
      if (g < 0 || !graph_.group(g).is_early || graph_.group(g).is_compliant) continue;
      bool is_weak = false;
      for (int i = start_[k]; i < start_[k + 1]; ++i)
        is_weak =
            is_weak || -pivot_[i] < kWeakPivot * weights_[front.weight + i - front.first_pivot];
      if (is_weak && !graph_.has_same_freedom(problem, g)) return true;
    }
  }
  return false;
}

LdltPanel SaddleLdlt::panel_of(const Front& front) {
  return {.values = panels_.data() + front.panel,
          .num_rows = front.num_rows,
          .num_pivots = front.num_pivots,
          .is_row = is_row_.data() + front.first_pivot,
          .weight = weights_.data() + front.weight,
          .pivot = pivot_.data() + front.first_pivot,
          .inverse = inverse_.data() + front.first_pivot};
}

bool SaddleLdlt::refactor(int f) {
  const Front& front = fronts_[f];
  const std::size_t rows = front.num_rows, rest = rows - front.num_pivots;
  double* kept = updates_.data() + front.update;
  double* update = is_lean_ ? own_update_.data() : kept;
  std::fill_n(panels_.begin() + static_cast<std::ptrdiff_t>(front.panel), rows * front.num_pivots,
              0.0);
  std::fill_n(update, rest * rest, 0.0);
  std::fill_n(weights_.begin() + static_cast<std::ptrdiff_t>(front.weight), rows, 0.0);
  for (int i = front.item_begin; i < front.item_end; ++i) assemble(front, items_[i]);
  for (int c = front.child_begin; c < front.child_end; ++c)
    add_child(fronts_[children_[c]], front, update);
  const LdltPanel panel = panel_of(front);
  if (!factor_panel(panel, kTinyPivot)) return false;
  subtract_outer_product(panel, update);
  if (is_lean_) std::copy_n(update, rest * rest, kept);
  return true;
}

void SaddleLdlt::assemble(const Front& front, const Item& item) {
  const double* block = values_.data() + item.value;
  double* panel = panels_.data() + front.panel;
  const std::ptrdiff_t ld = front.num_rows;
  switch (item.kind) {
    case Item::Kind::kMass:
      for (int j = 0; j < item.num_columns; ++j)
        for (int i = j; i < item.num_rows; ++i)
          panel[(item.column + j) * ld + item.row + i] += block[i * item.stride + j];
      break;
    case Item::Kind::kCompliance:
      for (int i = 0; i < item.num_rows; ++i) {
        panel[(item.column + i) * ld + item.row + i] -= block[i];
        weights_[front.weight + item.row + i] += block[i];
      }
      break;
    case Item::Kind::kJacobian:
      for (int i = 0; i < item.num_rows; ++i)
        for (int j = 0; j < item.num_columns; ++j)
          panel[(item.column + j) * ld + item.row + i] += block[i * item.stride + j];
      break;
    case Item::Kind::kTransposed:
      for (int i = 0; i < item.num_rows; ++i)
        for (int j = 0; j < item.num_columns; ++j)
          panel[(item.column + i) * ld + item.row + j] += block[i * item.stride + j];
      break;
  }
}

/// Adds what a child hands up to the front's panel and to its own update, `target`.
void SaddleLdlt::add_child(const Front& child, const Front& front, double* target) {
  const int size = child.num_rows - child.num_pivots, pivots = front.num_pivots;
  const std::ptrdiff_t rest = front.num_rows - pivots;
  const int* place = relative_.data() + child.rest_begin;
  const double* update = updates_.data() + child.update;
  for (int j = 0; j < size; ++j, update += size) {
    double* column = place[j] < pivots ? panels_.data() + front.panel +
                                             static_cast<std::ptrdiff_t>(place[j]) * front.num_rows
                                       : target + (place[j] - pivots) * rest - pivots;
    for (int i = j; i < size; ++i) column[place[i]] += update[i];
    weights_[front.weight + place[j]] += weights_[child.weight + child.num_pivots + j];
  }
}

void SaddleLdlt::name_redundant_rows() {
  redundant_rows_.clear();
  for (int g = 0; g < graph_.num_groups(); ++g) {
    const ConstraintGraph::Group& group = graph_.group(g);
    const int start = start_[position_[graph_.num_bodies() + g]];
    for (int i = 0; i < group.num_slots; ++i)
      if (inverse_[start + i] == 0)
        redundant_rows_.push_back(graph_.slot_row(group.slot_begin + i));
  }
  std::sort(redundant_rows_.begin(), redundant_rows_.end());
}

}  // namespace stiction
