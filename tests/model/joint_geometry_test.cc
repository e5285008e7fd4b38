#include "stiction/model/joint_geometry.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "stiction/model/rotation.h"
#include "tests/dense_algebra.h"
#include "tests/model/random_joints.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using namespace testing;

using Row12 = Eigen::Matrix<double, 12, 1>;

/// Θ, with the angle unwrapped near that of the pair.
std::vector<double> values_of(const JointGeometry& joint, const JointedPair& pair) {
  const double angle =
      unwrap(evaluate_coordinate(joint, JointCoordinate::kAngle, pair.a, pair.b), pair.angle);
  std::vector<double> values(static_cast<std::size_t>(num_constraints(joint.type)));
  evaluate_constraints(joint, pair.a, pair.b, angle, values);
  return values;
}

std::vector<PairRow> constraint_rows_of(const JointGeometry& joint, const JointedPair& pair) {
  std::vector<PairRow> rows(static_cast<std::size_t>(num_constraints(joint.type)));
  evaluate_constraint_rows(joint, pair.a, pair.b, rows);
  return rows;
}

std::vector<PairRow> velocity_rows_of(const JointGeometry& joint, const JointedPair& pair) {
  std::vector<PairRow> rows(static_cast<std::size_t>(num_velocity_rows(joint.type)));
  evaluate_velocity_rows(joint, pair.a, pair.b, rows);
  return rows;
}

/// Whether row i is a component of the gap in the world.
bool is_world_row(JointType type, std::size_t i) {
  const bool holds_point = type == JointType::kBall || type == JointType::kHinge ||
                           type == JointType::kUniversal || type == JointType::kFixed;
  return holds_point && i < 3;
}

/// p_b − p_a, written out.
Vector3d gap_of(const JointGeometry& joint, const JointedPair& pair) {
  return pair.b.position + pair.b.rotation * joint.frame_b.position - pair.a.position -
         pair.a.rotation * joint.frame_a.position;
}

Row12 to_vector(const PairRow& row) { return (Row12() << row.a, row.b).finished(); }

// -------------------------------------------------------------------------------------------------

class JointRows : public ::testing::TestWithParam<NamedJointType> {
 protected:
  static constexpr int kSamples = fewer_sanitized(200, 5);
  JointType type() const { return GetParam().type; }
  Random random_{11};
};

INSTANTIATE_TEST_SUITE_P(Types, JointRows, ::testing::ValuesIn(kJointTypes), type_name);

// Lengths of order one, up to four turns of the screw: rounding stays below 100 ε.
TEST_P(JointRows, ConstraintsVanishWhereTheJointIsClosed) {
  for (int i = 0; i < kSamples; ++i) {
    const JointGeometry joint = random_joint(type(), random_);
    for (double value : values_of(joint, random_closed_pair(joint, random_))) {
      EXPECT_NEAR(value, 0, 2e-14);
    }
  }
}

TEST_P(JointRows, EveryConstraintSeesAnOpenJoint) {
  std::vector<double> largest(static_cast<std::size_t>(num_constraints(type())), 0);
  for (int i = 0; i < kSamples; ++i) {
    const JointGeometry joint = random_joint(type(), random_);
    const std::vector<double> values = values_of(joint, random_open_pair(joint, random_));
    for (std::size_t k = 0; k < values.size(); ++k) {
      largest[k] = std::max(largest[k], std::abs(values[k]));
    }
  }
  for (double value : largest) EXPECT_GT(value, 0.1);
}

TEST_P(JointRows, AreTheGradientsOfTheConstraints) {
  for (int i = 0; i < kSamples; ++i) {
    const JointGeometry joint = random_joint(type(), random_);
    const JointedPair pair = random_pair(joint, i, random_);
    const std::vector<PairRow> rows = constraint_rows_of(joint, pair);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      for (int direction = 0; direction < 12; ++direction) {
        const double difference = differentiate_by_points([&](double distance) {
          return values_of(joint, displaced(pair, direction, distance))[k];
        });
        EXPECT_NEAR(entry(rows[k], direction), difference, kDifferenceTolerance)
            << "sample " << i << ", row " << k << ", direction " << direction;
      }
    }
  }
}

