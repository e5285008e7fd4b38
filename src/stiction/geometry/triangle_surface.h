// A static surface of triangles, ready for collision detection: a tree of boxes (or, for height
// fields, a pyramid of cell ranges), who neighbours whom, and which triangles form one flat face.
//
// Neighbouring triangles whose vertices lie in one plane (kFlatness of the surface's size) are one
// region with one normal, so that a face of fifty triangles acts as one. Edges inside a region are
// no features. Edges that continue each other in one line between the same regions share one id.
// Vertices at exactly the same place count as one. Triangles without an area join the region of a
// neighbour.
#pragma once

#include <Eigen/Core>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "stiction/geometry/bounds.h"
#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/shape.h"
#include "stiction/geometry/triangle_tree.h"

namespace stiction {

class TriangleSurface {
 public:
  /// Of the largest coordinate: vertices this close to a plane lie in it.
  static constexpr double kFlatness = 1e-12;
  static constexpr int kNone = -1;      // no neighbour: rim of a sheet
  static constexpr int kJunction = -2;  // more than two triangles meet
  enum class VertexKind : std::uint8_t { kFlat, kStraight, kCorner };

  /// The shapes must be without fault.
  explicit TriangleSurface(const Mesh& mesh);
  explicit TriangleSurface(const HeightField& field);

  int num_triangles() const { return num_triangles_; }
  int num_vertices() const { return num_vertices_; }
  int num_regions() const { return static_cast<int>(region_normals_.size()); }
  bool is_height_field() const { return rows_ > 0; }
  const Bounds& bounds() const { return bounds_; }
  /// [m] largest coordinate or side: the unit of tolerances.
  double scale() const { return scale_; }
  /// Vertices at one place have one index, the lowest of them.
  Triangle triangle(int t) const { return is_height_field() ? cell_triangle(t) : triangles_[t]; }
  Eigen::Vector3d vertex(int v) const { return is_height_field() ? sample(v) : vertices_[v]; }
  std::array<Eigen::Vector3d, 3> corners(int t) const {
    const Triangle triangle_t = triangle(t);
    return {vertex(triangle_t[0]), vertex(triangle_t[1]), vertex(triangle_t[2])};
  }
  int region(int t) const { return regions_[t]; }
  const Eigen::Vector3d& region_normal(int region) const { return region_normals_[region]; }
  /// normal·x of the region's plane.
  double region_offset(int region) const { return region_offsets_[region]; }
  const Eigen::Vector3d& normal(int t) const { return region_normals_[regions_[t]]; }
  double offset(int t) const { return region_offsets_[regions_[t]]; }
  /// Whether t winds around the normal of its region like the triangle that gave the normal.
  bool winds_with_region(int t) const { return (flags_[t] & kReversed) == 0; }
  /// Part of a closed component, or of a height field.
  bool is_solid(int t) const { return (flags_[t] & kSolid) != 0; }
  bool has_area(int t) const { return (flags_[t] & kDegenerate) == 0; }

  /// Edge k of triangle t joins its corners k and k + 1; the half-edge has the number 3 t + k. The
  /// half-edge of the neighbour across, or kNone, or kJunction.
  int twin(int half_edge) const {
    return is_height_field() ? cell_twin(half_edge) : twins_[half_edge];
  }
  /// The same for all half-edges of one straight true edge; kNone for edges inside a region.
  int edge_id(int half_edge) const { return edge_ids_[half_edge]; }
  VertexKind vertex_kind(int v) const { return static_cast<VertexKind>(vertex_kinds_[v]); }

