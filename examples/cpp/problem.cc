// Rooms `problem` and `solve`: a block of 2 kg on a table, pushed sideways, as one step problem.
// Find w, r with M̂ w = p + Jᵀr and Coulomb's law between r and u = J w.
#include <cmath>
#include <cstdio>

#include "stiction/problem/certificate.h"
#include "stiction/solve/solvers.h"

int main() {
  const double mass = 2, h = 0.01, push = 15;  // [kg], [s], [N]
  stiction::StepProblem problem;
  problem.h = h;
  problem.add_mass_block(3).diagonal().setConstant(mass);  // velocities along x, y, z
  problem.p = {h * push, 0, -h * 9.81 * mass};
  problem.add_contact(
      {.num_tangents = 2, .mu = 0.5, .section = stiction::FrictionSection::disc(), .key = 1});
  auto rows = problem.contacts.add_entry(0, 3);  // normal, tangent 1, tangent 2
  rows << 0, 0, 1, 1, 0, 0, 0, 1, 0;

  const auto solver = stiction::make_solver("nsgs", 1e-12);
  stiction::StepSolution solution;
  const stiction::SolverReport report = solver->solve(problem, solution);
  const stiction::Certificate certificate = stiction::certify(problem, solution);
  std::printf("%s: normal %.4f N s, friction %.4f N s, slides at %.4f m/s, residual %.1e\n",
              std::string(to_text(report.status)).c_str(), solution.r[0], solution.r[1],
              solution.w[0], certificate.residual());
  // It slides: friction is −μ times the normal impulse.
  return std::abs(solution.r[1] + 0.5 * solution.r[0]) < 1e-9 ? 0 : 1;
}
