#include "stiction/geometry/polytope_axes.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <vector>

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// The other polytope as seen from the frame of this one.
struct PolytopeView {
  const Polytope& own;
  const Polytope& other;
  Pose other_in_own;

  double separation_of(int face) const {
    const Polytope::Face& f = own.faces()[face];
    const Vector3d down = -(other_in_own.rotation.transpose() * f.normal);
    return f.normal.dot(other_in_own * other.vertices()[other.find_support(down)]) - f.offset;
  }
  double height_over(int face, const Vector3d& point) const {
    const Polytope::Face& f = own.faces()[face];
    return f.normal.dot(point) - f.offset;
  }
};

PolytopeView view_from_a(const ContactPair& pair) {
  return {pair.polytope_a(), pair.polytope_b(), inverse(pair.pose_a) * pair.pose_b};
}
PolytopeView view_from_b(const ContactPair& pair) {
  return {pair.polytope_b(), pair.polytope_a(), inverse(pair.pose_b) * pair.pose_a};
}

/// `direction` points to the other polytope, `point` is its nearest (deepest) point. Apart, only
/// the face that looks along the direction can have the separation. Overlapping, several faces may
/// tie, and the choice must not be left to rounding; a face can have the separation `gap` only if
/// the height of the point over it is no less.
ReferenceFace find_best_face(const PolytopeView& view, const Vector3d& direction,
                             const Vector3d& point, double gap, double tie) {
  ReferenceFace best;
  best.face = view.own.find_aligned_face(direction);
  best.separation = view.separation_of(best.face);
  if (gap >= 0) return best;
  double highest = best.separation;
  const int count = static_cast<int>(view.own.faces().size());
  for (int f = 0; f < count; ++f) {
    if (view.height_over(f, point) < highest - tie) continue;
    highest = std::max(highest, view.separation_of(f));
  }
  for (int f = 0; f < count; ++f) {
    if (view.height_over(f, point) < highest - 2 * tie) continue;
    const double separation = view.separation_of(f);
    if (separation < highest - tie) continue;
    best.face = f;
    best.separation = separation;
    break;
  }
  return best;
}

double box_reach_along(const Matrix3d& absolute, const Vector3d& half, int row) {
  return absolute.row(row).dot(half);
}

}  // namespace

ReferenceFace find_reference_face(const ContactPair& pair, const SignedDistance& distance) {
  const Vector3d towards_b = -(pair.pose_a.rotation.transpose() * distance.normal);
  const Vector3d towards_a = pair.pose_b.rotation.transpose() * distance.normal;
  ReferenceFace on_a =
      find_best_face(view_from_a(pair), towards_b, inverse(pair.pose_a) * distance.point_b,
                     distance.gap, pair.tie);
  ReferenceFace on_b =
      find_best_face(view_from_b(pair), towards_a, inverse(pair.pose_b) * distance.point_a,
                     distance.gap, pair.tie);
  on_b.is_on_a = false;
  return on_a.separation >= on_b.separation - pair.tie ? on_a : on_b;
}

BoxSeparation separate_boxes(const ContactPair& pair) {
  const Vector3d &half_a = pair.a.half(), &half_b = pair.b.half();
  const Matrix3d turn = pair.pose_a.rotation.transpose() * pair.pose_b.rotation;  // b in a
  const Vector3d offset =
      pair.pose_a.rotation.transpose() * (pair.pose_b.position - pair.pose_a.position);
  const Matrix3d absolute = turn.cwiseAbs();
  const Matrix3d absolute_transposed = absolute.transpose();
  const Vector3d offset_b = turn.transpose() * offset;
  BoxSeparation best;
  const double reach = pair.options.reach;
  for (int i = 0; i < 3; ++i) {
    const double separation =
        std::abs(offset[i]) - half_a[i] - box_reach_along(absolute, half_b, i);
    if (separation > reach) return {.separation = separation};
    if (separation > best.face.separation + pair.tie) {
      best.face = {true, 2 * i + (offset[i] >= 0 ? 1 : 0), separation};
    }
  }
  for (int j = 0; j < 3; ++j) {
    const double separation =
        std::abs(offset_b[j]) - half_b[j] - box_reach_along(absolute_transposed, half_a, j);
    if (separation > reach) return {.separation = separation};
    if (separation > best.face.separation + pair.tie) {
      best.face = {false, 2 * j + (offset_b[j] >= 0 ? 0 : 1), separation};
    }
  }
  best.separation = best.face.separation;
  double threshold = best.face.separation + pair.tie;
  for (int i = 0; i < 3; ++i) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int j = 0; j < 3; ++j) {
      // e_i × d_j, with d_j column j of `turn`, as a vector of the frame of a.
      const double squared = turn(i1, j) * turn(i1, j) + turn(i2, j) * turn(i2, j);
      if (!(squared > 1e-10)) continue;
      const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      const double along = offset[i2] * turn(i1, j) - offset[i1] * turn(i2, j);
      const double extent = half_a[i1] * absolute(i2, j) + half_a[i2] * absolute(i1, j) +
                            half_b[j1] * absolute(i, j2) + half_b[j2] * absolute(i, j1);
      const double slack = std::abs(along) - extent;
      // Most axes are settled by the sign without a root.
      if (slack <= 0 && threshold >= 0) continue;
      const double separation = slack / std::sqrt(squared);
      if (separation > reach) return {.separation = separation};
      if (separation <= threshold) continue;
      threshold = separation;
      best.separation = separation;
      best.edge_axis_a = i;
      best.edge_axis_b = j;
      Vector3d axis = Vector3d::Zero();  // from b to a
      axis[i1] = turn(i2, j);
      axis[i2] = -turn(i1, j);
      if (along < 0) axis = -axis;
      best.normal = pair.pose_a.rotation * (axis / std::sqrt(squared));
    }
  }
  return best;
}

}  // namespace stiction
