#include "stiction/problem/certificate_rows.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "stiction/base/known_size.h"

namespace stiction {
namespace {

/// The largest block whose size the compiler knows.
constexpr int kLargestBody = 6;

/// Contacts and bodies that one task takes: some ten microseconds.
constexpr int kContactGrain = 64, kBodyGrain = 32;
constexpr int kManyContacts = 4 * kContactGrain;

/// Mass blocks of mechanics: bodies in space, in the plane, single coordinates.
template <class Visit>
decltype(auto) with_block_size(int size, const Visit& visit) {
  return with_known_size<6, 3, 1, 2>(size, visit);
}

template <int kSize>
double dot(const double* a, const double* b, int size) {
  if constexpr (kSize == 0) {
    return ConstVectorMap(a, size).dot(ConstVectorMap(b, size));
  } else {
    double sum = a[0] * b[0];
    for (int k = 1; k < kSize; ++k) sum += a[k] * b[k];
    return sum;
  }
}

/// S = LLᵀ of any size, 1/L_ii on the diagonal.
bool factor_large(double* factor, int n) {
  RowMatrixMap block(factor, n, n);
  const Eigen::LLT<Eigen::Ref<RowMatrixXd>, Eigen::Lower> cholesky(block);
  if (cholesky.info() != Eigen::Success) return false;
  for (int i = 0; i < n; ++i) {
    if (!block.row(i).head(i + 1).allFinite()) return false;
    block(i, i) = 1 / block(i, i);
  }
  return true;
}

/// The same with the rows of L divided by its diagonal: roots are then needed by nothing that
/// follows but the lengths, and the processor computes them meanwhile. An infinity or a NaN
/// anywhere ends in the pivot of its row.
template <int kSize>
bool factor_small(double* factor) {
  std::array<double, kSize> reciprocal, scaled;
  for (int i = 0; i < kSize; ++i) {
    double* row = factor + i * kSize;
    double pivot = row[i];
    for (int j = 0; j < i; ++j) {
      scaled[j] = row[j];
      for (int k = 0; k < j; ++k) scaled[j] -= scaled[k] * factor[j * kSize + k];
      row[j] = scaled[j] * reciprocal[j];
      pivot -= scaled[j] * row[j];
    }
    if (!(pivot > 0 && pivot <= std::numeric_limits<double>::max())) return false;
    reciprocal[i] = 1 / pivot;
    row[i] = std::sqrt(reciprocal[i]);
  }
  return true;
}

template <int kSize>
bool factor_block(const double* mass, int size, double* factor) {
  const int n = known<kSize>(size);
  // Numbers that are stored one by one and loaded in pairs soon after would stall the processor.
  std::array<double, kSize * kSize + 1> local;
  double* const target = kSize > 0 ? local.data() : factor;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) target[i * n + j] = 0.5 * (mass[i * n + j] + mass[j * n + i]);
  if constexpr (kSize == 0) {
    return factor_large(factor, n);
  } else {
    const bool is_definite = factor_small<kSize>(target);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) factor[i * n + j] = target[i * n + j];
    return is_definite;
  }
}

/// y = L⁻¹x
template <int kSize>
void solve_lower(const double* factor, const double* x, int size, double* y) {
  const int n = known<kSize>(size);
  std::array<double, kSize + 1> z;
  for (int i = 0; i < n; ++i) {
    const double* row = factor + static_cast<std::ptrdiff_t>(i) * n;
    if constexpr (kSize == 0) {
      y[i] = (x[i] - dot<0>(row, y, i)) * row[i];
    } else {
      z[i] = x[i];
      for (int k = 0; k < i; ++k) z[i] -= row[k] * z[k];
      y[i] = z[i] * row[i];
    }
  }
}

/// Room for `kCount` vectors: its own where the compiler knows their size, else the given one.
template <int kSize, int kCount>
class Room {
 public:
  explicit Room(double* other) : begin_(kSize > 0 ? own_.data() : other) {}
  double* begin() { return begin_; }

 private:
  std::array<double, kSize * kCount + 1> own_;
  double* begin_;
};

template <int kSize>
double energy_norm(const double* factor, const double* x, int size, double* scratch) {
  Room<kSize, 1> y(scratch);
  solve_lower<kSize>(factor, x, size, y.begin());
  return std::sqrt(dot<kSize>(y.begin(), y.begin(), size));
}

/// One row block and one mass block that it touches.
struct Meeting {
  int num_rows, columns;
  const double* jacobian;  // num_rows × columns
  const double* factor;    // of the mass block
  const double* w;
  const double* impulse;  // of the row block
  double* defect;         // of the mass block
  double* scratch;
};

