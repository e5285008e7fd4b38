#include "tests/solve/edge_problems.h"

#include <Eigen/Core>
#include <cstdint>

#include "stiction/base/random.h"
#include "stiction/solve/newton_work.h"
#include "tests/solve/sphere_contact.h"

namespace stiction::testing {

void add_normal(StepProblem& problem, int block, double direction, double bias) {
  problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
  problem.contacts.add_entry(block, 1)(0, 0) = direction;
  problem.contact_bias.back() = bias;
}

StepProblem squeezed_point(double mass, double speed) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = mass;
  problem.p[0] = 3 * mass * speed;
  add_normal(problem, 0, 1, -speed);
  add_normal(problem, 0, -1, -speed);
  return problem;
}

StepProblem crowded_body(int num_contacts) {
  Random random(static_cast<std::uint64_t>(num_contacts));
  StepProblem problem;
  problem.add_mass_block(6).setIdentity();
  for (int j = 0; j < num_contacts; ++j) {
    Eigen::Vector3d normal(random.normal(), random.normal(), random.normal());
    normal.normalize();
    add_sphere_contact(problem, {.upper = 0, .normal = normal, .mu = 0.5});
    problem.contact_bias[3 * j] = -1;
  }
  return problem;
}

double iteration_flops(const StepProblem& problem) {
  FrictionBlocks blocks;
  SaddleLu lu;
  if (!blocks.assemble(problem)) return 0;
  lu.analyse(blocks.W);
  return estimate_iteration_flops(blocks, lu);
}

StepProblem square_section() {
  StepProblem problem;
  problem.add_mass_block(3).setIdentity();
  problem.add_contact(
      {.num_tangents = 2, .mu = 0.5, .section = FrictionSection::polygon(4), .key = 0});
  problem.contacts.add_entry(0, 3).setIdentity();
  return problem;
}

}  // namespace stiction::testing
