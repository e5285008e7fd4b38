#include "stiction/solve/lemke_dense.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/error.h"
#include "stiction/solve/lemke_general.h"
#include "stiction/solve/lemke_lcp.h"

namespace stiction {
namespace {

/// Attempts at a problem that the quick one did not solve, in double and then in long double.
constexpr int kFewPivots = 4;
constexpr double kEarly = 1e-10;
constexpr LemkeOptions kAttempts[] = {
    {},
    {.has_fine_ties = true},
    {.cover_seed = 1},
    {.cover_seed = 2},
    {.cover_seed = 3},
    {.refresh_interval = kFewPivots, .dismissal = kEarly},
};

const double* row_of(const DenseLcpView& lcp, int i) {
  return lcp.matrix + static_cast<std::ptrdiff_t>(i) * lcp.row_step;
}

bool is_finite(const DenseLcpView& lcp) {
  const auto count = static_cast<std::size_t>(lcp.size);
  const auto is_number = [](double x) { return std::isfinite(x); };
  return std::all_of(lcp.matrix, lcp.matrix + count * count, is_number) &&
         std::all_of(lcp.q, lcp.q + count, is_number);
}

double largest_entry(const DenseLcpView& lcp, int i) {
  double largest = 0;
  for (int j = 0; j < lcp.size; ++j)
    largest = std::max(largest, std::abs(row_of(lcp, i)[j * lcp.column_step]));
  return largest;
}

/// w = M z + q. Zeros are multiplied too, so that no NaN of M goes unseen.
template <int kSize>
void compute_w(const DenseLcpView& lcp, const double* z, double* w) {
  const int n = kSize > 0 ? kSize : lcp.size;
  if (lcp.column_step == 1) {
    for (int i = 0; i < n; ++i) {
      const double* row = row_of(lcp, i);
      double sum = lcp.q[i];
      for (int j = 0; j < n; ++j) sum += row[j] * z[j];
      w[i] = sum;
    }
    return;
  }
  std::copy_n(lcp.q, n, w);
  for (int j = 0; j < n; ++j) {
    const double* column = lcp.matrix + static_cast<std::ptrdiff_t>(j) * lcp.column_step;
    for (int i = 0; i < n; ++i) w[i] += column[i] * z[j];
  }
}

/// See LemkeDenseReport::error; w is computed on the way. a_i is only looked at where it matters.
/// kSize is the size or, for any size, 0.
template <int kSize>
double measure_of_size(const DenseLcpView& lcp, const double* z, double* w) {
  compute_w<kSize>(lcp, z, w);
  const int n = kSize > 0 ? kSize : lcp.size;
  double error = 0, scale = 0;
  for (int i = 0; i < n; ++i) {
    double violation = std::min(w[i], z[i]);
    if (z[i] > 0 && z[i] < w[i])
      violation = std::min(std::max(1.0, largest_entry(lcp, i)) * z[i], w[i]);
    error += std::abs(violation);  // a NaN stays
    scale = std::max(scale, std::abs(lcp.q[i]));
  }
  if (!std::isfinite(error + scale)) return std::numeric_limits<double>::infinity();
  if (error == 0) return 0;  // often so for few variables, where a division counts
  return scale > 0 ? error / scale : error;
}

double measure(const DenseLcpView& lcp, const double* z, double* w) {
  switch (lcp.size) {
    case 1:
      return measure_of_size<1>(lcp, z, w);
    case 2:
      return measure_of_size<2>(lcp, z, w);
    case 3:
      return measure_of_size<3>(lcp, z, w);
    case 4:
      return measure_of_size<4>(lcp, z, w);
    default:
      return measure_of_size<0>(lcp, z, w);
  }
}

template <class Real>
void load(const DenseLcpView& lcp, MixedLcp<Real>& target) {
  target.resize(0, lcp.size);
  std::copy_n(lcp.q, lcp.size, target.vector.begin());
  for (int i = 0; i < lcp.size; ++i)
    for (int j = 0; j < lcp.size; ++j) target.row(i)[j] = row_of(lcp, i)[j * lcp.column_step];
}

}  // namespace

struct LemkeDense::Workspace {
  MixedLcp<double> lcp;
  LemkeLcp<double> plain;
  LemkeGeneral<double> general;
  MixedLcp<long double> long_lcp;
  LemkeGeneral<long double> long_general;
  std::vector<double> candidate;

