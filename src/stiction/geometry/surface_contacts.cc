#include "stiction/geometry/surface_contacts.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "stiction/geometry/patch_reduction.h"
#include "stiction/geometry/surface_query.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

void find_near_triangles(SurfaceQuery& query) {
  SurfaceWorkspace& w = query.workspace;
  Bounds box = query.a.bounds(query.pose_sa);
  box.widen(std::max(0.0, query.options.reach) + query.tolerance);
  w.found.clear();
  query.surface.find_in_box(box, w.found);
  w.triangles.clear();
  for (const int t : w.found) w.triangles.push_back({.index = t});
}

int position_of(const SurfaceWorkspace& w, int t) {
  const auto at = std::lower_bound(w.found.begin(), w.found.end(), t);
  return at != w.found.end() && *at == t ? static_cast<int>(at - w.found.begin()) : -1;
}

/// Sheets: triangles that hang together have one common side, the one from which the centre sees
/// the nearest of them. A side chosen for each triangle by itself would turn those around that the
/// centre sees through others.
void choose_sides(SurfaceQuery& query) {
  SurfaceWorkspace& w = query.workspace;
  const TriangleSurface& surface = query.surface;
  w.is_visited.assign(w.triangles.size(), 0);
  for (std::size_t seed = 0; seed < w.triangles.size(); ++seed) {
    if (w.is_visited[seed] || surface.is_solid(w.triangles[seed].index)) continue;
    w.stack.assign(1, static_cast<int>(seed));
    w.is_visited[seed] = 1;
    double best = std::numeric_limits<double>::infinity(), best_facing = -1, side = 1;
    for (std::size_t i = 0; i < w.stack.size(); ++i) {
      NearTriangle& near = w.triangles[w.stack[i]];
      if (surface.has_area(near.index)) {
        const Vector3d nearest =
            find_nearest_on_triangle(query.center, surface.corners(near.index)).point;
        const double distance = (query.center - nearest).norm();
        const double facing =
            near.side *
            surface.outward_at(near.index, nearest, query.tolerance).dot(query.center - nearest);
        const bool is_tie = std::abs(distance - best) <= query.tolerance;
        if (is_tie ? std::abs(facing) > best_facing : distance < best) {
          best = std::min(best, distance);
          best_facing = std::abs(facing);
          side = facing < 0 ? -1 : 1;
        }
      }
      for (int k = 0; k < 3; ++k) {
        const int twin = surface.twin(3 * near.index + k);
        const int next = twin < 0 ? -1 : position_of(w, twin / 3);
        if (next < 0 || w.is_visited[next]) continue;
        const bool winds_alike =
            surface.triangle(twin / 3)[twin % 3] != surface.triangle(near.index)[k];
        w.triangles[next].side = winds_alike ? near.side : -near.side;
        w.is_visited[next] = 1;
        w.stack.push_back(next);
      }
    }
    for (const int i : w.stack) w.triangles[i].side *= side;
  }
}

void find_front(SurfaceQuery& query) {
  for (NearTriangle& near : query.workspace.triangles) {
    near.is_front = query.height(near, query.center) >= -query.tolerance;
  }
}

