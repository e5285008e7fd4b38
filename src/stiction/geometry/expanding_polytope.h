// The face of C = A − B nearest to the origin, for the depth of penetration (van den Bergen 2001).
//
// A polytope inside C is grown towards its boundary, always at the face whose plane is lowest above
// the origin, until no support point lies beyond that face. Offsets of planes are signed: the
// origin may lie on the boundary of C or outside, where the result is the plane that separates it
// best. Every plane evaluated gives an upper bound of the depth, every face a lower one.
#pragma once

#include "stiction/geometry/convex_pair.h"

namespace stiction {

class ExpandingPolytope {
 public:
  /// Starts from four points of C that span a volume. False where there are none (to rounding).
  bool start(ConvexPair& pair);
  /// The same from four points that are known.
  bool start(ConvexPair& pair, const Simplex& simplex);

  /// A plane normal·x = height that bounds C: −height is the separation along −normal.
  struct Plane {
    Eigen::Vector3d normal;
    double height = 0;
  };
  /// The lowest so far.
  const Plane& best() const { return best_; }
  /// Takes a plane found by other means.
  void offer(const Plane& plane) {
    if (plane.height < best_.height) best_ = plane;
  }

  /// Index of the lowest face that has not been set aside; −1 if there is none.
  int find_lowest_face() const;
  double offset_of(int face) const { return offsets_[face]; }
  const Eigen::Vector3d& normal_of(int face) const { return faces_[face].normal; }

  /// [m] how far C reaches beyond a face, by its support point, which is kept for `expand`.
  double probe(ConvexPair& pair, int face);
  /// Adds the point found by the last probe, of the same face. False if rounding or lack of space
  /// forbids it; the polytope is then unchanged and may still be asked.
  bool expand(int face);
  /// The face is not returned as the lowest any more.
  void set_aside(int face) { offsets_[face] = kAside; }

 private:
  static constexpr double kAside = std::numeric_limits<double>::max();
  static constexpr int kMaxPoints = 256;
  static constexpr int kMaxFaces = 2 * kMaxPoints + 64;  // some are replaced while old ones live

  struct Face {
    std::array<int, 3> vertices;
    std::array<int, 3> neighbors;  // beyond the edge from vertices[k] to vertices[k + 1]
    Eigen::Vector3d normal;
    bool is_seen;
  };
  struct RimEdge {
    int from, to, face, edge;  // face and edge on the far side
  };

  void clear(const ConvexPair& pair);
  bool find_tetrahedron(ConvexPair& pair);
  bool make_tetrahedron();
  /// Leaves the neighbours open. A face without area is set aside: it has no normal.
  void set_face(int face, int a, int b, int c);
  bool collect_rim(int face);
  bool is_rim_one_loop();
  int take_free_face();

  std::array<Eigen::Vector3d, kMaxPoints> points_;
  std::array<Face, kMaxFaces> faces_;
  std::array<double, kMaxFaces> offsets_;
  std::array<int, kMaxFaces> free_, seen_;
  std::array<int, kMaxPoints> created_;  // face for each edge of the rim
  std::array<RimEdge, kMaxPoints> rim_;
  std::array<int, kMaxPoints> fan_;  // edge of the rim that begins at a vertex
  int num_points_ = 0, num_faces_ = 0, num_free_ = 0, num_seen_ = 0, num_rim_ = 0;
  Eigen::Vector3d probed_;
  Plane best_;
  double tolerance_ = 0;
};

}  // namespace stiction
