// The sparse direct cores compared on mechanisms: SaddleLdlt against SaddleLu, Eigen's sparse
// solvers and CHOLMOD (optional). Prints Markdown tables: numeric factorisation in CPU
// milliseconds (least of several), numbers in the factors, error of one solve, and what switching
// one row costs. Recorded in docs/decisions/0012-sparse-direct-core.md.
#include <fmt/format.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#ifdef STICTION_HAS_CHOLMOD
#include <Eigen/CholmodSupport>
#endif

#include "stiction/solve/friction_blocks.h"
#include "stiction/solve/saddle_ldlt.h"
#include "stiction/solve/saddle_lu.h"
#include "tests/solve/saddle_ldlt_problems.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// Least CPU time of a call in milliseconds, over at least 0.2 s.
double measure(const std::function<void()>& work) {
  double least = 1e30, total = 0;
  for (int i = 0; i < 200 && total < 200; ++i) {
    const std::clock_t begin = std::clock();
    work();
    const double time = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    least = std::min(least, time);
    total += time;
  }
  return least;
}

/// The symmetric form [M̂ Rᵀ; R −C].
Sparse make_saddle(const StepProblem& problem) {
  std::vector<Eigen::Triplet<double>> entries;
  const int n = problem.num_dofs();
  for (int b = 0; b < problem.num_blocks(); ++b)
    for (int i = 0; i < problem.block_size(b); ++i)
      for (int j = 0; j < problem.block_size(b); ++j)
        if (problem.mass_block(b)(i, j) != 0)
          entries.emplace_back(problem.dof_start[b] + i, problem.dof_start[b] + j,
                               problem.mass_block(b)(i, j));
  for (int row = 0; row < problem.num_rows(); ++row) {
    const RowPlace place = ConstraintGraph::place_of_row(problem, row);
    for (int k = 0; k < place.num_entries(); ++k)
      for (int c = 0; c < place.columns(k); ++c) {
        const int dof = problem.dof_start[place.block(k)] + c;
        entries.emplace_back(n + row, dof, place.values(k)[c]);
        entries.emplace_back(dof, n + row, place.values(k)[c]);
      }
    entries.emplace_back(n + row, n + row,
                         -(row < problem.num_bilateral()
                               ? problem.compliance[row]
                               : problem.contact_compliance[row - problem.num_bilateral()]));
  }
  Sparse K(n + problem.num_rows(), n + problem.num_rows());
  K.setFromTriplets(entries.begin(), entries.end());
  return K;
}