/// Adds to the view and to the defect; returns Σ ‖impulses‖ in √J.
template <int kSize>
double add_meeting(const Meeting& at, RowBlockView& view) {
  const int n = known<kSize>(at.columns);
  Room<kSize, 3> room(at.scratch);
  double involved = 0;
  for (int i = 0; i < at.num_rows; ++i) {
    const double* row = at.jacobian + static_cast<std::ptrdiff_t>(i) * n;
    double* const b = room.begin() + static_cast<std::ptrdiff_t>(i) * n;  // L⁻¹Jᵀ
    solve_lower<kSize>(at.factor, row, n, b);
    const double square = dot<kSize>(b, b, n), norm = std::sqrt(square);
    view.u[i] += dot<kSize>(row, at.w, n);
    view.arm[i] += norm;
    view.delassus[i] += square;
    if (i == 2) view.cross += dot<kSize>(b, b - n, n);
    const double x = at.impulse[i];
    involved += std::abs(x) * norm;
    for (int k = 0; k < n; ++k) at.defect[k] -= row[k] * x;
  }
  return involved;
}

/// Whether nothing couples the first three velocities of a body with the last three, as in all free
/// rigid bodies.
bool is_split(const double* mass) {
  std::uint64_t bits = 0;  // but for the signs
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      bits |= std::bit_cast<std::uint64_t>(mass[6 * i + 3 + j]) |
              std::bit_cast<std::uint64_t>(mass[18 + 6 * i + j]);
  return bits << 1 == 0;
}

/// Linear and angular component k.
Pair pair(const double* x, int k) { return Pair{x[k], x[3 + k]}; }
/// Entry (i, j) of the linear half of a mass block and of the angular one, which lies 3 · 7
/// further.
Pair mass_pair(const double* mass, int i, int j) {
  return Pair{mass[6 * i + j], mass[21 + 6 * i + j]};
}

bool is_positive(Pair x) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  return x[0] > 0 && x[0] <= kLargest && x[1] > 0 && x[1] <= kLargest;
}

}  // namespace

/// S = L diag(pivots) Lᵀ of both halves at once. False if a pivot is not positive or not finite.
bool CertificateRows::SplitBody::factor(const double* mass) {
  const Pair s10 = 0.5 * (mass_pair(mass, 1, 0) + mass_pair(mass, 0, 1)),
             s20 = 0.5 * (mass_pair(mass, 2, 0) + mass_pair(mass, 0, 2)),
             s21 = 0.5 * (mass_pair(mass, 2, 1) + mass_pair(mass, 1, 2));
  const Pair pivot_0 = mass_pair(mass, 0, 0);
  inv0 = 1.0 / pivot_0;
  l10 = s10 * inv0;
  l20 = s20 * inv0;
  const Pair pivot_1 = mass_pair(mass, 1, 1) - s10 * l10, rest = s21 - s20 * l10;
  inv1 = 1.0 / pivot_1;
  l21 = rest * inv1;
  const Pair pivot_2 = mass_pair(mass, 2, 2) - s20 * l20 - rest * l21;
  inv2 = 1.0 / pivot_2;
  return is_positive(pivot_0) && is_positive(pivot_1) && is_positive(pivot_2);
}

/// L⁻¹x
inline CertificateRows::Paired CertificateRows::SplitBody::solve(const Paired& x) const {
  const Pair y = x.y - l10 * x.x;
  return {x.x, y, x.z - l20 * x.x - l21 * y};
}

/// xᵀS⁻¹y of a = L⁻¹x, b = L⁻¹y.
inline double CertificateRows::SplitBody::product(const Paired& a, const Paired& b) const {
  return sum_of(a.x * b.x * inv0 + a.y * b.y * inv1 + a.z * b.z * inv2);
}

inline double CertificateRows::SplitBody::energy_norm(const Paired& x) const {
  const Paired a = solve(x);
  return std::sqrt(product(a, a));
}

/// The same as gather_blocks does for others; false if S is not positive definite.
inline bool CertificateRows::SplitBody::gather(const double* mass, const double* w_of_body,
                                               const double* p_of_body, MassBlockView& view) {
  if (!factor(mass)) return false;
  w = {pair(w_of_body, 0), pair(w_of_body, 1), pair(w_of_body, 2)};
  const auto row_times_w = [&](int i) {
    return mass_pair(mass, i, 0) * w.x + mass_pair(mass, i, 1) * w.y + mass_pair(mass, i, 2) * w.z;
  };
  const Paired p{pair(p_of_body, 0), pair(p_of_body, 1), pair(p_of_body, 2)};
  defect = {row_times_w(0), row_times_w(1), row_times_w(2)};
  view.momentum = energy_norm(defect) + energy_norm(p);
  defect = {defect.x - p.x, defect.y - p.y, defect.z - p.z};
  return true;
}

