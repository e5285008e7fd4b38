// Directions that may separate two polytopes. Internal to this room.
#pragma once

#include <Eigen/Core>

#include "stiction/geometry/contact_pair.h"
#include "stiction/geometry/distance.h"
#include "stiction/geometry/face_contacts.h"
#include "stiction/geometry/polytope.h"

namespace stiction {

/// The face of a or b with the largest separation among those that the nearest points leave
/// possible: a face of a wins ties, and of one polytope that of lowest index.
ReferenceFace find_reference_face(const ContactPair& pair, const SignedDistance& distance);

/// The best of the fifteen axes of two boxes.
struct BoxSeparation {
  double separation = 0;  // [m]; > reach: the search ended early and nothing else is set
  ReferenceFace face{};   // the best of the faces
  int edge_axis_a = -1, edge_axis_b = -1;            // ≥ 0 if these edges win by more than a tie
  Eigen::Vector3d normal = Eigen::Vector3d::Zero();  // from b to a, world; of the edges
};
BoxSeparation separate_boxes(const ContactPair& pair);

/// Further patches of the group of the pair: faces and pairs of edges whose separation is within
/// twice the reach of the best, `gap`.
void append_polytope_alternatives(ContactPair& pair, double gap);

/// Calls visit(v) for a vertex furthest along `direction` and from there for all neighbours of
/// vertices for which it was true. Visits each vertex once.
inline constexpr int kFewVertices = 32;  // are compared one by one
template <typename Visit>
void visit_connected_vertices(const Polytope& polytope, const Eigen::Vector3d& direction,
                              ContactWorkspace& workspace, const Visit& visit) {
  const int count = static_cast<int>(polytope.vertices().size());
  if (count <= kFewVertices) {
    for (int v = 0; v < count; ++v) visit(v);
    return;
  }
  std::vector<int>& queue = workspace.queue;
  workspace.marks.assign(count, 0);
  queue.assign(1, polytope.find_support(direction));
  workspace.marks[queue[0]] = 1;
  for (std::size_t k = 0; k < queue.size(); ++k) {
    if (!visit(queue[k])) continue;
    for (const int next : polytope.neighbors_of(queue[k])) {
      if (!workspace.marks[next]) queue.push_back(next);
      workspace.marks[next] = 1;
    }
  }
}

}  // namespace stiction
