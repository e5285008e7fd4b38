#include "stiction/geometry/polygon_triangulation.h"

#include <Eigen/Geometry>

#include <algorithm>

namespace stiction {
namespace {

using Eigen::Vector3d;

/// Twice the vector area, from differences so that a place far away costs no digits.
Vector3d mean_normal(const std::vector<Vector3d>& vertices, std::span<const int> loop) {
  const Vector3d& origin = vertices[loop[0]];
  Vector3d sum = Vector3d::Zero();
  for (std::size_t i = 1; i + 1 < loop.size(); ++i) {
    sum += (vertices[loop[i]] - origin).cross(vertices[loop[i + 1]] - origin);
  }
  return sum;
}

double turn(const Vector3d& normal, const Vector3d& a, const Vector3d& b, const Vector3d& c) {
  return normal.dot((b - a).cross(c - a));
}

/// Every corner turns left, and all around only once: seen from the first corner the others follow
/// each other in one direction.
bool is_convex(const std::vector<Vector3d>& vertices, std::span<const int> loop,
               const Vector3d& normal) {
  const std::size_t n = loop.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Vector3d &a = vertices[loop[i]], &b = vertices[loop[(i + 1) % n]],
                   &c = vertices[loop[(i + 2) % n]];
    if (turn(normal, a, b, c) < 0) return false;
    if (i > 0 && i + 1 < n && turn(normal, vertices[loop[0]], a, b) < 0) return false;
  }
  return true;
}

class EarCutter {
 public:
  EarCutter(const std::vector<Vector3d>& vertices, std::span<const int> loop,
            const Vector3d& normal)
      : vertices_(vertices), loop_(loop.begin(), loop.end()), normal_(normal) {}

  void cut(std::vector<Triangle>& out) {
    std::size_t at = 0, num_tried = 0;
    while (loop_.size() > 3) {
      at %= loop_.size();
      const std::size_t n = loop_.size(), before = (at + n - 1) % n, after = (at + 1) % n;
      // A polygon that crosses itself may have no ear: then any corner goes.
      if (num_tried <= n && !is_ear(before, at, after)) {
        ++at;
        ++num_tried;
        continue;
      }
      out.push_back({loop_[before], loop_[at], loop_[after]});
      loop_.erase(loop_.begin() + static_cast<std::ptrdiff_t>(at));
      num_tried = 0;
    }
    out.push_back({loop_[0], loop_[1], loop_[2]});
  }

 private:
  const Vector3d& corner(std::size_t i) const { return vertices_[loop_[i]]; }

  bool is_ear(std::size_t before, std::size_t at, std::size_t after) const {
    const Vector3d &a = corner(before), &b = corner(at), &c = corner(after);
    if (!(turn(normal_, a, b, c) > 0)) return false;
    for (std::size_t i = 0; i < loop_.size(); ++i) {
      if (i == before || i == at || i == after) continue;
      const Vector3d& p = corner(i);
      if (p == a || p == b || p == c) continue;
      if (turn(normal_, a, b, p) >= 0 && turn(normal_, b, c, p) >= 0 &&
          turn(normal_, c, a, p) >= 0) {
        return false;
      }
    }
    return true;
  }

  const std::vector<Vector3d>& vertices_;
  std::vector<int> loop_;
  Vector3d normal_;
};

}  // namespace

bool triangulate_polygon(const std::vector<Vector3d>& vertices, std::span<const int> loop,
                         std::vector<Triangle>& out) {
  if (loop.size() == 3) {
    out.push_back({loop[0], loop[1], loop[2]});
    return true;
  }
  const Vector3d normal = mean_normal(vertices, loop);
  if (is_convex(vertices, loop, normal)) {
    for (std::size_t i = 1; i + 1 < loop.size(); ++i) {
      out.push_back({loop[0], loop[i], loop[i + 1]});
    }
    return true;
  }
  if (loop.size() > kMaxConcaveCorners) return false;
  EarCutter(vertices, loop, normal).cut(out);
  return true;
}

}  // namespace stiction
