// Random joints in random places, closed and open, and derivatives by differences. Uses nothing of
// what it helps to test.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <array>
#include <string>

#include "stiction/base/random.h"
#include "stiction/model/joint_geometry.h"

namespace stiction::testing {

using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Vector3d;

struct NamedJointType {
  JointType type;
  const char* name;
};

inline constexpr std::array<NamedJointType, kNumJointTypes> kJointTypes{{
    {JointType::kBall, "Ball"},
    {JointType::kHinge, "Hinge"},
    {JointType::kSlider, "Slider"},
    {JointType::kCylindrical, "Cylindrical"},
    {JointType::kUniversal, "Universal"},
    {JointType::kFixed, "Fixed"},
    {JointType::kDistance, "Distance"},
    {JointType::kPlanar, "Planar"},
    {JointType::kScrew, "Screw"},
    {JointType::kRollingDisc, "RollingDisc"},
    {JointType::kRollingBall, "RollingBall"},
    {JointType::kKnifeEdge, "KnifeEdge"},
}};

std::string type_name(const ::testing::TestParamInfo<NamedJointType>& info);

Vector3d random_vector(Random& random);

Vector3d random_direction(Random& random);

Matrix3d turned(double angle, const Vector3d& axis);

Matrix3d random_rotation(Random& random);

Pose random_pose(Random& random);

JointGeometry random_joint(JointType type, Random& random);

/// Two bodies, and the joint angle with its turns (0 where there is none).
struct JointedPair {
  Pose a{}, b{};
  double angle = 0;
};

/// Frame b seen from frame a, and the joint angle.
struct Relative {
  Pose frame{};
  double angle = 0;
};

/// A placement that the joint allows, by construction and not by its equations.
Relative random_closed_placement(const JointGeometry& joint, Random& random);

/// Body a anywhere, body b where frame b is as given.
JointedPair place_bodies(const JointGeometry& joint, const Relative& relative, Random& random);

JointedPair random_closed_pair(const JointGeometry& joint, Random& random);

/// Torn apart by up to 0.4 m and 1.2 rad (a disc by 0.4 rad: it keeps 0.2 rad from lying flat,
/// where its row jumps).
JointedPair random_open_pair(const JointGeometry& joint, Random& random);

/// Every other pair open.
JointedPair random_pair(const JointGeometry& joint, int i, Random& random);

/// Moved by `distance` along world axis 0, 1, 2, or turned by it about body axis 3, 4, 5.
Pose displaced(const Pose& pose, int direction, double distance);

/// As above, of the pair: directions 0 to 5 move body a, 6 to 11 body b.
JointedPair displaced(const JointedPair& pair, int direction, double distance);

/// f'(0) by five points at distance δ = 3e-4. Truncation δ⁴ f⁽⁵⁾/30 ≈ 3e-16 f⁽⁵⁾, rounding about
/// 2ε |f|/δ ≈ 1e-12 |f|.
template <class Function>
auto differentiate_by_points(const Function& f) {
  constexpr double kDelta = 3e-4;
  using Value = std::decay_t<decltype(f(0.0))>;
  return Value((8 * (f(kDelta) - f(-kDelta)) - (f(2 * kDelta) - f(-2 * kDelta))) / (12 * kDelta));
}

/// For values of order one with fifth derivatives up to 3e6, as a disc's near 0.2 rad.
inline constexpr double kDifferenceTolerance = 1e-9;

double entry(const PairRow& row, int direction);

}  // namespace stiction::testing
