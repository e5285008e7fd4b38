// What comes to a simulation from outside: states and forces of controllers.
#include <gtest/gtest.h>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"

namespace stiction {
namespace {

/// A block whose centre of mass is off its frame, free in space.
Model make_block() {
  RigidBodyBuilder world;
  world.add_body({.name = "block",
                  .position = {0, 0, 1},
                  .mass = 2,
                  .center_of_mass = {0.1, 0, 0},
                  .inertia = Eigen::Vector3d(0.1, 0.2, 0.25).asDiagonal()});
  return world.build_model();
}

TEST(SimulationInputs, AHeldForceActsUntilItIsTakenAwayAndIsBooked) {
  Simulation simulation(make_block(), {.h = 1e-2});
  VectorXd force = VectorXd::Zero(6);
  force[0] = 4;
  simulation.set_held_force(force);
  simulation.step();
  EXPECT_NEAR(simulation.state().v[0], 4 * 1e-2 / 2, 1e-16);
  // Constant force on a free body: its work is what was gained, to rounding.
  EXPECT_NEAR(simulation.energy().applied, simulation.energy().now.kinetic, 1e-18);
  simulation.set_held_force({});
  simulation.step();
  EXPECT_NEAR(simulation.state().v[0], 4 * 1e-2 / 2, 1e-16);
  EXPECT_THROW(simulation.set_held_force(VectorXd::Zero(5)), InputError);
  force[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(simulation.set_held_force(force), InputError);
}

TEST(SimulationInputs, AStateAsRecordedIsTheStateAgain) {
  Simulation simulation(make_block(), {.h = 1e-2});
  State state = simulation.state();
  state.v << 1, 2, 3, 0.4, 0.5, 0.6;
  simulation.set_state(state);
  simulation.run(0.5);
  VectorXd q, v;
  simulation.model().record(simulation.state(), q, v);
  State back = simulation.model().initial_state();
  simulation.model().adopt_recorded(q, v, back);
  // To the frame of the body and back: a few roundings.
  EXPECT_LT((back.q - simulation.state().q).lpNorm<Eigen::Infinity>(), 1e-14);
  EXPECT_LT((back.v - simulation.state().v).lpNorm<Eigen::Infinity>(), 1e-14);
  EXPECT_THROW(simulation.model().adopt_recorded(q.head(3), v, back), InputError);
  q.segment<4>(3).setZero();
  EXPECT_THROW(simulation.model().adopt_recorded(q, v, back), InputError);
}

TEST(SimulationInputs, AStateThatCannotBeAStartChangesNothing) {
  Simulation simulation(make_block(), {.h = 1e-2});
  simulation.run(0.1);
  const VectorXd before = simulation.state().q;
  State bad = simulation.state();
  bad.q[0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(simulation.set_state(bad), InputError);
  bad.q.resize(2);
  EXPECT_THROW(simulation.set_state(bad), InputError);
  EXPECT_EQ(simulation.state().q, before);
}

TEST(SimulationInputs, AWrenchAtAPointTurnsAboutTheCentreOfMass) {
  const Model model = make_block();
  const auto& system = dynamic_cast<const RigidBodySystem&>(*model.parts()[0].system);
  VectorXd force = VectorXd::Zero(6);
  system.add_wrench(0, model.initial_state().q, 0,
                    {.force = {0, 0, 5}, .torque = {0, 0, 0.5}, .point = {0.3, 0, 0}}, force);
  // Arm (0.2, 0, 0) × (0, 0, 5) = (0, −1, 0).
  VectorXd expected(6);
  expected << 0, 0, 5, 0, -1, 0.5;
  EXPECT_LT((force - expected).norm(), 1e-15);
}

std::string refusal_of(const Model& model, const SimulationOptions& options) {
  try {
    const Simulation simulation(model, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(SimulationInputs, ASolverThatDoesNotTakeTheFrictionIsRefusedAtTheStart) {
  const Model rough = testing::example_scene("four-balls-bodies").model;
  EXPECT_EQ(refusal_of(rough, {.solver = "newton"}),
            "solver 'newton' does not take contacts in space with friction 'polygon:8'; it takes: "
            "disc; auto takes all");
  EXPECT_EQ(refusal_of(rough, {.solver = "lemke", .friction = FrictionSection::disc()}),
            "solver 'lemke' does not take contacts in space with friction 'disc'; it takes: box, "
            "polygon:8; auto takes all");
  EXPECT_EQ(refusal_of(rough, {.solver = "block-pivot", .friction = FrictionSection::box()}), "");
  // In the plane all sections agree, and without friction there are none.
  EXPECT_EQ(refusal_of(testing::example_scene("incline").model, {.solver = "newton"}), "");
  EXPECT_EQ(refusal_of(make_block(), {.solver = "newton"}), "");
  Simulation simulation(rough, {});
  EXPECT_THROW(simulation.change_options({.solver = "admm"}), InputError);
  EXPECT_EQ(simulation.options().solver, "auto");
}

TEST(SimulationInputs, ASolverOfSymmetricMassesIsRefusedWhereBodiesMayTurn) {
  const std::string text =
      refusal_of(make_block(), {.scheme = "spook", .solver = "direct-iterative"});
  EXPECT_NE(text.find("needs symmetric masses, spook makes them nonsymmetric"), std::string::npos)
      << text;
  for (const char* scheme : {"spook", "linearly-implicit-euler"})
    EXPECT_EQ(refusal_of(make_block(), {.scheme = scheme,
                                        .solver = "direct-iterative",
                                        .stepping = {.gyroscopic = GyroscopicTerm::kExplicit}}),
              "");
  EXPECT_NE(refusal_of(make_block(), {.scheme = "trapezoidal-2", .solver = "direct-iterative"}),
            "");
  EXPECT_EQ(refusal_of(make_block(), {.scheme = "trapezoidal-2",
                                      .solver = "direct-iterative",
                                      .stepping = {.jacobians = ForceJacobians::kSpringsOnly}}),
            "");
  EXPECT_EQ(refusal_of(make_block(), {.scheme = "moreau", .solver = "direct-iterative"}), "");
}

}  // namespace
}  // namespace stiction
