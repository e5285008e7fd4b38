// Bodies that spin: a gyroscope in steady precession, a nut that turns over, a disc that rolls in a
// circle, and a rattleback, each against a closed form or the equations of motion in three
// unknowns.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kPi = std::numbers::pi;

/// The second-order schemes: name, and whether SPOOK iterates.
SimulationOptions second_order(const Scene& scene, const std::string& scheme, double h) {
  SimulationOptions options = options_of(scene, scheme, h);
  options.stepping.spook.position_iteration = true;
  return options;
}

// -------------------------------------------------------------------------------------------------
// Gyroscope

TEST(MechanismGyroscope, PrecessesSteadilyWithErrorsOfSecondOrder) {
  const Scene scene = example_scene("gyroscope");
  constexpr double kRate = 4, kInclination = kPi / 3, kEnd = 3;
  for (const std::string scheme : {"trapezoidal-2", "spook"}) {
    SCOPED_TRACE(scheme);
    std::vector<double> steps, nutations, precessions;
    for (const double h : {2e-3, 1e-3, 5e-4, 2.5e-4}) {
      Simulation simulation(scene.model, second_order(scene, scheme, h));
      const MechanismWatch watch(simulation);
      EnergyTrack energy(simulation);
      double nutation = 0, precession = 0;
      const int num_steps = static_cast<int>(std::lround(kEnd / h));
      for (int n = 0; n < num_steps; ++n) {
        simulation.step();
        energy.add();
        const Vector3d axis = watch.pose("top").rotation.col(2);
        nutation = std::max(nutation, std::abs(std::acos(axis.z()) - kInclination));
        const double behind = std::atan2(axis.y(), axis.x()) - kRate * simulation.state().t;
        precession = std::max(precession, std::abs(std::remainder(behind, 2 * kPi)));
      }
      steps.push_back(h);
      nutations.push_back(nutation);
      precessions.push_back(precession);
      EXPECT_LE(energy.gain, 1e-9) << h;
    }
    RecordProperty(scheme, std::to_string(nutations[1]) + " " + std::to_string(precessions[1]));
    EXPECT_NEAR(fitted_order(steps, nutations), 2, 0.1);
    EXPECT_NEAR(fitted_order(steps, precessions), 2, 0.1);
    // In 3 s the top turns by 345 rad; both rules delay a turn by (w h)²/12 of it.
    EXPECT_LT(precessions.back(), 345 * std::pow(115 * 2.5e-4, 2) / 12);
  }
}

// -------------------------------------------------------------------------------------------------
// Dzhanibekov's nut

/// K(k) by the arithmetic–geometric mean.
double complete_elliptic_integral(double k2) {
  double a = 1, b = std::sqrt(1 - k2);
  for (int i = 0; i < 40; ++i) {
    const double mean = (a + b) / 2;
    b = std::sqrt(a * b);
    a = mean;
  }
  return kPi / (2 * a);
}

TEST(MechanismDzhanibekov, TurnsOverAtTheTimesOfTheEllipticIntegral) {
  const Scene scene = example_scene("dzhanibekov");
  const Vector3d I(1, 2, 3), w(0, 10, 0.1);
  const double E2 = w.dot(I.cwiseProduct(w)), L2 = I.cwiseProduct(w).squaredNorm();
  const double rate = std::sqrt((I[2] - I[1]) * (L2 - E2 * I[0]) / I.prod());
  const double k2 = (I[1] - I[0]) * (E2 * I[2] - L2) / ((I[2] - I[1]) * (L2 - E2 * I[0]));
  const double quarter = complete_elliptic_integral(k2) / rate;
  for (const std::string scheme : {"trapezoidal-2", "spook"}) {
    SCOPED_TRACE(scheme);
    std::vector<double> steps, errors;
    for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
      Simulation simulation(scene.model, second_order(scene, scheme, h));
      const MechanismWatch watch(simulation);
      EnergyTrack energy(simulation);
      double before = 10, error = 0, momentum = 0;
      int flips = 0;
      const int num_steps = static_cast<int>(std::lround(10 / h));
      for (int n = 0; n < num_steps; ++n) {
        const double t = simulation.state().t;
        simulation.step();
        energy.add();
        const Vector3d spin = watch.angular_velocity("nut");
        const Vector3d L = watch.pose("nut").rotation * I.cwiseProduct(spin);
        momentum = std::max(momentum, (L - I.cwiseProduct(w)).norm());
        // ω₂ is sn, whose curvature vanishes with it: the chord is off by O(h⁴).
        if (before * spin.y() <= 0) {
          const double at = t + h * before / (before - spin.y());
          error = std::max(error, std::abs(at - (2 * flips + 1) * quarter));
          ++flips;
        }
        before = spin.y();
      }
      EXPECT_EQ(flips, 5);
      EXPECT_LE(momentum, std::sqrt(L2) * std::pow(10 * h, 2)) << h;  // a turn of 10 h per step
      if (scheme == "spook") {
        EXPECT_LE(std::max(energy.gain, energy.loss), 1e-9 * E2) << h;
      }
      steps.push_back(h);
      errors.push_back(error);
    }
    // The iteration of spook ends where its tolerance, grown by e^(p t), is larger than h².
    if (scheme != "spook") {
      EXPECT_NEAR(fitted_order(steps, errors), 2, 0.05);
    }
    RecordProperty(scheme, std::to_string(errors.back()));
    EXPECT_LT(errors.back(), 1e-4);
  }
}

