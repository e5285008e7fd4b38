// What a RigidBodySystem is made of: plain data, filled by RigidBodyBuilder or by a scene reader.
// Frames of bodies are where the user puts them; the centre of mass may lie elsewhere.
#pragma once

#include <Eigen/Geometry>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "stiction/geometry/shape.h"
#include "stiction/model/expression.h"
#include "stiction/model/joint_geometry.h"
#include "stiction/model/system.h"

namespace stiction {

/// Stands for the world where a body is asked for.
inline constexpr int kWorld = -1;

struct BodyDescription {
  enum class Motion : std::uint8_t { kDynamic, kStatic, kKinematic };

  std::string name;
  Motion motion = Motion::kDynamic;
  Eigen::Vector3d position = Eigen::Vector3d::Zero();  // [m] of the body's frame, world
  Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();  // body to world
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();               // [m/s] of the frame's origin
  Eigen::Vector3d angular_velocity = Eigen::Vector3d::Zero();       // [rad/s] world axes

  double mass = 0;                                           // [kg] > 0 if dynamic
  Eigen::Vector3d center_of_mass = Eigen::Vector3d::Zero();  // [m] in the body's frame
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  // [kg m²] about it, axes of the body's frame

  /// x, y, z of the world, then rotations about axes that were x, y, z of the world at the start.
  /// Of the rotations none, one or all three are free.
  std::array<bool, 6> free_axes{true, true, true, true, true, true};

  /// Of a kinematic body, in t alone: its position is `position` + shift(t), its orientation a turn
  /// by angle(t) about `turn_axis` (world, a unit vector) after `orientation`.
  std::array<Expression, 3> shift{0.0, 0.0, 0.0};
  Eigen::Vector3d turn_axis = Eigen::Vector3d::UnitZ();
  Expression angle = 0.0;
};

struct JointLimit {
  JointCoordinate coordinate = JointCoordinate::kAngle;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  double restitution = 0;  // in [0, 1]
};

struct JointMotor {
  enum class Target : std::uint8_t { kSpeed, kPosition };
  JointCoordinate coordinate = JointCoordinate::kAngle;
  Target target = Target::kSpeed;
  Expression value = 0.0;  // [rad/s, m/s] or [rad, m], in t alone
  double max_effort = std::numeric_limits<double>::infinity();  // [N m] or [N], ≥ 0
};

struct JointFriction {
  JointCoordinate coordinate = JointCoordinate::kAngle;
  double max_effort = 0;  // [N m] or [N], ≥ 0
};

struct JointDescription {
  std::string name;
  JointType type = JointType::kBall;
  std::array<int, 2> bodies{kWorld, kWorld};  // indices; motion is that of the second
  std::array<Pose, 2> frames{};               // in the bodies' frames
  double length = 0, pitch = 0, radius = 0;   // see JointGeometry
  double compliance = 0;                      // [m/N, rad/(N m)] of all rows; 0 is rigid
  double damping_time = 0;                    // [s]
  bool bodies_touch = false;  // joints let its bodies touch; untouched_bodies do not
  std::vector<JointLimit> limits{};
  std::vector<JointMotor> motors{};
  std::vector<JointFriction> friction{};
};

/// Gears, racks and the like: Σ factor_i (x_i − x_i at the start) = 0 for coordinates of two
/// joints.
struct CouplingDescription {
  struct Side {
    int joint = 0;
    JointCoordinate coordinate = JointCoordinate::kAngle;
    double factor = 1;
  };
  std::string name;
  std::array<Side, 2> sides{};
  double compliance = 0;
  double damping_time = 0;
};

struct BodySpringDescription {
  enum class Kind : std::uint8_t {
    kDistance,  // between two points, at rest at `rest_length`
    kJoint,     // on a coordinate of a joint, at rest at `rest`
    kBushing,   // six springs between two frames, along and about the axes of the first
  };
  std::string name;
  Kind kind = Kind::kDistance;
  std::array<int, 2> bodies{kWorld, kWorld};
  std::array<Pose, 2> frames{};  // in the bodies' frames; a distance spring uses their origins
  double rest_length = 0;        // [m] ≥ 0
  int joint = 0;
  JointCoordinate coordinate = JointCoordinate::kAngle;
  double rest = 0;
  /// γ and δ; a bushing has six, along x, y, z and about x, y, z.
  std::vector<double> stiffness{0.0};
  std::vector<double> damping{0.0};
};

struct BodyForceDescription {
  int body = 0;
  std::array<Expression, 3> force{0.0, 0.0, 0.0};   // [N] in t alone
  std::array<Expression, 3> torque{0.0, 0.0, 0.0};  // [N m]
  Eigen::Vector3d point = Eigen::Vector3d::Zero();  // where the force acts, in the body's frame
  bool is_body_fixed = false;                       // components along the body's axes
};

/// How surfaces answer to touch. Of two materials: √(μ₁μ₂), the smaller restitutions, the sum of
/// the compliances, the impact law that one of them names; unless a pair is given.
struct MaterialDescription {
  std::string name{};
  double mu = 0;                      // ≥ 0
  double restitution = 0;             // in [0, 1]
  double restitution_tangential = 0;  // in [0, 1]
  double compliance = 0;              // [m/N] ≥ 0 of one contact point; 0 is rigid
  ImpactLaw impact = ImpactLaw::kOfScheme;
};

/// Two materials that answer to each other in their own way.
struct MaterialPairDescription {
  std::array<int, 2> materials{};
  MaterialDescription law{};  // its name is not used
};

inline constexpr int kNoMaterial = -1;

struct BodyShapeDescription {
  std::string name{};  // empty: that of the body, with a number if it has several shapes
  int body = kWorld;
  Shape shape{};
  Pose frame{};  // of the shape in the body's frame
  int material = kNoMaterial;
  /// [m/s] of a belt around the shape, relative to the shape and in its frame.
  Eigen::Vector3d surface_velocity = Eigen::Vector3d::Zero();
  /// Two shapes touch if each one's group has a bit of the other one's mask.
  std::uint32_t group = 1, mask = ~0U;
};

struct RigidBodyDescription {
  std::shared_ptr<ExpressionPool> pool{};  // of all expressions; null if all are constant
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();  // [m/s²]
  std::vector<BodyDescription> bodies{};
  std::vector<JointDescription> joints{};
  std::vector<CouplingDescription> couplings{};
  std::vector<BodySpringDescription> springs{};
  std::vector<BodyForceDescription> forces{};
  std::vector<BodyShapeDescription> shapes{};  // that may touch
  std::vector<MaterialDescription> materials{};
  std::vector<MaterialPairDescription> material_pairs{};
  std::vector<std::array<int, 2>> untouched_bodies{};  // pairs that pass through each other
};

/// What is wrong with one part of a description.
struct BodyFault {
  enum class Where : std::uint8_t {
    kGravity,
    kBody,
    kJoint,
    kCoupling,
    kSpring,
    kForce,
    kShape,
    kMaterial,
    kMaterialPair,
    kUntouched,
  };
  Where where = Where::kBody;
  int index = 0;
  std::string key;      // of the scene format, such as "mass"; may be empty
  std::string message;  // names the part, what was found and what was expected
};

/// All faults that do not need a state; empty if there is none.
std::vector<BodyFault> find_body_faults(const RigidBodyDescription& description);

}  // namespace stiction
