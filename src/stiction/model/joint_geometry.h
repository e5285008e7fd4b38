// The geometry of joints between two rigid bodies: constraints Θ(q) = 0 with their gradients
// G = ∂Θ/∂q·S, nonholonomic rows A v = 0, the free coordinates on which limits, motors and friction
// act. No masses, no steps, no state.
//
// A body's velocity is (world linear velocity of its centre of mass, body angular velocity ω̂); an
// axis u = R û fixed in it moves with u' = ω × u, ω = R ω̂. Every row is the exact gradient of its
// value, off the constraint too, and a force between the bodies: forces and torques on the pair
// cancel. The one exception are rows "x", "y", "z" of an open joint that holds a point, which are
// components in the world: their forces act at the two points and so have the moment d × f of the
// gap d = p_b − p_a.
//
// Below p, x, y, z are origin and axes of a joint frame, with a or b for the body that carries it.
//   ball, hinge, universal, fixed   d = 0, in world components                  x, y, z
//   slider, cylindrical, screw      d·x_a = 0, d·y_a = 0                        x, y
//   planar                          d·z_a = 0                                   z
//   hinge, cylindrical, planar,     z_b·x_a = 0, z_b·y_a = 0; true for          tilt x, tilt y
//     screw                           z_b = −z_a, too
//   slider, fixed                   2 vec q = 0, q = (w, vec q), w ≥ 0 the      turn x, turn y,
//                                     rotation from a to b; jumps at π          turn z
//   universal                       x_a·y_b = 0                                 skew
//   screw                           d·z_a − pitch·angle/2π = 0                  advance
//   distance                        ‖d‖ − length = 0                            length
//   rolling ball                    d·z_a − radius = 0                          height
//   rolling disc                    d·z_a − radius ‖z_a × z_b‖ = 0: the rim's   height
//                                     lowest point is in the plane
// Rolling bodies are b, their centre p_b, the disc's axis z_b; body a carries the plane through p_a
// with normal z_a. Their velocity rows: the material points of both bodies at the contact have the
// same velocity along x_a (roll x) and y_a (roll y). A knife edge's: the point p_b does not move
// along x_b relative to body a (sideways).
//
// Not smooth, hence without gradient: a distance of zero, a disc that lies flat (one of the
// possible directions is taken), and kAngle of a joint tilted by a half turn, kAngleX and kAngleY
// of parallel axes (rows are not finite).
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "stiction/geometry/pose.h"

namespace stiction {

using Vector6d = Eigen::Matrix<double, 6, 1>;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

/// Gradient of a scalar s with respect to the velocities of two bodies, each (world linear, body
/// angular): s' = a·v_a + b·v_b. As a force: λ a on body a, λ b on body b (world force, body
/// torque).
struct PairRow {
  Vector6d a = Vector6d::Zero();
  Vector6d b = Vector6d::Zero();
};

enum class JointType : std::uint8_t {
  kBall,
  kHinge,
  kSlider,
  kCylindrical,
  kUniversal,
  kFixed,
  kDistance,
  kPlanar,
  kScrew,
  kRollingDisc,
  kRollingBall,
  kKnifeEdge,
};
inline constexpr int kNumJointTypes = 12;
inline constexpr int kMaxJointRows = 6;  // of one kind in one joint

/// Two frames, one in each body relative to its centre of mass; their z axes are the joint's axis.
/// (Universal: x of frame a and y of frame b are the two axes.)
struct JointGeometry {
  JointType type = JointType::kBall;
  Pose frame_a{}, frame_b{};  // in body coordinates
  double length = 0;          // [m] distance: > 0
  double pitch = 0;           // [m] screw: advance per turn, negative for a left-handed one
  double radius = 0;          // [m] rolling disc and ball: > 0
};

// -------------------------------------------------------------------------------------------------
// Rows

/// "ball", "hinge", …, as scenes write them.
std::string_view name_of(JointType type);
/// Rows of Θ, as many as there are names for.
inline int num_constraints(JointType type) {
  static constexpr std::array<std::int8_t, kNumJointTypes> kCounts{3, 5, 5, 4, 4, 6,
                                                                   1, 3, 5, 1, 1, 0};
  return kCounts[static_cast<std::size_t>(type)];
}
/// Nonholonomic rows.
int num_velocity_rows(JointType type);
/// The names in the table above, translations first.
std::span<const std::string_view> constraint_row_names(JointType type);
std::span<const std::string_view> velocity_row_names(JointType type);

/// Θ of all rows, [m] or [rad] to first order. `angle` is the joint angle without jumps (see
/// `unwrap`); only the screw reads it.
void evaluate_constraints(const JointGeometry& joint, const Pose& a, const Pose& b, double angle,
                          std::span<double> values);
void evaluate_constraint_rows(const JointGeometry& joint, const Pose& a, const Pose& b,
                              std::span<PairRow> rows);
/// Both, for little more than one of them.
void evaluate_constraints_and_rows(const JointGeometry& joint, const Pose& a, const Pose& b,
                                   double angle, std::span<double> values, std::span<PairRow> rows);
void evaluate_velocity_rows(const JointGeometry& joint, const Pose& a, const Pose& b,
                            std::span<PairRow> rows);

// -------------------------------------------------------------------------------------------------
// Free coordinates

enum class JointCoordinate : std::uint8_t {
  kAngle,   // of frame b about z_a; see evaluate_coordinate
  kSlide,   // d·z_a
  kAngleX,  // universal: about x_a
  kAngleY,  // universal: about y_b
  kTurnX,   // ball: relative angular velocity along x_a, y_a, z_a; rates without a coordinate
  kTurnY,
  kTurnZ,
};

/// Whether it counts turns.
inline bool is_angle(JointCoordinate coordinate) {
  return coordinate == JointCoordinate::kAngle || coordinate == JointCoordinate::kAngleX ||
         coordinate == JointCoordinate::kAngleY;
}
/// Whether it has a value, and not only a rate.
inline bool has_value(JointCoordinate coordinate) {
  return is_angle(coordinate) || coordinate == JointCoordinate::kSlide;
}
/// "angle", "slide", "angle x", …
std::string_view name_of(JointCoordinate coordinate);
/// Hinge, planar: kAngle. Slider: kSlide. Cylindrical, screw: kAngle, kSlide. Universal: kAngleX,
/// kAngleY. Ball: kTurnX, kTurnY, kTurnZ. Others: none.
std::span<const JointCoordinate> joint_coordinates(JointType type);

/// The value, angles in (−π, π]. If the rotation from frame a to b is a turn by α about z_a after
/// or before one about an axis orthogonal to z_a, kAngle is α; for a universal joint it is a turn
/// by kAngleX about x, then by kAngleY about the turned y. kTurn* have no value (ST_DEMAND).
double evaluate_coordinate(const JointGeometry& joint, JointCoordinate coordinate, const Pose& a,
                           const Pose& b);
/// Its gradient; of kTurn* the row of the rate.
PairRow evaluate_coordinate_row(const JointGeometry& joint, JointCoordinate coordinate,
                                const Pose& a, const Pose& b);

}  // namespace stiction
