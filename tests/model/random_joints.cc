#include "tests/model/random_joints.h"

#include <cmath>
#include <numbers>

namespace stiction::testing {

std::string type_name(const ::testing::TestParamInfo<NamedJointType>& info) {
  return info.param.name;
}

Vector3d random_vector(Random& random) {
  const double x = random.normal(), y = random.normal();
  return {x, y, random.normal()};
}

Vector3d random_direction(Random& random) { return random_vector(random).normalized(); }

Matrix3d turned(double angle, const Vector3d& axis) {
  return AngleAxisd(angle, axis).toRotationMatrix();
}

Matrix3d random_rotation(Random& random) {
  return turned(random.uniform(0, std::numbers::pi), random_direction(random));
}

Pose random_pose(Random& random) {
  const Vector3d position = random_vector(random);
  return {.position = position, .rotation = random_rotation(random)};
}

JointGeometry random_joint(JointType type, Random& random) {
  JointGeometry joint{.type = type};
  joint.frame_a = random_pose(random);
  joint.frame_b = random_pose(random);
  joint.length = random.uniform(1, 2);
  joint.pitch = random.uniform(-1, 1);
  joint.radius = random.uniform(0.5, 1);
  return joint;
}

Relative random_closed_placement(const JointGeometry& joint, Random& random) {
  const Vector3d place = random_vector(random), z = Vector3d::UnitZ();
  const double alpha = random.uniform(-3, 3), beta = random.uniform(-1.5, 1.5);
  switch (joint.type) {
    case JointType::kBall:
      return {.frame = {.rotation = random_rotation(random)}};
    case JointType::kHinge:
      return {.frame = {.rotation = turned(alpha, z)}, .angle = alpha};
    case JointType::kSlider:
      return {.frame = {.position = place.z() * z}};
    case JointType::kCylindrical:
      return {.frame = {.position = place.z() * z, .rotation = turned(alpha, z)}, .angle = alpha};
    case JointType::kUniversal:
      return {.frame = {.rotation =
                            turned(alpha, Vector3d::UnitX()) * turned(beta, Vector3d::UnitY())}};
    case JointType::kFixed:
      return {};
    case JointType::kDistance:
      return {.frame = {.position = joint.length * place.normalized(),
                        .rotation = random_rotation(random)}};
    case JointType::kPlanar:
      return {.frame = {.position = {place.x(), place.y(), 0}, .rotation = turned(alpha, z)},
              .angle = alpha};
    case JointType::kScrew: {
      const double turns = random.uniform(-4, 4);
      return {.frame = {.position = joint.pitch * turns * z,
                        .rotation = turned(2 * std::numbers::pi * turns, z)},
              .angle = 2 * std::numbers::pi * turns};
    }
    case JointType::kRollingDisc: {
      const double tilt = random.uniform(0.6, 1.5);  // between normal and axis
      return {.frame = {.position = {place.x(), place.y(), joint.radius * std::sin(tilt)},
                        .rotation =
                            turned(alpha, z) * turned(tilt, Vector3d::UnitX()) * turned(beta, z)}};
    }
    case JointType::kRollingBall:
      return {.frame = {.position = {place.x(), place.y(), joint.radius},
                        .rotation = random_rotation(random)}};
    case JointType::kKnifeEdge:
      return {.frame = {.position = place, .rotation = random_rotation(random)}};
  }
  return {};
}

JointedPair place_bodies(const JointGeometry& joint, const Relative& relative, Random& random) {
  JointedPair pair{.a = random_pose(random), .angle = relative.angle};
  const Matrix3d axes_a = pair.a.rotation * joint.frame_a.rotation;
  const Vector3d p_a = pair.a.position + pair.a.rotation * joint.frame_a.position;
  pair.b.rotation = axes_a * relative.frame.rotation * joint.frame_b.rotation.transpose();
  pair.b.position =
      p_a + axes_a * relative.frame.position - pair.b.rotation * joint.frame_b.position;
  return pair;
}

JointedPair random_closed_pair(const JointGeometry& joint, Random& random) {
  return place_bodies(joint, random_closed_placement(joint, random), random);
}

JointedPair random_open_pair(const JointGeometry& joint, Random& random) {
  Relative relative = random_closed_placement(joint, random);
  const double largest = joint.type == JointType::kRollingDisc ? 0.4 : 1.2;
  relative.frame.position += random.uniform(0, 0.4) * random_direction(random);
  const double angle = random.uniform(0, largest);
  relative.frame.rotation = relative.frame.rotation * turned(angle, random_direction(random));
  return place_bodies(joint, relative, random);
}

JointedPair random_pair(const JointGeometry& joint, int i, Random& random) {
  return i % 2 == 0 ? random_closed_pair(joint, random) : random_open_pair(joint, random);
}

Pose displaced(const Pose& pose, int direction, double distance) {
  Pose moved = pose;
  if (direction < 3) {
    moved.position[direction] += distance;
  } else {
    moved.rotation = pose.rotation * turned(distance, Vector3d::Unit(direction - 3));
  }
  return moved;
}

JointedPair displaced(const JointedPair& pair, int direction, double distance) {
  JointedPair moved = pair;
  (direction < 6 ? moved.a : moved.b) =
      displaced(direction < 6 ? pair.a : pair.b, direction % 6, distance);
  return moved;
}

double entry(const PairRow& row, int direction) {
  return direction < 6 ? row.a[direction] : row.b[direction - 6];
}

}  // namespace stiction::testing
