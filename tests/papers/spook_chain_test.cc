// Chains and cranks of Lacoursière–Linde's kind: a heavy ball on a chain of light links, released
// horizontally, which the direction of the joint forces tears apart unless it is treated
// implicitly; a chain that ends in a whip; a slider-crank through its singular positions.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/gravity.h"

namespace stiction::testing {
namespace {

using Eigen::Vector3d;

/// Links of 1 kg and 0.2 m along +x on ball joints, the first at the origin, with a ball at the end
/// that hangs by its centre; none if its mass is 0.
struct Chain {
  int links = 20;
  double ball = 1000;  // [kg]
  static constexpr double kLength = 0.2, kRadius = 0.02, kBallRadius = 0.3;

  double rope() const { return links * kLength; }
  double energy_scale() const { return (ball > 0 ? ball : links) * kGravity * rope(); }
  /// Of a link about an axis across it.
  static double inertia() { return kLength * kLength / 12 + kRadius * kRadius / 4; }
  int num_bodies() const { return ball > 0 ? links + 1 : links; }

  Model build() const {
    RigidBodyBuilder world;
    world.set_gravity({0, 0, -kGravity});
    for (int i = 0; i < links; ++i)
      world.add_body(
          {.name = "link " + std::to_string(i),
           .position = {(i + 0.5) * kLength, 0, 0},
           .mass = 1,
           .inertia = Vector3d(kRadius * kRadius / 2, inertia(), inertia()).asDiagonal()});
    if (ball > 0)
      world.add_body(
          {.name = "ball",
           .position = {rope(), 0, 0},
           .mass = ball,
           .inertia = 0.4 * ball * kBallRadius * kBallRadius * Eigen::Matrix3d::Identity()});
    for (int i = 0; i < num_bodies(); ++i)
      world.add_joint(
          {.name = "joint " + std::to_string(i), .type = JointType::kBall, .bodies = {i - 1, i}},
          {.at = {i * kLength, 0, 0}});
    return world.build_model();
  }

  /// The largest distance between two points that a joint holds together.
  double gap(const State& state) const {
    const Vector3d half(kLength / 2, 0, 0);
    Vector3d end = Vector3d::Zero();
    double worst = 0;
    for (int i = 0; i < num_bodies(); ++i) {
      const Vector3d center = state.q.segment<3>(7 * i);
      const Eigen::Quaterniond turn(state.q[7 * i + 3], state.q[7 * i + 4], state.q[7 * i + 5],
                                    state.q[7 * i + 6]);
      const Vector3d arm = i < links ? Vector3d(turn * half) : Vector3d::Zero();
      worst = std::max(worst, (center - arm - end).norm());
      end = center + arm;
    }
    return worst;
  }
};

struct ChainRun {
  double gap = 0;                                          // [m] largest
  double gain = -std::numeric_limits<double>::infinity();  // largest E − E₀ over m g L
  double loss = 0;                                         // E₀ − E at the end over m g L
  double residual = 0;
  std::vector<Vector3d> path;  // of the last body
};

ChainRun run_chain(const Chain& chain, const SpookOptions& options, double duration,
                   double h = 1.0 / 60) {
  Simulation simulation(chain.build(), {.scheme = "spook",
                                        .h = h,
                                        .tolerance = 1e-8,
                                        .on_failure = OnFailure::kAcceptAndFlag,
                                        .stepping = {.spook = options}});
  ChainRun run;
  const double start = simulation.energy().now.total();
  const int num_steps = static_cast<int>(std::lround(duration / h));
  for (int n = 0; n < num_steps; ++n) {
    simulation.step();
    run.gap = std::max(run.gap, chain.gap(simulation.state()));
    run.loss = (start - simulation.energy().now.total()) / chain.energy_scale();
    run.gain = std::max(run.gain, -run.loss);
    run.path.push_back(simulation.state().q.segment<3>(7 * (chain.num_bodies() - 1)));
  }
  run.residual = simulation.summary().residual_max;
  return run;
}

/// The same chain in the plane by the angles θ of its links, x towards z, and the classical
/// Runge–Kutta method: no joint can open. With l_ij the mass that hangs on both links,
/// Σ_j l_ij cos(θ_i − θ_j) θ̈_j = −Σ_j l_ij sin(θ_i − θ_j) θ̇_j² − g_i cos θ_i.
class PlanarChain {
 public:
  explicit PlanarChain(const Chain& chain)
      : chain_(chain), theta_(VectorXd::Zero(chain.links)), rate_(theta_) {}

