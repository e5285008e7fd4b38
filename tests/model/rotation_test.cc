#include "stiction/model/rotation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/model/random_joints.h"

namespace stiction {
namespace {

using namespace testing;
using Eigen::Quaterniond;

constexpr double kPi = std::numbers::pi;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// From far below the square root of the smallest number to a half turn, both sides of the switch
/// from series to closed form.
constexpr double kAngles[] = {1e-300,  1e-200, 1e-100, 1e-20, 1e-12, 1e-8, 1e-5, 9.99e-4,
                              1.01e-3, 0.1,    0.499,  0.501, 1,     2,    3,    3.1415926};

TEST(Rotation, CrossMatrixIsTheVectorProduct) {
  const Vector3d u(1, 2, 3), v(-4, 5, 0.5);
  EXPECT_EQ(make_cross_matrix(u) * v, u.cross(v));
}

// Against long double: a few roundings each.
TEST(Rotation, ExponentialIsAccurateAtAllAngles) {
  Random random(1);
  for (double angle : kAngles) {
    const Vector3d axis = random_direction(random);
    const Vector3d phi = angle * axis;
    const long double length =
        std::hypot(static_cast<long double>(phi.x()), static_cast<long double>(phi.y()),
                   static_cast<long double>(phi.z()));
    const long double factor = std::sin(length / 2) / length;
    const Quaterniond q = exponential(phi);
    EXPECT_NEAR(q.w(), static_cast<double>(std::cos(length / 2)), 2 * kEpsilon);
    for (int i = 0; i < 3; ++i) {
      const double exact = static_cast<double>(factor * phi[i]);
      EXPECT_NEAR(q.vec()[i], exact, 4 * kEpsilon * std::abs(exact)) << "angle " << angle;
    }
    EXPECT_NEAR(q.norm(), 1, 4 * kEpsilon);
  }
  EXPECT_EQ(exponential(Vector3d::Zero()).coeffs(), Quaterniond::Identity().coeffs());
}

TEST(Rotation, LogarithmInvertsTheExponential) {
  Random random(2);
  for (double angle : kAngles) {
    for (int i = 0; i < 20; ++i) {
      const Vector3d phi = angle * random_direction(random);
      EXPECT_LE((logarithm(exponential(phi)) - phi).cwiseAbs().maxCoeff(), 8 * kEpsilon * angle)
          << "angle " << angle;
    }
  }
  EXPECT_EQ(logarithm(Quaterniond::Identity()), Vector3d::Zero());
}

TEST(Rotation, LogarithmTakesTheShorterWay) {
  Random random(3);
  for (double angle : {3.2, 4.0, 6.0, 2 * kPi - 1e-9}) {
    const Vector3d axis = random_direction(random);
    const Vector3d shorter = (angle - 2 * kPi) * axis;
    EXPECT_LE((logarithm(exponential(angle * axis)) - shorter).norm(), 8 * kEpsilon * angle);
  }
}

TEST(Rotation, LogarithmIsTheSameForBothQuaternionsAndAnyLength) {
  const Quaterniond q = exponential({0.3, -0.2, 0.9});
  const Vector3d phi = logarithm(q);
  for (double scale : {-1.0, 3.0, -0.01}) {
    const Quaterniond scaled(scale * q.w(), scale * q.x(), scale * q.y(), scale * q.z());
    EXPECT_LE((logarithm(scaled) - phi).norm(), 8 * kEpsilon);
  }
}

TEST(Rotation, HalfTurnHasALogarithmOfLengthPi) {
  EXPECT_LE((logarithm(Quaterniond(0, 0.6, 0, 0.8)) - kPi * Vector3d(0.6, 0, 0.8)).norm(),
            4 * kEpsilon);
}

// Turning by φ in n parts about the body's own axes is turning by φ at once; n quaternion products
// round n times.
TEST(Rotation, ExponentialComposesAlongItsAxis) {
  const Vector3d phi(1.2, -0.4, 0.7);
  Quaterniond q = Quaterniond::Identity();
  constexpr int kParts = 1000;
  for (int i = 0; i < kParts; ++i) q = q * exponential(phi / kParts);
  EXPECT_LE((q.coeffs() - exponential(phi).coeffs()).norm(), kParts * kEpsilon);
}

// Half an ulp of each component at every turn, and never more.
TEST(Rotation, TurnedKeepsItsLengthForEver) {
  Random random(5);
  Quaterniond q = exponential({0.4, 1.1, -0.3});
  for (int i = 0; i < 100000; ++i) {
    const double angle = i % 7 == 0 ? 3.0 : 0.02;
    q = turned(q, angle * random_direction(random));
    ASSERT_NEAR(q.norm(), 1, 2 * kEpsilon);
  }
}

// As one of a start that somebody typed with a few digits.
TEST(Rotation, TurnedMakesAnyLengthOne) {
  const Vector3d phi(0.1, -0.2, 0.05);
  const Quaterniond unit = exponential({0.4, 1.1, -0.3});
  for (const double length : {1 + 1e-12, 1 + 5e-10, 1 + 2e-9, 1.001, 0.3, 7.0}) {
    Quaterniond q = unit;
    q.coeffs() *= length;
    const Quaterniond result = turned(q, phi);
    EXPECT_NEAR(result.norm(), 1, 2 * kEpsilon) << length;
    EXPECT_LE((result.coeffs() - (unit * exponential(phi)).coeffs()).norm(), 4 * kEpsilon);
  }
}

TEST(Rotation, UnwrappedAngleIsNearAndDiffersByWholeTurns) {
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const double angle = random.uniform(-kPi, kPi), near = random.uniform(-100, 100);
    const double unwrapped = unwrap(angle, near);
    EXPECT_LE(std::abs(unwrapped - near), kPi + 1e-13);
    const double turns = (unwrapped - angle) / (2 * kPi);
    EXPECT_NEAR(turns, std::round(turns), 1e-14 * std::abs(near));
  }
  EXPECT_EQ(unwrap(0.5, 0.4), 0.5);
  EXPECT_DOUBLE_EQ(unwrap(-3.1, 3.1), 2 * kPi - 3.1);
}

}  // namespace
}  // namespace stiction
