// What a simulation of rigid bodies is doing, by the names of its bodies and joints, and how far
// its energy has strayed.
#pragma once

#include <Eigen/Core>
#include <array>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_system.h"
#include "stiction/sim/simulation.h"

namespace stiction::experiments {

class MechanismWatch {
 public:
  /// The simulation, whose model holds rigid bodies first, must outlive the watch.
  explicit MechanismWatch(const Simulation& simulation);

  double time() const;
  /// Angle [rad] or slide [m] of a joint since the start, without jumps.
  double coordinate(const std::string& joint,
                    JointCoordinate coordinate = JointCoordinate::kAngle) const;
  /// Of the centre of mass.
  Pose pose(const std::string& body) const;
  /// A point given relative to the centre of mass, in the axes of the body.
  Eigen::Vector3d point(const std::string& body, const Eigen::Vector3d& in_body) const;
  /// In the axes of the body.
  Eigen::Vector3d angular_velocity(const std::string& body) const;
  /// Mean force and torque of a joint on its first (0) or second (1) body over the last step, in
  /// the axes of that body.
  std::array<Eigen::Vector3d, 2> reaction(const std::string& joint, std::size_t side) const;
  /// Mean force of one joint row over the last step, by its name in recordings.
  double row_force(const std::string& row) const;

 private:
  VectorXd joint_forces() const;
  int joint_index(const std::string& name) const;
  int body_index(const std::string& name) const;

  const Simulation& simulation_;
  const RigidBodySystem& bodies_;
};

/// The largest gain and loss of energy since the start [J].
class EnergyTrack {
 public:
  explicit EnergyTrack(const Simulation& simulation);
  void add();
  double gain = 0, loss = 0;

 private:
  const Simulation& simulation_;
  double start_;
};

/// Names of the redundant joint rows at the start.
std::vector<std::string> redundant_rows(const Model& model);

}  // namespace stiction::experiments
