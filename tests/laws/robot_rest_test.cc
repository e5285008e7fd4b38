// Imported robots that stand or hold a pose by the friction of their joints: what rests does not
// creep. Friction is set-valued, so that zero velocity solves every step exactly; what is left is
// rounding. Measured in the second half of a run: 4e-14 m at most, with velocities of 4e-13 m/s
// that do not add up. Bound: one step at the velocity that a certificate of 1e-9 allows, 2e-12.
// From the start on, the rows of joints yield by what they bear: below 2e-9 here.
#include <gtest/gtest.h>

#include "stiction/scene/import_robot.h"
#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

constexpr double kCreep = 2e-12;  // [m] and units of quaternions, in a quarter of a second
constexpr double kYield = 1e-8;   // from the start to the end

struct Watch {
  double way = 0;    // largest change of a coordinate in the second half
  double speed = 0;  // largest velocity at the end
  double yield = 0;  // largest change of a coordinate from the start
};

Watch watch(const std::string& name, const ImportOptions& options, double seconds) {
  Watch found;
  ImportReport report;
  ImportOptions here = options;
  const std::string path = STICTION_SOURCE_DIR "/examples/robots/" + name;
  here.scene_folder = STICTION_SOURCE_DIR "/examples/robots";
  const auto imported = import_robot(path, here, report);
  if (!imported) {
    ADD_FAILURE() << report.errors_to_text();
    return found;
  }
  Diagnostics diagnostics(path);
  const auto scene = read_scene(imported->text, {}, diagnostics);
  if (!scene) {
    ADD_FAILURE() << diagnostics.to_text();
    return found;
  }
  Simulation simulation(scene->model,
                        {.h = scene->simulate.h, .friction = scene->simulate.friction});
  const VectorXd start = simulation.state().q;
  const int steps = static_cast<int>(seconds / scene->simulate.h);
  VectorXd half = start;
  for (int i = 0; i < steps; ++i) {
    simulation.step(scene->simulate.h);
    if (i == steps / 2) half = simulation.state().q;
  }
  found.way = (simulation.state().q - half).lpNorm<Eigen::Infinity>();
  found.speed = simulation.state().v.lpNorm<Eigen::Infinity>();
  found.yield = (simulation.state().q - start).lpNorm<Eigen::Infinity>();
  return found;
}

TEST(RobotRest, ArmHoldsItsPoseByFriction) {
  ImportOptions options;
  options.fix_base = true;
  options.positions = {{"lift", 0.8}, {"elbow", 0.9}, {"wrist", 0.5}, {"finger_left_joint", 0.02}};
  const Watch seen = watch("arm.urdf", options, 0.5);
  EXPECT_LE(seen.way, kCreep);
  EXPECT_LE(seen.yield, kYield);
  EXPECT_LE(seen.speed, 1e-9);
}

TEST(RobotRest, QuadrupedStands) {
  ImportOptions options;
  options.keyframe = "stand";
  const Watch seen = watch("quadruped.xml", options, 0.5);
  EXPECT_LE(seen.way, kCreep);
  EXPECT_LE(seen.yield, kYield);
  EXPECT_LE(seen.speed, 1e-9);
}

TEST(RobotRest, HumanoidStands) {
  const Watch seen = watch("humanoid.xml", {}, 0.5);
  EXPECT_LE(seen.way, kCreep);
  EXPECT_LE(seen.yield, kYield);
  EXPECT_LE(seen.speed, 1e-9);
}

}  // namespace
}  // namespace stiction
