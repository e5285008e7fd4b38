#include "bench/scenes/scene.h"

#include <cmath>
#include <stdexcept>

#include "stiction/geometry/mass_properties.h"

namespace stiction::bench {

int SceneDescription::num_steps() const { return static_cast<int>(std::lround(duration / h)); }

SceneBody make_solid(const std::string& name, const Shape& shape, double density) {
  const std::optional<MassProperties> properties = compute_mass_properties(shape, density);
  if (!properties) throw std::invalid_argument(name + " has no mass of its own");
  SceneBody body;
  body.name = name;
  body.shape = shape;
  body.mass = properties->mass;
  body.inertia = properties->inertia.diagonal();
  return body;
}

SceneBody make_static(const std::string& name, const Shape& shape,
                      const Eigen::Vector3d& position) {
  SceneBody body;
  body.name = name;
  body.shape = shape;
  body.is_static = true;
  body.position = position;
  return body;
}

std::vector<BodyState> make_start(const SceneDescription& scene) {
  std::vector<BodyState> states;
  for (const SceneBody& body : scene.bodies)
    states.push_back({body.position, body.orientation, body.velocity, Eigen::Vector3d::Zero()});
  return states;
}

}  // namespace stiction::bench
