#include "stiction/geometry/convex_hull.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "stiction/base/check.h"
#include "stiction/geometry/exact_orientation.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using Points = std::span<const Vector3d>;

/// The points, scaled by a power of two to coordinates of magnitude at most 1, which changes no bit
/// but keeps exact arithmetic far from overflow. What is then below 2⁻²⁵⁰ becomes 0: the only
/// change ever made to a point, 10⁻⁷⁵ of the extent.
std::vector<Vector3d> make_normalized(Points points) {
  double largest = 0;
  for (const Vector3d& point : points) largest = std::max(largest, point.cwiseAbs().maxCoeff());
  const int exponent = largest > 0 ? std::ilogb(largest) + 1 : 0;
  std::vector<Vector3d> normalized(points.begin(), points.end());
  for (Vector3d& point : normalized) {
    for (double& coordinate : point) {
      coordinate = std::scalbn(coordinate, -exponent);
      if (std::abs(coordinate) < 0x1p-250) coordinate = 0;
    }
  }
  return normalized;
}

template <class Measure>
int find_largest(Points points, const Measure& measure) {
  int best = 0;
  double largest = -1;
  for (int i = 0; i < static_cast<int>(points.size()); ++i) {
    const double value = measure(points[i]);
    if (value > largest) {
      largest = value;
      best = i;
    }
  }
  return best;
}

/// The two points furthest apart among the lowest and highest of each axis: at least 1/√3 of the
/// diameter.
std::array<int, 2> find_wide_pair(Points points) {
  std::array<int, 2> pair{};
  double widest = -1;
  for (int axis = 0; axis < 3; ++axis) {
    const auto [low, high] = std::minmax_element(
        points.begin(), points.end(),
        [axis](const Vector3d& a, const Vector3d& b) { return a[axis] < b[axis]; });
    const double width = (*high - *low).norm();
    if (width > widest) {
      widest = width;
      pair = {static_cast<int>(low - points.begin()), static_cast<int>(high - points.begin())};
    }
  }
  return pair;
}

std::optional<std::array<int, 4>> find_tetrahedron_of_normalized(Points points) {
  if (points.size() < 4) return std::nullopt;
  const auto [a, b] = find_wide_pair(points);
  const Vector3d& origin = points[a];
  const double extent = (points[b] - origin).norm();
  if (!(extent > 0)) return std::nullopt;
  const Vector3d along = (points[b] - origin) / extent;
  const auto distance_from_line = [&](const Vector3d& x) { return along.cross(x - origin).norm(); };
  const int c = find_largest(points, distance_from_line);
  if (!(distance_from_line(points[c]) > kFlatness * extent)) return std::nullopt;
  const Vector3d across = along.cross(points[c] - origin).normalized();
  const auto distance_from_plane = [&](const Vector3d& x) {
    return std::abs(across.dot(x - origin));
  };
  const int d = find_largest(points, distance_from_plane);
  if (!(distance_from_plane(points[d]) > kFlatness * extent)) return std::nullopt;
  const int side = compute_orientation(points[a], points[b], points[c], points[d]);
  if (side == 0) return std::nullopt;
  return side < 0 ? std::array{a, b, c, d} : std::array{b, a, c, d};
}

struct Face {
  Triangle vertices{};
  std::array<int, 3> neighbors{};  // face beyond the edge from vertices[k] to vertices[k + 1]
  Vector3d normal = Vector3d::Zero();
  std::vector<int> outside{};  // points that see this face; each point waits at one face only
  bool is_alive = true;
};

/// An edge between a face that is seen and one that is not.
struct HorizonEdge {
  int from = 0;
  int to = 0;
  int hidden_face = 0;
  int hidden_edge = 0;  // index of the edge within the hidden face
};

class HullBuilder {
 public:
  explicit HullBuilder(Points points) : points_(points), fan_face_of_vertex_(points.size(), -1) {}

  /// `corners` as find_tetrahedron_of_normalized returns them: the first three clockwise as the
  /// fourth sees them, hence counterclockwise from outside.
  std::vector<Triangle> build(const std::array<int, 4>& corners) {
    start(corners);
    // Faces are appended while points are added, so this visits the new ones too.
    for (int face = 0; face < num_faces(); ++face) {
      if (faces_[face].is_alive && !faces_[face].outside.empty()) add_point(face);
    }
    std::vector<Triangle> triangles;
    for (const Face& face : faces_) {
      if (face.is_alive) triangles.push_back(face.vertices);
    }
    return triangles;
  }

 private:
  int num_faces() const { return static_cast<int>(faces_.size()); }

  bool is_seen(const Face& face, int point) const {
    const auto& [a, b, c] = face.vertices;
    return compute_orientation(points_[a], points_[b], points_[c], points_[point]) > 0;
  }

