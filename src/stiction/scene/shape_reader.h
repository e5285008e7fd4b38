// Materials, and the shapes of bodies with their place, material and density.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stiction/geometry/shape.h"
#include "stiction/scene/spatial_reader.h"

namespace stiction {

struct Material {
  double mu = 0, restitution = 0, restitution_tangential = 0;
};

using Materials = std::map<std::string, Material>;

/// A shape of a body, without faults.
struct SceneShape {
  SceneValue place{};
  int body = 0;
  int index = 0;  // among the shapes of its body
  Shape shape{};
  Pose frame{};                        // in the body's frame
  const Material* material = nullptr;  // in the Materials it was read with; null: none
  std::optional<double> density{};     // [kg/m³] > 0
  bool takes_part_in_contact = true;
};

/// What "type" of a shape may be, in the order of the variant Shape.
std::vector<std::string> shape_type_names();

/// The block "materials" of a scene.
Materials read_materials(const SceneValue& value, const SpatialReader& reader);

/// One entry of "shapes", but for its body and index; none after a fault.
std::optional<SceneShape> read_shape(const SceneValue& value, const Materials& materials,
                                     const SpatialReader& reader);

}  // namespace stiction
