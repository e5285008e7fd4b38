// Bodies of one or several kinds, packed at random as if they had settled, each moving a little
// about its place: the same for every contender.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/pose.h"

namespace stiction::bench {

/// A shape fixed in a body.
struct Part {
  std::shared_ptr<const CollisionShape> shape;
  Pose pose;  // in the body
};

struct PackedBody {
  std::vector<Part> parts;
  double volume = 0;  // [m³]
};

struct SceneCounts {
  std::string name;
  int num_spheres = 0, num_boxes = 0, num_capsules = 0, num_hulls = 0, num_compounds = 0;
};

/// Bodies of about 1 m, a fraction ½ of the volume of a cube, overlapping or apart by little.
class PackedScene {
 public:
  /// The same for the same counts and seed. Bodies start at random and are pushed apart where they
  /// overlap, `num_rounds` times.
  PackedScene(const SceneCounts& counts, int num_rounds, std::uint64_t seed);

  const std::string& name() const { return name_; }
  const std::vector<PackedBody>& bodies() const { return bodies_; }
  int num_bodies() const { return static_cast<int>(bodies_.size()); }
  /// The bodies' poses in a frame: each swings by some per cent of a metre and of a radian, in
  /// some fifty frames.
  void update_poses(int frame, std::vector<Pose>& poses) const;

 private:
  struct Swing {
    Eigen::Vector3d shift, axis;  // [m], unit
    double angle = 0;             // [rad]
    double frequency = 0;         // [rad] per frame
    double phase = 0;
  };
  void push_apart(double side);

  std::string name_;
  std::vector<PackedBody> bodies_;
  std::vector<Pose> places_;
  std::vector<Swing> swings_;
};

}  // namespace stiction::bench
