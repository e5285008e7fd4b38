#include "stiction/geometry/patch_reduction.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace stiction {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

/// (x, y) along the patch and the gap, from the first candidate.
void project(const ContactList& list, int first, std::vector<Vector3d>& places) {
  const ContactCandidate& origin = list.candidates[first];
  const Vector3d& normal = origin.normal;
  int smallest = 0;
  normal.cwiseAbs().minCoeff(&smallest);
  const Vector3d along = normal.cross(Vector3d::Unit(smallest)).normalized();
  const Vector3d across = normal.cross(along);
  places.clear();
  for (std::size_t k = first; k < list.candidates.size(); ++k) {
    const Vector3d offset = list.candidates[k].point - origin.point;
    places.emplace_back(along.dot(offset), across.dot(offset), list.candidates[k].gap - origin.gap);
  }
}

double doubled_area(const Vector3d& x, const Vector3d& y, const Vector3d& z) {
  return (y.x() - x.x()) * (z.y() - x.y()) - (y.y() - x.y()) * (z.x() - x.x());
}

double distance_along(const Vector3d& x, const Vector3d& y) { return (y - x).head<2>().norm(); }

int furthest_from_first(const std::vector<Vector3d>& places) {
  int best = 0;
  for (int k = 1; k < static_cast<int>(places.size()); ++k) {
    if (places[k].head<2>().squaredNorm() > places[best].head<2>().squaredNorm()) best = k;
  }
  return best;
}

int furthest_from_line(const std::vector<Vector3d>& places, int other) {
  int best = 0;
  for (int k = 1; k < static_cast<int>(places.size()); ++k) {
    if (std::abs(doubled_area(places[0], places[other], places[k])) >
        std::abs(doubled_area(places[0], places[other], places[best]))) {
      best = k;
    }
  }
  return best;
}

/// Whether gap = slope·(x, y) for all places, up to the tolerance.
bool is_affine(const std::vector<Vector3d>& places, double tolerance) {
  const int i = furthest_from_first(places);
  const Vector2d x = places[i].head<2>();
  const double length = x.norm();
  Vector2d slope = Vector2d::Zero();
  if (length > tolerance) {
    const int j = furthest_from_line(places, i);
    const double height = doubled_area(places[0], places[i], places[j]) / length;
    const Vector2d u = x / length, v(-u.y(), u.x());
    slope = places[i].z() / length * u;
    if (std::abs(height) > tolerance) {
      slope += (places[j].z() - slope.dot(places[j].head<2>())) / height * v;
    }
  }
  for (const Vector3d& place : places) {
    if (std::abs(place.z() - slope.dot(place.head<2>())) > tolerance) return false;
  }
  return true;
}

/// Andrew's monotone chain (1979) on one side, dropping what deviates by ≤ tolerance from the chord
/// of its neighbours in the chain.
template <typename Iterator>
void append_chain(const std::vector<Vector3d>& places, Iterator begin, Iterator end,
                  double tolerance, std::vector<int>& hull) {
  const std::size_t start = hull.size();
  for (Iterator it = begin; it != end; ++it) {
    while (hull.size() >= start + 2) {
      const Vector3d &x = places[hull[hull.size() - 2]], &y = places[hull.back()], &z = places[*it];
      const double chord = distance_along(x, z);
      if (doubled_area(x, y, z) > tolerance * chord) break;
      hull.pop_back();
    }
    if (hull.size() == start + 1 && distance_along(places[hull.back()], places[*it]) <= tolerance) {
      continue;
    }
    hull.push_back(*it);
  }
  hull.pop_back();  // begins the next chain
}

}  // namespace

int reduce_flat_patch(ContactList& list, int first, double tolerance, ContactWorkspace& workspace) {
  const int count = static_cast<int>(list.candidates.size()) - first;
  if (count < 2) return 0;
  for (int k = 1; k < count; ++k) {
    const Vector3d change = list.candidates[first + k].normal - list.candidates[first].normal;
    if (change.squaredNorm() > 1e-28) return 0;
  }
  std::vector<Vector3d>& places = workspace.places;
  project(list, first, places);
  if (!is_affine(places, tolerance)) return 0;
  std::vector<int>&order = workspace.order, &hull = workspace.hull;
  order.resize(count);
  for (int k = 0; k < count; ++k) order[k] = k;
  std::sort(order.begin(), order.end(), [&](int i, int j) {
    const Vector3d &x = places[i], &y = places[j];
    if (x.x() != y.x()) return x.x() < y.x();
    return x.y() != y.y() ? x.y() < y.y() : i < j;
  });
  hull.clear();
  append_chain(places, order.begin(), order.end(), tolerance, hull);
  append_chain(places, order.rbegin(), order.rend(), tolerance, hull);
  if (hull.empty()) hull.push_back(0);
  std::sort(hull.begin(), hull.end());
  hull.erase(std::unique(hull.begin(), hull.end()), hull.end());
  for (std::size_t k = 0; k < hull.size(); ++k) {
    list.candidates[first + k] = list.candidates[first + hull[k]];
  }
  const int num_removed = count - static_cast<int>(hull.size());
  list.candidates.resize(first + hull.size());
  list.num_reduced += num_removed;
  return num_removed;
}

}  // namespace stiction
