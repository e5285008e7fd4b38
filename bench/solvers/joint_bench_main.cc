// Time per solve of joint systems against their size: chains from 10 to 10,000 links, trees, and
// ladders of loops. Columns: the whole solve by `auto` from nothing and from the last answer (a
// step of a simulation), its parts (factors, solve, one refinement), the certificate alone, and the
// first solve of a structure, which has to find the order.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "stiction/problem/certificate.h"
#include "stiction/solve/auto_solver.h"
#include "stiction/solve/joint_lu.h"
#include "tests/solve/joint_problems.h"

namespace stiction {
namespace {

/// The shortest of many runs in µs: others on the same machine only ever add. Long runs are hardly
/// ever left alone, so that their processor time counts.
template <class Function>
double measure(const Function& run) {
  using Clock = std::chrono::steady_clock;
  constexpr double kLong = 1000;
  const auto begin = Clock::now();
  double best = 1e300;
  for (int k = 0; k < 5 || Clock::now() - begin < std::chrono::milliseconds(300); ++k) {
    const std::clock_t cpu_start = std::clock();
    const auto start = Clock::now();
    run();
    const double wall = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    const double cpu = 1e6 * static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
    best = std::min(best, cpu > kLong ? std::min(wall, cpu) : wall);
  }
  return best;
}

void print_row(const std::string& name, const StepProblem& problem) {
  AutoSolver solver;
  StepSolution solution;
  SolverReport report;
  const double first = measure([&] {
    AutoSolver fresh;
    StepSolution answer;
    (void)fresh.solve(problem, answer);
  });
  const double cold = measure([&] {
    solution.w.clear();
    report = solver.solve(problem, solution);
  });
  StepSolution moved = solution;
  for (double& w : moved.w) w *= 1.01;
  const double warm = measure([&] {
    solution = moved;
    report = solver.solve(problem, solution);
  });
  Certifier certifier;
  Certificate certificate;
  const double judge = measure([&] { certificate = certifier.certify(problem, solution); });
  JointLu lu;
  const std::vector<char> all(problem.num_rows(), 1);
  std::string parts = "- | - | -";
  if (problem.num_contacts() == 0 && lu.analyse(problem)) {
    const double factor = measure([&] { (void)lu.factor(problem, all); });
    const double solve = measure([&] { lu.solve(problem.p.data(), problem.bias.data()); });
    const double refine = measure([&] { (void)lu.refine(); });
    parts = fmt::format("{:.1f} | {:.1f} | {:.1f}", factor, solve, refine);
  }
  const bool is_solved = report.status == SolverStatus::kConverged;
  fmt::print("| {} | {} | {} | {:.1f} | {:.1f} | {} | {:.1f} | {:.0f} | {} | {:.0e} |\n", name,
             problem.num_blocks(), problem.num_rows(), cold, warm, parts, judge, first,
             is_solved ? report.iterations : -1, certificate.residual());
  std::fflush(stdout);
}

int run() {
  fmt::print(
      "| | bodies | rows | auto [µs] | warm | factors | solve | refinement | certificate | first | "
      "factorisations | residual |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const int n : {10, 30, 100, 300, 1000, 3000, 10000})
    print_row("chain, balls", testing::make_chain(n, {.rows_per_joint = 3, .compliance = 1e-10}));
  for (const int n : {100, 1000})
    print_row("chain, hinges", testing::make_chain(n, {.rows_per_joint = 5}));
  StepProblem spinning = testing::make_chain(100, {.rows_per_joint = 3});
  testing::make_gyroscopic(spinning, 0.1);
  print_row("chain, balls, nonsymmetric", spinning);
  StepProblem heavy = testing::make_chain(100, {.rows_per_joint = 3});
  heavy.mass_block(99) *= 1e6;
  heavy.block_p(99) *= 1e6;
  print_row("chain, balls, 10⁶ kg at its end", heavy);
  StepProblem bounded = testing::make_chain(100, {.rows_per_joint = 5});
  for (int i = 4; i < bounded.num_bilateral(); i += 50) {
    bounded.lower[i] = -0.01;
    bounded.upper[i] = 0.01;
  }
  print_row("chain, hinges, ten bounded rows", bounded);
  print_row("binary tree, hinges", testing::make_tree(1000, 2));
  for (const double compliance : {0.0, 1e-8}) {
    const char* kind = compliance == 0 ? "rigid" : "compliant";
    print_row(fmt::format("10 four-bars, {}", kind), testing::make_four_bars(10, compliance));
    print_row(fmt::format("ladder of 10 loops, {}", kind), testing::make_ladder(10, compliance));
  }
  print_row("net 10 × 10, hinges", testing::make_net(10, 10));
  return 0;
}

}  // namespace
}  // namespace stiction

int main() { return stiction::run(); }
