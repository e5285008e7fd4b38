// Polyhedra that several tests of this room use.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

#include <vector>

#include "stiction/base/random.h"
#include "stiction/geometry/shape.h"

namespace stiction {

/// Corner i has the sign + on axis k where bit k of i is set.
inline std::vector<Eigen::Vector3d> box_corners(const Eigen::Vector3d& size) {
  std::vector<Eigen::Vector3d> corners;
  for (int i = 0; i < 8; ++i) {
    const Eigen::Vector3d sign(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    corners.push_back(sign.cwiseProduct(size) / 2);
  }
  return corners;
}

inline Mesh box_mesh(const Eigen::Vector3d& size) {
  return {.vertices = box_corners(size),
          .triangles = {{0, 2, 3},
                        {0, 3, 1},
                        {4, 5, 7},
                        {4, 7, 6},
                        {0, 1, 5},
                        {0, 5, 4},
                        {2, 6, 7},
                        {2, 7, 3},
                        {0, 4, 6},
                        {0, 6, 2},
                        {1, 3, 7},
                        {1, 7, 5}}};
}

inline Eigen::Matrix3d random_rotation(Random& random) {
  const Eigen::Vector4d q(random.normal(), random.normal(), random.normal(), random.normal());
  return Eigen::Quaterniond(q.normalized()).toRotationMatrix();
}

inline Eigen::Vector3d random_vector(Random& random) {
  const double x = random.normal(), y = random.normal(), z = random.normal();
  return {x, y, z};
}

inline Eigen::Vector3d random_vector(Random& random, double low, double high) {
  const double x = random.uniform(low, high), y = random.uniform(low, high);
  return {x, y, random.uniform(low, high)};
}

}  // namespace stiction
