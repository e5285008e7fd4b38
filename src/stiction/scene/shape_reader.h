// Materials, and the shapes of bodies with their place, material and density.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stiction/geometry/shape.h"
#include "stiction/model/rigid_body_description.h"
#include "stiction/scene/spatial_reader.h"

namespace stiction {

/// By name; with the place of each in the scene.
struct Materials {
  std::vector<MaterialDescription> list{};
  std::vector<SceneValue> places{};
  std::map<std::string, int> index{};
};

/// A shape of a body, without faults.
struct SceneShape {
  SceneValue place{};
  int body = 0;
  int index = 0;  // among the shapes of its body
  Shape shape{};
  Pose frame{};  // in the body's frame
  int material = kNoMaterial;
  Eigen::Vector3d surface_velocity = Eigen::Vector3d::Zero();
  std::uint32_t group = 1, mask = ~0U;
  std::optional<double> density{};  // [kg/m³] > 0
  bool takes_part_in_contact = true;
  std::string color{};  // "#rrggbb", or empty
};

/// What "type" of a shape may be, in the order of the variant Shape.
std::vector<std::string> shape_type_names();

/// The block "materials" of a scene.
Materials read_materials(const SceneValue& value, const SpatialReader& reader);
/// The block "material_pairs", into `description`, with the place of each pair.
void read_material_pairs(const SceneValue& value, const Materials& materials,
                         const SpatialReader& reader, RigidBodyDescription& description,
                         std::vector<SceneValue>& places);

/// One entry of "shapes", but for its body and index; none after a fault.
std::optional<SceneShape> read_shape(const SceneValue& value, const Materials& materials,
                                     const SpatialReader& reader);

}  // namespace stiction
