// A body that turns freely against what Euler's equations conserve and where they have closed
// forms: angular momentum in the world, energy, the precession of a symmetric top, the flips of a
// spin about the middle axis.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/fitted_slope.h"
#include "tests/laws/rigid_rules.h"

namespace stiction::testing {
namespace {

using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using std::numbers::pi;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// A scheme and its order for the turning of a free body: the gyroscopic term is taken from the
/// start of the step, or at one end of it, in all but the last three.
struct Rule {
  const char* name;
  const char* scheme;
  bool iterates;
  double order;
};
constexpr Rule kRules[] = {{"stewart-trinkle", "stewart-trinkle", false, 1},
                           {"anitescu-potra", "anitescu-potra", false, 1},
                           {"linearly-implicit-euler", "linearly-implicit-euler", false, 1},
                           {"moreau", "moreau", false, 1},
                           {"spook", "spook", false, 1},
                           {"trapezoidal-1", "trapezoidal-1", false, 2},
                           {"trapezoidal-2", "trapezoidal-2", false, 2},
                           {"spook, iterated", "spook", true, 2}};
constexpr const Rule &kTrapezoidal = kRules[6], &kIterated = kRules[7];

SimulationOptions options_of(const Rule& rule, double h) {
  SimulationOptions options{.scheme = rule.scheme, .h = h};
  options.stepping.spook.position_iteration = rule.iterates;
  return options;
}

struct Top {
  Vector3d inertia{1, 2, 3};           // principal, [kg m²]
  Vector3d angular_velocity{0, 0, 0};  // world, [rad/s]
  Quaterniond orientation = Quaterniond::Identity();

