// Pairs of convex shapes at random, the awkward ones more often than chance would have it.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <variant>

#include "stiction/base/random.h"
#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/distance.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {

struct PlacedPair {
  Shape a, b;
  Pose pose_a, pose_b;
};

/// Three lengths of order 1, or a slab, a needle, down to an aspect of 1/thinnest.
inline Eigen::Vector3d random_lengths(Random& random, double thinnest) {
  Eigen::Vector3d lengths;
  for (double& length : lengths) length = random.uniform(0.3, 1.5);
  const double thin = std::pow(thinnest, random.uniform());
  const int axis = random.integer(0, 2);
  if (random.chance(0.2)) {
    lengths[axis] *= thin;
  } else if (random.chance(0.2)) {
    lengths *= thin;
    lengths[axis] /= thin;
  }
  return lengths;
}

inline Shape random_shape(Random& random, ShapeKind kind, double size, double thinnest) {
  const Eigen::Vector3d lengths = size * random_lengths(random, thinnest);
  switch (kind) {
    case ShapeKind::kSphere:
      return Sphere{lengths.x()};
    case ShapeKind::kCapsule:
      return Capsule{.radius = lengths.x(), .length = random.chance(0.1) ? 0 : lengths.z()};
    case ShapeKind::kBox:
      return Box{lengths};
    case ShapeKind::kCylinder:
      return Cylinder{.radius = lengths.x(), .length = lengths.z()};
    case ShapeKind::kEllipsoid:
      if (random.chance(0.1)) return Ellipsoid{{lengths.x(), lengths.x(), lengths.z()}};
      return Ellipsoid{lengths};
    case ShapeKind::kConvex: {
      Convex convex;
      if (random.chance(0.2)) {
        convex.points = box_corners(lengths);
        return convex;
      }
      const int num_points = random.integer(4, 9);
      for (int i = 0; i < num_points; ++i) {
        convex.points.push_back(random_vector(random).normalized().cwiseProduct(lengths));
      }
      if (!find_fault(convex).empty()) convex.points = box_corners(lengths);
      return convex;
    }
    default:
      return Plane{.normal = random_vector(random).normalized(), .offset = lengths.x()};
  }
}

inline Pose random_pose(Random& random, double spread) {
  Pose pose{.position = spread * random_vector(random), .rotation = random_rotation(random)};
  if (random.chance(0.25)) {
    pose.rotation.setIdentity();
    const int turns = random.integer(0, 2);
    for (int i = 0; i < 3; ++i) {
      pose.rotation.col(i) = Eigen::Vector3d::Unit((i + turns) % 3);
    }
  }
  return pose;
}

/// Apart, touching up to a part of the size between 1 and 1e-16 on either side, deep, concentric,
/// or the same twice.
inline PlacedPair random_pair(Random& random, ShapeKind kind_a, ShapeKind kind_b,
                              double thinnest = 1e-2, double smallest = 1e-1) {
  const double scale = std::pow(10, random.uniform(-5, 3));
  const double ratio = std::pow(smallest, random.uniform());
  const bool a_is_small = random.chance(0.5);
  PlacedPair pair{.a = random_shape(random, kind_a, a_is_small ? ratio * scale : scale, thinnest),
                  .b = random_shape(random, kind_b, a_is_small ? scale : ratio * scale, thinnest),
                  .pose_a = random_pose(random, 2 * scale),
                  .pose_b = random_pose(random, 2 * scale)};
  const int placement = random.integer(0, 5);
  if (placement == 0) {  // anywhere, sometimes far away
    pair.pose_a.position *= random.chance(0.1) ? 1e6 : 1;
  } else if (placement == 1) {  // deep
    pair.pose_a.position = pair.pose_b.position + 0.2 * scale * random_vector(random);
  } else if (placement == 2) {
    pair.pose_a.position = pair.pose_b.position;
    if (random.chance(0.3)) pair.pose_a.rotation = pair.pose_b.rotation;
    if (kind_a == kind_b && random.chance(0.5)) pair.a = pair.b;
  } else {  // near touching
    const CollisionShape a(pair.a), b(pair.b);
    for (int i = 0; i < 2; ++i) {
      const SignedDistance d = compute_distance(a, pair.pose_a, b, pair.pose_b);
      if (!std::isfinite(d.gap)) break;
      double wanted = 0;
      if (random.chance(0.8)) {
        wanted = std::pow(10, random.uniform(-16, 0)) * std::max(a.size(), b.size());
        if (random.chance(0.5)) wanted = -wanted;
      }
      pair.pose_a.position += (wanted - d.gap) * d.normal;
    }
  }
  return pair;
}

inline Shape scaled(const Shape& shape, double factor) {
  struct Scaler {
    double f;
    Shape operator()(const Sphere& s) const { return Sphere{f * s.radius}; }
    Shape operator()(const Capsule& c) const { return Capsule{f * c.radius, f * c.length}; }
    Shape operator()(const Box& b) const { return Box{f * b.size}; }
    Shape operator()(const Cylinder& c) const { return Cylinder{f * c.radius, f * c.length}; }
    Shape operator()(const Ellipsoid& e) const { return Ellipsoid{f * e.radii}; }
    Shape operator()(const Convex& c) const {
      Convex result = c;
      for (Eigen::Vector3d& point : result.points) point *= f;
      return result;
    }
    Shape operator()(const Plane& p) const { return Plane{p.normal, f * p.offset}; }
    Shape operator()(const HeightField& h) const { return HeightField{f * h.size, f * h.heights}; }
    Shape operator()(const Mesh& m) const {
      Mesh result = m;
      for (Eigen::Vector3d& vertex : result.vertices) vertex *= f;
      return result;
    }
  };
  return std::visit(Scaler{factor}, shape);
}

}  // namespace stiction
