#include "stiction/solve/joint_lu.h"

#include <algorithm>
#include <cmath>

#include "stiction/solve/joint_lu_kernel.h"

namespace stiction {
namespace {

// A pivot that has cancelled to this share of its weight is one of a dependent row, unless its own
// compliance explains it.
constexpr double kTinyPivot = 1e-12;
constexpr double kLeastCompliance = 1e-13;  // of the weight: less drowns in rounding

/// Calls visit<kSize, kRows>() for bodies of joint systems, visit<0, 0>() for the others.
template <class Visit>
decltype(auto) with_known_sizes(int size, int num_rows, const Visit& visit) {
  if (size == 6) {
    switch (num_rows) {
      case 3:
        return visit.template operator()<6, 3>();
      case 5:
        return visit.template operator()<6, 5>();
      case 6:
        return visit.template operator()<6, 6>();
      case 10:
        return visit.template operator()<6, 10>();
      case 15:
        return visit.template operator()<6, 15>();
      default:
        return visit.template operator()<6, 0>();
    }
  }
  if (size == 3 && num_rows == 2) return visit.template operator()<3, 2>();
  if (size == 3 && num_rows == 4) return visit.template operator()<3, 4>();
  return visit.template operator()<0, 0>();
}

/// The same for groups of rows.
template <class Visit>
decltype(auto) with_group_size(int size, const Visit& visit) {
  return with_known_size<3, 5, 6, 1, 2>(size, visit);
}

/// Whether L of a pivot is kept as L D⁻¹. In a chain every pivot waits for the one before, which is
/// then the product of a matrix with a vector and not a solve, too. For larger groups the product
/// L D⁻¹ costs more than the wait.
constexpr bool has_scaled_lower(int size) { return size > 0 && size <= 3; }

}  // namespace

bool JointLu::factor(const StepProblem& problem, const std::vector<char>& active, double damping) {
  problem_ = &problem;
  are_all_active_ = true;
  for (std::size_t slot = 0; slot < row_of_slot_.size(); ++slot) {
    is_active_[slot] = active[row_of_slot_[slot]];
    are_all_active_ = are_all_active_ && is_active_[slot];
  }
  rows_ = RowValues(problem);
  std::fill(blocks_.begin(), blocks_.end(), 0.0);
  for (const Body& body : bodies_) {
    const bool is_definite = with_known_sizes(
        body.size, body.num_rows,
        [&]<int kSize, int kRows>() { return eliminate_body<kSize, kRows>(body); });
    if (!is_definite) return false;
  }
  load_diagonal(damping);
  for (const Pivot& pivot : pivots_) {
    const bool is_finite =
        with_group_size(pivot.size, [&]<int kSize>() { return eliminate_pivot<kSize>(pivot); });
    if (!is_finite) return false;
  }
  name_redundant_rows();
  return true;
}

/// Factors M̂ and adds R M̂⁻¹Rᵀ of the body to S.
template <int kSize, int kRows>
bool JointLu::eliminate_body(const Body& body) {
  Room<kRows * kRows> room(scratch_.data());
  double* W = room.begin();
  bool& splits = mass_traits_[body.block].splits;
  splits = kSize == 6 && is_split(problem_->mass_values.data() + problem_->mass_start[body.block]);
  if (!(splits ? eliminate_split<kRows>(body, W) : eliminate_dense<kSize, kRows>(body, W)))
    return false;
  add_mobility(body, W);
  return true;
}

/// Calls visit(row of the body, slot, its numbers) for all rows of a body.
template <class Visit>
inline void JointLu::visit_rows(const Body& body, const Visit& visit) const {
  const int* place = row_places_.data() + body.row_begin;
  const Touch* const end = touches_.data() + body.touch_end;
  int row = 0;
  for (const Touch* touch = touches_.data() + body.touch_begin; touch != end; ++touch)
    for (int i = 0; i < touch->count; ++i, ++row) visit(row, touch->slot + i, rows_.at(place[row]));
}

template <int kRows>
bool JointLu::eliminate_split(const Body& body, double* W) {
  const int m = known<kRows>(body.num_rows);
  const double* mass = problem_->mass_values.data() + problem_->mass_start[body.block];
  SplitFactors factors;
  if (!factors.factor(mass, mass_traits_[body.block].has_grown)) return false;
  factors.store(mass_factors_.data() + body.factors);
  Room<6 * kRows> room(scratch_.data() + m * m);
  double* R = room.begin();
  visit_rows(body, [&](int row, int slot, const double* values) {
    const Halves halves = is_on(slot) ? Halves::of(SixPairs::load(values)) : Halves{};
    store_pair(halves.x, R + 6 * row);
    store_pair(halves.y, R + 6 * row + 2);
    store_pair(halves.z, R + 6 * row + 4);
  });
  multiply_split<kRows>(factors, R, m, W);
  return true;
}

template <int kSize, int kRows>
bool JointLu::eliminate_dense(const Body& body, double* W) {
  const int n = known<kSize>(body.size), m = known<kRows>(body.num_rows);
  const double* mass = problem_->mass_values.data() + problem_->mass_start[body.block];
  double* factors = mass_factors_.data() + body.factors;
  // Of known size they are local, where nothing else can point at them.
  Room<kSize * kSize> lu_room(factors);
  Room<kSize * kRows> R_room(scratch_.data() + m * m), X_room(scratch_.data() + m * m + m * n);
  double *lu = lu_room.begin(), *R = R_room.begin(), *X = X_room.begin();
  for (int i = 0; i < n * n; ++i) lu[i] = mass[i];
  if (!factor_definite<kSize>(lu, n, mass_traits_[body.block].has_grown)) return false;
  lu_room.copy_to(factors);
  visit_rows(body, [&](int row, int slot, const double* values) {
    for (int k = 0; k < n; ++k) X[k * m + row] = R[row * n + k] = is_on(slot) ? values[k] : 0;
  });
  solve_columns<kSize, kRows>(lu, n, m, X);
  multiply<kSize, kRows>(R, X, n, m, W);
  return true;
}

/// W = R M̂⁻¹Rᵀ of a body to the blocks of S.
void JointLu::add_mobility(const Body& body, const double* W) {
  const int m = body.num_rows, num_touches = body.touch_end - body.touch_begin;
  const Touch* touches = touches_.data() + body.touch_begin;
  const Target* target = targets_.data() + body.target_begin;
  for (int a = 0; a < num_touches; ++a)
    for (int b = 0; b < num_touches; ++b, ++target) {
      const int rows = touches[a].count, columns = touches[b].count, stride = target->stride;
      const double* from = W + touches[a].local * m + touches[b].local;
      double* to = blocks_.data() + target->at;
      with_known_size<3, 5>(columns, [&]<int kColumns>() {
        for (int i = 0; i < rows; ++i, to += stride, from += m)
          for (int j = 0; j < known<kColumns>(columns); ++j) to[j] += from[j];
      });
    }
}

/// Weights, compliances and the equations of rows that are switched off.
void JointLu::load_diagonal(double damping) {
  for (const Pivot& pivot : pivots_)
    for (int i = 0; i < pivot.size; ++i) {
      const int slot = pivot.slot + i, row = row_of_slot_[slot];
      double& diagonal = blocks_[pivot.diagonal + static_cast<std::size_t>(i) * (pivot.size + 1)];
      compliance_[slot] = !is_active_[slot] ? 1
                          : row < num_bilateral_
                              ? problem_->compliance[row]
                              : problem_->contact_compliance[row - num_bilateral_];
      weight_[slot] = diagonal += compliance_[slot];
      diagonal *= 1 + damping;
    }
}

template <int kSize>
bool JointLu::eliminate_pivot(const Pivot& pivot) {
  const int n = known<kSize>(pivot.size), m = pivot.rest;
  double* D = blocks_.data() + pivot.diagonal;
  double* inverse = inverse_.data() + pivot.slot;
  for (int i = 0; i < n; ++i) {
    double d = D[i * n + i];
    if (!std::isfinite(d)) return false;
    // Exactly, no pivot is smaller than its own compliance.
    const double compliance = compliance_[pivot.slot + i], weight = weight_[pivot.slot + i];
    const bool is_soft = compliance > kLeastCompliance * weight;
    if (is_soft) d = std::max(d, compliance);
    inverse[i] = is_soft || d > kTinyPivot * weight ? 1 / d : 0;
    for (int r = i + 1; r < n; ++r) {
      const double factor = D[r * n + i] *= inverse[i];
      for (int c = i + 1; c < n; ++c) D[r * n + c] -= factor * D[i * n + c];
    }
  }
  if (m == 0) return true;
  double* U = blocks_.data() + pivot.upper;
  if (m == n)
    solve_panel<kSize, kSize>(D, inverse, n, m, U);
  else
    solve_panel<kSize, 0>(D, inverse, n, m, U);
  update_rest<kSize>(pivot);
  if constexpr (has_scaled_lower(kSize))
    solve_rows<kSize>(D, inverse, n, m, blocks_.data() + pivot.lower);
  return true;
}

/// What is left of S: minus L D⁻¹U.
template <int kSize>
void JointLu::update_rest(const Pivot& pivot) {
  const int n = known<kSize>(pivot.size), num_later = pivot.later_end - pivot.later_begin;
  const Later* later = later_.data() + pivot.later_begin;
  const Target* target = pivot_targets_.data() + pivot.target_begin;
  const double* U = blocks_.data() + pivot.upper;
  const double* L = blocks_.data() + pivot.lower;
  for (int a = 0; a < num_later; ++a)
    for (int b = 0; b < num_later; ++b, ++target) {
      const double* row = L + static_cast<std::ptrdiff_t>(later[a].local) * n;
      double* to = blocks_.data() + target->at;
      const double* columns = U + later[b].local;
      for (int i = 0; i < later[a].size; ++i, row += n, to += target->stride) {
        if (later[b].size == n)
          subtract_row<kSize, kSize>(row, columns, n, n, pivot.rest, to);
        else
          subtract_row<kSize, 0>(row, columns, n, later[b].size, pivot.rest, to);
      }
    }
}

void JointLu::name_redundant_rows() {
  redundant_rows_.clear();
  for (std::size_t slot = 0; slot < inverse_.size(); ++slot)
    if (inverse_[slot] == 0) redundant_rows_.push_back(row_of_slot_[slot]);
  std::sort(redundant_rows_.begin(), redundant_rows_.end());
}

void JointLu::solve(const double* f, const double* g) {
  f_ = f;
  for (std::size_t slot = 0; slot < g_.size(); ++slot) {
    g_[slot] = missed_[slot] = is_active_[slot] ? g[row_of_slot_[slot]] : 0;
    x_[slot] = 0;
  }
  move_bodies<Motion::kFree>();
  (void)change_impulses();
  move_bodies<Motion::kWhole>();
}

double JointLu::refine() {
  const double change = change_impulses();
  move_bodies<Motion::kChange>();
  return change;
}

/// x and what rows miss of g − C x; the relative size of the change.
double JointLu::change_impulses() {
  std::swap(missed_, step_);
  substitute();
  double change = 0, size = 0;
  for (std::size_t slot = 0; slot < x_.size(); ++slot) {
    const double step = step_[slot], x = x_[slot] += step;
    change += weight_[slot] * step * step;
    size += weight_[slot] * x * x;
    missed_[slot] = g_[slot] - compliance_[slot] * x;
  }
  return size > 0 ? std::sqrt(change / size) : 0;
}

/// Takes R w off what rows miss. Free: w = M̂⁻¹f, of no further use. Whole: w = M̂⁻¹(f + Rᵀx) after
/// the first change of x, which is x itself. Change: w += M̂⁻¹Rᵀ of the last one.
template <JointLu::Motion kMotion>
void JointLu::move_bodies() {
  for (const Body& body : bodies_) {
    if (mass_traits_[body.block].splits)
      move_split<kMotion>(body);
    else
      with_known_size<3, 6>(body.size, [&]<int kSize>() { move_dense<kSize, kMotion>(body); });
  }
  if (are_all_active_) return;
  for (std::size_t slot = 0; slot < missed_.size(); ++slot)
    if (!is_active_[slot]) missed_[slot] = 0;
}

template <JointLu::Motion kMotion>
void JointLu::move_split(const Body& body) {
  const SplitFactors factors = SplitFactors::load(mass_factors_.data() + body.factors);
  SixPairs momentum{};
  if constexpr (kMotion != Motion::kChange) momentum = SixPairs::load(f_ + body.dof);
  if constexpr (kMotion != Motion::kFree)
    visit_rows(body, [&](int, int slot, const double* row) {
      momentum.add(SixPairs::load(row), step_[slot]);
    });
  SixPairs w = factors.solve(Halves::of(momentum)).joined();
  if (mass_traits_[body.block].has_grown) {
    const double* mass = problem_->mass_values.data() + problem_->mass_start[body.block];
    const auto times_w = [&](int k) { return SixPairs::load(mass + 6 * k).dot(w); };
    momentum.a -= Pair{times_w(0), times_w(1)};
    momentum.b -= Pair{times_w(2), times_w(3)};
    momentum.c -= Pair{times_w(4), times_w(5)};
    w.add(factors.solve(Halves::of(momentum)).joined(), 1);
  }
  if constexpr (kMotion == Motion::kChange) w.add(SixPairs::load(w_.data() + body.dof), 1);
  if constexpr (kMotion != Motion::kFree) w.store(w_.data() + body.dof);
  visit_rows(
      body, [&](int, int slot, const double* row) { missed_[slot] -= SixPairs::load(row).dot(w); });
}

template <int kSize, JointLu::Motion kMotion>
void JointLu::move_dense(const Body& body) {
  const int n = known<kSize>(body.size);
  const double* lu = mass_factors_.data() + body.factors;
  Room<kSize> room(scratch_.data()), momentum_room(scratch_.data() + n);
  double *w = room.begin(), *momentum = momentum_room.begin();
  for (int k = 0; k < n; ++k) momentum[k] = kMotion == Motion::kChange ? 0 : f_[body.dof + k];
  if constexpr (kMotion != Motion::kFree)
    visit_rows(body, [&](int, int slot, const double* row) {
      for (int k = 0; k < n; ++k) momentum[k] += row[k] * step_[slot];
    });
  for (int k = 0; k < n; ++k) w[k] = momentum[k];
  solve_definite<kSize>(lu, n, w);
  if (mass_traits_[body.block].has_grown) {
    const double* mass = problem_->mass_values.data() + problem_->mass_start[body.block];
    for (int k = 0; k < n; ++k) momentum[k] -= dot<kSize>(mass + k * n, w, n);
    solve_definite<kSize>(lu, n, momentum);
    for (int k = 0; k < n; ++k) w[k] += momentum[k];
  }
  if constexpr (kMotion != Motion::kFree)
    for (int k = 0; k < n; ++k)
      w[k] = w_[body.dof + k] = kMotion == Motion::kChange ? w_[body.dof + k] + w[k] : w[k];
  visit_rows(body,
             [&](int, int slot, const double* row) { missed_[slot] -= dot<kSize>(row, w, n); });
}

/// step_ ← what the factors of S + C make of it.
void JointLu::substitute() {
  for (const Pivot& pivot : pivots_)
    with_group_size(pivot.size, [&]<int kSize>() { substitute_forward<kSize>(pivot); });
  for (std::size_t k = pivots_.size(); k-- > 0;)
    with_group_size(pivots_[k].size, [&]<int kSize>() { substitute_back<kSize>(pivots_[k]); });
}

template <int kSize>
void JointLu::substitute_forward(const Pivot& pivot) {
  const int n = known<kSize>(pivot.size);
  Room<kSize> room(step_.data() + pivot.slot);
  double* z = room.begin();
  for (int i = 0; i < n; ++i) z[i] = step_[pivot.slot + i];
  if constexpr (!has_scaled_lower(kSize)) {
    solve_block<kSize>(blocks_.data() + pivot.diagonal, inverse_.data() + pivot.slot, n, z);
    room.copy_to(step_.data() + pivot.slot);
  }
  const double* row = blocks_.data() + pivot.lower;
  for (int t = pivot.later_begin; t < pivot.later_end; ++t)
    for (int i = 0; i < later_[t].size; ++i, row += n)
      step_[later_[t].slot + i] -= dot<kSize>(row, z, n);
}

template <int kSize>
void JointLu::substitute_back(const Pivot& pivot) {
  const int n = known<kSize>(pivot.size);
  Room<kSize> room(step_.data() + pivot.slot);
  double* z = room.begin();
  for (int i = 0; i < n; ++i) z[i] = step_[pivot.slot + i];
  if constexpr (has_scaled_lower(kSize))
    solve_block<kSize>(blocks_.data() + pivot.diagonal, inverse_.data() + pivot.slot, n, z);
  const double* U = blocks_.data() + pivot.upper;
  for (int t = pivot.later_begin; t < pivot.later_end; ++t)
    for (int i = 0; i < n; ++i) {
      const double* row = U + static_cast<std::ptrdiff_t>(i) * pivot.rest + later_[t].local;
      const double* x = step_.data() + later_[t].slot;
      double sum = 0;
      for (int j = 0; j < later_[t].size; ++j) sum += row[j] * x[j];
      z[i] -= sum;
    }
  room.copy_to(step_.data() + pivot.slot);
}

double JointLu::momentum_defect(const StepProblem& problem, int block,
                                const StepSolution& solution) const {
  const Body& body = bodies_[body_of_block_[block]];
  const double* mass = problem.mass_values.data() + problem.mass_start[block];
  const RowValues values(problem);
  double square = 0, size = 0;
  for (int k = 0; k < body.size; ++k) {
    double sum = -problem.p[body.dof + k], terms = std::abs(sum);
    for (int j = 0; j < body.size; ++j) {
      const double term = mass[k * body.size + j] * solution.w[body.dof + j];
      sum += term;
      terms += std::abs(term);
    }
    for (int t = body.touch_begin; t < body.touch_end; ++t)
      for (int i = 0; i < touches_[t].count; ++i) {
        const int row = row_of_slot_[touches_[t].slot + i];
        const double x =
            row < num_bilateral_ ? solution.lambda[row] : solution.r[row - num_bilateral_];
        const double term = values.at(row_places_[body.row_begin + touches_[t].local + i])[k] * x;
        sum -= term;
        terms += std::abs(term);
      }
    square += sum * sum;
    size += terms * terms;
  }
  return size > 0 ? std::sqrt(square / size) : 0;
}

}  // namespace stiction