inline CertificateRows::Paired CertificateRows::SplitBody::look(const double* row, Share& share,
                                                                double& norm) const {
  const Paired j{pair(row, 0), pair(row, 1), pair(row, 2)};
  const Paired b = solve(j);
  const double square = product(b, b);
  norm = std::sqrt(square);
  share.u += sum_of(j.x * w.x + j.y * w.y + j.z * w.z);
  share.arm += norm;
  share.delassus += square;
  return b;
}

inline void CertificateRows::SplitBody::take(const double* row, double impulse, double norm,
                                             double& involved) {
  const Paired j{pair(row, 0), pair(row, 1), pair(row, 2)};
  involved += std::abs(impulse) * norm;
  defect = {defect.x - j.x * impulse, defect.y - j.y * impulse, defect.z - j.z * impulse};
}

/// add_meeting of one row; returns L⁻¹Jᵀ.
inline CertificateRows::Paired CertificateRows::SplitBody::meet(const double* row, double impulse,
                                                                double& involved, Share& share) {
  double norm;
  const Paired b = look(row, share, norm);
  take(row, impulse, norm, involved);
  return b;
}

/// add_meeting for a split body.
double CertificateRows::meet_split(const double* jacobian, int num_rows, const double* impulse,
                                   SplitBody& body, RowBlockView& view) {
  return with_known_size<3>(num_rows, [&]<int kRows>() {
    const int count = known<kRows>(num_rows);
    double involved = 0;
    Paired last;
    for (int i = 0; i < count; ++i, jacobian += 6) {
      SplitBody::Share share;
      const Paired b = body.meet(jacobian, impulse[i], involved, share);
      view.u[i] += share.u;
      view.arm[i] += share.arm;
      view.delassus[i] += share.delassus;
      if (i == 2) view.cross += body.product(b, last);
      last = b;
    }
    return involved;
  });
}

namespace {

/// Adds what impulses give to the rows of a block directly. `first_row` counts over all rows.
void add_coupling(const StepProblem& problem, const StepSolution& solution, int first_row,
                  int num_rows, RowBlockView& view) {
  const RowCoupling& coupling = problem.coupling;
  const int num_bilateral = problem.num_bilateral();
  for (int i = 0; i < num_rows; ++i) {
    double largest = 0, own = 0;
    const int end = coupling.entry_start(first_row + i + 1);
    for (int e = coupling.entry_start(first_row + i); e < end; ++e) {
      const int column = coupling.column(e), j = column - first_row;
      const double value = coupling.value(e);
      const double term = value * (column < num_bilateral ? solution.lambda[column]
                                                          : solution.r[column - num_bilateral]);
      view.u[i] += term;
      view.reach[i] += std::abs(term);
      largest = std::max(largest, std::abs(value));
      if (j == i) own += value;
      if (i > 0 && j > 0 && j < num_rows && j != i) view.cross += 0.5 * value;
    }
    view.own[i] = view.delassus[i] + (own > 0 ? own : largest);
    view.delassus[i] += own;
    view.largest_coupling = std::max(view.largest_coupling, largest);
  }
}

}  // namespace

bool CertificateRows::gather(const StepProblem& problem, const StepSolution& solution) {
  if (!gather_blocks(problem, solution)) return false;
  gather_bilateral(problem, solution);
  if (is_shared_out(problem))
    share_out_contacts(problem, solution);
  else
    gather_contacts(problem, solution);
  if (!problem.coupling.is_empty()) gather_coupling(problem, solution);
  measure_defects(problem);
  return true;
}

bool CertificateRows::gather_blocks(const StepProblem& problem, const StepSolution& solution) {
  factor_.resize(problem.mass_values.size());
  defect_.resize(problem.num_dofs());
  blocks_.resize(problem.num_blocks());
  split_.resize(problem.num_blocks());
  is_split_.resize(problem.num_blocks());
  int largest = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) largest = std::max(largest, problem.block_size(b));
  if (scratch_.size() < 3 * static_cast<std::size_t>(largest)) scratch_.resize(3 * largest);
  std::atomic<bool> is_definite = true;
  // Blocks of other sizes share the scratch.
  run_numbers(largest <= kLargestBody ? workers_ : nullptr, problem.num_blocks(), kBodyGrain,
              [&](int begin, int end) {
                for (int b = begin; b < end; ++b)
                  if (!gather_block(problem, solution, b)) is_definite = false;
              });
  return is_definite;
}