/// A candidate of an edge that equals one of a face says nothing new, nor does one of a vertex that
/// equals one of an edge; and ids occur once.
void remove_duplicates(SurfaceQuery& query) {
  std::vector<SurfaceCandidate>& all = query.workspace.candidates;
  const auto compare = [](const SurfaceCandidate& p, const SurfaceCandidate& q) {
    if (p.rank != q.rank) return p.rank < q.rank;
    if (p.feature != q.feature) return p.feature < q.feature;
    return p.candidate.id < q.candidate.id;
  };
  const double same_place = query.tie;
  // Of one pair of features, such as an edge over the border of a face and across its edge, the one
  // that touches first; a face wins where both do.
  std::sort(all.begin(), all.end(), [&](const SurfaceCandidate& p, const SurfaceCandidate& q) {
    if (p.candidate.id != q.candidate.id) return p.candidate.id < q.candidate.id;
    if (p.candidate.gap != q.candidate.gap) return p.candidate.gap < q.candidate.gap;
    return compare(p, q);
  });
  std::size_t num_ids = 0;
  for (std::size_t first = 0, i = 0; first < all.size(); first = i) {
    std::size_t best = first;
    for (; i < all.size() && all[i].candidate.id == all[first].candidate.id; ++i) {
      const bool is_equal = all[i].candidate.gap <= all[first].candidate.gap + same_place;
      if (is_equal && all[i].rank < all[best].rank) best = i;
    }
    all[num_ids++] = all[best];
  }
  all.resize(num_ids);
  std::sort(all.begin(), all.end(), compare);
  constexpr double kSameDirection = 1e-9;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SurfaceCandidate& item = all[i];
    bool is_new = true;
    for (std::size_t j = 0; j < kept && item.rank > 0 && is_new; ++j) {
      is_new = (all[j].candidate.normal - item.candidate.normal).norm() > kSameDirection ||
               (all[j].candidate.point - item.candidate.point).norm() > same_place;
    }
    if (!is_new) continue;
    if (kept != i) all[kept] = item;
    ++kept;
  }
  all.resize(kept);
}

/// Runs of one feature become patches.
void publish(SurfaceQuery& query, ContactList& out) {
  const std::vector<SurfaceCandidate>& all = query.workspace.candidates;
  for (std::size_t begin = 0; begin < all.size();) {
    ContactPatch patch{.first = static_cast<int>(out.candidates.size()), .group = out.num_groups++};
    patch.separation = std::numeric_limits<double>::infinity();
    std::size_t end = begin;
    for (; end < all.size() && all[end].rank == all[begin].rank &&
           all[end].feature == all[begin].feature;
         ++end) {
      out.candidates.push_back(all[end].candidate);
      patch.separation = std::min(patch.separation, all[end].candidate.gap);
    }
    if (query.options.reduces && end - begin > 2) {
      reduce_flat_patch(out, patch.first, query.tolerance, query.contact_workspace);
    }
    patch.count = static_cast<int>(out.candidates.size()) - patch.first;
    out.patches.push_back(patch);
    begin = end;
  }
}

}  // namespace

void collect_surface_contacts(const CollisionShape& a, const Pose& pose_a,
                              const CollisionShape& surface, const Pose& pose_surface,
                              const ContactOptions& options, ContactWorkspace& workspace,
                              ContactList& out) {
  if (!a.is_convex() || surface.surface() == nullptr) return;
  const Pose pose_sa = inverse(pose_surface) * pose_a;
  SurfaceQuery query{.a = a,
                     .surface_shape = surface,
                     .surface = *surface.surface(),
                     .pose_a = pose_a,
                     .pose_s = pose_surface,
                     .pose_sa = pose_sa,
                     .options = options,
                     .contact_workspace = workspace,
                     .workspace = workspace.surface,
                     .center = pose_sa * (a.polytope() ? a.polytope()->center() : a.center())};
  query.workspace.candidates.clear();
  query.workspace.regions.clear();
  query.workspace.cut.clear();
  if (a.kind() == ShapeKind::kPlane) {
    query.tolerance = TriangleSurface::kFlatness * query.surface.scale();
    query.tie = 1e3 * query.tolerance;
    collect_half_space(query);
  } else {
    query.set_ties(
        std::max(query.surface.scale(), query.center.cwiseAbs().maxCoeff() + a.bounding_radius()));
    find_near_triangles(query);
    choose_sides(query);
    find_front(query);
    if (a.core_radius() > 0) {
      collect_round(query);
    } else if (a.polytope() != nullptr) {
      collect_polytope(query);
    } else {
      collect_curved(query);
    }
    collect_regions(query, out);
    const double touching = touching_distance(query);
    if (!has_contact_below(query, touching)) collect_deep(query);
    if (!has_contact_below(query, -touching)) collect_cut(query);
    const double nearest = query.distance + 2 * query.distance_tie;
    if (nearest <= options.reach && !has_contact_below(query, nearest)) collect_nearest(query);
  }
  remove_duplicates(query);
  publish(query, out);
}

}  // namespace stiction
