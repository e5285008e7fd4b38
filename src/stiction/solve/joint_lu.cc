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

/// Whether M̂⁻¹Rᵀ of a body is kept by columns, one per row of R, so that motions are added up
/// without a sum across.
constexpr bool is_moved_by_rows(int size, int num_rows) { return size == 6 && num_rows > 0; }

}  // namespace

bool JointLu::factor(const StepProblem& problem, const std::vector<char>& active, double damping) {
  problem_ = &problem;
  are_all_active_ = true;
  for (std::size_t slot = 0; slot < row_of_slot_.size(); ++slot) {
    is_active_[slot] = active[row_of_slot_[slot]];
    are_all_active_ = are_all_active_ && is_active_[slot];
  }
  std::fill(blocks_.begin(), blocks_.end(), 0.0);
  for (const Body& body : bodies_) {
    load_rows(body);
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

const double* JointLu::row_values(const StepProblem& problem, const Source& source) const {
  const BlockRows& rows = source.row < num_bilateral_ ? problem.bilateral : problem.contacts;
  return rows.entry_values(source.entry) + source.offset;
}

/// R of one body. Rows that are switched off are empty.
void JointLu::load_rows(const Body& body) {
  const int n = body.size;
  double* R = bodies_data_.data() + body.data + static_cast<std::ptrdiff_t>(n) * n;
  const Source* source = sources_.data() + body.source_begin;
  for (int i = 0; i < body.num_rows; ++i, ++source, R += n) {
    if (!are_all_active_ && !is_active_[slot_of_row_[source->row]]) {
      std::fill_n(R, n, 0.0);
      continue;
    }
    const double* values = row_values(*problem_, *source);
    if (n == 6)
      SixPairs::load(values).store(R);
    else
      std::copy_n(values, n, R);
  }
}

/// Factors M̂ and adds R M̂⁻¹Rᵀ of the body to S.
template <int kSize, int kRows>
bool JointLu::eliminate_body(const Body& body) {
  const int n = known<kSize>(body.size), m = known<kRows>(body.num_rows);
  double* data = bodies_data_.data() + body.data;
  const double* mass = problem_->mass_values.data() + problem_->mass_start[body.block];
  const double* R = data + n * n;
  Room<kRows * kRows> W_room(scratch_.data());
  double* W = W_room.begin();
  const bool splits = kSize == 6 && is_split(mass);
  splits_[body.block] = splits;
  if (splits) {
    for (int i = 0; i < 36; ++i) data[i] = mass[i];
    if (!factor_split(data)) return false;
    eliminate_split<kRows, is_moved_by_rows(kSize, kRows)>(data, R, m, data + n * n + n * m, W);
  } else {
    // Of known size they are local, where nothing else can point at them.
    Room<kSize * kSize> lu_room(data);
    Room<kSize * kRows> X_room(data + n * n + n * m);
    double *lu = lu_room.begin(), *X = X_room.begin();
    for (int i = 0; i < n * n; ++i) lu[i] = mass[i];
    if (!factor_definite<kSize>(lu, n)) return false;
    for (int i = 0; i < m; ++i)
      for (int k = 0; k < n; ++k) X[k * m + i] = R[i * n + k];
    solve_columns<kSize, kRows>(lu, n, m, X);
    multiply<kSize, kRows>(R, X, n, m, W);
    lu_room.copy_to(data);
    if constexpr (is_moved_by_rows(kSize, kRows)) {
      for (int i = 0; i < m; ++i)
        for (int k = 0; k < n; ++k) data[n * n + n * m + i * n + k] = X[k * m + i];
    } else {
      X_room.copy_to(data + n * n + n * m);
    }
  }
  add_mobility(body, W);
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
  std::copy_n(f, f_.size(), f_.begin());
  for (std::size_t slot = 0; slot < g_.size(); ++slot)
    g_[slot] = is_active_[slot] ? g[row_of_slot_[slot]] : 0;
  correct<true>();
  std::swap(w_, step_w_);
  std::swap(x_, step_x_);
}

double JointLu::refine() {
  correct<false>();
  for (std::size_t i = 0; i < w_.size(); ++i) w_[i] += step_w_[i];
  double change = 0, size = 0;
  for (std::size_t slot = 0; slot < x_.size(); ++slot) {
    x_[slot] += step_x_[slot];
    change += weight_[slot] * step_x_[slot] * step_x_[slot];
    size += weight_[slot] * x_[slot] * x_[slot];
  }
  return size > 0 ? std::sqrt(change / size) : 0;
}

/// step_w_, step_x_ = what the factors make of the defects of (w_, x_), or of the right-hand side.
template <bool kIsFirst>
void JointLu::correct() {
  for (std::size_t slot = 0; slot < g_.size(); ++slot) {
    defect_[slot] = kIsFirst ? g_[slot] : g_[slot] - compliance_[slot] * x_[slot];
    moved_defect_[slot] = 0;
  }
  for (const Body& body : bodies_)
    with_known_sizes(body.size, body.num_rows,
                     [&]<int kSize, int kRows>() { start_body<kSize, kRows, kIsFirst>(body); });
  for (std::size_t slot = 0; slot < g_.size(); ++slot)
    step_x_[slot] = defect_[slot] - moved_defect_[slot];
  for (const Pivot& pivot : pivots_)
    with_group_size(pivot.size, [&]<int kSize>() { substitute_forward<kSize>(pivot); });
  for (std::size_t k = pivots_.size(); k-- > 0;)
    with_group_size(pivots_[k].size, [&]<int kSize>() { substitute_back<kSize>(pivots_[k]); });
  for (const Body& body : bodies_)
    with_known_sizes(body.size, body.num_rows,
                     [&]<int kSize, int kRows>() { finish_body<kSize, kRows>(body); });
}

/// The defect of momentum of a body, its free motion M̂⁻¹ of it, and what rows see of both.
template <int kSize, int kRows, bool kIsFirst>
void JointLu::start_body(const Body& body) {
  const int n = known<kSize>(body.size);
  const double* lu = bodies_data_.data() + body.data;
  const double* R = lu + n * n;
  Room<kSize> room(step_w_.data() + body.dof);
  double* step = room.begin();
  if constexpr (kIsFirst)
    for (int k = 0; k < n; ++k) step[k] = f_[body.dof + k];
  else
    find_momentum_defect<kSize>(body, R, step);
  if (kSize == 6 && splits_[body.block])
    solve_split(lu, step);
  else
    solve_definite<kSize>(lu, n, step);
  const Touch* const end = touches_.data() + body.touch_end;
  const double* row = R;
  if constexpr (kSize == 6) {
    const SixPairs motion = SixPairs::gather(step);
    for (const Touch* touch = touches_.data() + body.touch_begin; touch != end; ++touch)
      for (int i = 0; i < touch->count; ++i, row += 6)
        moved_defect_[touch->slot + i] += SixPairs::load(row).dot(motion);
    motion.store(step_w_.data() + body.dof);
  } else {
    for (const Touch* touch = touches_.data() + body.touch_begin; touch != end; ++touch)
      for (int i = 0; i < touch->count; ++i, row += n)
        moved_defect_[touch->slot + i] += dot<kSize>(row, step, n);
    room.copy_to(step_w_.data() + body.dof);
  }
}

/// f − M̂w + Rᵀx of a body; defects of its rows −= R w.
template <int kSize>
void JointLu::find_momentum_defect(const Body& body, const double* R, double* momentum) {
  const int n = known<kSize>(body.size);
  const double* mass = problem_->mass_values.data() + problem_->mass_start[body.block];
  const double *w = w_.data() + body.dof, *f = f_.data() + body.dof;
  const double* row = R;
  const Touch* const end = touches_.data() + body.touch_end;
  const Touch* touch = touches_.data() + body.touch_begin;
  if constexpr (kSize == 6) {
    const SixPairs motion = SixPairs::load(w);
    const auto times_w = [&](int k) { return SixPairs::load(mass + 6 * k).dot(motion); };
    SixPairs sum{load_pair(f) - Pair{times_w(0), times_w(1)},
                 load_pair(f + 2) - Pair{times_w(2), times_w(3)},
                 load_pair(f + 4) - Pair{times_w(4), times_w(5)}};
    for (; touch != end; ++touch)
      for (int i = 0; i < touch->count; ++i, row += 6) {
        const SixPairs entries = SixPairs::load(row);
        sum.add(entries, x_[touch->slot + i]);
        defect_[touch->slot + i] -= entries.dot(motion);
      }
    sum.store(momentum);
  } else {
    for (int i = 0; i < n; ++i) momentum[i] = f[i] - dot<kSize>(mass + i * n, w, n);
    for (; touch != end; ++touch)
      for (int i = 0; i < touch->count; ++i, row += n) {
        const double x = x_[touch->slot + i];
        for (int k = 0; k < n; ++k) momentum[k] += row[k] * x;
        defect_[touch->slot + i] -= dot<kSize>(row, w, n);
      }
  }
}

/// Adds M̂⁻¹Rᵀ times the impulses to the motion of a body.
template <int kSize, int kRows>
void JointLu::finish_body(const Body& body) {
  const int n = known<kSize>(body.size), m = known<kRows>(body.num_rows);
  const double* X = bodies_data_.data() + body.data + n * n + n * m;
  double* step = step_w_.data() + body.dof;
  if constexpr (is_moved_by_rows(kSize, kRows)) {
    SixPairs sum = SixPairs::load(step);
    for (int t = body.touch_begin; t < body.touch_end; ++t)
      for (int i = 0; i < touches_[t].count; ++i, X += 6)
        sum.add(SixPairs::load(X), step_x_[touches_[t].slot + i]);
    sum.store(step);
  } else {
    double* x = scratch_.data();
    for (int t = body.touch_begin; t < body.touch_end; ++t)
      for (int i = 0; i < touches_[t].count; ++i)
        x[touches_[t].local + i] = step_x_[touches_[t].slot + i];
    for (int k = 0; k < n; ++k) step[k] += dot<kRows>(X + k * m, x, m);
  }
}

template <int kSize>
void JointLu::substitute_forward(const Pivot& pivot) {
  const int n = known<kSize>(pivot.size);
  Room<kSize> room(step_x_.data() + pivot.slot);
  double* z = room.begin();
  for (int i = 0; i < n; ++i) z[i] = step_x_[pivot.slot + i];
  solve_block<kSize>(blocks_.data() + pivot.diagonal, inverse_.data() + pivot.slot, n, z);
  room.copy_to(step_x_.data() + pivot.slot);
  const double* row = blocks_.data() + pivot.lower;
  for (int t = pivot.later_begin; t < pivot.later_end; ++t)
    for (int i = 0; i < later_[t].size; ++i, row += n)
      step_x_[later_[t].slot + i] -= dot<kSize>(row, z, n);
}

template <int kSize>
void JointLu::substitute_back(const Pivot& pivot) {
  const int n = known<kSize>(pivot.size);
  double* z = step_x_.data() + pivot.slot;
  const double* U = blocks_.data() + pivot.upper;
  for (int t = pivot.later_begin; t < pivot.later_end; ++t)
    for (int i = 0; i < n; ++i) {
      const double* row = U + static_cast<std::ptrdiff_t>(i) * pivot.rest + later_[t].local;
      const double* x = step_x_.data() + later_[t].slot;
      double sum = 0;
      for (int j = 0; j < later_[t].size; ++j) sum += row[j] * x[j];
      z[i] -= sum;
    }
}

double JointLu::momentum_defect(const StepProblem& problem, int block,
                                const StepSolution& solution) const {
  const Body& body = bodies_[body_of_block_[block]];
  const double* mass = problem.mass_values.data() + problem.mass_start[block];
  double square = 0, size = 0;
  for (int k = 0; k < body.size; ++k) {
    double sum = -problem.p[body.dof + k], terms = std::abs(sum);
    for (int j = 0; j < body.size; ++j) {
      const double term = mass[k * body.size + j] * solution.w[body.dof + j];
      sum += term;
      terms += std::abs(term);
    }
    for (int i = 0; i < body.num_rows; ++i) {
      const Source& source = sources_[body.source_begin + i];
      const double x = source.row < num_bilateral_ ? solution.lambda[source.row]
                                                   : solution.r[source.row - num_bilateral_];
      const double term = row_values(problem, source)[k] * x;
      sum -= term;
      terms += std::abs(term);
    }
    square += sum * sum;
    size += terms * terms;
  }
  return size > 0 ? std::sqrt(square / size) : 0;
}

}  // namespace stiction