bool CertificateRows::gather_block(const StepProblem& problem, const StepSolution& solution,
                                   int b) {
  const int start = problem.dof_start[b], size = problem.block_size(b);
  const double* mass = problem.mass_values.data() + problem.mass_start[b];
  double* factor = factor_.data() + problem.mass_start[b];
  double* defect = defect_.data() + start;
  const double* w = solution.w.data() + start;
  const double* p = problem.p.data() + start;
  is_split_[b] = size == 6 && is_split(mass);
  if (is_split_[b]) {
    if (!split_[b].gather(mass, w, p, blocks_[b])) return false;
    blocks_[b].involved = blocks_[b].momentum;
    return true;
  }
  const bool is_definite = with_block_size(size, [&]<int kSize>() {
    if (!factor_block<kSize>(mass, size, factor)) return false;
    const int n = known<kSize>(size);
    for (int i = 0; i < n; ++i)
      defect[i] = dot<kSize>(mass + static_cast<std::ptrdiff_t>(i) * n, w, n);
    blocks_[b].momentum = energy_norm<kSize>(factor, defect, n, scratch_.data()) +
                          energy_norm<kSize>(factor, p, n, scratch_.data());
    for (int i = 0; i < n; ++i) defect[i] -= p[i];
    return true;
  });
  blocks_[b].involved = blocks_[b].momentum;
  return is_definite;
}

/// Whether there are several threads, many contacts, and none but free rigid bodies.
bool CertificateRows::is_shared_out(const StepProblem& problem) const {
  return workers_ != nullptr && workers_->num_threads() > 1 &&
         problem.num_contacts() >= kManyContacts &&
         std::all_of(is_split_.begin(), is_split_.end(), [](char is_split) { return is_split; });
}

/// gather_contacts in two passes: contacts look at bodies, then bodies take the impulses of their
/// contacts, in the same order. Bits are the same.
void CertificateRows::share_out_contacts(const StepProblem& problem, const StepSolution& solution) {
  const BlockRows& rows = problem.contacts;
  contacts_.resize(rows.num_row_blocks());
  norms_.resize(3 * static_cast<std::size_t>(rows.num_entries()));
  list_touches(problem);
  run_numbers(workers_, rows.num_row_blocks(), kContactGrain, [&](int begin, int end) {
    for (int j = begin; j < end; ++j) look_at_bodies(rows, j);
  });
  run_numbers(workers_, problem.num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) take_impulses(rows, solution, b);
  });
}

void CertificateRows::list_touches(const StepProblem& problem) {
  const BlockRows& rows = problem.contacts;
  touch_start_.assign(problem.num_blocks() + 1, 0);
  for (int e = 0; e < rows.num_entries(); ++e) ++touch_start_[rows.entry_block(e) + 1];
  for (int b = 0; b < problem.num_blocks(); ++b) touch_start_[b + 1] += touch_start_[b];
  touches_.resize(rows.num_entries());
  for (int j = 0; j < rows.num_row_blocks(); ++j)
    for (int e = rows.entry_start(j); e < rows.entry_start(j + 1); ++e)
      touches_[touch_start_[rows.entry_block(e)]++] = {j, e};
  for (int b = problem.num_blocks(); b > 0; --b) touch_start_[b] = touch_start_[b - 1];
  touch_start_[0] = 0;
}

void CertificateRows::look_at_bodies(const BlockRows& rows, int contact) {
  RowBlockView& view = contacts_[contact];
  view = {};
  for (int e = rows.entry_start(contact); e < rows.entry_start(contact + 1); ++e) {
    const SplitBody& body = split_[rows.entry_block(e)];
    const double* row = rows.entry_values(e);
    Paired last;
    for (int i = 0; i < rows.num_rows(contact); ++i, row += 6) {
      SplitBody::Share share;
      const Paired b = body.look(row, share, norms_[3 * static_cast<std::size_t>(e) + i]);
      view.u[i] += share.u;
      view.arm[i] += share.arm;
      view.delassus[i] += share.delassus;
      if (i == 2) view.cross += body.product(b, last);
      last = b;
    }
  }
  view.own = view.delassus;
}

