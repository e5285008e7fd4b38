// Andrews' squeezing mechanism, the stiff seven-body problem of the Test Set for IVP Solvers: joint
// angles at t = 0.03 s against the reference solution published there, with the measured order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

/// A generalised coordinate of the problem: the joint whose angle it is, its start, and its value
/// at t = 0.03 s (Mazzia, Magherini, Test Set for Initial Value Problem Solvers, "Andrews").
struct Angle {
  const char* joint;
  double start, reference;
};
constexpr Angle kAngles[] = {{"crank", -0.0617138900142764496, 0.1581077119629904e2},  // β
                             {"crank pin", 0, -0.1575637105984298e2},                  // Θ
                             {"B", 0.455279819163070380, 0.4082224013073101e-1},       // γ
                             {"G", 0.222668390165885885, -0.5347301163226948},         // Φ
                             {"A5", 0.487364979543842550, 0.5244099658805304},         // δ
                             {"H", -0.222668390165885885, 0.5347301163226948},         // Ω
                             {"A7", 1.23054744454982119, 0.1048080741042263e1}};       // ε

struct AndrewsRun {
  double error = 0;        // largest of the seven angles at the end [rad]
  double energy = 0;       // largest |E − E₀ − work of the torque| [J]
  double joint_error = 0;  // largest over the run [m]
};

AndrewsRun run_andrews(const Scene& scene, const SimulationOptions& options) {
  constexpr double kTorque = 0.033;  // [N m]
  Simulation simulation(scene.model, options);
  const MechanismWatch watch(simulation);
  const double start = simulation.energy().now.total();
  AndrewsRun run;
  const int num_steps = static_cast<int>(std::lround(0.03 / options.h));
  for (int n = 0; n < num_steps; ++n) {
    simulation.step();
    const double work = kTorque * watch.coordinate("crank");
    run.energy = std::max(run.energy, std::abs(simulation.energy().now.total() - start - work));
  }
  for (const Angle& angle : kAngles)
    run.error = std::max(run.error,
                         std::abs(angle.start + watch.coordinate(angle.joint) - angle.reference));
  run.joint_error = simulation.summary().joint_error_max;
  return run;
}

TEST(MechanismAndrews, AnglesReachThePublishedReferenceWithTheOrderOfTheScheme) {
  const Scene scene = example_scene("andrews");
  struct Expected {
    const char* scheme;
    int order;
    std::vector<double> steps;  // [s]; the crank turns by up to 1,140 rad/s
    double error;               // [rad] at the last of them
  };
  // After larger steps of the Euler scheme its projection finds no position.
  const std::vector<Expected> all{{"spook", 2, {4e-5, 2e-5, 1e-5}, 5e-5},
                                  {"trapezoidal-2", 2, {4e-5, 2e-5, 1e-5}, 2e-4},
                                  {"linearly-implicit-euler", 1, {1e-5, 5e-6}, 0.5}};
  for (const auto& [scheme, order, steps, error] : all) {
    SCOPED_TRACE(scheme);
    std::vector<double> errors;
    for (const double h : steps) {
      const AndrewsRun run = run_andrews(scene, options_of(scene, scheme, h));
      errors.push_back(run.error);
      if (order == 2) {
        EXPECT_LE(run.energy, 1e-5) << h;  // of 2 J
        // Bars of up to 0.028 m, the fastest at 1,140 rad/s.
        EXPECT_LE(run.joint_error, 0.028 * std::pow(1140 * h, 2)) << h;
      }
      RecordProperty(std::string(scheme) + " " + std::to_string(1e6 * h) + " us",
                     std::to_string(run.error));
    }
    EXPECT_NEAR(fitted_order(steps, errors), order, 0.2);
    EXPECT_LT(errors.back(), error);
  }
}

TEST(MechanismAndrews, HasOneDegreeOfFreedom) {
  const Scene scene = example_scene("andrews");
  const auto redundant = static_cast<int>(redundant_rows(scene.model).size());
  EXPECT_EQ(scene.model.num_v(), 21);
  EXPECT_EQ(scene.model.num_v() - scene.model.num_constraints() + redundant, 1);
}

}  // namespace
}  // namespace stiction::testing