  /// Of a triangle by its winding.
  Eigen::Vector3d winding_normal(int t) const {
    return winds_with_region(t) ? normal(t) : Eigen::Vector3d(-normal(t));
  }
  /// The mean of the normals at a vertex, weighted by angles; not of unit length.
  Eigen::Vector3d vertex_normal(int v) const;
  /// At a point of triangle t that is nearest to some p: p is outside if outward·(p − point) > 0.
  /// On edges of two triangles, and on vertices of solids, no single triangle tells, at spikes not
  /// even the one that faces p most, but their mean weighted by angles does (Bærentzen, Aanæs
  /// 2005). Sheets may wind either way from triangle to triangle; what is said is by the winding of
  /// t.
  Eigen::Vector3d outward_at(int t, const Eigen::Vector3d& point, double tolerance) const;

  /// Calls visit(t) for every triangle at a vertex.
  template <typename Visit>
  void for_each_at_vertex(int v, Visit&& visit) const {
    if (is_height_field()) {
      std::array<int, 6> ring;
      const int count = cells_at(v, ring);
      for (int i = 0; i < count; ++i) visit(ring[i]);
    } else {
      for (int i = fan_start_[v]; i < fan_start_[v + 1]; ++i) visit(fans_[i]);
    }
  }

  /// Appends all triangles whose boxes touch `box`, ascending; the box is in the surface's frame.
  void find_in_box(const Bounds& box, std::vector<int>& out) const;

  /// The triangle nearest to a point, with its distance. Of those equally near (up to rounding) the
  /// one that faces the point most, whose side is that of the surface. None beyond `limit`.
  struct Nearest {
    int triangle = kNone;
    double distance = std::numeric_limits<double>::infinity();
    Eigen::Vector3d point = Eigen::Vector3d::Zero();
  };
  Nearest find_nearest(const Eigen::Vector3d& point,
                       double limit = std::numeric_limits<double>::infinity()) const;

  /// False if it is certain, and quickly found, that a point is not inside a solid: outside of the
  /// box of a mesh; not below a height field.
  bool may_contain(const Eigen::Vector3d& point) const;

  /// [bytes] held on the heap.
  std::size_t memory() const;

 private:
  static constexpr std::uint8_t kReversed = 1, kSolid = 2, kDegenerate = 4;

  Triangle cell_triangle(int t) const;
  Eigen::Vector3d sample(int v) const;
  int cell_twin(int half_edge) const;
  int cells_at(int v, std::array<int, 6>& ring) const;

  void weld(const Mesh& mesh);
  void make_fans();
  void make_twins();
  void mark_solids();
  void finish();  // what meshes and height fields share
  void make_regions();
  void grow_region(int seed, const Eigen::Vector3d& normal, std::vector<int>& stack);
  void adopt_degenerate();
  void make_edge_ids();

  int num_triangles_ = 0, num_vertices_ = 0;
  Bounds bounds_;
  double scale_ = 0;  // [m]
  // height field:
  int rows_ = 0, cols_ = 0;
  Eigen::Vector2d field_size_ = Eigen::Vector2d::Zero();
  std::vector<double> heights_;  // row after row
  CellPyramid pyramid_;
  // mesh:
  std::vector<Eigen::Vector3d> vertices_;
  std::vector<Triangle> triangles_;
  std::vector<int> twins_;             // 3 num_triangles
  std::vector<int> fan_start_, fans_;  // triangles at each vertex
  TriangleTree tree_;
  // both:
  std::vector<int> regions_, edge_ids_;  // num_triangles, 3 num_triangles
  std::vector<std::uint8_t> flags_;      // num_triangles
  std::vector<std::uint8_t> vertex_kinds_;
  std::vector<Eigen::Vector3d> region_normals_;
  std::vector<double> region_offsets_;
};

/// The point of a triangle nearest to p, and where it lies: barycentric weights, exactly 0 for
/// corners that do not take part.
struct TrianglePoint {
  Eigen::Vector3d point = Eigen::Vector3d::Zero();
  Eigen::Vector3d weights = Eigen::Vector3d::Zero();
};
TrianglePoint find_nearest_on_triangle(const Eigen::Vector3d& p,
                                       const std::array<Eigen::Vector3d, 3>& corners);

}  // namespace stiction
