// Rooms `geometry` and `model`: a pendulum with a capsule as its link, and a system by formulas.
#include <cmath>
#include <cstdio>

#include "stiction/geometry/shape.h"
#include "stiction/model/rigid_body_builder.h"
#include "stiction/model/system_builder.h"

int main() {
  using namespace stiction;
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -9.81});
  const BodyId link = world.add_body({.name = "link", .position = {0, 0, 0.5}},
                                     {{.shape = Capsule{.radius = 0.05, .length = 0.9}}});
  world.add_joint({.name = "hinge", .type = JointType::kHinge, .bodies = {kWorld, link}},
                  {.at = {0, 0, 1}, .axis = {0, 1, 0}});
  const Model pendulum = world.build_model();
  std::printf("pendulum: %d velocities, %d constraints, %.3f kg\n", pendulum.num_v(),
              pendulum.num_constraints(), world.description().bodies[0].mass);

  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {.position = 1, .velocity = 0});
  system.set_mass(y, y, 1.0);
  system.set_potential(9.81 * y);
  system.add_contact({.name = "floor", .gap = y, .restitution = 0.5});
  const Model ball = system.build_model();
  VectorXd force(1);
  ball.evaluate_force(0, ball.initial_state().q, ball.initial_state().v, force);
  std::printf("ball: force %.2f N from its potential\n", force[0]);
  return std::abs(force[0] + 9.81) < 1e-12 && pendulum.num_constraints() == 5 ? 0 : 1;
}
