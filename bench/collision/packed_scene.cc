#include "bench/collision/packed_scene.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "stiction/base/random.h"
#include "stiction/geometry/collision_scene.h"
#include "stiction/geometry/mass_properties.h"

namespace stiction::bench {
namespace {

using Eigen::Vector3d;
constexpr double kVolumeFraction = 0.5;
constexpr int kHullVertices = 20;

Vector3d random_in_cube(Random& random, double side) {
  const double x = random.uniform(0, side), y = random.uniform(0, side);
  return {x, y, random.uniform(0, side)};
}

Vector3d random_direction(Random& random) {
  const double x = random.normal(), y = random.normal();
  return Vector3d(x, y, random.normal()).normalized();
}

Eigen::Matrix3d random_rotation(Random& random) {
  const double w = random.normal(), x = random.normal(), y = random.normal();
  return Eigen::Quaterniond(w, x, y, random.normal()).normalized().toRotationMatrix();
}

PackedBody make_body(Shape shape) {
  const double volume = compute_mass_properties(shape, 1).value().mass;
  return {{{std::make_shared<const CollisionShape>(std::move(shape)), {}}}, volume};
}

PackedBody make_sphere(Random& random) { return make_body(Sphere{random.uniform(0.4, 0.6)}); }

PackedBody make_box(Random& random) {
  const double x = random.uniform(0.6, 1.2), y = random.uniform(0.6, 1.2);
  return make_body(Box{{x, y, random.uniform(0.6, 1.2)}});
}

PackedBody make_capsule(Random& random) {
  const double radius = random.uniform(0.25, 0.4);
  return make_body(Capsule{radius, random.uniform(0.5, 1)});
}

/// Points on an ellipsoid: all are vertices.
PackedBody make_hull(Random& random) {
  const Vector3d radii(random.uniform(0.4, 0.6), random.uniform(0.4, 0.6),
                       random.uniform(0.4, 0.6));
  Convex hull;
  for (int i = 0; i < kHullVertices; ++i)
    hull.points.push_back(radii.cwiseProduct(random_direction(random)));
  return make_body(std::move(hull));
}

/// Six balls at the ends of three axes, like a jack.
PackedBody make_compound(Random& random) {
  PackedBody body;
  const double radius = random.uniform(0.2, 0.3);
  const auto ball = std::make_shared<const CollisionShape>(Sphere{radius});
  for (int k = 0; k < 3; ++k)
    for (const double sign : {-1.0, 1.0})
      body.parts.push_back({ball, {sign * 1.2 * radius * Vector3d::Unit(k)}});
  body.volume = 6 * 4 * std::numbers::pi / 3 * std::pow(radius, 3);
  return body;
}

}  // namespace

PackedScene::PackedScene(const SceneCounts& counts, int num_rounds, std::uint64_t seed)
    : name_(counts.name) {
  Random random(seed);
  for (int i = 0; i < counts.num_spheres; ++i) bodies_.push_back(make_sphere(random));
  for (int i = 0; i < counts.num_boxes; ++i) bodies_.push_back(make_box(random));
  for (int i = 0; i < counts.num_capsules; ++i) bodies_.push_back(make_capsule(random));
  for (int i = 0; i < counts.num_hulls; ++i) bodies_.push_back(make_hull(random));
  for (int i = 0; i < counts.num_compounds; ++i) bodies_.push_back(make_compound(random));
  double volume = 0;
  for (const PackedBody& body : bodies_) volume += body.volume;
  const double side = std::cbrt(volume / kVolumeFraction);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Vector3d position = random_in_cube(random, side);
    places_.push_back({position, random_rotation(random)});
    Swing swing;
    swing.shift = 0.02 * random_direction(random);
    swing.axis = random_direction(random);
    swing.angle = 0.02;
    swing.frequency = random.uniform(0.08, 0.16);
    swing.phase = random.uniform(0, 6.28);
    swings_.push_back(swing);
  }
  for (int round = 0; round < num_rounds; ++round) push_apart(side);
}

/// Each pair that overlaps parts along its normal, half of the way by each body.
void PackedScene::push_apart(double side) {
  CollisionScene scene;
  std::vector<Pose> poses;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    for (const Part& part : bodies_[i].parts) {
      scene.add({.shape = part.shape, .body = static_cast<int>(i)});
      poses.push_back(places_[i] * part.pose);
    }
  }
  Detection detection;
  scene.detect(poses, {}, detection);
  for (const CollisionPair& pair : detection.pairs) {
    const auto first = detection.contacts.candidates.begin() + pair.first_candidate;
    const auto deepest = std::min_element(
        first, first + pair.num_candidates,
        [](const ContactCandidate& a, const ContactCandidate& b) { return a.gap < b.gap; });
    const Vector3d push = -0.5 * deepest->gap * deepest->normal;
    places_[static_cast<std::size_t>(scene.object(pair.a).body)].position += push;
    places_[static_cast<std::size_t>(scene.object(pair.b).body)].position -= push;
  }
  for (Pose& place : places_) place.position = place.position.cwiseMax(0).cwiseMin(side);
}

void PackedScene::update_poses(int frame, std::vector<Pose>& poses) const {
  poses.resize(places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Swing& swing = swings_[i];
    const double s = std::sin(swing.frequency * frame + swing.phase);
    const Eigen::AngleAxisd turn(s * swing.angle, swing.axis);
    poses[i].position = places_[i].position + s * swing.shift;
    poses[i].rotation = turn.toRotationMatrix() * places_[i].rotation;
  }
}

}  // namespace stiction::bench
