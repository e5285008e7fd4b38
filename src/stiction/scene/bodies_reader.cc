#include "stiction/scene/bodies_reader.h"

#include <fmt/format.h>

#include <string>

#include "stiction/scene/body_reader.h"
#include "stiction/scene/joint_reader.h"
#include "stiction/scene/shape_reader.h"
#include "stiction/scene/spatial_reader.h"
#include "stiction/scene/spring_reader.h"

namespace stiction {
namespace {

/// The member that a fault is about, or the whole part where it has no such member.
SceneValue find_key(const SceneValue& part, const std::string& key) {
  if (key.empty()) return part;
  if (SceneValue found = part[key.c_str()]) return found;
  if (key == "limits")
    if (SceneValue in_degrees = part["limits_deg"]) return in_degrees;
  for (const char* holder : {"motor", "bushing"})
    if (const SceneValue inner = part[holder]) {
      if (SceneValue found = inner[key.c_str()]) return found;
      if (key == "max_effort") return inner;
    }
  return part;
}

SceneValue find_place(const BodyPlaces& places, const BodyFault& fault) {
  using Where = BodyFault::Where;
  switch (fault.where) {
    case Where::kGravity:
      return find_key(places.root, fault.key);
    case Where::kBody:
      return find_key(places.bodies[fault.index], fault.key);
    case Where::kJoint:
      return find_key(places.joints[fault.index], fault.key);
    case Where::kCoupling:
      return find_key(places.couplings[fault.index], fault.key);
    case Where::kSpring:
      return find_key(places.springs[fault.index], fault.key);
    case Where::kForce:
      return find_key(places.forces[fault.index], fault.key);
    case Where::kShape:
      return find_key(places.shapes[fault.index], fault.key);
    case Where::kMaterial:
      return find_key(places.materials[fault.index], fault.key);
    case Where::kMaterialPair:
      return find_key(places.material_pairs[fault.index], fault.key);
    case Where::kUntouched:
      return places.root["no_contact"];
  }
  return places.root;
}

/// What is wrong with the whole; a value that was reported already is not reported again.
void report_body_faults(const BodiesScene& scene, const SpatialReader& reader) {
  for (const BodyFault& fault : find_body_faults(scene.description))
    if (const SceneValue place = find_place(scene.places, fault); !reader.is_faulty(place))
      reader.fault(place, fault.message);
}

/// The body before this one that "like" names; none if there is no such key, or after a fault.
std::shared_ptr<const SceneValue> find_like(const SceneValue& item, const NameList& names,
                                            const SpatialReader& reader,
                                            const std::vector<SceneValue>& bodies) {
  const SceneValue like = item["like"];
  if (!like.is_string()) return nullptr;
  const std::optional<int> index = names.try_find(like.node->string);
  if (index && *index < static_cast<int>(bodies.size()))
    return std::make_shared<SceneValue>(bodies[*index]);
  reader.fault(like, fmt::format("no body before this one is named '{}'", like.node->string),
               "a body can be like one that stands above it");
  return nullptr;
}

void read_body_list(const SceneValue& list, const BodyReader& bodies, const SpatialReader& reader,
                    NameList& names, std::vector<SceneShape>& shapes, BodiesScene& scene) {
  if (!list.is_array()) return;
  for (std::size_t i = 0; i < list.node->items.size(); ++i) {
    SceneValue item = list.item(i);
    std::string name = names.add(item, fmt::format("body {}", i + 1), reader.diagnostics());
    if (name == kWorldName)
      reader.fault(item["name"], "the name 'world' is that of the world", "choose another name");
    item.like = find_like(item, names, reader, scene.places.bodies);
    scene.description.bodies.push_back(
        bodies.read(item, std::move(name), static_cast<int>(i), shapes));
    scene.places.bodies.push_back(item);
  }
}

/// Those that take part in contact; the others are only seen.
void add_shapes(std::span<const SceneShape> shapes, BodiesScene& scene) {
  for (const SceneShape& shape : shapes) {
    if (!shape.takes_part_in_contact) {
      scene.seen_shapes.push_back({shape.body, {shape.shape, shape.frame, shape.color}});
      continue;
    }
    scene.colors.push_back(shape.color);
    scene.description.shapes.push_back({.body = shape.body,
                                        .shape = shape.shape,
                                        .frame = shape.frame,
                                        .material = shape.material,
                                        .surface_velocity = shape.surface_velocity,
                                        .group = shape.group,
                                        .mask = shape.mask});
    scene.places.shapes.push_back(shape.place);
  }
}

void read_untouched_bodies(const SceneValue& list, const NameList& names,
                           const SpatialReader& reader, RigidBodyDescription& description) {
  if (!list.is_array()) return;
  for (std::size_t i = 0; i < list.node->items.size(); ++i) {
    const SceneValue pair = list.item(i);
    if (!pair.is_array() || pair.node->items.size() != 2) continue;
    std::array<std::optional<int>, 2> bodies;
    for (const std::size_t side : {0, 1}) bodies[side] = find_body(pair.item(side), names, reader);
    if (bodies[0] && bodies[1]) description.untouched_bodies.push_back({*bodies[0], *bodies[1]});
  }
}

// -------------------------------------------------------------------------------------------------
// Faults of the start

/// Names of rows are those of their parts, with ".ROW" behind where a part may have several.
template <class Parts>
const SceneValue* find_part(const Parts& parts, const std::vector<SceneValue>& places,
                            const std::string& row) {
  const std::string stem = row.substr(0, row.rfind('.'));
  for (const std::string& name : {row, stem})
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].name == name) return &places[i];
  return nullptr;
}

