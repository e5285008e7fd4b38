#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/model/joint_geometry.h"
#include "stiction/model/rotation.h"
#include "tests/model/random_joints.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using namespace testing;

constexpr int kSamples = fewer_sanitized(200, 5);

const Vector3d kX = Vector3d::UnitX(), kY = Vector3d::UnitY(), kZ = Vector3d::UnitZ();

/// The coordinate of a joint whose frame b is placed as given relative to frame a.
double coordinate_at(JointType type, JointCoordinate coordinate, const Pose& placement,
                     Random& random) {
  const JointGeometry joint = random_joint(type, random);
  const JointedPair pair = place_bodies(joint, {.frame = placement}, random);
  return evaluate_coordinate(joint, coordinate, pair.a, pair.b);
}

TEST(JointCoordinates, EachTypeHasItsOwn) {
  using enum JointCoordinate;
  const auto has = [](JointType type, std::initializer_list<JointCoordinate> expected) {
    const auto coordinates = joint_coordinates(type);
    return std::equal(coordinates.begin(), coordinates.end(), expected.begin(), expected.end());
  };
  EXPECT_TRUE(has(JointType::kBall, {kTurnX, kTurnY, kTurnZ}));
  EXPECT_TRUE(has(JointType::kHinge, {kAngle}));
  EXPECT_TRUE(has(JointType::kSlider, {kSlide}));
  EXPECT_TRUE(has(JointType::kCylindrical, {kAngle, kSlide}));
  EXPECT_TRUE(has(JointType::kUniversal, {kAngleX, kAngleY}));
  EXPECT_TRUE(has(JointType::kPlanar, {kAngle}));
  EXPECT_TRUE(has(JointType::kScrew, {kAngle, kSlide}));
  for (JointType type : {JointType::kFixed, JointType::kDistance, JointType::kRollingDisc,
                         JointType::kRollingBall, JointType::kKnifeEdge}) {
    EXPECT_TRUE(has(type, {}));
  }
}

TEST(JointCoordinates, AngleIsTheTurnAboutTheAxis) {
  Random random(1);
  for (double angle = -3.1; angle < 3.15; angle += 0.1) {
    EXPECT_NEAR(coordinate_at(JointType::kHinge, JointCoordinate::kAngle,
                              {.rotation = turned(angle, kZ)}, random),
                angle, 1e-14);
  }
}

// A tilt about any axis orthogonal to z, before or after the turn, leaves the angle alone.
TEST(JointCoordinates, AngleOfATiltedJointIsItsTwist) {
  Random random(2);
  for (int i = 0; i < kSamples; ++i) {
    const double angle = random.uniform(-3, 3), tilt = random.uniform(0, 2.5);
    const Vector3d axis = turned(random.uniform(0, 6), kZ) * kX;
    const Matrix3d first = turned(tilt, axis) * turned(angle, kZ);
    const Matrix3d last = turned(angle, kZ) * turned(tilt, axis);
    for (const Matrix3d& rotation : {first, last}) {
      // cos²(tilt/2) ≥ 0.1 divides the rounding.
      EXPECT_NEAR(
          coordinate_at(JointType::kHinge, JointCoordinate::kAngle, {.rotation = rotation}, random),
          angle, 1e-13);
    }
  }
}

// To rounding, atan2 of a tiny negative sine is −π.
TEST(JointCoordinates, HalfTurnIsPlusPi) {
  const JointGeometry hinge{.type = JointType::kHinge};
  for (double sine : {0.0, 1e-300, -1e-300}) {
    Pose b;
    b.rotation << -1, -sine, 0, sine, -1, 0, 0, 0, 1;
    EXPECT_EQ(evaluate_coordinate(hinge, JointCoordinate::kAngle, {}, b), std::numbers::pi);
  }
}

TEST(JointCoordinates, SlideIsTheWayAlongTheAxisOfA) {
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    const Vector3d way = random_vector(random);
    const Pose placement{.position = way, .rotation = random_rotation(random)};
    EXPECT_NEAR(coordinate_at(JointType::kSlider, JointCoordinate::kSlide, placement, random),
                way.z(), 1e-14);
  }
}

TEST(JointCoordinates, UniversalTurnsAboutXThenAboutY) {
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    const double alpha = random.uniform(-3.1, 3.1), beta = random.uniform(-3.1, 3.1);
    const Pose placement{.rotation = turned(alpha, kX) * turned(beta, kY)};
    const JointType type = JointType::kUniversal;
    EXPECT_NEAR(coordinate_at(type, JointCoordinate::kAngleX, placement, random), alpha, 1e-14);
    EXPECT_NEAR(coordinate_at(type, JointCoordinate::kAngleY, placement, random), beta, 1e-14);
  }
}

TEST(JointCoordinates, RowsAreTheirGradients) {
  Random random(5);
  for (const auto& [type, name] : kJointTypes) {
    if (type == JointType::kBall) continue;  // its turns have no value
    for (JointCoordinate coordinate : joint_coordinates(type)) {
      for (int i = 0; i < kSamples; ++i) {
        const JointGeometry joint = random_joint(type, random);
        const JointedPair pair = random_pair(joint, i, random);
        const auto value = [&](const JointedPair& at) {
          return evaluate_coordinate(joint, coordinate, at.a, at.b);
        };
        // Only differences of angles are asked for, so they are all taken near the first.
        const double start = value(pair);
        const bool is_angle = coordinate != JointCoordinate::kSlide;
        // The gradient of kAngleX grows like 1/sin of the angle between the axes.
        const PairRow row = evaluate_coordinate_row(joint, coordinate, pair.a, pair.b);
        const double growth = std::max(1.0, row.b.tail<3>().norm());
        for (int direction = 0; direction < 12; ++direction) {
          const double difference = differentiate_by_points([&](double distance) {
            const double moved = value(displaced(pair, direction, distance));
            return is_angle ? unwrap(moved, start) : moved;
          });
          EXPECT_NEAR(entry(row, direction), difference, kDifferenceTolerance * std::pow(growth, 5))
              << name << ", sample " << i << ", direction " << direction;
        }
      }
    }
  }
}

TEST(JointCoordinates, TurnsOfABallAreRelativeAngularVelocitiesInFrameA) {
  Random random(6);
  for (int i = 0; i < 100; ++i) {
    const JointGeometry joint = random_joint(JointType::kBall, random);
    const JointedPair pair = random_open_pair(joint, random);
    const Matrix3d axes = pair.a.rotation * joint.frame_a.rotation;
    Vector6d v_a, v_b;
    v_a << random_vector(random), random_vector(random);
    v_b << random_vector(random), random_vector(random);
    const Vector3d relative =
        axes.transpose() * (pair.b.rotation * v_b.tail<3>() - pair.a.rotation * v_a.tail<3>());
    int k = 0;
    for (JointCoordinate coordinate : joint_coordinates(JointType::kBall)) {
      const PairRow row = evaluate_coordinate_row(joint, coordinate, pair.a, pair.b);
      EXPECT_NEAR(row.a.dot(v_a) + row.b.dot(v_b), relative[k++], 1e-14);
    }
  }
}

TEST(JointCoordinatesDeathTest, TurnsOfABallHaveNoValue) {
  const JointGeometry joint{.type = JointType::kBall};
  for (JointCoordinate coordinate : joint_coordinates(JointType::kBall)) {
    EXPECT_DEATH(evaluate_coordinate(joint, coordinate, {}, {}), "a coordinate with a value");
  }
}

}  // namespace
}  // namespace stiction