// A motion of space moves both bodies and changes nothing but the components of a gap in the world.
TEST_P(JointRows, ConstraintsDoNotSeeMotionsOfSpace) {
  for (int i = 0; i < kSamples; ++i) {
    const JointGeometry joint = random_joint(type(), random_);
    const JointedPair pair = random_pair(joint, i, random_);
    const Pose motion = random_pose(random_);
    JointedPair moved = pair;
    for (Pose* body : {&moved.a, &moved.b}) {
      body->position = motion.position + motion.rotation * body->position;
      body->rotation = motion.rotation * body->rotation;
    }
    const Vector3d turned_gap = motion.rotation * gap_of(joint, pair);
    const std::vector<double> before = values_of(joint, pair), after = values_of(joint, moved);
    for (std::size_t k = 0; k < before.size(); ++k) {
      const double expected = is_world_row(type(), k) ? turned_gap[static_cast<int>(k)] : before[k];
      EXPECT_NEAR(after[k], expected, 2e-14) << "row " << k;
    }
  }
}

// Forces cancel, and so do their moments about the origin, but for d × e_k of world components.
TEST_P(JointRows, AreActionAndReaction) {
  for (int i = 0; i < kSamples; ++i) {
    const JointGeometry joint = random_joint(type(), random_);
    const JointedPair pair = random_pair(joint, i, random_);
    std::vector<PairRow> rows = constraint_rows_of(joint, pair);
    const std::size_t num_holonomic = rows.size();
    for (const PairRow& row : velocity_rows_of(joint, pair)) rows.push_back(row);
    for (JointCoordinate coordinate : joint_coordinates(type())) {
      rows.push_back(evaluate_coordinate_row(joint, coordinate, pair.a, pair.b));
    }
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Vector3d force_a = rows[k].a.head<3>(), force_b = rows[k].b.head<3>();
      EXPECT_EQ(force_a, -force_b);
      const Vector3d moment =
          pair.a.position.cross(force_a) + pair.a.rotation * rows[k].a.tail<3>() +
          pair.b.position.cross(force_b) + pair.b.rotation * rows[k].b.tail<3>();
      Vector3d expected = Vector3d::Zero();
      if (k < num_holonomic && is_world_row(type(), k)) {
        expected = gap_of(joint, pair).cross(Vector3d::Unit(static_cast<int>(k)));
      }
      EXPECT_LE((moment - expected).norm(), 2e-14) << "row " << k;
    }
  }
}

TEST_P(JointRows, AreIndependentWhereTheJointIsClosed) {
  for (int i = 0; i < kSamples; ++i) {
    const JointGeometry joint = random_joint(type(), random_);
    const JointedPair pair = random_closed_pair(joint, random_);
    std::vector<PairRow> rows = constraint_rows_of(joint, pair);
    for (const PairRow& row : velocity_rows_of(joint, pair)) rows.push_back(row);
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows.size()), 12);
    for (Eigen::Index k = 0; k < matrix.rows(); ++k) {
      matrix.row(k) = to_vector(rows[static_cast<std::size_t>(k)]);
    }
    // Directions are unit vectors, torques unit axes with arms up to about 5 m beside them.
    EXPECT_GT(smallest_singular_value(matrix), 0.05);
  }
}

TEST_P(JointRows, HaveDifferentNames) {
  for (const auto names : {constraint_row_names(type()), velocity_row_names(type())}) {
    const std::set<std::string_view> different(names.begin(), names.end());
    EXPECT_EQ(different.size(), names.size());
    EXPECT_FALSE(different.contains(""));
  }
  EXPECT_EQ(constraint_row_names(type()).size(), static_cast<std::size_t>(num_constraints(type())));
  EXPECT_EQ(velocity_row_names(type()).size(), static_cast<std::size_t>(num_velocity_rows(type())));
}

// -------------------------------------------------------------------------------------------------

TEST(JointGeometry, TypesTakeTheFreedomTheyShould) {
  constexpr std::array<int, kNumJointTypes> holonomic{3, 5, 5, 4, 4, 6, 1, 3, 5, 1, 1, 0};
  constexpr std::array<int, kNumJointTypes> nonholonomic{0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 1};
  for (std::size_t i = 0; i < kJointTypes.size(); ++i) {
    EXPECT_EQ(num_constraints(kJointTypes[i].type), holonomic[i]) << kJointTypes[i].name;
    EXPECT_EQ(num_velocity_rows(kJointTypes[i].type), nonholonomic[i]) << kJointTypes[i].name;
    EXPECT_LE(num_constraints(kJointTypes[i].type), kMaxJointRows);
  }
}

