#include "stiction/geometry/expanding_polytope.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

}  // namespace

void ExpandingPolytope::clear(const ConvexPair& pair) {
  num_points_ = num_faces_ = num_free_ = 0;
  best_.height = std::numeric_limits<double>::infinity();
  tolerance_ = 4 * kEpsilon * (pair.size() + pair.center_difference().norm());
}

bool ExpandingPolytope::start(ConvexPair& pair) {
  clear(pair);
  return find_tetrahedron(pair) && make_tetrahedron();
}

bool ExpandingPolytope::start(ConvexPair& pair, const Simplex& simplex) {
  clear(pair);
  if (simplex.count != 4) return false;
  for (int i = 0; i < 4; ++i) points_[i] = simplex.points[i].w;
  return make_tetrahedron();
}

/// From the first four points, which are outward bound afterwards. False if they are flat.
bool ExpandingPolytope::make_tetrahedron() {
  const Vector3d normal = (points_[1] - points_[0]).cross(points_[2] - points_[0]);
  const double height = normal.dot(points_[3] - points_[0]);
  if (!(std::abs(height) > tolerance_ * normal.norm())) return false;
  if (height > 0) std::swap(points_[0], points_[1]);
  num_points_ = 4;
  constexpr int kFaces[4][3] = {{0, 1, 2}, {1, 0, 3}, {2, 1, 3}, {0, 2, 3}};
  constexpr int kNeighbors[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  num_faces_ = 4;
  for (int face = 0; face < 4; ++face) {
    set_face(face, kFaces[face][0], kFaces[face][1], kFaces[face][2]);
    for (int k = 0; k < 3; ++k) faces_[face].neighbors[k] = kNeighbors[face][k];
  }
  return true;
}

/// Greedy: each point is the one furthest from what the points before span, within the directions
/// tried.
bool ExpandingPolytope::find_tetrahedron(ConvexPair& pair) {
  const auto take = [&](const Vector3d& direction) {
    const Vector3d w = pair.support(-direction).w;
    offer({direction, direction.dot(w)});
    return w;
  };
  Vector3d guess = pair.center_difference();
  const double length = guess.norm();
  guess = length > tolerance_ ? Vector3d(guess / length) : Vector3d(Vector3d::UnitX());
  // The first point lies where the origin is expected to leave C.
  points_[0] = take(-guess);
  points_[1] = take(guess);
  Vector3d along = points_[1] - points_[0];
  if (!(along.norm() > tolerance_)) return false;
  along.normalize();
  const auto find_furthest = [&](const Vector3d& direction, auto&& height) {
    const Vector3d first = take(direction), second = take(-direction);
    return height(first) >= height(second) ? first : second;
  };
  const auto off_line = [&](const Vector3d& w) { return along.cross(w - points_[0]).norm(); };
  const Vector3d side = along.unitOrthogonal();
  points_[2] = find_furthest(side, off_line);
  const Vector3d other = find_furthest(along.cross(side), off_line);
  if (off_line(other) > off_line(points_[2])) points_[2] = other;
  if (!(off_line(points_[2]) > tolerance_)) return false;
  const Vector3d normal = along.cross(points_[2] - points_[0]).normalized();
  const auto off_plane = [&](const Vector3d& w) { return std::abs(normal.dot(w - points_[0])); };
  points_[3] = find_furthest(normal, off_plane);
  return true;
}

void ExpandingPolytope::set_face(int face, int a, int b, int c) {
  Face& target = faces_[face];
  target.vertices = {a, b, c};
  target.is_seen = false;
  const Vector3d normal = (points_[b] - points_[a]).cross(points_[c] - points_[a]);
  const double length = normal.norm();
  if (!(length > 0)) {
    target.normal.setZero();
    offsets_[face] = kAside;
    return;
  }
  target.normal = normal / length;
  offsets_[face] = std::max({target.normal.dot(points_[a]), target.normal.dot(points_[b]),
                             target.normal.dot(points_[c])});
}

int ExpandingPolytope::find_lowest_face() const {
  int lowest = -1;
  double height = kAside;
  for (int face = 0; face < num_faces_; ++face) {
    if (offsets_[face] < height) {
      height = offsets_[face];
      lowest = face;
    }
  }
  return lowest;
}

double ExpandingPolytope::probe(ConvexPair& pair, int face) {
  const Vector3d& normal = faces_[face].normal;
  probed_ = pair.support(-normal).w;
  const double height = normal.dot(probed_);
  offer({normal, height});
  return height - offsets_[face];
}

/// Fills `seen_` with the faces that the probed point sees, starting at one it does see, and `rim_`
/// with the edges around them. False if these do not form one simple loop.
bool ExpandingPolytope::collect_rim(int face) {
  num_seen_ = num_rim_ = 0;
  seen_[num_seen_++] = face;
  faces_[face].is_seen = true;
  for (int i = 0; i < num_seen_; ++i) {
    for (const int neighbor : faces_[seen_[i]].neighbors) {
      Face& outer = faces_[neighbor];
      if (outer.is_seen) continue;
      if (!(outer.normal.dot(probed_ - points_[outer.vertices[0]]) > tolerance_)) continue;
      outer.is_seen = true;
      seen_[num_seen_++] = neighbor;
    }
  }
  for (int i = 0; i < num_seen_; ++i) {
    const Face& inner = faces_[seen_[i]];
    for (int k = 0; k < 3 && num_rim_ < kMaxPoints; ++k) {
      const Face& outer = faces_[inner.neighbors[k]];
      if (outer.is_seen) continue;
      const int to = inner.vertices[(k + 1) % 3];
      const int edge = outer.vertices[0] == to ? 0 : outer.vertices[1] == to ? 1 : 2;
      rim_[num_rim_++] = {inner.vertices[k], to, inner.neighbors[k], edge};
    }
  }
  for (int i = 0; i < num_seen_; ++i) faces_[seen_[i]].is_seen = false;
  return is_rim_one_loop();
}

bool ExpandingPolytope::is_rim_one_loop() {
  if (num_rim_ < 3 || num_rim_ == kMaxPoints) return false;
  for (int i = 0; i < num_rim_; ++i) fan_[rim_[i].from] = fan_[rim_[i].to] = -1;
  for (int i = 0; i < num_rim_; ++i) {
    if (fan_[rim_[i].from] >= 0) return false;
    fan_[rim_[i].from] = i;
  }
  int length = 0, at = 0;
  do {
    at = fan_[rim_[at].to];
    ++length;
  } while (at > 0 && length < num_rim_);
  return at == 0 && length == num_rim_;
}

int ExpandingPolytope::take_free_face() {
  if (num_free_ > 0) return free_[--num_free_];
  return num_faces_ < kMaxFaces ? num_faces_++ : -1;
}

bool ExpandingPolytope::expand(int face) {
  // A point seen by rounding only may be one that is there already.
  const auto end = points_.begin() + num_points_;
  if (num_points_ == kMaxPoints || std::find(points_.begin(), end, probed_) != end) return false;
  if (!collect_rim(face)) return false;
  if (num_faces_ - num_free_ + num_rim_ > kMaxFaces) return false;
  points_[num_points_] = probed_;
  for (int i = 0; i < num_rim_; ++i) {
    created_[i] = take_free_face();
    set_face(created_[i], rim_[i].from, rim_[i].to, num_points_);
  }
  for (int i = 0; i < num_rim_; ++i) {
    const int next = created_[fan_[rim_[i].to]];
    faces_[created_[i]].neighbors[0] = rim_[i].face;
    faces_[rim_[i].face].neighbors[rim_[i].edge] = created_[i];
    faces_[created_[i]].neighbors[1] = next;
    faces_[next].neighbors[2] = created_[i];
  }
  for (int i = 0; i < num_seen_; ++i) {
    offsets_[seen_[i]] = kAside;
    free_[num_free_++] = seen_[i];
  }
  ++num_points_;
  return true;
}

}  // namespace stiction