  Model build() const {
    RigidBodyBuilder world;
    world.add_body({.name = "top",
                    .orientation = orientation,
                    .angular_velocity = angular_velocity,
                    .mass = 1,
                    .inertia = inertia.asDiagonal()});
    return world.build_model();
  }
};

Matrix3d rotation_of(const Simulation& simulation) {
  const State& s = simulation.state();
  return system_of(simulation).pose_of(s.t, s.q, 0).rotation;
}

Vector3d angular_momentum(const Simulation& simulation, const Vector3d& inertia) {
  return rotation_of(simulation) * inertia.cwiseProduct(Vector3d(simulation.state().v.tail<3>()));
}

const Top kTumbling{.angular_velocity = {0.7, 1.5, -0.4},
                    .orientation = Quaterniond(AngleAxisd(0.8, Vector3d(1, 2, -1).normalized()))};

TEST(FreeBody, AngularMomentumInTheWorldAndEnergyConvergeWithTheOrderOfTheScheme) {
  for (const Rule& rule : kRules) {
    std::vector<double> steps, momentum_errors, energy_errors;
    for (double h = 0.02; h > 1e-3; h /= 2) {
      Simulation simulation(kTumbling.build(), options_of(rule, h));
      const Vector3d momentum = angular_momentum(simulation, kTumbling.inertia);
      simulation.run(2);
      steps.push_back(h);
      momentum_errors.push_back(
          (angular_momentum(simulation, kTumbling.inertia) - momentum).norm());
      energy_errors.push_back(
          std::abs(simulation.energy().now.total() - simulation.energy().start));
    }
    EXPECT_NEAR(fitted_order(steps, momentum_errors), rule.order, 0.15) << rule.name;
    if (rule.iterates) continue;  // conserves it: below
    EXPECT_NEAR(fitted_order(steps, energy_errors), rule.order, 0.15) << rule.name;
  }
}

TEST(FreeBody, LinearMomentumIsThatOfTheStart) {
  for (const Rule& rule : kRules) {
    RigidBodyBuilder world;
    world.add_body({.name = "stick",
                    .velocity = {0.3, -0.2, 1.1},
                    .angular_velocity = {3, 1, 2},
                    .mass = 2,
                    .center_of_mass = {0.4, 0, 0.1},
                    .inertia = Vector3d(1, 2, 3).asDiagonal()});
    Simulation simulation(world.build_model(), options_of(rule, 0.01));
    const Vector3d start = simulation.state().v.head<3>();
    simulation.run(1);
    // M v = p has one rounding per step, and the centre of mass is a sum of 100 equal terms.
    EXPECT_LE((simulation.state().v.head<3>() - start).norm(), 100 * 4 * kEpsilon) << rule.name;
    const Vector3d place = system_of(simulation).pose_of(1, simulation.state().q, 0).position;
    EXPECT_LE((place - Vector3d(0.4, 0, 0.1) - start).norm(), 1e4 * kEpsilon) << rule.name;
  }
}

// The midpoint rule conserves every quadratic first integral: energy, and the length of the angular
// momentum. Energy holds in every iterate, since M̂ is M and an antisymmetric part; the other only
// at the fixed point, which is found to 1e-11 of the turn of a step.
TEST(FreeBody, IteratedSpookConservesEnergyAndTheSizeOfTheAngularMomentum) {
  constexpr int kSteps = 500;
  for (const double h : {0.01, 0.1, 0.4}) {
    Simulation simulation(kTumbling.build(), options_of(kIterated, h));
    const double momentum = angular_momentum(simulation, kTumbling.inertia).norm();
    double energy_error = 0, momentum_error = 0;
    for (int i = 0; i < kSteps; ++i) {
      simulation.step();
      energy_error = std::max(
          energy_error, std::abs(simulation.energy().now.total() / simulation.energy().start - 1));
      momentum_error =
          std::max(momentum_error,
                   std::abs(angular_momentum(simulation, kTumbling.inertia).norm() / momentum - 1));
    }
    EXPECT_LE(energy_error, kSteps * 8 * kEpsilon) << h;
    // Where it contracts by less than ½ per iteration it ends a thousand times earlier.
    EXPECT_LE(momentum_error, kSteps * (h < 0.2 ? 1e-11 : 1e-8)) << h;
  }
}

// Without torque the axis of a symmetric top precesses about its angular momentum at the rate
// |L|/A, and the angular velocity turns about the axis in the body at (C/A − 1) ω₃.
TEST(FreeBody, SymmetricTopPrecessesAtItsClosedFormRate) {
  const double transverse = 1.3, axial = 2.1;
  const Top top{.inertia = {transverse, transverse, axial}, .angular_velocity = {1.1, 0, 2}};
  const double duration = 2.5;
  const Vector3d momentum = top.inertia.cwiseProduct(top.angular_velocity);
  const Vector3d exact_axis =
      AngleAxisd(duration * momentum.norm() / transverse, momentum.normalized()) *
      Vector3d::UnitZ();
  const Vector3d exact_rate =
      AngleAxisd(duration * (axial / transverse - 1) * 2, Vector3d::UnitZ()) * top.angular_velocity;
  for (const Rule& rule : kRules) {
    std::vector<double> steps, axis_errors, rate_errors;
    for (double h = 0.02; h > 1e-3; h /= 2) {
      Simulation simulation(top.build(), options_of(rule, h));
      simulation.run(duration);
      steps.push_back(h);
      axis_errors.push_back((rotation_of(simulation).col(2) - exact_axis).norm());
      rate_errors.push_back((simulation.state().v.tail<3>() - exact_rate).norm());
    }
    EXPECT_NEAR(fitted_order(steps, axis_errors), rule.order, 0.15) << rule.name;
    EXPECT_NEAR(fitted_order(steps, rate_errors), rule.order, 0.15) << rule.name;
  }
}

/// The complete elliptic integral of the first kind by the arithmetic-geometric mean.
double complete_elliptic_integral(double modulus) {
  double a = 1, b = std::sqrt(1 - modulus * modulus);
  while (std::abs(a - b) > 2 * kEpsilon * a) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return pi / (2 * a);
}

/// When the rate about the second axis changes its sign, three times or until `latest`.
std::vector<double> flip_times(const Top& top, const SimulationOptions& options, double latest) {
  Simulation simulation(top.build(), options);
  std::vector<double> flips;
  double last = simulation.state().v[4];
  while (flips.size() < 3 && simulation.state().t < latest) {
    simulation.step();
    const double now = simulation.state().v[4];
    if (now * last < 0) flips.push_back(simulation.state().t - options.h * now / (now - last));
    last = now;
  }
  return flips;
}

// For A < B < C and L² > 2EB the rate about the middle axis is a multiple of sn(λt, k) with
// λ² = (C − B)(L² − 2EA)/(ABC), k² = (B − A)(2EC − L²)/((C − B)(L² − 2EA)): it changes its sign
// every 2K(k)/λ.
TEST(FreeBody, SpinAboutTheMiddleAxisFlipsWithTheEllipticPeriod) {
  const Top top{.angular_velocity = {0.05, 4, 0.1}};
  const Vector3d momentum = top.inertia.cwiseProduct(top.angular_velocity);
  const double a = 1, b = 2, c = 3, square = momentum.squaredNorm(),
               twice_energy = momentum.dot(top.angular_velocity);
  ASSERT_GT(square, twice_energy * b);
  const double rate = std::sqrt((c - b) * (square - twice_energy * a) / (a * b * c));
  const double modulus =
      std::sqrt((b - a) * (twice_energy * c - square) / ((c - b) * (square - twice_energy * a)));
  const double interval = 2 * complete_elliptic_integral(modulus) / rate;
  for (const Rule& rule : {kTrapezoidal, kIterated}) {
    std::vector<double> steps, errors;
    for (const double h : {0.02, 0.01, 0.005}) {
      const std::vector<double> flips = flip_times(top, options_of(rule, h), 10 * interval);
      ASSERT_EQ(flips.size(), 3u) << rule.name;
      steps.push_back(h);
      errors.push_back(std::abs((flips[2] - flips[0]) / 2 - interval));
    }
    EXPECT_NEAR(fitted_order(steps, errors), 2, 0.1) << rule.name;
    EXPECT_LE(errors.back(), 1e-4 * interval) << rule.name;  // (hω)² is 4e-4
  }
}

TEST(FreeBody, ImplicitGyroscopicTermIsStableWhereTheExplicitOneIsNot) {
  const Top top{.angular_velocity = {3, 5, 8}};  // h|ω| = 1 at h = 0.1
  for (const char* scheme :
       {"spook", "linearly-implicit-euler", "anitescu-potra", "stewart-trinkle", "moreau"}) {
    SimulationOptions options{.scheme = scheme, .h = 0.1};
    options.stepping.gyroscopic = GyroscopicTerm::kImplicit;
    Simulation implicit(top.build(), options);
    double last = implicit.energy().start;
    for (int i = 0; i < 300; ++i) {
      implicit.step();
      // S v⁺ does no work on v⁺: E⁺ = E − ½ ‖v⁺ − v‖²_M.
      EXPECT_LE(implicit.energy().now.total(), last * (1 + 16 * kEpsilon)) << scheme;
      last = implicit.energy().now.total();
    }
    EXPECT_GT(last, 0.1 * implicit.energy().start) << scheme;  // comes to rest about one axis

    options.stepping.gyroscopic = GyroscopicTerm::kExplicit;
    Simulation is_explicit(top.build(), options);
    double largest = 0;
    for (int i = 0; i < 20 && !(largest > 1e3); ++i) {
      is_explicit.step();
      largest = is_explicit.energy().now.total() / is_explicit.energy().start;
    }
    EXPECT_GT(largest, 1e3) << scheme;
  }
}

}  // namespace
}  // namespace stiction::testing
