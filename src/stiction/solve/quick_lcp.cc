#include "stiction/solve/quick_lcp.h"

#include <algorithm>
#include <cmath>

#include "stiction/solve/dense_lu.h"
#include "stiction/solve/quick_sweeps.h"

namespace stiction {
namespace {

/// Above this number of rows the general solvers lose little by their preparations.
constexpr int kMaxSweptRows = 60;

/// Signs within this share of the largest number are rounding when a basis is judged.
constexpr double kSign = 1e-12;

/// Impulses change by more than the error that is left; how much more is found out by asking.
constexpr double kChanges[] = {0.3, 0.01};

}  // namespace

bool QuickLcp::try_solve(const StepProblem& problem, Acceptance& judge, StepSolution& solution,
                         SolverReport& report) {
  const bool is_lcp = QuickReduction::takes(problem);
  const bool is_planar =
      !is_lcp && problem.num_rows() <= kMaxSweptRows && QuickSweeps::takes(problem);
  if (!is_lcp && !is_planar) return false;
  solution.set_zero(problem);
  if (is_lcp ? try_pivots(problem, judge, solution, report)
             : try_sweeps(problem, judge, solution, report))
    return true;
  solution.set_zero(problem);
  return false;
}

bool QuickLcp::try_pivots(const StepProblem& problem, Acceptance& judge, StepSolution& solution,
                          SolverReport& report) {
  if (!reduction_.reduce(problem)) return false;
  const LcpReport lcp = lemke_.solve({.size = reduction_.size(),
                                      .matrix = reduction_.matrix(),
                                      .q = reduction_.q(),
                                      .row_step = reduction_.stride()},
                                     z_.data());
  report.iterations = lcp.pivots;
  if (lcp.status != LcpStatus::kSolved) return try_bases(problem, judge, solution);
  reduction_.recover(z_.data(), solution);
  return judge.accepts(problem, solution);
}

bool QuickLcp::try_bases(const StepProblem& problem, Acceptance& judge, StepSolution& solution) {
  if (reduction_.size() > kMaxEnumerated) return false;
  for (unsigned basis = 1; basis < 1U << reduction_.size(); ++basis) {
    if (!solve_basis(basis)) continue;
    reduction_.recover(z_.data(), solution);
    if (judge.accepts(problem, solution)) return true;
  }
  return false;
}

/// z of the reduced problem with y = 0 on a set of variables and z = 0 on the others; false if that
/// is no solution.
bool QuickLcp::solve_basis(unsigned basis) {
  const int n = reduction_.size();
  std::array<int, kMaxEnumerated> member, swap;
  std::array<double, kMaxEnumerated * kMaxEnumerated> lu;
  std::array<double, kMaxEnumerated> x;
  int size = 0;
  for (int i = 0; i < n; ++i)
    if (basis >> i & 1U) member[size++] = i;
  const auto entry = [&](int i, int j) { return reduction_.matrix()[i * reduction_.stride() + j]; };
  for (int i = 0; i < size; ++i) {
    x[i] = -reduction_.q()[member[i]];
    for (int j = 0; j < size; ++j) lu[i * size + j] = entry(member[i], member[j]);
  }
  if (!factor_lu(lu.data(), size, swap.data())) return false;
  solve_lu(lu.data(), size, swap.data(), x.data());
  z_.fill(0);
  for (int i = 0; i < size; ++i) {
    if (!(x[i] >= 0)) return false;
    z_[member[i]] = x[i];
  }
  for (int i = 0; i < n; ++i) {
    double y = reduction_.q()[i], magnitude = std::abs(y);
    for (int j = 0; j < n; ++j) {
      y += entry(i, j) * z_[j];
      magnitude += std::abs(entry(i, j) * z_[j]);
    }
    if (!(y >= -kSign * magnitude)) return false;
  }
  return true;
}

bool QuickLcp::try_sweeps(const StepProblem& problem, Acceptance& judge, StepSolution& solution,
                          SolverReport& report) {
  QuickSweeps sweeps(problem);
  double* const r = solution.r.data();
  const auto accepts = [&] {
    report.iterations = sweeps.num_sweeps();
    return judge.accepts(problem, solution);
  };
  if (!sweeps.sweep(r)) return false;
  if (accepts()) return true;
  return std::any_of(std::begin(kChanges), std::end(kChanges), [&](double share) {
    return sweeps.sweep_until(share * judge.tolerance(), r) && accepts();
  });
}

}  // namespace stiction