// -------------------------------------------------------------------------------------------------
// Rolling disc

TEST(MechanismRollingDisc, RunsInItsCircleWithErrorsOfSecondOrder) {
  const Scene scene = example_scene("rolling-disc");
  constexpr double r = 0.3, R = 1, lean = kPi / 9;
  const double rate = std::sqrt(kGravity / r * std::sin(lean) /
                                (std::cos(lean) * (1.5 * R / r - 1.25 * std::sin(lean))));
  for (const std::string scheme : {"trapezoidal-2", "spook"}) {
    SCOPED_TRACE(scheme);
    std::vector<double> steps, errors;
    for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
      Simulation simulation(scene.model, second_order(scene, scheme, h));
      const MechanismWatch watch(simulation);
      EnergyTrack energy(simulation);
      double error = 0;
      while (simulation.state().t < 2 * kPi / rate) {  // once around
        simulation.step();
        energy.add();
        const double angle = rate * simulation.state().t, radius = R - r * std::sin(lean);
        const Vector3d center(radius * std::cos(angle), radius * std::sin(angle),
                              r * std::cos(lean));
        error = std::max(error, (watch.pose("disc").position - center).norm());
      }
      EXPECT_LE(energy.gain, 1e-9) << h;
      EXPECT_LE(simulation.summary().joint_error_max, 1e-7) << h;
      steps.push_back(h);
      errors.push_back(error);
    }
    RecordProperty(scheme, std::to_string(errors[2]));
    // The iteration of spook projects velocities onto the rolling at the end of every step, which
    // brakes by O(h); trapezoidal-2 rolls at the middle of it.
    if (scheme == "spook") {
      EXPECT_GT(fitted_order(steps, errors), 0.9);
    } else {
      EXPECT_NEAR(fitted_order(steps, errors), 2, 0.05);
      EXPECT_LT(errors.back(), 1e-5);
    }
  }
}

// -------------------------------------------------------------------------------------------------
// Rattleback

/// The ellipsoid that rolls without slip, by the classical Runge–Kutta method for its angular
/// velocity ω and the vertical n, both in its own axes. With r from the centre of mass to the point
/// of contact, v = r × ω is the velocity of the centre of mass; force and torque at the contact
/// give
///   I ω̇ + ω × Iω = r × m (v̇ + ω × v + g n),   v̇ = ṙ × ω + r × ω̇,   ṅ = n × ω.
class RollingEllipsoid {
 public:
  explicit RollingEllipsoid(double spin) {
    const double tilt = 0.5 * kPi / 180;
    state_.vertical = {-std::sin(tilt), 0, std::cos(tilt)};
    state_.spin = spin * state_.vertical;
  }
  void advance(double duration, int num_steps) {
    const double h = duration / num_steps;
    for (int n = 0; n < num_steps; ++n) {
      const Point a = rate(state_), b = rate(state_ + a * (h / 2)), c = rate(state_ + b * (h / 2)),
                  d = rate(state_ + c * h);
      state_ = state_ + (a + b * 2 + c * 2 + d) * (h / 6);
    }
  }
  const Vector3d& spin() const { return state_.spin; }
  double spin_about_vertical() const { return state_.spin.dot(state_.vertical); }