Sparse make_delassus(const FrictionBlocks& blocks) {
  std::vector<Eigen::Triplet<double>> entries;
  const BlockMatrix& W = blocks.W;
  for (int i = 0; i < W.num_blocks(); ++i)
    for (int e = W.entry_start[i]; e < W.entry_start[i + 1]; ++e)
      for (int r = 0; r < W.size(i); ++r)
        for (int c = 0; c < W.size(W.entry_block[e]); ++c)
          entries.emplace_back(W.row_start[i] + r, W.row_start[W.entry_block[e]] + c,
                               W.entry(i, e)(r, c));
  Sparse result(W.num_rows(), W.num_rows());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

struct Result {
  double factor = -1, solve = -1;  // [ms], negative: failed or not built
  double numbers = 0;              // in the factors
  double error = -1;  // ‖K z − b‖∞ / (‖K‖∞ ‖z‖∞), one solve as the library does it
};

double relative_residual(const Sparse& K, const VectorXd& z, const VectorXd& b) {
  double norm = 0;
  for (int j = 0; j < K.outerSize(); ++j) norm = std::max(norm, K.col(j).cwiseAbs().sum());
  return (K * z - b).cwiseAbs().maxCoeff() / (norm * z.cwiseAbs().maxCoeff());
}

template <class Solver>
Result run_eigen(Solver& solver, const Sparse& K, const std::function<double(Solver&)>& count) {
  solver.analyzePattern(K);
  solver.factorize(K);
  if (solver.info() != Eigen::Success) return {};
  const VectorXd b = K * VectorXd::Ones(K.rows());  // consistent also for dependent rows
  const VectorXd z = solver.solve(b);
  Result result;
  result.error = relative_residual(K, z, b);
  if (!(result.error < 1e-6)) return {};
  result.factor = measure([&] { solver.factorize(K); });
  VectorXd x;
  result.solve = measure([&] { x = solver.solve(b); });
  result.numbers = count(solver);
  return result;
}

Result run_ours(StepProblem& problem, const Sparse& K) {
  SaddleLdlt ldlt;
  const std::vector<char> active(problem.num_rows(), 1);
  if (ldlt.factor(problem, active) != SaddleLdlt::Status::kFactored) return {};
  const VectorXd b = K * VectorXd::Ones(K.rows());
  const std::vector<double> f(b.begin(), b.begin() + problem.num_dofs());
  const std::vector<double> g(b.begin() + problem.num_dofs(), b.end());
  std::vector<double> w, x;
  ldlt.solve(f, g, w, x);
  VectorXd z(K.rows());
  for (std::size_t i = 0; i < w.size(); ++i) z[static_cast<Eigen::Index>(i)] = w[i];
  for (std::size_t i = 0; i < x.size(); ++i) z[static_cast<Eigen::Index>(w.size() + i)] = -x[i];
  Result result;
  result.error = relative_residual(K, z, b);
  double scale = 1;
  result.factor = measure([&] {
    // Other numbers every time, so that nothing is found unchanged.
    scale = scale == 1 ? 1.5 : 1;
    for (int b = 0; b < problem.num_blocks(); ++b)
      problem.mass_values[problem.mass_start[b]] *= scale == 1 ? 1 / 1.5 : 1.5;
    (void)ldlt.factor(problem, active);
  });
  result.solve = measure([&] { ldlt.solve(f, g, w, x); });
  result.numbers = static_cast<double>(ldlt.num_factor_entries());
  return result;
}

Result run_lu(const FrictionBlocks& blocks, const Sparse& W) {
  SaddleLu lu;
  const std::vector<double> B(9 * static_cast<std::size_t>(blocks.num_blocks()), 0.0);
  if (!lu.factor(blocks.W, B)) return {};
  const VectorXd b = W * VectorXd::Ones(W.rows());
  VectorXd z = b;
  lu.solve(z);
  Result result;
  result.error = relative_residual(W, z, b);
  result.factor = measure([&] { (void)lu.factor(blocks.W, B); });
  result.solve = measure([&] {
    z = b;
    lu.solve(z);
  });
  result.numbers = static_cast<double>(lu.num_factor_entries());
  return result;
}

std::vector<Result> run_all(StepProblem& problem) {
  const Sparse K = make_saddle(problem);
  FrictionBlocks blocks;
  blocks.assemble(problem);
  const Sparse W = make_delassus(blocks);
  std::vector<Result> results{run_ours(problem, K), run_lu(blocks, W)};
  using Ldlt = Eigen::SimplicialLDLT<Sparse>;
  const std::function<double(Ldlt&)> count_ldlt = [](Ldlt& solver) {
    return static_cast<double>(solver.matrixL().nestedExpression().nonZeros());
  };
  using Lu = Eigen::SparseLU<Sparse, Eigen::COLAMDOrdering<int>>;
  const std::function<double(Lu&)> count_lu = [](Lu& solver) {
    return static_cast<double>(solver.nnzL() + solver.nnzU());
  };
  Ldlt saddle, delassus;
  Lu lu;
  results.push_back(run_eigen(saddle, K, count_ldlt));
  results.push_back(run_eigen(delassus, W, count_ldlt));
  results.push_back(run_eigen(lu, K, count_lu));
#ifdef STICTION_HAS_CHOLMOD
  using CholmodLdlt = Eigen::CholmodSimplicialLDLT<Sparse>;
  using CholmodLlt = Eigen::CholmodSupernodalLLT<Sparse>;
  CholmodLdlt cholmod_saddle;
  CholmodLlt cholmod_delassus;
  // What it cannot factor is in the table.
  cholmod_saddle.cholmod().print = cholmod_delassus.cholmod().print = 0;
  results.push_back(run_eigen<CholmodLdlt>(
      cholmod_saddle, K, [](CholmodLdlt& solver) { return solver.cholmod().lnz; }));
  results.push_back(run_eigen<CholmodLlt>(cholmod_delassus, W,
                                          [](CholmodLlt& solver) { return solver.cholmod().lnz; }));
#else
  results.resize(results.size() + 2);
#endif
  return results;
}

struct Case {
  std::string name;
  StepProblem problem;
};

/// Compliance in every row lets those that cannot take dependent rows compete; without it only
/// solvers that can are left.
std::vector<Case> make_cases() {
  std::vector<Case> cases;
  for (const double compliance : {1e-6, 0.0}) {
    const testing::MechanismOptions hinge{.compliance = compliance};
    const testing::MechanismOptions ball{.rows_per_joint = 3, .compliance = compliance};
    std::vector<Case> list{
        {"chain of 1000, hinges", testing::make_chain(1000, hinge)},
        {"binary tree of 1000, hinges", testing::make_tree(1000, 2, hinge)},
        {"star of 300, hinges", testing::make_star(300, hinge)},
        {"net 15 × 15, hinges", testing::make_net(15, 15, hinge)},
        {"net 30 × 30, hinges", testing::make_net(30, 30, hinge)},
        {"net 30 × 30, balls", testing::make_net(30, 30, ball)},
        {"wall 10 × 10, normals", testing::make_wall(10, 10, {.num_tangents = 0})},
        {"wall 10 × 10, all rows", testing::make_wall(10, 10)},
        {"wall 20 × 20, all rows", testing::make_wall(20, 20)},
        {"spheres 6 × 6 × 6, all rows", testing::sphere_grid({.count = {6, 6, 6}})},
    };
    for (Case& item : list) {
      std::fill(item.problem.contact_compliance.begin(), item.problem.contact_compliance.end(),
                compliance);
      if (compliance == 0) item.name += ", rigid";
      cases.push_back(item);
    }
  }
  return cases;
}

std::string cell(double value, double unit) {
  if (value < 0) return "-";
  value /= unit;
  return fmt::format(fmt::runtime(value < 9.95 ? "{:.2f}" : "{:.0f}"), value);
}

void print_table(const char* title, const std::vector<Case>& cases,
                 const std::vector<std::vector<Result>>& results, double Result::*field,
                 double unit) {
  fmt::print(
      "\n{}\n\n| | rows + dofs | SaddleLdlt | SaddleLu (W) | Eigen LDLᵀ | Eigen LDLᵀ (W) | "
      "Eigen SparseLU | CHOLMOD LDLᵀ | CHOLMOD LLᵀ (W) |\n|---|---|---|---|---|---|---|---|"
      "---|\n",
      title);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const StepProblem& problem = cases[i].problem;
    fmt::print("| {} | {} + {} |", cases[i].name, problem.num_rows(), problem.num_dofs());
    for (const Result& result : results[i])
      if (field == &Result::error)
        fmt::print(" {} |", result.error < 0 ? "-" : fmt::format("{:.0e}", result.error));
      else
        fmt::print(" {} |", result.factor < 0 ? "-" : cell(result.*field, unit));
    fmt::print("\n");
  }
}

