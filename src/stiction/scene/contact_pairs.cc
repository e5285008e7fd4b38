#include "stiction/scene/contact_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>
#include <vector>

namespace stiction {
namespace {

using Motion = BodyDescription::Motion;

bool is_round(const Shape& shape) {
  return std::holds_alternative<Sphere>(shape) || std::holds_alternative<Ellipsoid>(shape);
}

/// Whether there is a contact function for a pair in this order.
bool has_contact_function(const Shape& a, const Shape& b) {
  if (std::holds_alternative<Plane>(b)) return is_round(a);
  return std::holds_alternative<Sphere>(a) && std::holds_alternative<Sphere>(b);
}

Material combine(const Material* a, const Material* b) {
  if (a == nullptr || b == nullptr) return a != nullptr ? *a : b != nullptr ? *b : Material{};
  return {.mu = std::sqrt(a->mu * b->mu),
          .restitution = std::min(a->restitution, b->restitution),
          .restitution_tangential = std::min(a->restitution_tangential, b->restitution_tangential)};
}

class PairFinder {
 public:
  PairFinder(std::span<const SceneShape> shapes, const SpatialReader& reader,
             RigidBodyDescription& description, std::vector<SceneValue>& places)
      : shapes_(shapes), reader_(reader), description_(description), places_(places) {
    num_shapes_.assign(description.bodies.size(), 0);
    for (const SceneShape& shape : shapes) ++num_shapes_[shape.body];
    is_reported_.assign(shapes.size(), false);
  }

  void add(std::size_t i, std::size_t j) {
    const SceneShape *a = &shapes_[i], *b = &shapes_[j];
    if (!has_contact_function(a->shape, b->shape)) std::swap(a, b);
    if (!has_contact_function(a->shape, b->shape)) return report(i, j);
    const Material material = combine(a->material, b->material);
    description_.contacts.push_back({.name = make_name(*a, *b),
                                     .sides = {side(*a), side(*b)},
                                     .mu = material.mu,
                                     .restitution = material.restitution,
                                     .restitution_tangential = material.restitution_tangential});
    places_.push_back(a->place);
  }

 private:
  static BodyContactDescription::Side side(const SceneShape& shape) {
    return {.body = shape.body, .shape = shape.shape, .frame = shape.frame};
  }

  /// "ball", or "ball[1]" where a body has several shapes.
  std::string name_of(const SceneShape& shape) const {
    const std::string& body = description_.bodies[shape.body].name;
    return num_shapes_[shape.body] == 1 ? body : fmt::format("{}[{}]", body, shape.index);
  }

  std::string make_name(const SceneShape& a, const SceneShape& b) {
    const std::string pair = fmt::format("{}-{}", name_of(a), name_of(b));
    std::string name = pair;
    for (int k = 2; !names_.insert(name).second; ++k) name = fmt::format("{} {}", pair, k);
    return name;
  }

  /// Once for every shape that is to blame: the one that is neither sphere nor plane.
  void report(std::size_t i, std::size_t j) {
    const auto is_simple = [&](std::size_t k) {
      return std::holds_alternative<Sphere>(shapes_[k].shape) ||
             std::holds_alternative<Plane>(shapes_[k].shape);
    };
    if (is_simple(i) && !is_simple(j)) std::swap(i, j);
    if (is_reported_[i]) return;
    is_reported_[i] = true;
    const SceneShape &a = shapes_[i], &b = shapes_[j];
    reader_.fault(a.place,
                  fmt::format("contact between this {} of '{}' and a {} of '{}' is not available "
                              "in this version",
                              stiction::name_of(a.shape), description_.bodies[a.body].name,
                              stiction::name_of(b.shape), description_.bodies[b.body].name),
                  "available: sphere-plane, ellipsoid-plane, sphere-sphere; write \"contact\": "
                  "false to leave a shape out of contact");
  }

  std::span<const SceneShape> shapes_;
  const SpatialReader& reader_;
  RigidBodyDescription& description_;
  std::vector<SceneValue>& places_;
  std::vector<int> num_shapes_;
  std::vector<bool> is_reported_;
  std::unordered_set<std::string> names_;
};

}  // namespace

void add_contact_pairs(std::span<const SceneShape> shapes, const BodyPairs& joined_bodies,
                       const SpatialReader& reader, RigidBodyDescription& description,
                       std::vector<SceneValue>& places) {
  PairFinder pairs(shapes, reader, description, places);
  const auto is_dynamic = [&](const SceneShape& shape) {
    return description.bodies[shape.body].motion == Motion::kDynamic;
  };
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (!shapes[i].takes_part_in_contact) continue;
    for (std::size_t j = i + 1; j < shapes.size(); ++j) {
      if (!shapes[j].takes_part_in_contact || shapes[i].body == shapes[j].body) continue;
      if (!is_dynamic(shapes[i]) && !is_dynamic(shapes[j])) continue;
      if (!joined_bodies.contains(std::minmax({shapes[i].body, shapes[j].body}))) pairs.add(i, j);
    }
  }
}

}  // namespace stiction