void CertificateRows::take_impulses(const BlockRows& rows, const StepSolution& solution,
                                    int block) {
  for (int k = touch_start_[block]; k < touch_start_[block + 1]; ++k) {
    const auto [contact, e] = touches_[k];
    const double* impulse = solution.r.data() + rows.row_start(contact);
    const double* row = rows.entry_values(e);
    double involved = 0;
    for (int i = 0; i < rows.num_rows(contact); ++i, row += 6)
      split_[block].take(row, impulse[i], norms_[3 * static_cast<std::size_t>(e) + i], involved);
    blocks_[block].involved += involved;
  }
}

/// Most of all rows are those of joints between free bodies.
void CertificateRows::gather_bilateral(const StepProblem& problem, const StepSolution& solution) {
  const BlockRows& rows = problem.bilateral;
  bilateral_.resize(rows.num_row_blocks());
  for (int i = 0; i < rows.num_row_blocks(); ++i) {
    const double impulse = solution.lambda[i];
    const int begin = rows.entry_start(i), end = rows.entry_start(i + 1);
    int e = begin;
    while (e < end && is_split_[rows.entry_block(e)]) ++e;
    if (e < end) {
      RowBlockView view;
      meet_blocks(problem, rows, solution, &impulse, i, view);
      bilateral_[i] = {view.u[0], view.arm[0], 0, view.delassus[0], view.delassus[0], 0};
      continue;
    }
    SplitBody::Share share;
    for (e = begin; e < end; ++e) {
      const int block = rows.entry_block(e);
      (void)split_[block].meet(rows.entry_values(e), impulse, blocks_[block].involved, share);
    }
    bilateral_[i] = {share.u, share.arm, 0, share.delassus, share.delassus, 0};
  }
}

void CertificateRows::gather_contacts(const StepProblem& problem, const StepSolution& solution) {
  const BlockRows& rows = problem.contacts;
  contacts_.resize(rows.num_row_blocks());
  for (int j = 0; j < rows.num_row_blocks(); ++j) {
    RowBlockView& view = contacts_[j];
    view = {};
    meet_blocks(problem, rows, solution, solution.r.data() + rows.row_start(j), j, view);
    view.own = view.delassus;
  }
}

/// Adds what a row block does to the mass blocks it touches, and they to it.
void CertificateRows::meet_blocks(const StepProblem& problem, const BlockRows& rows,
                                  const StepSolution& solution, const double* impulse,
                                  int row_block, RowBlockView& view) {
  const int num_rows = rows.num_rows(row_block);
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
    const int block = rows.entry_block(e), start = problem.dof_start[block];
    if (is_split_[block]) {
      blocks_[block].involved +=
          meet_split(rows.entry_values(e), num_rows, impulse, split_[block], view);
      continue;
    }
    const Meeting at{.num_rows = num_rows,
                     .columns = rows.entry_columns(e),
                     .jacobian = rows.entry_values(e),
                     .factor = factor_.data() + problem.mass_start[block],
                     .w = solution.w.data() + start,
                     .impulse = impulse,
                     .defect = defect_.data() + start,
                     .scratch = scratch_.data()};
    blocks_[block].involved +=
        with_block_size(at.columns, [&]<int kSize>() { return add_meeting<kSize>(at, view); });
  }
}

void CertificateRows::gather_coupling(const StepProblem& problem, const StepSolution& solution) {
  const int num_bilateral = problem.num_bilateral();
  for (int i = 0; i < num_bilateral; ++i) {
    RowView& row = bilateral_[i];
    RowBlockView view;
    view.u[0] = row.u;
    view.delassus[0] = row.delassus;
    add_coupling(problem, solution, i, 1, view);
    row = {view.u[0], row.arm, view.reach[0], view.delassus[0], view.own[0], view.largest_coupling};
  }
  for (int j = 0; j < problem.num_contacts(); ++j)
    add_coupling(problem, solution, num_bilateral + problem.contacts.row_start(j),
                 problem.contacts.num_rows(j), contacts_[j]);
}

void CertificateRows::measure_defects(const StepProblem& problem) {
  for (int b = 0; b < problem.num_blocks(); ++b) {
    if (is_split_[b]) {
      blocks_[b].defect = split_[b].energy_norm(split_[b].defect);
      continue;
    }
    const int size = problem.block_size(b);
    const double* factor = factor_.data() + problem.mass_start[b];
    const double* defect = defect_.data() + problem.dof_start[b];
    blocks_[b].defect = with_block_size(size, [&]<int kSize>() {
      return energy_norm<kSize>(factor, defect, size, scratch_.data());
    });
  }
}

}  // namespace stiction
