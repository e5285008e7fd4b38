// One ball of 2 kg, one step of 0.01 s: it comes down on a plane at 0.5 m/s, creeping sideways at
// 0.1 m/s. The contact stops it, since friction (μ = 0.5) can hold 0.5 N s and needs 0.2.
#include <cstdio>
#include <memory>

#include "stiction/problem/step_problem.h"
#include "stiction/solve/solvers.h"

int main() {
  stiction::StepProblem problem;
  problem.h = 0.01;
  problem.add_mass_block(2) << 2, 0, 0, 2;  // velocity: up, sideways
  problem.block_p(0) << -2 * 0.5, 2 * 0.1;  // [N s]
  problem.add_contact({.num_tangents = 1, .mu = 0.5, .section = {}, .key = 1});
  problem.contacts.add_entry(0, 2) << 1, 0, 0, 1;

  stiction::StepSolution solution;
  const std::unique_ptr<stiction::Solver> solver = stiction::make_solver("lemke");
  const stiction::SolverReport report = solver->solve(problem, solution);
  std::printf("%d impulse %.6f %.6f\n", static_cast<int>(report.status), solution.r[0],
              solution.r[1]);
}
