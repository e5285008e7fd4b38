// Writes a system of rigid bodies in a few lines of C++:
//
//   RigidBodyBuilder world;
//   world.set_gravity({0, 0, -9.81});
//   const BodyId link = world.add_body({.name = "link", .position = {0, 0, 0.5}},
//                                      {{.shape = Capsule{.radius = 0.05, .length = 0.9}}});
//   world.add_joint({.name = "hinge", .type = JointType::kHinge, .bodies = {kWorld, link}},
//                   {.at = {0, 0, 1}, .axis = {0, 1, 0}});
//   Simulation simulation(world.build_model(), {.h = 1e-3});
//
// Places are in world coordinates at the start (t = 0), so that joints fit together there; who has
// frames in the bodies adds a JointDescription alone. A part without a name is called "body 1",
// "joint 1", … by its kind and number. What is wrong with the whole, build() says, all at once.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "stiction/geometry/shape.h"
#include "stiction/model/joint_geometry.h"
#include "stiction/model/model.h"
#include "stiction/model/rigid_body_description.h"
#include "stiction/model/rigid_body_system.h"

namespace stiction {

using BodyId = int;   // index of a body, or kWorld
using JointId = int;  // index of a joint
using MaterialId = int;

/// Where the frame of a body is at t = 0, in the world; kWorld is at the origin. Throws InputError
/// if there is no such body, or if its motion is no formula in t.
Pose compute_start_pose(const RigidBodyDescription& description, int body);

/// The same place seen from the frame of a body at t = 0.
Pose compute_frame_in_body(const RigidBodyDescription& description, int body, const Pose& in_world);

/// Axes with z along `axis` and x some direction across it, always the same for the same axis: that
/// of the world axis most nearly across. The identity for the z axis of the world.
Eigen::Matrix3d make_axes_along(const Eigen::Vector3d& axis);

/// Sets both frames of `joint` such that its constraints hold at the start and its coordinates are
/// zero there. They share the origin `at` and their axes, z along `axis`, except
///   universal      x_a = axis, y_b = axis2, which must be perpendicular (to 1e-6)
///   knife edge     x_b = axis: the direction in which the blade does not move
///   rolling ball   `at` is its centre, `axis` the normal of the plane, which is `radius` below
///   rolling disc   `at` is its centre, axis = z_b its own axis, and axis2 = z_a the normal of the
///                  plane (along z if zero), which touches the rim; not parallel
///   distance       refused, since it has two places: see place_distance.
/// Others do not look at axis2. Throws InputError for bodies out of range, numbers that are
/// not finite and axes without length.
void place_joint(const RigidBodyDescription& description, JointDescription& joint,
                 const Eigen::Vector3d& at, const Eigen::Vector3d& axis,
                 const Eigen::Vector3d& axis2 = Eigen::Vector3d::Zero());

/// Sets the frames of a distance joint to points of its bodies that are at `at_a` and `at_b` at the
/// start, and its length to their distance if it is 0.
void place_distance(const RigidBodyDescription& description, JointDescription& joint,
                    const Eigen::Vector3d& at_a, const Eigen::Vector3d& at_b);

/// A place in the world at the start; see place_joint.
struct JointPlacement {
  Eigen::Vector3d at = Eigen::Vector3d::Zero();
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();
  Eigen::Vector3d axis2 = Eigen::Vector3d::Zero();
};

/// Two places in the world at the start.
struct EndPoints {
  Eigen::Vector3d from = Eigen::Vector3d::Zero();
  Eigen::Vector3d to = Eigen::Vector3d::Zero();
};

/// A piece of a body with uniform density.
struct SolidPart {
  Shape shape{};
  Pose frame{};           // of the shape in the body's frame
  double density = 1000;  // [kg/m³]
};

class RigidBodyBuilder {
 public:
  RigidBodyBuilder();

  void set_gravity(const Eigen::Vector3d& gravity) { description_.gravity = gravity; }
  /// The time, for formulas of motors, forces and kinematic bodies.
  Expression time() const { return Expression::symbol(description_.pool, "t"); }

  BodyId add_body(BodyDescription body);
  /// Mass, centre of mass and inertia are those of the solids, their densities scaled such that the
  /// whole has `body.mass` unless that is 0. Solids that overlap count twice. Throws InputError for
  /// shapes without volume, and if the body brings an inertia or a centre of mass of its own.
  BodyId add_body(BodyDescription body, const std::vector<SolidPart>& solids);

  /// With frames in the bodies.
  JointId add_joint(JointDescription joint);
  JointId add_joint(JointDescription joint, const JointPlacement& placement);
  /// The type of the joint is set here; its length too, if it is 0.
  JointId add_distance(JointDescription joint, const EndPoints& ends);

  /// Turns `second` by `ratio` times the angle of `first`; negative for wheels outside each other.
  void add_gear(const std::string& name, JointId first, JointId second, double ratio);
  /// Slides `slider` by `radius` times the angle of `hinge`.
  void add_rack(const std::string& name, JointId hinge, JointId slider, double radius);
  void add_coupling(CouplingDescription coupling);

  /// Of any kind, with frames in the bodies.
  void add_spring(BodySpringDescription spring);
  /// Between two points. The kind of the spring is set here and below.
  void add_spring(BodySpringDescription spring, const EndPoints& ends);
  /// At rest at the start.
  void add_bushing(BodySpringDescription spring, const JointPlacement& placement);
  void add_joint_spring(JointId joint, BodySpringDescription spring);

  void add_force(BodyForceDescription force);

  MaterialId add_material(MaterialDescription material);
  /// How two materials answer to each other, instead of what follows from both.
  void set_material_pair(MaterialId first, MaterialId second, const MaterialDescription& law);
  /// A shape that touches others. Returns its number.
  int add_shape(BodyShapeDescription shape);
  /// Shapes of the two bodies pass through each other. Those of bodies with a joint in between do
  /// so anyway, unless the joint says otherwise.
  void let_pass(BodyId first, BodyId second);

  const RigidBodyDescription& description() const { return description_; }
  /// The system so far; the builder may go on and build again. Throws InputError with all of
  /// find_body_faults, a line each.
  std::shared_ptr<const RigidBodySystem> build() const;
  /// A model of this system alone, ready for a Simulation.
  Model build_model() const;

 private:
  RigidBodyDescription description_;
};

}  // namespace stiction
