// What rigid bodies compute for all of them at once, against the same block by block and row by
// row.
#include "stiction/model/rigid_body_system.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/model/model.h"
#include "stiction/model/rigid_body_builder.h"
#include "tests/model/random_joints.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// Free bodies, one in the plane, one that only turns and one that only slides, in a row with a
/// joint of every kind between them.
Model make_mechanism() {
  Random random(3);
  RigidBodyBuilder world;
  world.set_gravity({1, -2, -9.81});
  for (int i = 0; i < 14; ++i) {
    BodyDescription body;
    body.name = "body " + std::to_string(i);
    body.mass = 1 + i;
    body.position = Vector3d(i, 0.1 * i, 0);
    const Eigen::Matrix3d turn = testing::random_rotation(random);
    body.inertia = turn * Vector3d(2, 3, 4).asDiagonal() * turn.transpose();
    const bool is_free = i < 6 || i > 8;
    if (is_free) body.velocity = testing::random_vector(random);
    if (is_free || i == 7) body.angular_velocity = testing::random_vector(random);
    if (i == 6) body.free_axes = {true, true, false, false, false, true};
    if (i == 7) body.free_axes = {false, false, false, true, true, true};
    if (i == 8) body.free_axes = {true, false, true, false, false, false};
    world.add_body(body);
  }
  for (int i = 0; i < kNumJointTypes; ++i) {
    JointDescription joint;
    joint.name = testing::kJointTypes[i].name;
    joint.type = testing::kJointTypes[i].type;
    joint.bodies = {i == 0 ? kWorld : i - 1, i};
    joint.length = 1;
    joint.pitch = 0.1;
    joint.radius = 0.5;
    const double x = i - 0.4;
    if (joint.type == JointType::kDistance)
      world.add_distance(joint, {.from = {x, 0.2, 0.1}, .to = {x, 0.2, 1.1}});
    else
      world.add_joint(joint, {.at = {x, 0.2, 0.1}, .axis = {0.6, 0, 0.8}, .axis2 = {0, 1, 0}});
  }
  return world.build_model();
}

TEST(RigidBodySystem, AllBlocksAtOnceAreTheBlocks) {
  const Model model = make_mechanism();
  const State& state = model.initial_state();
  std::size_t size = 0;
  for (const Model::Block& block : model.blocks())
    size += static_cast<std::size_t>(block.size) * block.size;
  std::vector<double> masses(size, 7.0), with_gyroscopic(size, 0.0), scratch;
  model.evaluate_masses(state.t, state.q, masses);
  VectorXd momentum = VectorXd::Constant(model.num_v(), 0.5);
  with_gyroscopic = masses;
  model.add_gyroscopic(state.t, state.q, state.v, 0.25, with_gyroscopic, momentum, scratch);
  double twice_kinetic = 0;
  std::ptrdiff_t at = 0;
  for (int b = 0; b < static_cast<int>(model.blocks().size()); ++b) {
    const int n = model.blocks()[b].size, start = model.blocks()[b].v_offset;
    RowMatrixXd mass(n, n), gyroscopic(n, n);
    model.evaluate_mass(state.t, state.q, b, mass);
    model.evaluate_gyroscopic(state.t, state.q, state.v, b, gyroscopic);
    const VectorXd v = state.v.segment(start, n);
    EXPECT_EQ(ConstRowMatrixMap(masses.data() + at, n, n), mass) << b;
    const RowMatrixXd sum = mass + 0.25 * gyroscopic;
    EXPECT_LT((ConstRowMatrixMap(with_gyroscopic.data() + at, n, n) - sum).norm(), 1e-13) << b;
    const VectorXd moved = VectorXd::Constant(n, 0.5) + 0.25 * gyroscopic * v;
    EXPECT_LT((momentum.segment(start, n) - moved).norm(), 1e-13) << b;
    twice_kinetic += v.dot(mass * v);
    at += static_cast<std::ptrdiff_t>(n) * n;
  }
  EXPECT_EQ(static_cast<std::size_t>(at), size);
  EXPECT_NEAR(model.evaluate_kinetic_energy(state, scratch), 0.5 * twice_kinetic,
              1e-14 * twice_kinetic);
}

TEST(RigidBodySystem, ConstraintsAndRowsAtOnceAreTheSame) {
  const Model model = make_mechanism();
  State state = model.initial_state();
  model.displace(state.q, state.v, 0.1, state.q);  // off the constraints
  RowSet rows, both;
  VectorXd theta(model.num_constraints()), theta_of_both(model.num_constraints());
  model.append_constraint_rows(state.t, state.q, rows);
  model.evaluate_constraints(state.t, state.q, theta);
  model.append_constraints(state.t, state.q, both, theta_of_both);
  EXPECT_GT(theta.norm(), 0.01);
  EXPECT_EQ(theta, theta_of_both);
  EXPECT_EQ(rows.rows, both.rows);
  EXPECT_EQ(rows.drift, both.drift);
}

}  // namespace
}  // namespace stiction
