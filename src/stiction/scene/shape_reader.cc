#include "stiction/scene/shape_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/geometry/mesh_file.h"
#include "stiction/geometry/mesh_repair.h"
#include "stiction/scene/view_reader.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// A type of shape: the keys of its own, and how it is read from them.
struct ShapeType {
  std::string_view name;
  std::string_view article;
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional;
  Shape (*read)(const SceneValue& value, const SpatialReader& reader);
};

constexpr std::array<std::string_view, 10> kCommonKeys = {
    "type",    "position", "orientation", "material",         "density",
    "contact", "group",    "mask",        "surface_velocity", "color"};

/// Numbers of an array whose size is known; a wrong size is a fault.
Eigen::VectorXd read_sizes(const SceneValue& value, int count, const SpatialReader& reader) {
  Eigen::VectorXd sizes = Eigen::VectorXd::Ones(count);
  if (!value.is_array()) return sizes;
  if (value.node->items.size() != static_cast<std::size_t>(count)) {
    if (!reader.is_faulty(value))
      reader.fault(value,
                   fmt::format("has {} items, must have {}", value.node->items.size(), count));
    return sizes;
  }
  for (int i = 0; i < count; ++i) sizes[i] = reader.read_number(value.item(i), 1, {.above = 0});
  return sizes;
}

