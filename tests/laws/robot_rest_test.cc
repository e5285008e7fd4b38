// Imported robots that stand or hold a pose by the friction of their joints: what rests does not
// creep. Friction is set-valued, so that zero velocity is a solution of every step; what is left is
// the tolerance of the solver. The bound on the way they move in a second is that of a certificate
// of 1e-9 in every step, in the same direction always, 1e-9 m/s · 1 s, times ten for the distance
// of the outermost point.
#include <gtest/gtest.h>

#include "stiction/scene/import_robot.h"
#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

constexpr double kCreep = 1e-8;

struct Watch {
  double way = 0;     // largest change of a coordinate in the second half
  double speed = 0;   // largest velocity at the end
  double height = 0;  // change of the highest body, from the start
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
  found.height = (simulation.state().q - start).lpNorm<Eigen::Infinity>();
  return found;
}

TEST(RobotRest, ArmHoldsItsPoseByFriction) {
  ImportOptions options;
  options.fix_base = true;
  options.positions = {{"lift", 0.8}, {"elbow", 0.9}, {"wrist", 0.5}, {"finger_left_joint", 0.02}};
  const Watch seen = watch("arm.urdf", options, 0.5);
  EXPECT_LE(seen.way, kCreep);
  EXPECT_LE(seen.height, 1e-6);
}

TEST(RobotRest, QuadrupedStands) {
  ImportOptions options;
  options.keyframe = "stand";
  const Watch seen = watch("quadruped.xml", options, 0.5);
  EXPECT_LE(seen.way, kCreep);
  EXPECT_LE(seen.height, 1e-6);
}

TEST(RobotRest, HumanoidStands) {
  const Watch seen = watch("humanoid.xml", {}, 0.5);
  EXPECT_LE(seen.way, kCreep);
  EXPECT_LE(seen.height, 1e-6);
}

}  // namespace
}  // namespace stiction