  int make_face(int a, int b, int c) {
    Face face{.vertices = {a, b, c}};
    face.normal = (points_[b] - points_[a]).cross(points_[c] - points_[a]);
    faces_.push_back(std::move(face));
    return num_faces() - 1;
  }

  void start(const std::array<int, 4>& corners) {
    const auto& [a, b, c, d] = corners;
    make_face(a, b, c);
    make_face(b, a, d);
    make_face(c, b, d);
    make_face(a, c, d);
    faces_[0].neighbors = {1, 2, 3};
    faces_[1].neighbors = {0, 3, 2};
    faces_[2].neighbors = {0, 1, 3};
    faces_[3].neighbors = {0, 2, 1};
    for (int point = 0; point < static_cast<int>(points_.size()); ++point) {
      assign(point, 0, num_faces());
    }
  }

  /// Lets a point wait at the first face of [begin, end) that it sees; one that sees none of them
  /// is inside. When a point has been added, looking at the new faces is enough: see the proof for
  /// `add_point`.
  void assign(int point, int begin, int end) {
    for (int face = begin; face < end; ++face) {
      if (!is_seen(faces_[face], point)) continue;
      faces_[face].outside.push_back(point);
      return;
    }
  }

  int furthest_point(const Face& face) const {
    const Vector3d& origin = points_[face.vertices[0]];
    return *std::max_element(face.outside.begin(), face.outside.end(), [&](int a, int b) {
      return face.normal.dot(points_[a] - origin) < face.normal.dot(points_[b] - origin);
    });
  }

  /// Replaces the faces that a point sees by a fan from their rim to the point.
  ///
  /// Strictly seen faces form a disc whose rim is one simple loop (in the polar body they are the
  /// vertices beyond a plane), also when the point lies in the plane of others. No rim edge is
  /// collinear with the point, since then both its faces would contain the point in their planes.
  /// A waiting point q outside the new hull sees a new face: q saw a removed face; if it sees an
  /// old one that stays, then some rim edge has both its faces seen by q, and the new face at that
  /// edge turns between them. All of this needs the decisions to be exact.
  void add_point(int first_seen) {
    const int point = furthest_point(faces_[first_seen]);
    collect_seen(first_seen, point);
    const int begin = num_faces();
    for (const HorizonEdge& edge : horizon_) {
      const int face = make_face(edge.from, edge.to, point);
      faces_[face].neighbors[0] = edge.hidden_face;
      faces_[edge.hidden_face].neighbors[edge.hidden_edge] = face;
      ST_DEMAND(fan_face_of_vertex_[edge.from] < begin);
      fan_face_of_vertex_[edge.from] = face;
    }
    for (int face = begin; face < num_faces(); ++face) {
      const int next = fan_face_of_vertex_[faces_[face].vertices[1]];
      ST_DEMAND(next >= begin);
      faces_[face].neighbors[1] = next;
      faces_[next].neighbors[2] = face;
    }
    for (const int face : seen_) {
      const std::vector<int> waiting = std::move(faces_[face].outside);
      faces_[face].outside = {};
      for (const int other : waiting) {
        if (other != point) assign(other, begin, num_faces());
      }
    }
  }

  /// Fills `seen_` and `horizon_`, and takes the seen faces out of the hull.
  void collect_seen(int first, int point) {
    seen_.clear();
    horizon_.clear();
    remove(first);
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      for (int edge = 0; edge < 3; ++edge) visit_neighbor(seen_[i], edge, point);
    }
  }

  void remove(int face) {
    faces_[face].is_alive = false;
    seen_.push_back(face);
  }

  void visit_neighbor(int face, int edge, int point) {
    const int neighbor = faces_[face].neighbors[edge];
    const Face& other = faces_[neighbor];
    if (!other.is_alive) return;
    if (is_seen(other, point)) return remove(neighbor);
    const Triangle& vertices = faces_[face].vertices;
    const int to = vertices[(edge + 1) % 3];
    const auto place = std::find(other.vertices.begin(), other.vertices.end(), to);
    horizon_.push_back({.from = vertices[edge],
                        .to = to,
                        .hidden_face = neighbor,
                        .hidden_edge = static_cast<int>(place - other.vertices.begin())});
  }

  Points points_;
  std::vector<Face> faces_;
  std::vector<int> fan_face_of_vertex_;  // last face made at a rim edge that begins at a vertex
  std::vector<int> seen_;
  std::vector<HorizonEdge> horizon_;
};

}  // namespace

std::optional<std::array<int, 4>> find_spanning_tetrahedron(Points points) {
  return find_tetrahedron_of_normalized(make_normalized(points));
}

std::optional<std::vector<Triangle>> compute_convex_hull(Points points) {
  const std::vector<Vector3d> normalized = make_normalized(points);
  const auto corners = find_tetrahedron_of_normalized(normalized);
  if (!corners) return std::nullopt;
  return HullBuilder(normalized).build(*corners);
}

}  // namespace stiction