Shape read_heightfield(const SceneValue& value, const SpatialReader& reader) {
  HeightField field{.size = read_sizes(value["size"], 2, reader)};
  const SceneValue rows = value["heights"];
  if (!rows.is_array() || rows.node->items.empty()) return field;
  const std::size_t num_columns = rows.node->items.front().items.size();
  field.heights.resize(static_cast<Eigen::Index>(rows.node->items.size()),
                       static_cast<Eigen::Index>(num_columns));
  field.heights.setZero();
  for (std::size_t i = 0; i < rows.node->items.size(); ++i) {
    const SceneValue row = rows.item(i);
    if (!row.is_array()) continue;
    if (row.node->items.size() != num_columns) {
      reader.fault(row, fmt::format("has {} heights, the first row has {}", row.node->items.size(),
                                    num_columns));
      continue;
    }
    for (std::size_t j = 0; j < num_columns; ++j)
      field.heights(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          reader.read_number(row.item(j), 0);
  }
  return field;
}

Mesh read_triangles(const SceneValue& value, const SpatialReader& reader) {
  for (const char* key : {"vertices", "triangles"})
    if (!value[key])
      reader.fault(value, fmt::format("a mesh without '{}'", key),
                   "a mesh has \"vertices\" and \"triangles\", or a \"file\"");
  Mesh mesh{.vertices = reader.read_points(value["vertices"])};
  const SceneValue triangles = value["triangles"];
  if (!triangles.is_array()) return mesh;
  for (const JsonNode& item : triangles.node->items) {
    if (item.items.size() != 3) continue;
    Triangle triangle{};
    for (std::size_t k = 0; k < 3; ++k)
      triangle[k] = static_cast<int>(std::clamp(item.items[k].number, -1.0, 2e9));
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

Mesh read_file(const SceneValue& value, const SpatialReader& reader) {
  const SceneValue file = value["file"];
  for (const char* key : {"vertices", "triangles"})
    if (const SceneValue given = value[key])
      reader.fault(given, fmt::format("'{}' of a mesh that is in a file", key),
                   "leave out \"file\", or \"vertices\" and \"triangles\"");
  const std::filesystem::path folder =
      std::filesystem::path(reader.diagnostics().file()).parent_path();
  try {
    return read_mesh_file(folder / file.node->string);
  } catch (const Error& error) {
    reader.fault(file, error.what());
    return {};
  }
}

/// What "repair" makes of a mesh; none if its vertices or indices are at fault, which only its
/// author can mend. Triangles that name a vertex twice are dropped, as readers of files do.
std::optional<MeshRepair> try_repair(const Mesh& mesh) {
  const auto names_one_twice = [](const Triangle& t) {
    return t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
  };
  Mesh rest = mesh;
  std::erase_if(rest.triangles, names_one_twice);
  if (!find_fault(rest).empty()) return std::nullopt;
  return repaired(mesh);
}

bool is_mended(const MeshRepair& repair) {
  return repair.remaining.empty() && !repair.mesh.triangles.empty();
}

void report_faults(const SceneValue& value, const SpatialReader& reader,
                   std::span<const std::string> faults, const std::string& help) {
  constexpr std::size_t kMaxFaults = 5;
  for (std::size_t i = 0; i < std::min(faults.size(), kMaxFaults); ++i)
    reader.fault(value, faults[i], help);
  if (faults.size() > kMaxFaults)
    reader.fault(value, fmt::format("{} more faults of triangles", faults.size() - kMaxFaults));
}

std::vector<std::string> messages_of(std::span<const MeshFault> faults) {
  std::vector<std::string> messages;
  for (const MeshFault& fault : faults) messages.push_back(fault.message);
  return messages;
}

/// Triangles that no collision detection can make sense of are faults, unless they are repaired,
/// which is told. A repair is offered only where it has been tried.
void check_mesh(const SceneValue& value, const SpatialReader& reader, Mesh& mesh) {
  if (reader.is_faulty(value)) return;
  const std::string fault = find_fault(mesh);
  const std::vector<std::string> faults =
      fault.empty() ? messages_of(find_mesh_faults(mesh)) : std::vector{fault};
  if (faults.empty()) return;
  std::optional<MeshRepair> repair = try_repair(mesh);
  if (!repair) return;  // reported with other shapes
  constexpr const char* kHopeless = "the mesh cannot be repaired safely";
  if (!value["repair"].boolean_or(false)) {
    report_faults(value, reader, faults,
                  is_mended(*repair)
                      ? fmt::format("\"repair\": true mends the mesh: {}", repair->to_text())
                      : kHopeless);
  } else if (!is_mended(*repair)) {
    report_faults(value, reader,
                  repair->remaining.empty() ? faults : messages_of(repair->remaining), kHopeless);
  } else {
    reader.diagnostics().warning(value.node->position, value.path,
                                 "the mesh was repaired: " + repair->to_text());
    mesh = std::move(repair->mesh);
  }
}

Shape read_mesh(const SceneValue& value, const SpatialReader& reader) {
  Mesh mesh = value["file"].is_string() ? read_file(value, reader) : read_triangles(value, reader);
  const double scale = reader.read_number(value["scale"], 1, {.above = 0});
  for (Vector3d& vertex : mesh.vertices) vertex *= scale;
  check_mesh(value, reader, mesh);
  return mesh;
}

double read_length(const SceneValue& value, const SpatialReader& reader) {
  return reader.read_number(value, 1, {.above = 0});
}

/// In the order of the variant Shape.
const std::vector<ShapeType>& shape_types() {
  static const std::vector<ShapeType> types = {
      {"sphere",
       "a sphere",
       {"radius"},
       {},
       [](const SceneValue& value, const SpatialReader& reader) -> Shape {
         return Sphere{read_length(value["radius"], reader)};
       }},
      {"capsule",
       "a capsule",
       {"radius", "length"},
       {},
       [](const SceneValue& value, const SpatialReader& reader) -> Shape {
         return Capsule{read_length(value["radius"], reader),
                        reader.read_number(value["length"], 0, {.at_least = 0})};
       }},
      {"box",
       "a box",
       {"size"},
       {},
       [](const SceneValue& value, const SpatialReader& reader) -> Shape {
         return Box{read_sizes(value["size"], 3, reader)};
       }},
      {"cylinder",
       "a cylinder",
       {"radius", "length"},
       {},
       [](const SceneValue& value, const SpatialReader& reader) -> Shape {
         return Cylinder{read_length(value["radius"], reader),
                         read_length(value["length"], reader)};
       }},
      {"ellipsoid",
       "an ellipsoid",
       {"radii"},
       {},
       [](const SceneValue& value, const SpatialReader& reader) -> Shape {
         return Ellipsoid{read_sizes(value["radii"], 3, reader)};
       }},
      {"convex",
       "a convex",
       {"points"},
       {},
       [](const SceneValue& value, const SpatialReader& reader) -> Shape {
         return Convex{reader.read_points(value["points"])};
       }},
      {"plane",
       "a plane",
       {},
       {"normal", "offset"},
       [](const SceneValue& value, const SpatialReader& reader) -> Shape {
         return Plane{reader.read_axis(value["normal"], Vector3d::UnitZ()),
                      reader.read_number(value["offset"], 0)};
       }},
      {"heightfield", "a heightfield", {"size", "heights"}, {}, read_heightfield},
      {"mesh", "a mesh", {}, {"vertices", "triangles", "file", "scale", "repair"}, read_mesh},
  };
  return types;
}

int find_material(const SceneValue& value, const Materials& materials,
                  const SpatialReader& reader) {
  if (!value.is_string()) return kNoMaterial;
  const auto found = materials.index.find(value.node->string);
  if (found != materials.index.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, index] : materials.index) names.push_back(name);
  reader.fault(value, fmt::format("unknown material '{}'", excerpt(value.node->string)),
               names.empty() ? "give it under \"materials\" of the scene"
                             : suggestion(value.node->string, names));
  return kNoMaterial;
}

MaterialDescription read_law(const SceneValue& value, const SpatialReader& reader) {
  const Limits share{.at_least = 0, .at_most = 1};
  return {.mu = reader.read_number(value["mu"], 0, {.at_least = 0}),
          .restitution = reader.read_number(value["restitution"], 0, share),
          .restitution_tangential = reader.read_number(value["restitution_tangential"], 0, share),
          .compliance = reader.read_number(value["compliance"], 0, {.at_least = 0})};
}

/// Bits of groups.
std::uint32_t read_bits(const SceneValue& value, std::uint32_t fallback) {
  return value ? static_cast<std::uint32_t>(std::clamp(value.node->number, 0.0, 4294967295.0))
               : fallback;
}

}  // namespace

std::vector<std::string> shape_type_names() {
  std::vector<std::string> names;
  for (const ShapeType& type : shape_types()) names.emplace_back(type.name);
  return names;
}

Materials read_materials(const SceneValue& value, const SpatialReader& reader) {
  Materials materials;
  if (!value.is_object()) return materials;
  for (const JsonMember& member : value.node->members) {
    const SceneValue item{&member.node, member_path(value.path, member.key)};
    materials.index[member.key] = static_cast<int>(materials.list.size());
    materials.list.push_back(read_law(item, reader));
    materials.list.back().name = member.key;
    materials.places.push_back(item);
  }
  return materials;
}

void read_material_pairs(const SceneValue& value, const Materials& materials,
                         const SpatialReader& reader, RigidBodyDescription& description,
                         std::vector<SceneValue>& places) {
  if (!value.is_array()) return;
  for (std::size_t i = 0; i < value.node->items.size(); ++i) {
    const SceneValue item = value.item(i), names = item["between"];
    MaterialPairDescription pair{.law = read_law(item, reader)};
    if (!names.is_array() || names.node->items.size() != 2) continue;
    for (const std::size_t side : {0, 1})
      pair.materials[side] = find_material(names.item(side), materials, reader);
    if (reader.is_faulty(item)) continue;
    description.material_pairs.push_back(std::move(pair));
    places.push_back(item);
  }
}

std::optional<SceneShape> read_shape(const SceneValue& value, const Materials& materials,
                                     const SpatialReader& reader) {
  const SceneValue name = value["type"];
  const auto& types = shape_types();
  const auto type = std::find_if(types.begin(), types.end(), [&](const ShapeType& candidate) {
    return name.is_string() && candidate.name == name.node->string;
  });
  if (type == types.end()) return std::nullopt;  // reported by the schema
  std::vector<std::string_view> optional = type->optional;
  optional.insert(optional.end(), kCommonKeys.begin(), kCommonKeys.end());
  reader.check_keys(value, std::string(type->article), type->required, optional);
  SceneShape shape{.place = value,
                   .shape = type->read(value, reader),
                   .frame = reader.read_pose(value),
                   .material = find_material(value["material"], materials, reader),
                   .surface_velocity = reader.read_vector(value["surface_velocity"]),
                   .group = read_bits(value["group"], 1),
                   .mask = read_bits(value["mask"], ~0U),
                   .takes_part_in_contact = value["contact"].boolean_or(true),
                   .color = read_color(value["color"], reader.diagnostics())};
  if (const SceneValue density = value["density"])
    shape.density = reader.read_number(density, 1, {.above = 0});
  if (!reader.is_faulty(value))
    if (std::string fault = find_fault(shape.shape); !fault.empty())
      reader.fault(value, std::move(fault));
  if (reader.is_faulty(value)) return std::nullopt;
  return shape;
}

}  // namespace stiction
