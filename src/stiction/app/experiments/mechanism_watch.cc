#include "stiction/app/experiments/mechanism_watch.h"

#include <algorithm>
#include <stdexcept>

#include "stiction/sim/mechanism.h"

namespace stiction::experiments {

namespace {

template <class Items>
int index_in(const Items& items, const std::string& name) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].name == name) return static_cast<int>(i);
  throw std::runtime_error("there is no '" + name + "'");
}

}  // namespace

MechanismWatch::MechanismWatch(const Simulation& simulation)
    : simulation_(simulation),
      bodies_(dynamic_cast<const RigidBodySystem&>(*simulation.model().parts()[0].system)) {}

double MechanismWatch::time() const { return simulation_.state().t; }

double MechanismWatch::coordinate(const std::string& joint, JointCoordinate coordinate) const {
  return bodies_.joint_coordinate(time(), simulation_.state().q, joint_index(joint), coordinate);
}

Pose MechanismWatch::pose(const std::string& body) const {
  return bodies_.pose_of(time(), simulation_.state().q, body_index(body));
}

Eigen::Vector3d MechanismWatch::point(const std::string& body,
                                      const Eigen::Vector3d& in_body) const {
  const Pose at = pose(body);
  return at.position + at.rotation * in_body;
}

Eigen::Vector3d MechanismWatch::angular_velocity(const std::string& body) const {
  return bodies_.velocity_of(time(), simulation_.state().v, body_index(body)).tail<3>();
}

std::array<Eigen::Vector3d, 2> MechanismWatch::reaction(const std::string& joint,
                                                        std::size_t side) const {
  const auto all =
      bodies_.evaluate_reaction(time(), simulation_.state().q, joint_forces(), joint_index(joint));
  return {all.force[side], all.torque[side]};
}

double MechanismWatch::row_force(const std::string& row) const {
  const std::vector<std::string> names = simulation_.model().joint_row_names();
  const auto found = std::find(names.begin(), names.end(), row);
  if (found == names.end()) throw std::runtime_error("there is no row '" + row + "'");
  return joint_forces()[found - names.begin()];
}

VectorXd MechanismWatch::joint_forces() const {
  const std::vector<double>& impulses = simulation_.joint_impulses();
  return Eigen::Map<const VectorXd>(impulses.data(), static_cast<Eigen::Index>(impulses.size())) /
         simulation_.options().h;
}

int MechanismWatch::joint_index(const std::string& name) const {
  return index_in(bodies_.description().joints, name);
}

int MechanismWatch::body_index(const std::string& name) const {
  return index_in(bodies_.description().bodies, name);
}

EnergyTrack::EnergyTrack(const Simulation& simulation)
    : simulation_(simulation), start_(simulation.energy().now.total()) {}

void EnergyTrack::add() {
  const double change = simulation_.energy().now.total() - start_;
  gain = std::max(gain, change);
  loss = std::max(loss, -change);
}

std::vector<std::string> redundant_rows(const Model& model) {
  const std::vector<std::string> all = model.joint_row_names();
  std::vector<std::string> names;
  for (const int row : find_redundant_rows(model, model.initial_state()))
    names.push_back(all[static_cast<std::size_t>(row)]);
  return names;
}

}  // namespace stiction::experiments