  void advance(double duration, int num_steps) {
    const double h = duration / num_steps;
    for (int n = 0; n < num_steps; ++n) {
      const VectorXd v1 = rate_, a1 = acceleration(theta_, v1);
      const VectorXd v2 = rate_ + h / 2 * a1, a2 = acceleration(theta_ + h / 2 * v1, v2);
      const VectorXd v3 = rate_ + h / 2 * a2, a3 = acceleration(theta_ + h / 2 * v2, v3);
      const VectorXd v4 = rate_ + h * a3, a4 = acceleration(theta_ + h * v3, v4);
      theta_ += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
      rate_ += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
  }
  Vector3d ball() const {
    return Chain::kLength * Vector3d(theta_.array().cos().sum(), 0, theta_.array().sin().sum());
  }

 private:
  VectorXd acceleration(const VectorXd& theta, const VectorXd& rate) const {
    const int n = chain_.links;
    const VectorXd c = theta.array().cos(), s = theta.array().sin();
    Eigen::MatrixXd mass(n, n);
    VectorXd force(n);
    for (int i = 0; i < n; ++i) {
      const double below = n - 1 - i + chain_.ball;
      force[i] = -kGravity * Chain::kLength * (below + 0.5) * c[i];
      for (int j = 0; j < n; ++j) {
        const double hanging = n - 1 - std::max(i, j) + chain_.ball + (i == j ? 0.25 : 0.5);
        const double l = hanging * Chain::kLength * Chain::kLength;
        mass(i, j) = l * (c[i] * c[j] + s[i] * s[j]) + (i == j ? Chain::inertia() : 0);
        force[i] -= l * (s[i] * c[j] - c[i] * s[j]) * rate[j] * rate[j];
      }
    }
    return mass.llt().solve(force);
  }

  Chain chain_;
  VectorXd theta_, rate_;
};

/// Largest distance of the ball from its path by `reference(chain, h)`, over the rope's length.
double path_error(const Chain& chain, const std::vector<Vector3d>& path, double h,
                  double duration) {
  PlanarChain reference(chain);
  double worst = 0;
  // Vibrations of the links at tension T have frequencies up to about √(12 T/(m l)); T is up to
  // 3 g times the ball's mass. A tenth of a radian per step.
  const double fastest = std::sqrt(12 * 3 * kGravity * (chain.ball + chain.links) / Chain::kLength);
  const int substeps = static_cast<int>(std::ceil(fastest * h / 0.1));
  for (int n = 0; n < static_cast<int>(std::lround(duration / h)); ++n) {
    reference.advance(h, substeps);
    worst = std::max(worst, (path[static_cast<std::size_t>(n)] - reference.ball()).norm());
  }
  return worst / chain.rope();
}

/// The same for a ball so heavy that the rope weighs nothing, which makes it a pendulum; wrong by
/// about the ratio of their masses.
double pendulum_path_error(const Chain& chain, const std::vector<Vector3d>& path, double h,
                           double duration) {
  const double w2 = kGravity / chain.rope();
  double angle = 0, rate = 0, worst = 0;
  constexpr int kSubsteps = 100;
  for (int n = 0; n < static_cast<int>(std::lround(duration / h)); ++n) {
    for (int k = 0; k < kSubsteps; ++k) {  // leapfrog, second order: 1e-8
      rate -= h / kSubsteps / 2 * w2 * std::cos(angle);
      angle += h / kSubsteps * rate;
      rate -= h / kSubsteps / 2 * w2 * std::cos(angle);
    }
    const Vector3d ball = chain.rope() * Vector3d(std::cos(angle), 0, std::sin(angle));
    worst = std::max(worst, (path[static_cast<std::size_t>(n)] - ball).norm());
  }
  return worst / chain.rope();
}

constexpr double kSwing = 1.5;  // [s] through the first swing of 10 m of rope
constexpr double kStep = 1.0 / 60;

// -------------------------------------------------------------------------------------------------

class HeavyChain : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Ball, HeavyChain, ::testing::Values(1e3, 1e6));

TEST_P(HeavyChain, StaysTogetherWithOneLinearProblemPerStep) {
  const Chain chain{.links = 20, .ball = GetParam()};
  const ChainRun run = run_chain(chain, {}, 3);
  EXPECT_LT(run.gap, 5e-3);
  EXPECT_LE(run.gain, 0);
  EXPECT_LT(run.loss, 0.05);
  EXPECT_LT(run.residual, 1e-8);
  EXPECT_LT(GetParam() > 1e5 ? pendulum_path_error(chain, run.path, kStep, 1)
                             : path_error(chain, run.path, kStep, 1),
            0.02);
}

TEST_P(HeavyChain, ComesApartWithoutGeometricStiffness) {
  // What the term is for. Without it the directions of forces are explicit, h²T/(m l) ≫ 4.
  const Chain chain{.links = 20, .ball = GetParam()};
  const ChainRun run = run_chain(chain, {.geometric_stiffness = false}, 3);
  EXPECT_GT(run.gap, 0.1);
}

TEST_P(HeavyChain, PositionIterationClosesTheJoints) {
  const Chain chain{.links = 20, .ball = GetParam()};
  const ChainRun run = run_chain(chain, {.position_iteration = true}, 3);
  EXPECT_LT(run.gap, 1e-6);
  EXPECT_LE(run.gain, 1e-9);
  EXPECT_LT(run.loss, 0.002);
  EXPECT_LT(run.residual, 1e-8);
}

class SlowHeavyChain : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Ball, SlowHeavyChain, ::testing::Values(1e3, 1e6));

TEST_P(SlowHeavyChain, OfFiftyLinksStaysTogetherForTenSeconds) {
  const Chain chain{.links = 50, .ball = GetParam()};
  const ChainRun run = run_chain(chain, {}, 10);
  EXPECT_LT(run.gap, 5e-3);
  EXPECT_LE(run.gain, 0);
  EXPECT_LT(run.loss, 0.08);
  EXPECT_LT(run.residual, 1e-8);
  EXPECT_LT(GetParam() > 1e5 ? pendulum_path_error(chain, run.path, kStep, kSwing)
                             : path_error(chain, run.path, kStep, kSwing),
            0.02);
}

TEST_P(SlowHeavyChain, OfFiftyLinksIsClosedByPositionIteration) {
  const Chain chain{.links = 50, .ball = GetParam()};
  const ChainRun run = run_chain(chain, {.position_iteration = true}, 10);
  EXPECT_LT(run.gap, 1e-6);
  EXPECT_LE(run.gain, 1e-9);
  EXPECT_LT(run.loss, 0.04);
  EXPECT_LT(run.residual, 1e-8);
  EXPECT_LT(GetParam() > 1e5 ? pendulum_path_error(chain, run.path, kStep, kSwing)
                             : path_error(chain, run.path, kStep, kSwing),
            0.002);
}

// -------------------------------------------------------------------------------------------------

TEST(Whip, OfLinksAloneStaysTogetherAndGainsNothing) {
  // Its end cracks: links turn by more than a radian per step of 1/60 s. One linear problem opens
  // the joints then, by a good part of a link unless the stiffness damps (b = 0) or the step is
  // short; iterated they stay closed.
  struct Case {
    const char* name;
    SpookOptions options;
    double h, gap;
  };
  for (const Case& c : {Case{"b = 0", {.stiffness_return = 0}, 1.0 / 60, 0.05},
                        Case{"short step", {}, 1.0 / 240, 0.05},
                        Case{"position iteration", {.position_iteration = true}, 1.0 / 60, 1e-6}}) {
    SCOPED_TRACE(c.name);
    const Chain chain{.links = 20, .ball = 0};
    const ChainRun run = run_chain(chain, c.options, 3, c.h);
    EXPECT_LT(run.gap, c.gap);
    EXPECT_LE(run.gain, 1e-9);
    EXPECT_LT(run.residual, 1e-8);
  }
}

// -------------------------------------------------------------------------------------------------

/// Crank and rod of the same length, the slider on the x axis through the crank's pivot: where the
/// crank stands upright the slider is at the pivot and the motion can branch.
Model slider_crank(double speed) {
  RigidBodyBuilder world;
  const double angle = 0.3;  // of the crank at the start
  const Vector3d pin(std::cos(angle), std::sin(angle), 0), end(2 * pin.x(), 0, 0);
  const Eigen::Matrix3d inertia = Vector3d(0.01, 0.1, 0.1).asDiagonal();
  const auto turned = [](double by) {
    return Eigen::Quaterniond(Eigen::AngleAxisd(by, Vector3d::UnitZ()));
  };
  const Vector3d spin(0, 0, speed);
  const BodyId crank = world.add_body({.name = "crank",
                                       .position = pin / 2,
                                       .orientation = turned(angle),
                                       .velocity = spin.cross(pin / 2),
                                       .angular_velocity = spin,
                                       .mass = 1,
                                       .inertia = inertia});
  const BodyId rod = world.add_body({.name = "rod",
                                     .position = (pin + end) / 2,
                                     .orientation = turned(-angle),
                                     .velocity = spin.cross(pin) + (-spin).cross((end - pin) / 2),
                                     .angular_velocity = -spin,
                                     .mass = 1,
                                     .inertia = inertia});
  const BodyId slider = world.add_body({.name = "slider",
                                        .position = end,
                                        .velocity = {-2 * speed * std::sin(angle), 0, 0},
                                        .mass = 0.5,
                                        .inertia = 0.01 * Eigen::Matrix3d::Identity()});
  const Vector3d z = Vector3d::UnitZ(), x = Vector3d::UnitX();
  world.add_joint({.name = "pivot", .type = JointType::kHinge, .bodies = {kWorld, crank}},
                  {.at = {0, 0, 0}, .axis = z});
  world.add_joint({.name = "pin", .type = JointType::kHinge, .bodies = {crank, rod}},
                  {.at = pin, .axis = z});
  world.add_joint({.name = "end", .type = JointType::kHinge, .bodies = {rod, slider}},
                  {.at = end, .axis = z});
  world.add_joint({.name = "guide", .type = JointType::kSlider, .bodies = {kWorld, slider}},
                  {.at = end, .axis = x});
  return world.build_model();
}

/// Its angle after `duration`: one freedom, ½ J(θ) θ̇² = const.
double crank_angle(double speed, double duration) {
  const auto inertia = [](double angle) {
    const double s = std::sin(angle), c = std::cos(angle);
    return 0.1 + 0.25 + 0.1 + 2.25 * s * s + 0.25 * c * c + 0.5 * 4 * s * s;
  };
  const double start = inertia(0.3);
  const auto rate = [&](double angle) { return speed * std::sqrt(start / inertia(angle)); };
  double angle = 0.3;
  constexpr int kNumSteps = 20000;
  const double h = duration / kNumSteps;
  for (int n = 0; n < kNumSteps; ++n) angle += h * rate(angle + h / 2 * rate(angle));
  return angle;
}

TEST(SliderCrank, OfEqualLengthsPassesItsSingularPositions) {
  // Hinges in space make three of its 20 rows redundant everywhere, a fourth where the crank is
  // upright. In 5 s it turns by 13 rad: four singular positions.
  for (const bool iterates : {false, true}) {
    SCOPED_TRACE(iterates ? "position iteration" : "linear");
    constexpr double h = 1.0 / 240;
    Simulation simulation(slider_crank(4),
                          {.scheme = "spook",
                           .h = h,
                           .tolerance = 1e-8,
                           .stepping = {.spook = {.position_iteration = iterates}}});
    const double start = simulation.energy().now.total();
    double angle = 0.3, gain = 0;
    int num_passed = 0;
    double last = simulation.state().q[14];
    while (simulation.state().t < 5 - h / 2) {
      simulation.step();
      angle += h * simulation.state().v[5];
      gain = std::max(gain, simulation.energy().now.total() - start);
      const double x = simulation.state().q[14];  // of the slider
      num_passed += last * x < 0 ? 1 : 0;
      last = x;
    }
    const double exact = crank_angle(4, 5);
    EXPECT_EQ(num_passed, 4);
    EXPECT_NEAR(angle, exact, iterates ? 0.01 : 0.4);
    EXPECT_LE(gain, 1e-9 * start);
    EXPECT_LT(simulation.summary().joint_error_max, iterates ? 1e-6 : 1e-3);
  }
}

}  // namespace
}  // namespace stiction::testing
