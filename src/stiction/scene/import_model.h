// A robot as its file describes it, before it becomes a scene: a tree of bodies, each with the
// joints that attach it to its parent. Plain data, the same for URDF and MJCF.
//
// A body's frame is where the file puts it. Its joints act one after the other, from the parent on:
// with frame X₀ of the body in its parent at the reference and joint motions T₁, T₂, … it is at
// X₀ T₁(q₁) T₂(q₂) …, where T_i turns about, or slides along, an axis given in the body's frame.
#pragma once

#include <Eigen/Geometry>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stiction/geometry/mass_properties.h"
#include "stiction/geometry/pose.h"
#include "stiction/geometry/shape.h"
#include "stiction/scene/import_report.h"

namespace stiction {

inline constexpr int kImportWorld = -1;

struct ImportShape {
  SourcePlace place{};
  Shape shape{};
  Pose frame{};                         // in the body's frame
  int material = -1;                    // index, or none
  bool has_contact = true;              // false: only to be seen
  std::uint32_t group = 1, mask = ~0U;  // as in scenes
  /// A mesh that stays in its file: the scene names the file instead of listing triangles.
  std::filesystem::path mesh_file{};
  double mesh_scale = 1;
  bool needs_repair = false;
  std::string color{};  // "#rrggbb", or none
};

struct ImportJoint {
  enum class Kind : std::uint8_t { kHinge, kSlide, kBall, kFree, kPlanar };
  Kind kind = Kind::kHinge;
  std::string name{};
  SourcePlace place{};
  Eigen::Vector3d anchor = Eigen::Vector3d::Zero();  // [m] in the body's frame
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();   // of length one; of a planar joint the normal
  double reference = 0;                              // value of the coordinate where T is identity
  double lower = -std::numeric_limits<double>::infinity();  // [rad, m]
  double upper = std::numeric_limits<double>::infinity();
  double friction = 0;   // [N m, N] largest
  double damping = 0;    // [N m s/rad, N s/m]
  double stiffness = 0;  // [N m/rad, N/m]
  double rest = 0;       // of the spring

  double position = 0, velocity = 0;                           // hinge, slide: start
  Eigen::Quaterniond turn = Eigen::Quaterniond::Identity();    // ball: start
  Pose pose{};                                                 // free: start, world
  Eigen::Vector3d linear_velocity = Eigen::Vector3d::Zero();   // free: of the origin, world
  Eigen::Vector3d angular_velocity = Eigen::Vector3d::Zero();  // free, ball: body axes
  /// A gear or a constant effort needs the coordinate of a joint of its own.
  bool stands_alone = false;
};

struct ImportBody {
  std::string name{};
  SourcePlace place{};
  int parent = kImportWorld;             // index, always smaller than that of the body
  Pose frame{};                          // in the parent at the reference
  std::vector<ImportJoint> joints{};     // none: fixed to the parent
  std::optional<MassProperties> mass{};  // in the body's frame
  std::vector<ImportShape> shapes{};
  double gravity_compensation = 0;  // share of its weight that is taken off it
};

struct ImportJointRef {
  int body = 0, joint = 0;
};

/// An effort −stiffness (x − rest) − damping x' on a coordinate.
struct ImportSpring {
  std::string name{};
  ImportJointRef joint{};
  double stiffness = 0, damping = 0, rest = 0;
};
/// A constant effort on a hinge or slide [N m, N].
struct ImportEffort {
  ImportJointRef joint{};
  double effort = 0;
};
/// Holds a coordinate at a position with no more than an effort.
struct ImportMotor {
  ImportJointRef joint{};
  double position = 0;
  double max_effort = std::numeric_limits<double>::infinity();
};
/// x_second − ratio · x_first stays as it is at the start.
struct ImportGear {
  std::string name{};
  ImportJointRef first{}, second{};
  double ratio = 1;
};
/// A loop: two bodies held together at a point, or as a whole.
struct ImportHold {
  std::string name{};
  bool is_weld = false;
  std::array<int, 2> bodies{kImportWorld, kImportWorld};
  std::array<Pose, 2> frames{};  // in the bodies' frames
  double compliance = 0;         // [m/N, rad/(N m)]
  double damping_time = 0;       // [s]
};

struct ImportMaterial {
  std::string name{};
  double mu = 0;
  double compliance = 0;  // [m/N]
};
struct ImportMaterialPair {
  std::array<int, 2> materials{};
  ImportMaterial law{};  // its name is not used
};

struct ImportModel {
  std::string name{};
  std::string format{};  // "URDF", "MJCF"
  std::string source{};  // name of the file
  Eigen::Vector3d gravity{0, 0, -9.81};
  double h = 1e-3;                   // [s]
  std::vector<ImportBody> bodies{};  // parents first
  std::vector<ImportShape> world_shapes{};
  std::vector<ImportSpring> springs{};
  std::vector<ImportEffort> efforts{};
  std::vector<ImportMotor> motors{};
  std::vector<ImportGear> gears{};
  std::vector<ImportHold> holds{};
  std::vector<ImportMaterial> materials{};
  std::vector<ImportMaterialPair> material_pairs{};
  std::vector<std::array<int, 2>> untouched_bodies{};
  /// More of them, by their names in the scene.
  std::vector<std::array<std::string, 2>> untouched_names{};
  /// Bodies fixed to the world become one static body, which does not touch what is attached to it
  /// by joints. False: each stays a body of its own and touches everything.
  bool joins_static_bodies = true;
  /// Bodies that a joint connects touch each other all the same.
  bool neighbours_touch = false;
  /// The start does not fit contacts and joints: the simulation moves it to where it does.
  bool project_start = false;
};

}  // namespace stiction