SceneValue find_joint_row(const BodiesScene& scene, const std::string& row, const char* key) {
  const BodyPlaces& places = scene.places;
  if (const auto* coupling = find_part(scene.description.couplings, places.couplings, row))
    return *coupling;
  if (const auto* joint = find_part(scene.description.joints, places.joints, row))
    return find_key(*joint, key);
  return places.root;
}

/// The dynamic body with a velocity coordinate.
int find_body_of_velocity(const BodiesScene& scene, const System& system, int velocity) {
  int block = 0;
  for (int i = 0; i < static_cast<int>(scene.description.bodies.size()); ++i) {
    if (scene.description.bodies[i].motion != BodyDescription::Motion::kDynamic) continue;
    velocity -= system.block_sizes()[block++];
    if (velocity < 0) return i;
  }
  return kWorld;
}

SceneValue find_force_place(const BodiesScene& scene, int body) {
  for (std::size_t i = 0; i < scene.places.forces.size(); ++i)
    if (scene.description.forces[i].body == body) return scene.places.forces[i];
  return body == kWorld ? scene.places.root : scene.places.bodies[body];
}

}  // namespace

BodiesScene read_bodies(const SceneValue& root, const std::shared_ptr<ExpressionPool>& pool,
                        const SymbolTable& parameters, Diagnostics& diagnostics) {
  const SpatialReader reader(pool, parameters, diagnostics);
  BodiesScene scene;
  scene.places.root = root;
  RigidBodyDescription& description = scene.description;
  description.pool = pool;
  description.gravity = reader.read_vector(root["gravity"]);
  Materials materials = read_materials(root["materials"], reader);
  read_material_pairs(root["material_pairs"], materials, reader, description,
                      scene.places.material_pairs);
  NameList names("body");
  std::vector<SceneShape> shapes;
  read_body_list(root["bodies"], BodyReader(materials, reader), reader, names, shapes, scene);
  SceneJoints joints = read_joints(root["joints"], names, reader, description);
  scene.places.joints = joints.places;
  scene.places.couplings = joints.coupling_places;
  read_springs(root["springs"], names, joints, reader, description, scene.places.springs);
  read_forces(root["forces"], names, reader, description, scene.places.forces);
  read_untouched_bodies(root["no_contact"], names, reader, description);
  description.materials = std::move(materials.list);
  scene.places.materials = std::move(materials.places);
  add_shapes(shapes, scene);
  report_body_faults(scene, reader);
  return scene;
}

SceneValue find_body_place(const BodiesScene& scene, const System& system,
                           const StartFault& fault) {
  using Where = StartFault::Where;
  const BodyPlaces& places = scene.places;
  switch (fault.where) {
    case Where::kMass: {
      int velocity = 0;
      for (int block = 0; block < fault.index; ++block) velocity += system.block_sizes()[block];
      const int body = find_body_of_velocity(scene, system, velocity);
      return body == kWorld ? places.root : places.bodies[body];
    }
    case Where::kForce:
      return find_force_place(scene, find_body_of_velocity(scene, system, fault.index));
    case Where::kContact:
      return find_joint_row(scene, system.contacts()[fault.index].name, "limits");
    case Where::kShape:
      return places.shapes[fault.index];
    case Where::kConstraint:
      return find_joint_row(scene, system.constraints()[fault.index].name, "");
    case Where::kVelocityRow:
      return find_joint_row(scene, system.velocity_rows()[fault.index].name, "");
    case Where::kSpring:
      if (const auto* spring = find_part(scene.description.springs, places.springs,
                                         system.springs()[fault.index].name))
        return *spring;
      break;
    case Where::kState:
      break;
  }
  return places.root["bodies"];
}

}  // namespace stiction