// 2 sin(α/2) along the axis, for the shorter of the two rotations, up to a half turn.
TEST(JointGeometry, OrientationLockMeasuresTheShorterTurn) {
  Random random(3);
  for (double angle : {0.0, 1e-9, 1e-3, 1.0, 2.0, 3.0, 3.14, 3.15, 4.0, 6.28}) {
    const JointGeometry joint = random_joint(JointType::kFixed, random);
    const Vector3d axis = random_direction(random);
    const JointedPair pair =
        place_bodies(joint, {.frame = {.rotation = turned(angle, axis)}}, random);
    const double shorter = angle < std::numbers::pi ? angle : angle - 2 * std::numbers::pi;
    const std::vector<double> values = values_of(joint, pair);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(values[static_cast<std::size_t>(3 + i)], 2 * std::sin(shorter / 2) * axis[i],
                  1e-14);
    }
  }
}

// Near a half turn the rotation matrix hardly shows w: the rows must come from its larger entries.
TEST(JointGeometry, OrientationLockKeepsItsGradientUpToAHalfTurn) {
  Random random(4);
  for (int i = 0; i < 50; ++i) {
    const JointGeometry joint = random_joint(JointType::kSlider, random);
    const Matrix3d rotation = turned(3.13, random_direction(random));
    const JointedPair pair = place_bodies(joint, {.frame = {.rotation = rotation}}, random);
    const std::vector<PairRow> rows = constraint_rows_of(joint, pair);
    for (std::size_t k = 2; k < 5; ++k) {
      for (int direction = 0; direction < 12; ++direction) {
        const double difference = differentiate_by_points([&](double distance) {
          return values_of(joint, displaced(pair, direction, distance))[k];
        });
        EXPECT_NEAR(entry(rows[k], direction), difference, kDifferenceTolerance);
      }
    }
  }
}

// Frames at the centres of mass: a right-handed screw of 0.1 m per turn that has made 2½ turns.
TEST(JointGeometry, ScrewAdvancesByItsPitch) {
  const JointGeometry screw{.type = JointType::kScrew, .pitch = 0.1};
  const double angle = 5 * std::numbers::pi;
  const Pose nut{.position = {0, 0, 0.25}, .rotation = turned(angle, Vector3d::UnitZ())};
  std::array<double, 5> values{};
  evaluate_constraints(screw, {}, nut, angle, values);
  for (double value : values) EXPECT_NEAR(value, 0, 1e-15);
  evaluate_constraints(screw, {}, nut, angle - 2 * std::numbers::pi, values);
  EXPECT_NEAR(values[4], 0.1, 1e-15);

  std::array<PairRow, 5> rows;
  evaluate_constraint_rows(screw, {}, nut, rows);
  Vector6d twist = Vector6d::Zero();
  twist[5] = 2 * std::numbers::pi;  // one turn per second
  twist[2] = 0.1;
  for (const PairRow& row : rows) EXPECT_NEAR(row.b.dot(twist), 0, 1e-15);
}

TEST(JointGeometry, DiscTouchesWithTheLowestPointOfItsRim) {
  Random random(5);
  for (int i = 0; i < 100; ++i) {
    const JointGeometry joint = random_joint(JointType::kRollingDisc, random);
    const JointedPair pair = random_open_pair(joint, random);
    const Vector3d normal = pair.a.rotation * joint.frame_a.rotation.col(2);
    const Matrix3d axes = pair.b.rotation * joint.frame_b.rotation;
    // n·(x cos φ + y sin φ) is least where (cos φ, sin φ) is opposite to (n·x, n·y).
    const double phi = std::atan2(-normal.dot(axes.col(1)), -normal.dot(axes.col(0)));
    const Vector3d to_rim =
        joint.radius * (std::cos(phi) * axes.col(0) + std::sin(phi) * axes.col(1));
    EXPECT_NEAR(values_of(joint, pair)[0], normal.dot(gap_of(joint, pair) + to_rim), 1e-14);
  }
}

/// The place of b at which its velocity is compared with that of a, for the joint's velocity rows.
Vector3d slip_point(const JointGeometry& joint, const JointedPair& pair) {
  const Vector3d center = pair.b.position + pair.b.rotation * joint.frame_b.position;
  const Vector3d normal = pair.a.rotation * joint.frame_a.rotation.col(2);
  if (joint.type == JointType::kKnifeEdge) return center;
  if (joint.type == JointType::kRollingBall) return center - joint.radius * normal;
  const Vector3d axis = pair.b.rotation * joint.frame_b.rotation.col(2);
  return center - joint.radius * (normal - normal.dot(axis) * axis).normalized();
}