/// Cost of switching a row off and on, mean over rows spread evenly.
void print_switching(std::vector<Case>& cases) {
  fmt::print(
      "\nSwitching one row (mean over 50 rows)\n\n| | fronts | refactored | work | time of all "
      "| time of one |\n|---|---|---|---|---|---|\n");
  for (Case& item : cases) {
    SaddleLdlt ldlt;
    std::vector<char> active(item.problem.num_rows(), 1);
    (void)ldlt.factor(item.problem, active);
    const double all_work = static_cast<double>(ldlt.flops());
    double refactored = 0, work = 0;
    const auto switch_row = [&](int k) {
      const int row =
          static_cast<int>((static_cast<std::int64_t>(k) * item.problem.num_rows()) / 50);
      active[row] ^= 1;
      (void)ldlt.factor(item.problem, active);
      refactored += ldlt.fronts_refactored() / 50.0;
      work += static_cast<double>(ldlt.flops()) / all_work / 50;
    };
    for (int k = 0; k < 50; ++k) switch_row(k);
    const double mean_fronts = refactored, mean_work = work;
    const double time = measure([&] {
      for (int k = 0; k < 50; ++k) switch_row(k);
    });
    const Sparse K = make_saddle(item.problem);
    fmt::print("| {} | {} | {:.0f} | {:.1f} % | {} ms | {} ms |\n", item.name, ldlt.num_fronts(),
               mean_fronts, 100 * mean_work, cell(run_ours(item.problem, K).factor, 1),
               cell(time / 50, 1));
    std::fflush(stdout);
  }
}

int run() {
  std::vector<Case> cases = make_cases();
  std::vector<std::vector<Result>> results;
  for (Case& item : cases) {
    results.push_back(run_all(item.problem));
    fmt::print(stderr, "{}\n", item.name);
  }
  print_table("Numeric factorisation [ms]", cases, results, &Result::factor, 1);
  print_table("Solve with one right-hand side [ms]", cases, results, &Result::solve, 1);
  print_table("Numbers in the factors [thousands]", cases, results, &Result::numbers, 1e3);
  print_table("Relative residual", cases, results, &Result::error, 1);
  print_switching(cases);
  return 0;
}

}  // namespace
}  // namespace stiction

int main() { return stiction::run(); }
