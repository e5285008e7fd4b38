// All pairs of features of two shapes that may touch in the next step: the contact manifold.
//
// A manifold is complete in one call and has no cap: for faces that meet, all corners of their
// overlap; for nearly parallel capsules and cylinders, both ends of the overlap; edge pairs; every
// corner of one shape that is within reach of the face of the other that it stands on. It never
// remembers earlier calls. The smallest gap is that of compute_distance, to its accuracy or the tie
// of directions (4e-9 of the size with cylinders), and there is a candidate if and only if that is
// ≤ reach.
//
// Corners and edges without a radius that are closest without a face being involved (corner to
// corner, corner to edge, parallel edges) give a point against the plane through the other feature
// with the normal of the distance, since the direction between two points is worthless just when
// they touch.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <vector>

#include "stiction/geometry/contact_candidate.h"
#include "stiction/geometry/face_clipping.h"
#include "stiction/geometry/polytope.h"
#include "stiction/geometry/surface_workspace.h"

namespace stiction {

class CollisionShape;

struct ContactOptions {
  double reach = 0;                 // [m] all feature pairs with a gap ≤ reach
  bool reduces = true;              // flat patches to their extreme points, see patch_reduction.h
  bool wants_alternatives = false;  // other separating directions as further patches
};

/// A run of candidates. Patches of one group are alternatives: it is enough that one of them has
/// all gaps ≥ 0, since one separating axis suffices. The first is the one of largest separation,
/// the others are those that could be after a motion of both shapes by `reach`.
struct ContactPatch {
  int first = 0;  // in ContactList::candidates
  int count = 0;
  double separation = 0;  // [m] along the axis of the patch; of the first patch: the distance
  int group = 0;          // counted within the list
};

struct ContactList {
  std::vector<ContactCandidate> candidates{};
  std::vector<ContactPatch> patches{};
  int num_reduced = 0;  // candidates left out by reduction
  int num_groups = 0;

  void clear();
};

/// Storage that is reused from call to call. It holds no information between calls.
struct ContactWorkspace {
  ConvexPolygon reference{}, incident{};      // faces in the plane of the reference face
  std::vector<Eigen::Vector3d> places{};      // (x, y, height) over that plane
  std::vector<Eigen::Vector3d> all_places{};  // likewise, of all vertices where they are few
  std::vector<int> order{}, hull{}, queue{};
  std::vector<std::uint8_t> marks{}, inside{};
  SurfaceWorkspace surface{};
  Polytope box_a = Polytope::make_box(Eigen::Vector3d::Ones());  // see ContactPair::polytope_a
  Polytope box_b = Polytope::make_box(Eigen::Vector3d::Ones());

  /// Room for faces and bodies of so many corners, before any is met: of several threads, each may
  /// meet its largest late.
  void reserve(int num_corners);
};

/// Appends the candidates and patches of one pair: none if the shapes are further apart than
/// `reach`. Pairs of convex shapes have one group, pairs with a mesh or a height field one for each
/// touched feature of it. Which of the two is a decides nothing, unless their measures are the
/// same: swapped, the same contacts are found, seen from the other side. Pairs of two planes and of
/// two surfaces have no contacts. Does not allocate once the storage has grown.
void collect_contacts(const CollisionShape& a, const Pose& pose_a, const CollisionShape& b,
                      const Pose& pose_b, const ContactOptions& options,
                      ContactWorkspace& workspace, ContactList& out);

}  // namespace stiction
