// Which shapes may touch, and with which friction and restitution.
//
// A pair is two shapes of different bodies, at least one of them dynamic, that both take part in
// contact, unless a joint connects the bodies. Coefficients: of two materials √(μ₁μ₂) and the
// smaller restitutions, of one material its own, without materials zero.
#pragma once

#include <array>
#include <set>
#include <span>
#include <utility>

#include "stiction/model/rigid_body_description.h"
#include "stiction/scene/shape_reader.h"

namespace stiction {

/// Pairs of bodies that do not touch, the smaller index first.
using BodyPairs = std::set<std::pair<int, int>>;

/// Appends the contacts of all pairs of shapes to `description`, whose bodies are complete, and the
/// shape of each one's first side to `places`. Pairs without a contact function are faults.
void add_contact_pairs(std::span<const SceneShape> shapes, const BodyPairs& joined_bodies,
                       const SpatialReader& reader, RigidBodyDescription& description,
                       std::vector<SceneValue>& places);

}  // namespace stiction
