// The shapes of a system, where they are, and what happens where two of them touch. Which ones
// touch is for collision detection to find out (ContactModel).
#pragma once

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stiction/geometry/collision_scene.h"
#include "stiction/model/system.h"

namespace stiction {

/// Two shapes by their number, where they touch.
struct TouchingPair {
  int a = 0, b = 0;
  Touch touch{};
};

class Surfaces {
 public:
  virtual ~Surfaces() = default;

  const std::vector<CollisionObject>& objects() const { return objects_; }
  int num_objects() const { return static_cast<int>(objects_.size()); }
  /// Pairs of bodies that pass through each other, the smaller number first, sorted.
  const std::vector<std::pair<int, int>>& untouched_bodies() const { return untouched_bodies_; }
  /// "ball", or "ball[1]" where a body has several shapes.
  virtual std::string name_of_object(int object) const = 0;

  /// The mass block of the system that a shape moves with; −1 if it is static or driven.
  virtual int block_of_object(int object) const = 0;
  /// Pose of a shape in the world.
  virtual Pose place_object(double t, const ConstVectorRef& q, int object) const = 0;
  /// Pose of the body that carries a shape.
  virtual Pose place_carrier(double t, const ConstVectorRef& q, int object) const = 0;
  /// Both of them, for the same bits.
  virtual void place_both(double t, const ConstVectorRef& q, int object, Pose& carrier,
                          Pose& shape) const = 0;
  /// Of all shapes. Work on many shapes is shared out, here and below, to workers if there are any.
  virtual void place_objects(double t, const ConstVectorRef& q, std::span<Pose> poses,
                             WorkerPool* workers) const = 0;
  /// How far any point of each shape moves in the time h, at most: at constant velocities v, and by
  /// the forces that act on bodies that touch nothing.
  virtual void bound_motion(double t, const ConstVectorRef& q, const ConstVectorRef& v, double h,
                            std::span<double> distances, WorkerPool* workers) const = 0;
  /// How far any point of each shape is moved, at most, between two configurations.
  virtual void bound_displacement(double t_from, const ConstVectorRef& from, double t_to,
                                  const ConstVectorRef& to, std::span<double> distances,
                                  WorkerPool* workers) const = 0;

  /// All laws that shapes may meet by.
  virtual std::vector<const ContactInfo*> laws() const = 0;
  /// The law of contact of two shapes; one tangent where all motion is in a plane.
  virtual const ContactInfo& law_of(int a, int b, const Eigen::Vector3d& normal) const = 0;
  /// Rows of a contact as in System::append_contact_rows; `carriers` are the poses of the two
  /// bodies, which many contacts have in common.
  virtual void append_touch_rows(double t, const std::array<const Pose*, 2>& carriers,
                                 const TouchingPair& pair, int num_tangents, int first_block,
                                 RowSet& out) const = 0;
  /// The tangents of those rows in the world; zero where there are fewer.
  virtual std::array<Eigen::Vector3d, 2> tangents_of(const TouchingPair& pair,
                                                     int num_tangents) const = 0;
  /// What a force (normal, tangents) there adds to the stiffness, see System::add_joint_stiffness.
  virtual void add_touch_stiffness(double t, const ConstVectorRef& q, const TouchingPair& pair,
                                   std::span<const double> force, const TurningSum& sum) const = 0;

 protected:
  Surfaces() = default;
  Surfaces(const Surfaces&) = default;
  Surfaces& operator=(const Surfaces&) = default;

  std::vector<CollisionObject> objects_;
  std::vector<std::pair<int, int>> untouched_bodies_;
};

}  // namespace stiction
