// How far contacts have slipped since they were made, (T38), against the way of a block that slides
// to rest; through a checkpoint, a lift, and a table that tilts.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "stiction/base/diagnostics.h"
#include "stiction/model/rigid_body_builder.h"
#include "stiction/scene/scene.h"
#include "stiction/scheme/scheme.h"
#include "stiction/sim/simulation.h"
#include "tests/base/temporary_folder.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"

namespace stiction::testing {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr double kMu = 0.3, kSpeed = 1.5, kWay = kSpeed * kSpeed / (2 * kMu * kGravity);

/// A block of 1 kg that slides on a table at 30° to the axes.
Model block(const std::string& table = R"("static": true)") {
  Diagnostics diagnostics("test.json");
  const auto scene = read_scene(R"({"stiction": 1, "name": "block", "gravity": [0, 0, -9.81],
      "simulate": {"h": 1e-3, "duration": 1},
      "materials": {"wood": {"mu": 0.3}},
      "bodies": [
        {"name": "block", "mass": 1, "inertia": [0.01, 0.01, 0.01], "position": [0, 0, 0.05],
         "velocity": [1.299038105676658, 0.75, 0],
         "shapes": [{"type": "box", "size": [0.4, 0.4, 0.1], "material": "wood"}]},
        {"name": "table", )" + table +
                                    R"(,
         "shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "wood"}]}]})",
                                {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  return scene->model;
}

SimulationOptions with(const std::string& scheme, double h) {
  return {.scheme = scheme, .h = h, .friction = FrictionSection::disc()};
}

Vector2d slip_of(const ContactOutcome& contact) {
  return {contact.accumulated_slip[0], contact.accumulated_slip[1]};
}

/// The largest difference of a corner's way from the closed form, in size and direction.
double error_of_way(const Simulation& simulation) {
  EXPECT_EQ(simulation.contacts().size(), 4u);
  double error = 0;
  for (const ContactOutcome& contact : simulation.contacts()) {
    // On a table tangents are x and y; slip is that of A, the block, if the normal points upwards.
    const double side = contact.place.normal[2];
    const Vector2d expected = side * kWay * Vector2d(std::sqrt(0.75), 0.5);
    Vector2d found = slip_of(contact);
    if (side < 0) found.y() = -found.y();  // t₂ = n × t₁
    error = std::max(error, std::min((found - expected).norm(), (found + expected).norm()));
  }
  return error;
}

TEST(AccumulatedSlip, OfABlockThatSlidesToRestIsItsWay) {
  for (const double h : {4e-3, 1e-3, 2.5e-4}) {
    Simulation simulation(block(), with("moreau", h));
    simulation.run(kSpeed / (kMu * kGravity) + 2 * h);
    // Mean velocities of steps under a constant force are exact; of the step within which it comes
    // to rest, less than (μ g h)²/(2 μ g) of way, nothing is counted.
    EXPECT_LE(error_of_way(simulation), kMu * kGravity * h * h / 2 + 1e-10) << h;
  }
}

TEST(AccumulatedSlip, ConvergesUnderAllSchemes) {
  for (const std::string& scheme : scheme_names()) {
    SCOPED_TRACE(scheme);
    std::vector<double> steps, errors;
    for (double h = 8e-3; h > 5e-4; h /= 2) {
      Simulation simulation(block(), with(scheme, h));
      simulation.run(kSpeed / (kMu * kGravity) + 2 * h);
      steps.push_back(h);
      errors.push_back(error_of_way(simulation));
      EXPECT_LE(errors.back(), 2 * kSpeed * h);
    }
    if (errors.front() > 1e-9) {
      EXPECT_GE(fitted_order(steps, errors), 0.8);
    }
  }
}

/// In a turned world gaps of corners that others hold are rounding of either sign. The longest way
/// of one step is what the first and the last of the slide leave open.
TEST(AccumulatedSlip, OutlivesRoundingInATurnedWorld) {
  const Eigen::Quaterniond turn(Eigen::AngleAxisd(1.1, Vector3d(0.3, 0.8, -0.4).normalized()));
  RigidBodyBuilder world;
  world.set_gravity(turn * Vector3d(0, 0, -kGravity));
  const MaterialId wood = world.add_material({.name = "wood", .mu = kMu});
  const BodyId cube = world.add_body({.name = "cube",
                                      .position = turn * Vector3d(0, 0, 0.5),
                                      .orientation = turn,
                                      .velocity = turn * Vector3d(kSpeed, 0, 0),
                                      .mass = 1,
                                      .inertia = Eigen::Matrix3d::Identity() / 6});
  world.add_shape({.body = cube, .shape = Box{.size = {1, 1, 1}}, .material = wood});
  world.add_shape({.shape = Plane{.normal = turn * Vector3d::UnitZ()}, .material = wood});
  const Model model = world.build_model();
  constexpr double kStep = 2e-3;
  for (const std::string& scheme : scheme_names()) {
    SCOPED_TRACE(scheme);
    Simulation simulation(model, with(scheme, kStep));
    for (int n = 0; n < 350; ++n) {
      simulation.step();
      ASSERT_EQ(simulation.contacts().size(), 4u) << "step " << n;
    }
    for (const ContactOutcome& contact : simulation.contacts())
      EXPECT_NEAR(slip_of(contact).norm(), kWay, kSpeed * kStep);
  }
}

TEST(AccumulatedSlip, StaysAsItIsWhileTheContactSticks) {
  Simulation simulation(block(), with("moreau", 1e-3));
  simulation.run(kSpeed / (kMu * kGravity) + 0.01);
  const std::vector<ContactOutcome> before = simulation.contacts();
  ASSERT_EQ(before.size(), 4u);
  simulation.run(0.5);
  for (std::size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(simulation.contacts()[i].key, before[i].key);
    EXPECT_EQ(simulation.contacts()[i].accumulated_slip, before[i].accumulated_slip);
  }
}

TEST(AccumulatedSlip, BeginsAnewWhereContactWasLost) {
  Simulation simulation(block(), with("moreau", 1e-3));
  simulation.run(0.1);
  ASSERT_EQ(simulation.contacts().size(), 4u);
  EXPECT_GT(slip_of(simulation.contacts().front()).norm(), 0.1);
  VectorXd lift = VectorXd::Zero(6);
  lift[2] = 12;
  simulation.set_held_force(lift);
  simulation.run(0.02);  // by ½ 2.19 m/s² t² = 0.4 mm, within the reach where identities are kept
  simulation.set_held_force(VectorXd());
  simulation.run(0.03);  // of which it flies for another 15 ms
  ASSERT_EQ(simulation.contacts().size(), 4u);
  const double speed = kSpeed - kMu * kGravity * 0.1;  // at which it takes off
  for (const ContactOutcome& contact : simulation.contacts()) {
    EXPECT_EQ(contact.status, ContactStatus::kSlip);
    EXPECT_LT(slip_of(contact).norm(), 0.03 * speed);
    EXPECT_GT(slip_of(contact).norm(), 0.005 * speed);
  }
}

TEST(AccumulatedSlip, GoesOnFromACheckpointWithTheSameBits) {
  const TemporaryFolder folder;
  const std::string path = folder.file("state.h5");
  Simulation simulation(block(), with("moreau", 1e-3));
  simulation.run(0.2);
  simulation.save(path);
  Simulation restored(block(), with("moreau", 1e-3));
  restored.restore(path);
  simulation.run(0.1);
  restored.run(0.1);
  ASSERT_EQ(restored.contacts().size(), simulation.contacts().size());
  for (std::size_t i = 0; i < simulation.contacts().size(); ++i) {
    EXPECT_EQ(restored.contacts()[i].accumulated_slip, simulation.contacts()[i].accumulated_slip);
    EXPECT_GT(slip_of(restored.contacts()[i]).norm(), 0.1);
  }
}

TEST(AccumulatedSlip, IsKeptWhenTheSchemeChanges) {
  Simulation simulation(block(), with("moreau", 1e-3));
  simulation.run(0.2);
  const double before = slip_of(simulation.contacts().front()).norm();
  simulation.change_options(with("stewart-trinkle", 1e-3));
  simulation.step();
  const double speed = kSpeed - kMu * kGravity * 0.2;
  EXPECT_NEAR(slip_of(simulation.contacts().front()).norm(), before + 1e-3 * speed, 1e-5);
}

/// In the world, by the tangents of docs/conventions.md: t₁ = n × e_z / ‖·‖, t₂ = t₁ × n.
Vector3d in_world(const ContactOutcome& contact) {
  const Vector3d n(contact.place.normal.data());
  const Vector3d t1 = n.cross(Vector3d::UnitZ()).normalized();
  return contact.accumulated_slip[0] * t1 + contact.accumulated_slip[1] * t1.cross(n);
}

TEST(AccumulatedSlip, TurnsWithATableThatTilts) {
  // By up to 0.2 rad about a slanting axis, slowly; the block has come to rest before the first
  // look, and sticks: tan 0.2 < μ.
  const Vector3d axis = Vector3d(0.6, 0.8, 0);
  const std::string table = R"j("kinematic": {"position": [0, 0, 0], "axis": [0.6, 0.8, 0],
                                 "angle": "0.1 * (1 - cos(0.5 * t))"})j";
  Simulation simulation(block(table), with("moreau", 1e-3));
  simulation.run(1);
  const double angle_before = 0.1 * (1 - std::cos(0.5 * simulation.state().t));
  ASSERT_EQ(simulation.contacts().size(), 4u);
  std::vector<Vector3d> before;
  for (const ContactOutcome& contact : simulation.contacts()) {
    ASSERT_EQ(contact.status, ContactStatus::kStick);
    before.push_back(in_world(contact));
    EXPECT_GT(before.back().norm(), 0.1);
  }
  simulation.run(5);
  const double angle = 0.1 * (1 - std::cos(0.5 * simulation.state().t));
  const Eigen::AngleAxisd turn(angle - angle_before, axis);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const ContactOutcome& contact = simulation.contacts()[i];
    ASSERT_EQ(contact.status, ContactStatus::kStick);
    // The way lies in the plane of the table: turned about an axis in it, with the table.
    EXPECT_LE((in_world(contact) - turn * before[i]).norm(), 1e-11);
  }
}

}  // namespace
}  // namespace stiction::testing
