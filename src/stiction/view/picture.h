// What of a scene can be drawn: frames that move, shapes that stand in them, joints, and for every
// recorded row the poses of the frames. Made from the scene that a recording carries; the engine
// takes no part in it.
#pragma once

#include <Eigen/Geometry>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stiction/geometry/shape.h"
#include "stiction/model/rigid_body_description.h"
#include "stiction/model/tape.h"
#include "stiction/record/recording_reader.h"
#include "stiction/scene/scene.h"

namespace stiction {

/// A frame of the picture: a body (all bodies first, in the order of the scene), a frame of the
/// block "view", or a link of it.
struct PictureFrame {
  enum class Kind : std::uint8_t { kDynamic, kStatic, kKinematic, kView, kLink };
  std::string name{};
  Kind kind = Kind::kDynamic;
  int pose = -1;  // its place among the poses of a row; −1: never moves
  int link = -1;  // its place among the lengths of a row
  Eigen::Vector3d position = Eigen::Vector3d::Zero();  // at the start
  Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();
  double mass = 0;  // [kg], 0 if it has none
};

struct PictureShape {
  int frame = 0;
  int geometry = 0;
  Pose pose{};  // in its frame
  std::string color{};
  bool touches = true;
};

/// A shape without a place; several may share one. Links and springs have lengths of their own.
struct PictureGeometry {
  enum class Kind : std::uint8_t { kShape, kRod, kSpring };
  Kind kind = Kind::kShape;
  Shape shape{};
  double radius = 0;  // of a rod or spring
};

/// Where a named contact is.
struct ContactPlace {
  Eigen::Vector3d position, normal, tangent_1, tangent_2;
};

/// Whether a spring is a line in the picture: between points, and not without any strength.
bool is_drawn(const BodySpringDescription& spring);

class Picture {
 public:
  /// What can be drawn of a recording. If its scene cannot be read, `fault()` says why and the
  /// picture is empty. Mesh files are looked for in `folders`, one after the other.
  Picture(const Recording& description, std::span<const std::string> folders);

  const std::string& fault() const { return fault_; }
  const std::optional<Scene>& scene() const { return scene_; }
  /// Of the rigid bodies; null if there are none.
  const RigidBodyDescription* bodies() const { return bodies_; }
  const std::vector<PictureFrame>& frames() const { return frames_; }
  const std::vector<PictureShape>& shapes() const { return shapes_; }
  const std::vector<PictureGeometry>& geometries() const { return geometries_; }
  Eigen::Vector3d up() const;
  /// The frame that the camera goes along with, or −1.
  int followed_frame() const { return followed_; }

  int num_poses() const { return num_poses_; }
  int num_links() const { return num_links_; }
  /// Poses (x, y, z, qw, qx, qy, qz) and lengths of links for one row of /q.
  void place(double t, std::span<const double> q, float* poses, float* lengths) const;
  /// Of a named contact, if the scene says where it is.
  std::optional<ContactPlace> place_contact(double t, std::span<const double> q, int contact) const;

  /// Friction coefficient of a contact between two bodies with normal and friction impulses of
  /// these sizes: shapes of one body may differ, then the smallest that allows them. NaN if
  /// unknown.
  double friction_of(int a, int b, double normal_impulse, double friction_impulse) const;
  /// Tangents of a contact between two bodies, as the model chooses them.
  std::array<Eigen::Vector3d, 2> tangents_of(int a, int b, const Eigen::Vector3d& normal) const;

 private:
  void add_bodies();
  void add_sticks();
  void add_view(const Recording& description);
  int add_geometry(PictureGeometry geometry);
  std::vector<double> evaluate_view(double t, std::span<const double> q) const;
  int find_plane_of(int a, int b) const;

  std::string fault_{};
  std::optional<Scene> scene_{};
  const RigidBodyDescription* bodies_ = nullptr;  // in scene_
  std::vector<PictureFrame> frames_{};
  std::vector<PictureShape> shapes_{};
  std::vector<PictureGeometry> geometries_{};
  std::vector<std::vector<int>> materials_{};  // of every body, each once
  int num_bodies_moving_ = 0, num_poses_ = 0, num_links_ = 0;
  Tape tape_{};                       // of frames, links and contacts of the block "view"
  std::size_t first_coordinate_ = 0;  // column of /q
  std::vector<bool> view_moves_{};    // frames of the block "view"
  int followed_ = -1;
  int first_contact_ = 0;  // of the generalised system among the named ones
};

}  // namespace stiction
