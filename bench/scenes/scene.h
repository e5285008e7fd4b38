// A scene as every engine is told it: bodies with one shape each, their masses, friction, joints.
// Written once; what an engine makes of it is judged by its poses alone (measure.h).
//
// The frame of a body lies in its centre of mass with the axes of its shape, which are principal
// axes. Two bodies that touch rub with √(μ₁μ₂) and do not bounce.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <string>
#include <vector>

#include "bench/peers/body_state.h"
#include "stiction/geometry/pose.h"
#include "stiction/geometry/shape.h"

namespace stiction::bench {

/// Stands for the world where a joint asks for a body.
inline constexpr int kGround = -1;

/// [m] What rests at the start overlaps by this. Bodies that just touch are a coin toss: a gap of
/// 1e-17 m is a contact for one engine and a first step of free fall for another.
inline constexpr double kSeat = 1e-9;

struct SceneBody {
  std::string name;
  Shape shape{};  // sphere, capsule, box or cylinder
  bool is_static = false;
  bool touches = true;  // false: passes through everything
  Eigen::Vector3d position = Eigen::Vector3d::Zero();
  Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();  // [m/s] at the start; it does not turn then
  double mass = 0;                                     // [kg] 0 if static
  Eigen::Vector3d inertia = Eigen::Vector3d::Zero();   // [kg m²] principal moments
  Eigen::Vector3d force = Eigen::Vector3d::Zero();     // [N] constant, at the centre, in the world
  double mu = 0;

  Pose pose() const { return {position, orientation.toRotationMatrix()}; }
};

struct SceneJoint {
  enum class Kind { kBall, kSlider };
  Kind kind = Kind::kBall;
  int first = kGround, second = 0;                  // `first` may be kGround
  Eigen::Vector3d at = Eigen::Vector3d::Zero();     // [m] in the world at the start
  Eigen::Vector3d axis = Eigen::Vector3d::UnitX();  // of a slider, in the world at the start
};

struct SceneDescription {
  std::string name;
  std::string claim{};  // what is true of it
  std::vector<SceneBody> bodies{};
  std::vector<SceneJoint> joints{};
  double h = 1.0 / 60;      // [s]
  double duration = 5;      // [s]
  double settled_from = 0;  // [s] when things have come to rest, or the motion is the one meant

  int num_bodies() const { return static_cast<int>(bodies.size()); }
  int num_steps() const;
};

/// A body of uniform density, with mass and inertia filled in. Throws for shapes without volume.
SceneBody make_solid(const std::string& name, const Shape& shape, double density);
SceneBody make_static(const std::string& name, const Shape& shape, const Eigen::Vector3d& position);

/// All bodies at the start.
std::vector<BodyState> make_start(const SceneDescription& scene);

}  // namespace stiction::bench
