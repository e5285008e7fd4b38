// Joint systems: time per step over the number of links of a hanging chain, and over the number of
// loops of a ladder of four-bar linkages with spatial hinges, which hold many things twice.
#include <benchmark/benchmark.h>

#include <string>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

constexpr double kLinkLength = 0.2;  // [m]

BodyDescription make_rod(const std::string& name, const Eigen::Vector3d& middle,
                         const Eigen::Vector3d& direction, double mass) {
  BodyDescription rod;
  rod.name = name;
  rod.mass = mass;
  rod.position = middle;
  const double length = direction.norm(), across = mass * length * length / 12;
  const Eigen::Vector3d along = direction / length;
  rod.inertia = across * (Eigen::Matrix3d::Identity() - along * along.transpose()) +
                2e-4 * mass * Eigen::Matrix3d::Identity();
  return rod;
}

/// Ball joints, along x, with a heavy ball at its end.
Model make_chain(int links, double ball_mass) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -9.81});
  for (int i = 0; i <= links; ++i) {
    const bool is_ball = i == links;
    BodyDescription body =
        is_ball ? make_rod("ball", {links * kLinkLength, 0, 0}, {0.3, 0, 0}, ball_mass)
                : make_rod("link " + std::to_string(i), {(i + 0.5) * kLinkLength, 0, 0},
                           {kLinkLength, 0, 0}, 1);
    world.add_body(body);
    JointDescription joint;
    joint.name = "joint " + std::to_string(i);
    joint.bodies = {i == 0 ? kWorld : i - 1, i};
    world.add_joint(joint, {.at = {i * kLinkLength, 0, 0}});
  }
  return world.build_model();
}

/// N-four-bar mechanism (IFToMM library of computational benchmark problems, A02): rods of 1 m and
/// 1 kg, hinges about z.
Model make_ladder(int loops) {
  RigidBodyBuilder world;
  world.set_gravity({0, -9.81, 0});
  const auto hinge = [&](int a, int b, const Eigen::Vector3d& at) {
    JointDescription joint;
    joint.type = JointType::kHinge;
    joint.bodies = {a, b};
    world.add_joint(joint, {.at = at, .axis = {0, 0, 1}});
  };
  int last_top = kWorld;
  for (int i = 0; i <= loops; ++i) {
    const Eigen::Vector3d foot(i, 0, 0), head(i, 1, 0);
    BodyDescription upright =
        make_rod("upright " + std::to_string(i), 0.5 * (foot + head), head - foot, 1);
    upright.velocity = {0.5, 0, 0};
    upright.angular_velocity = {0, 0, -1};
    const int bar = world.add_body(upright);
    hinge(kWorld, bar, foot);
    if (last_top != kWorld) hinge(last_top, bar, head);
    if (i == loops) break;
    BodyDescription top =
        make_rod("top " + std::to_string(i), head + Eigen::Vector3d(0.5, 0, 0), {1, 0, 0}, 1);
    top.velocity = {1, 0, 0};
    last_top = world.add_body(top);
    hinge(bar, last_top, head);
  }
  return world.build_model();
}

void run(benchmark::State& state, Model model, double h) {
  Simulation simulation(std::move(model), {.scheme = "spook", .h = h, .tolerance = 1e-8});
  for (int i = 0; i < 3; ++i) simulation.step();
  for (auto step : state) simulation.step();
  state.counters["steps/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["residual_max"] = simulation.summary().residual_max;
  state.counters["joint_error_max"] = simulation.summary().joint_error_max;
}

void BM_Chain(benchmark::State& state) {
  run(state, make_chain(static_cast<int>(state.range(0)), 1000), 1.0 / 60);
}
BENCHMARK(BM_Chain)
    ->ArgName("links")
    ->Arg(10)
    ->Arg(30)
    ->Arg(100)
    ->Arg(300)
    ->Arg(1000)
    ->Arg(3000)
    ->Arg(10000)
    ->Unit(benchmark::kMicrosecond);

void BM_Ladder(benchmark::State& state) {
  run(state, make_ladder(static_cast<int>(state.range(0))), 1e-3);
}
BENCHMARK(BM_Ladder)->ArgName("loops")->Arg(1)->Arg(10)->Arg(40)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stiction