 private:
  struct Point {
    Vector3d spin, vertical;
    Point operator+(const Point& other) const {
      return {spin + other.spin, vertical + other.vertical};
    }
    Point operator*(double factor) const { return {spin * factor, vertical * factor}; }
  };

  static Point rate(const Point& at) {
    static const Vector3d kSquares(0.04, 0.0009, 0.0004);
    static const Vector3d kCenter(0, 0, -0.01);  // of mass
    Matrix3d inertia;
    inertia << 2e-4, 2e-5, 0, 2e-5, 1.6e-3, 0, 0, 0, 1.7e-3;
    const Vector3d &w = at.spin, &n = at.vertical;
    const Vector3d n_rate = n.cross(w);
    const double support = std::sqrt(n.dot(kSquares.cwiseProduct(n)));
    const double support_rate = n.dot(kSquares.cwiseProduct(n_rate)) / support;
    const Vector3d r = -kSquares.cwiseProduct(n) / support - kCenter;
    const Vector3d r_rate = -kSquares.cwiseProduct(n_rate) / support +
                            kSquares.cwiseProduct(n) * (support_rate / (support * support));
    // m = 1 kg; r × (r × ω̇) goes to the left side.
    const Matrix3d A = inertia - skew(r) * skew(r);
    const Vector3d force = r_rate.cross(w) + w.cross(r.cross(w)) + kGravity * n;
    return {A.ldlt().solve(r.cross(force) - w.cross(inertia * w)), n_rate};
  }
  static Matrix3d skew(const Vector3d& v) {
    Matrix3d m;
    m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
    return m;
  }

  Point state_;
};

Scene rattleback(double spin) {
  return edited_scene("rattleback", [&](nlohmann::ordered_json& document) {
    document.at("parameters").at("w") = spin;
  });
}

/// When a spin that starts with a sign first changes it, and how far it goes the other way.
struct SpinTrack {
  double sign = 1;       // ±1
  double reversal = -1;  // [s] negative: never
  double extreme = 0;    // [rad/s] against the start
  void add(double t, double spin) {
    if (reversal < 0 && spin * sign < 0) reversal = t;
    extreme = std::max(extreme, -sign * spin);
  }
};

TEST(MechanismRattleback, TurnsBackOneWayOnlyAsTheRollingEllipsoidDoes) {
  constexpr double kEnd = 6;
  for (const double spin : {5.0, -5.0}) {
    SCOPED_TRACE(spin);
    const Scene scene = rattleback(spin);
    double last_error = 1e300;
    for (const double h : {1e-3, 5e-4, 2.5e-4}) {
      Simulation simulation(scene.model, options_of(scene, "trapezoidal-2", h));
      const MechanismWatch watch(simulation);
      RollingEllipsoid reference(spin);
      EnergyTrack energy(simulation);
      SpinTrack track{.sign = spin / 5}, exact{.sign = spin / 5};
      double error = 0;
      while (simulation.state().t < kEnd - h / 2) {
        simulation.step();
        energy.add();
        reference.advance(h, 2);
        const Vector3d w = watch.angular_velocity("celt");
        error = std::max(error, (w - reference.spin()).norm());
        track.add(simulation.state().t, (watch.pose("celt").rotation * w).z());
        exact.add(simulation.state().t, reference.spin_about_vertical());
      }
      EXPECT_LE(std::max(energy.gain, energy.loss), 1e-3 * 0.124) << h;
      // Small steps of the contact law (sticking, transitions) keep it from a clean order of two.
      EXPECT_LT(error, 0.6 * last_error) << h;
      last_error = error;
      if (spin > 0) {
        EXPECT_NEAR(track.reversal, exact.reversal, 0.02) << h;
        EXPECT_NEAR(track.extreme, exact.extreme, 0.01) << h;
        EXPECT_GT(track.extreme, 4.9) << h;
        RecordProperty("reversal", std::to_string(track.reversal));
      } else {
        EXPECT_LT(track.reversal, 0) << h;
        EXPECT_LT(exact.reversal, 0) << h;
      }
    }
  }
}

}  // namespace
}  // namespace stiction::testing
