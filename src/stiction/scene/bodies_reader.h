// The rigid bodies of a scene: the keys "gravity", "materials", "bodies", "joints", "springs" and
// "forces" at its top level, to the description of a system.
#pragma once

#include <memory>
#include <vector>

#include "stiction/model/model.h"
#include "stiction/model/rigid_body_description.h"
#include "stiction/scene/quantity_reader.h"
#include "stiction/scene/scene_view.h"

namespace stiction {

/// Where the parts of a description stand in the scene, each list in the order of the description.
struct BodyPlaces {
  SceneValue root{};
  std::vector<SceneValue> bodies{}, joints{}, couplings{}, springs{}, forces{};
  std::vector<SceneValue> shapes{}, materials{}, material_pairs{};
};

struct BodiesScene {
  RigidBodyDescription description{};
  BodyPlaces places{};
  std::vector<BodyViewShape> seen_shapes{};  // that take no part in contact
  std::vector<std::string> colors{};         // of those that do
};

/// Reads the scene; faults go to `diagnostics`, those of the description as a whole
/// (find_body_faults) included. `parameters` are those of the whole scene.
BodiesScene read_bodies(const SceneValue& root, const std::shared_ptr<ExpressionPool>& pool,
                        const SymbolTable& parameters, Diagnostics& diagnostics);

/// The entry of the scene that a fault of the start comes from, for the system of this scene.
SceneValue find_body_place(const BodiesScene& scene, const System& system, const StartFault& fault);

}  // namespace stiction