  template <class Real>
  MixedLcp<Real>& form();
  template <class Real>
  LemkeGeneral<Real>& method();
};

template <>
MixedLcp<double>& LemkeDense::Workspace::form() {
  return lcp;
}
template <>
MixedLcp<long double>& LemkeDense::Workspace::form() {
  return long_lcp;
}
template <>
LemkeGeneral<double>& LemkeDense::Workspace::method() {
  return general;
}
template <>
LemkeGeneral<long double>& LemkeDense::Workspace::method() {
  return long_general;
}

LemkeDense::LemkeDense(const LemkeDenseOptions& options)
    : options_(options), workspace_(std::make_unique<Workspace>()) {
  if (!(options.tolerance > 0)) throw InputError("lemke: tolerance must be positive");
}
LemkeDense::~LemkeDense() = default;

LemkeDenseReport LemkeDense::solve(int size, const double* matrix, const double* q, double* z,
                                   MatrixOrder order) {
  if (size < 0) throw InputError("lemke: size must not be negative");
  const bool is_row_major = order == MatrixOrder::kRowMajor;
  const DenseLcpView lcp{.size = size,
                         .matrix = matrix,
                         .q = q,
                         .row_step = is_row_major ? size : 1,
                         .column_step = is_row_major ? 1 : size};
  LemkeDenseReport report;
  if (!try_small(lcp, report, z)) solve_carefully(lcp, report, z);
  return report;
}

bool LemkeDense::try_small(const DenseLcpView& lcp, LemkeDenseReport& report, double* z) {
  w_.resize(lcp.size);
  if (lcp.size > LemkeSmall::kMaxSize) return false;
  const LcpReport quick = small_.solve(lcp, z);
  report.pivots = quick.pivots;
  if (quick.status != LcpStatus::kSolved) return false;
  report.error = measure(lcp, z, w_.data());
  return report.error <= options_.tolerance;
}

bool LemkeDense::try_quickly(int size, const double* matrix, const double* q, double* z,
                             int& pivots) {
  LemkeDenseReport report;
  const DenseLcpView lcp{.size = size, .matrix = matrix, .q = q, .row_step = size};
  const bool is_solved = try_small(lcp, report, z);
  pivots = report.pivots;
  return is_solved;
}

/// Keeps the answer of a method if it is better than what z holds; true if it meets the tolerance.
template <class Real, class Method>
bool LemkeDense::improve(const DenseLcpView& lcp, const LcpReport& found, const Method& method,
                         LemkeDenseReport& report, double* z) {
  report.pivots += found.pivots;
  if (found.status != LcpStatus::kSolved) {
    if (!std::isfinite(report.error)) report.status = found.status;
    return false;
  }
  std::vector<double>& candidate = workspace_->candidate;
  candidate.resize(lcp.size);
  for (int i = 0; i < lcp.size; ++i)
    candidate[i] = std::max(static_cast<double>(method.z()[i]), 0.0);
  const double error = measure(lcp, candidate.data(), w_.data());
  if (error < report.error) {
    report.error = error;
    report.status = LcpStatus::kInaccurate;
    std::copy(candidate.begin(), candidate.end(), z);
  }
  return report.error <= options_.tolerance;
}

template <class Real>
bool LemkeDense::try_general(const DenseLcpView& lcp, LemkeDenseReport& report, double* z) {
  MixedLcp<Real>& form = workspace_->form<Real>();
  LemkeGeneral<Real>& method = workspace_->method<Real>();
  load(lcp, form);
  method.prepare(form);
  for (const LemkeOptions& options : kAttempts)
    if (improve<Real>(lcp, method.solve(options), method, report, z)) return true;
  return improve<Real>(lcp, method.solve_by_enumeration(), method, report, z);
}

void LemkeDense::solve_carefully(const DenseLcpView& lcp, LemkeDenseReport& report, double* z) {
  if (!is_finite(lcp)) throw InputError("lemke: matrix and vector must be finite");
  report.error = std::numeric_limits<double>::infinity();
  std::fill_n(z, lcp.size, 0.0);
  Workspace& work = *workspace_;
  bool is_solved = false;
  if (lcp.size > LemkeSmall::kMaxSize) {
    load(lcp, work.lcp);
    is_solved = improve<double>(lcp, work.plain.solve(work.lcp, {}), work.plain, report, z);
  }
  if (!is_solved) {
    report.stage = 1;
    is_solved = try_general<double>(lcp, report, z);
  }
  if (!is_solved) {
    report.stage = 2;
    is_solved = try_general<long double>(lcp, report, z);
  }
  if (is_solved) report.status = LcpStatus::kSolved;
  measure(lcp, z, w_.data());  // w of the answer that is returned
}

}  // namespace stiction