// Follows the two material points that are at the contact now.
TEST(JointGeometry, VelocityRowsAreTheSlipOfMaterialPoints) {
  Random random(6);
  for (JointType type : {JointType::kRollingDisc, JointType::kRollingBall, JointType::kKnifeEdge}) {
    for (int i = 0; i < 100; ++i) {
      const JointGeometry joint = random_joint(type, random);
      const JointedPair pair = random_pair(joint, i, random);
      const Vector3d point = slip_point(joint, pair);
      const Vector3d in_a = pair.a.rotation.transpose() * (point - pair.a.position);
      const Vector3d in_b = pair.b.rotation.transpose() * (point - pair.b.position);
      const Matrix3d axes = type == JointType::kKnifeEdge
                                ? pair.b.rotation * joint.frame_b.rotation
                                : pair.a.rotation * joint.frame_a.rotation;
      const std::vector<PairRow> rows = velocity_rows_of(joint, pair);
      for (int direction = 0; direction < 12; ++direction) {
        const Vector3d slip = differentiate_by_points([&](double distance) {
          const JointedPair moved = displaced(pair, direction, distance);
          return Vector3d(moved.b.position + moved.b.rotation * in_b - moved.a.position -
                          moved.a.rotation * in_a);
        });
        for (std::size_t k = 0; k < rows.size(); ++k) {
          EXPECT_NEAR(entry(rows[k], direction), axes.col(static_cast<int>(k)).dot(slip),
                      kDifferenceTolerance);
        }
      }
    }
  }
}

// An upright disc of radius 0.5 with its axis along y rolls along x: v = ω r.
TEST(JointGeometry, UprightDiscRolls) {
  JointGeometry joint{.type = JointType::kRollingDisc, .radius = 0.5};
  joint.frame_b.rotation = turned(-std::numbers::pi / 2, Vector3d::UnitX());  // z_b = y
  const Pose disc{.position = {3, 0, 0.5}};
  std::array<PairRow, 2> rows;
  evaluate_velocity_rows(joint, {}, disc, rows);
  const Vector6d rolling{{1, 0, 0, 0, 2, 0}}, spinning{{1, 0, 0, 0, 2.5, 0}};
  EXPECT_NEAR(rows[0].b.dot(rolling), 0, 1e-15);
  EXPECT_NEAR(rows[1].b.dot(rolling), 0, 1e-15);
  EXPECT_NEAR(rows[0].b.dot(spinning), -0.25, 1e-15);
}

TEST(JointGeometry, RowsAreFiniteWhereTheyAreNotUnique) {
  const JointGeometry disc{.type = JointType::kRollingDisc, .radius = 0.5};
  const JointGeometry rod{.type = JointType::kDistance, .length = 1};
  for (const JointGeometry& joint : {disc, rod}) {
    const JointedPair pair;  // flat; both ends in one place
    const std::vector<PairRow> rows = constraint_rows_of(joint, pair);
    EXPECT_TRUE(rows[0].a.allFinite() && rows[0].b.allFinite());
    EXPECT_EQ(rows[0].b.head<3>(), Vector3d::UnitZ());
  }
}

// Positions of 1e6 m are multiples of 1e-10 m, but their difference is exact, and arms are added to
// nothing larger.
TEST(JointGeometry, GapsDoNotSufferFarFromTheOrigin) {
  const JointGeometry joint{.type = JointType::kBall,
                            .frame_a = {.position = {0.1, 0.2, 0.3}},
                            .frame_b = {.position = {-0.1, -0.2, -0.3}}};
  const JointedPair pair{.a = {.position = {1e6, 1e6, 1e6}},
                         .b = {.position = {1e6 + 0.25, 1e6 + 0.5, 1e6 + 0.5}}};
  const std::vector<double> gap = values_of(joint, pair);
  EXPECT_NEAR(gap[0], 0.05, 1e-16);
  EXPECT_NEAR(gap[1], 0.1, 1e-16);
  EXPECT_NEAR(gap[2], -0.1, 2e-16);
}

}  // namespace
}  // namespace stiction
