#include "stiction/problem/certificate_rows.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {
namespace {

/// Calls visit<size>() for sizes of mass blocks that are worth code of their own, visit<0>() for
/// the others.
template <class Visit>
decltype(auto) with_known_size(int size, const Visit& visit) {
  switch (size) {
    case 1:
      return visit.template operator()<1>();
    case 2:
      return visit.template operator()<2>();
    case 3:
      return visit.template operator()<3>();
    case 6:
      return visit.template operator()<6>();
    default:
      return visit.template operator()<0>();
  }
}

/// The size that the compiler knows or, with kSize = 0, the given one.
template <int kSize>
constexpr int known(int size) {
  return kSize > 0 ? kSize : size;
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
  gather_rows(problem, problem.bilateral, solution, solution.lambda, bilateral_);
  gather_rows(problem, problem.contacts, solution, solution.r, contacts_);
  if (!problem.coupling.is_empty()) gather_coupling(problem, solution);
  measure_defects(problem);
  return true;
}

bool CertificateRows::gather_blocks(const StepProblem& problem, const StepSolution& solution) {
  factor_.resize(problem.mass_values.size());
  defect_.resize(problem.num_dofs());
  blocks_.resize(problem.num_blocks());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int start = problem.dof_start[b], size = problem.block_size(b);
    const double* mass = problem.mass_values.data() + problem.mass_start[b];
    double* factor = factor_.data() + problem.mass_start[b];
    double* defect = defect_.data() + start;
    const double* w = solution.w.data() + start;
    const double* p = problem.p.data() + start;
    if (scratch_.size() < 3 * static_cast<std::size_t>(size)) scratch_.resize(3 * size);
    const bool is_definite = with_known_size(size, [&]<int kSize>() {
      if (!factor_block<kSize>(mass, size, factor)) return false;
      const int n = known<kSize>(size);
      for (int i = 0; i < n; ++i)
        defect[i] = dot<kSize>(mass + static_cast<std::ptrdiff_t>(i) * n, w, n);
      blocks_[b].momentum = energy_norm<kSize>(factor, defect, n, scratch_.data()) +
                            energy_norm<kSize>(factor, p, n, scratch_.data());
      for (int i = 0; i < n; ++i) defect[i] -= p[i];
      return true;
    });
    if (!is_definite) return false;
    blocks_[b].involved = blocks_[b].momentum;
  }
  return true;
}

void CertificateRows::gather_rows(const StepProblem& problem, const BlockRows& rows,
                                  const StepSolution& solution, const std::vector<double>& impulse,
                                  std::vector<RowBlockView>& views) {
  views.resize(rows.num_row_blocks());
  for (int i = 0; i < rows.num_row_blocks(); ++i) {
    RowBlockView& view = views[i];
    view = {};
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
      const int block = rows.entry_block(e), start = problem.dof_start[block];
      const Meeting at{.num_rows = rows.num_rows(i),
                       .columns = rows.entry_columns(e),
                       .jacobian = rows.entry_values(e),
                       .factor = factor_.data() + problem.mass_start[block],
                       .w = solution.w.data() + start,
                       .impulse = impulse.data() + rows.row_start(i),
                       .defect = defect_.data() + start,
                       .scratch = scratch_.data()};
      blocks_[block].involved +=
          with_known_size(at.columns, [&]<int kSize>() { return add_meeting<kSize>(at, view); });
    }
    view.own = view.delassus;
  }
}

void CertificateRows::gather_coupling(const StepProblem& problem, const StepSolution& solution) {
  const int num_bilateral = problem.num_bilateral();
  for (int i = 0; i < num_bilateral; ++i) add_coupling(problem, solution, i, 1, bilateral_[i]);
  for (int j = 0; j < problem.num_contacts(); ++j)
    add_coupling(problem, solution, num_bilateral + problem.contacts.row_start(j),
                 problem.contacts.num_rows(j), contacts_[j]);
}

void CertificateRows::measure_defects(const StepProblem& problem) {
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int size = problem.block_size(b);
    const double* factor = factor_.data() + problem.mass_start[b];
    const double* defect = defect_.data() + problem.dof_start[b];
    blocks_[b].defect = with_known_size(size, [&]<int kSize>() {
      return energy_norm<kSize>(factor, defect, size, scratch_.data());
    });
  }
}

}  // namespace stiction
