#include "stiction/scene/import_overlaps.h"

#include <algorithm>
#include <map>

#include "stiction/geometry/collision_scene.h"
#include "stiction/model/rigid_body_system.h"

namespace stiction {

std::vector<BodyOverlap> find_overlaps(const Model& model, double tolerance) {
  std::map<std::pair<std::string, std::string>, double> found;
  for (const Model::Part& part : model.parts()) {
    const auto* system = dynamic_cast<const RigidBodySystem*>(part.system.get());
    if (system == nullptr) continue;
    const RigidBodyDescription& description = system->description();
    CollisionScene scene;
    for (const CollisionObject& object : system->objects()) scene.add(object);
    scene.exclude_bodies(system->untouched_bodies());
    std::vector<Pose> poses(system->objects().size());
    system->place_objects(0, system->initial_q(), poses, nullptr);
    Detection detection;
    scene.detect(poses, {}, detection);
    const auto body_of = [&](int object) -> const BodyDescription* {
      const int body = description.shapes[object].body;
      return body == kWorld ? nullptr : &description.bodies[body];
    };
    for (const CollisionPair& pair : detection.pairs) {
      const BodyDescription *a = body_of(pair.a), *b = body_of(pair.b);
      if (a == nullptr || b == nullptr || a->motion != BodyDescription::Motion::kDynamic ||
          b->motion != BodyDescription::Motion::kDynamic)
        continue;
      double smallest = 0;
      for (int p = pair.first_patch; p < pair.first_patch + pair.num_patches; ++p)
        smallest = std::min(smallest, detection.contacts.patches[p].separation);
      if (smallest >= -tolerance) continue;
      double& depth = found[std::minmax(a->name, b->name)];
      depth = std::max(depth, -smallest);
    }
  }
  std::vector<BodyOverlap> overlaps;
  for (const auto& [bodies, depth] : found) overlaps.push_back({bodies, depth});
  return overlaps;
}

}  // namespace stiction
