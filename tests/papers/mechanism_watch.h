// What a simulation of rigid bodies is doing, by the names of its bodies and joints, and how far
// its energy has strayed.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_system.h"
#include "stiction/sim/mechanism.h"
#include "stiction/sim/simulation.h"

namespace stiction::testing {

class MechanismWatch {
 public:
  /// The simulation, whose model holds rigid bodies first, must outlive the watch.
  explicit MechanismWatch(const Simulation& simulation)
      : simulation_(simulation),
        bodies_(dynamic_cast<const RigidBodySystem&>(*simulation.model().parts()[0].system)) {}

  double time() const { return simulation_.state().t; }
  /// Angle [rad] or slide [m] of a joint since the start, without jumps.
  double coordinate(const std::string& joint,
                    JointCoordinate coordinate = JointCoordinate::kAngle) const {
    return bodies_.joint_coordinate(time(), simulation_.state().q, joint_index(joint), coordinate);
  }
  /// Of the centre of mass.
  Pose pose(const std::string& body) const {
    return bodies_.pose_of(time(), simulation_.state().q, body_index(body));
  }
  /// A point given relative to the centre of mass, in the axes of the body.
  Eigen::Vector3d point(const std::string& body, const Eigen::Vector3d& in_body) const {
    const Pose at = pose(body);
    return at.position + at.rotation * in_body;
  }
  /// In the axes of the body.
  Eigen::Vector3d angular_velocity(const std::string& body) const {
    return bodies_.velocity_of(time(), simulation_.state().v, body_index(body)).tail<3>();
  }
  /// Mean force and torque of a joint on its first (0) or second (1) body over the last step, in
  /// the axes of that body.
  std::array<Eigen::Vector3d, 2> reaction(const std::string& joint, std::size_t side) const {
    const auto all = bodies_.evaluate_reaction(time(), simulation_.state().q, joint_forces(),
                                               joint_index(joint));
    return {all.force[side], all.torque[side]};
  }
  /// Mean force of one joint row over the last step, by its name in recordings.
  double row_force(const std::string& row) const {
    const std::vector<std::string> names = simulation_.model().joint_row_names();
    const auto found = std::find(names.begin(), names.end(), row);
    if (found == names.end()) throw std::runtime_error("there is no row '" + row + "'");
    return joint_forces()[found - names.begin()];
  }

 private:
  VectorXd joint_forces() const {
    const std::vector<double>& impulses = simulation_.joint_impulses();
    return Eigen::Map<const VectorXd>(impulses.data(), static_cast<Eigen::Index>(impulses.size())) /
           simulation_.options().h;
  }
  template <class Items>
  static int index_in(const Items& items, const std::string& name) {
    for (std::size_t i = 0; i < items.size(); ++i)
      if (items[i].name == name) return static_cast<int>(i);
    throw std::runtime_error("there is no '" + name + "'");
  }
  int joint_index(const std::string& name) const {
    return index_in(bodies_.description().joints, name);
  }
  int body_index(const std::string& name) const {
    return index_in(bodies_.description().bodies, name);
  }

  const Simulation& simulation_;
  const RigidBodySystem& bodies_;
};

/// The largest gain and loss of energy since the start [J].
class EnergyTrack {
 public:
  explicit EnergyTrack(const Simulation& simulation)
      : simulation_(simulation), start_(simulation.energy().now.total()) {}
  void add() {
    const double change = simulation_.energy().now.total() - start_;
    gain = std::max(gain, change);
    loss = std::max(loss, -change);
  }
  double gain = 0, loss = 0;

 private:
  const Simulation& simulation_;
  double start_;
};

/// Names of the redundant joint rows at the start.
inline std::vector<std::string> redundant_rows(const Model& model) {
  const std::vector<std::string> all = model.joint_row_names();
  std::vector<std::string> names;
  for (const int row : find_redundant_rows(model, model.initial_state()))
    names.push_back(all[static_cast<std::size_t>(row)]);
  return names;
}

}  // namespace stiction::testing
