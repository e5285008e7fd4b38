#include "stiction/geometry/face_clipping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stiction {
namespace {

using Eigen::Vector2d;

double cross(const Vector2d& x, const Vector2d& y) { return x.x() * y.y() - x.y() * y.x(); }

/// Grows with the angle from `base` to `direction`, counterclockwise, from 0 to 4, without
/// trigonometry.
double turn_between(const Vector2d& base, const Vector2d& direction) {
  const double c = base.dot(direction), s = cross(base, direction);
  const double sum = std::abs(c) + std::abs(s);
  if (!(sum > 0)) return 0;
  const double part = s / sum;  // −1 … 1
  const double turn = c >= 0 ? part : 2 - part;
  return turn < 0 ? turn + 4 : turn;
}

/// Index of the last turn ≤ `turn`; turns[0] is 0.
int last_not_after(const std::vector<double>& turns, double turn) {
  return static_cast<int>(std::upper_bound(turns.begin() + 1, turns.end(), turn) - turns.begin()) -
         1;
}

}  // namespace

void ConvexPolygon::reserve(int count) {
  const auto size = static_cast<std::size_t>(count);
  vertices_.reserve(size);
  normals_.reserve(size);
  for (std::vector<double>* items : {&offsets_, &vertex_turns_, &normal_turns_})
    items->reserve(size);
}

void ConvexPolygon::clear() {
  vertices_.clear();
  normals_.clear();
  offsets_.clear();
  vertex_turns_.clear();
  normal_turns_.clear();
}

void ConvexPolygon::finish() {
  for (int k = 0; k < size(); ++k) {
    const Vector2d along = vertices_[next(k)] - vertices_[k];
    normals_.push_back(Vector2d(along.y(), -along.x()) / along.norm());
    offsets_.push_back(normals_.back().dot(vertices_[k]));
  }
  if (size() <= kManySides) return;
  middle_.setZero();
  for (const Vector2d& vertex : vertices_) middle_ += vertex / size();
  for (int k = 0; k < size(); ++k) {
    vertex_turns_.push_back(turn_between(vertices_[0] - middle_, vertices_[k] - middle_));
    normal_turns_.push_back(turn_between(normals_[0], normals_[k]));
  }
}

int ConvexPolygon::find_sector(const Vector2d& point) const {
  return last_not_after(vertex_turns_, turn_between(vertices_[0] - middle_, point - middle_));
}

bool ConvexPolygon::contains(const Vector2d& point, double margin) const {
  if (size() > kManySides) return height(find_sector(point), point) <= margin;
  for (int k = 0; k < size(); ++k) {
    if (height(k, point) > margin) return false;
  }
  return true;
}

double ConvexPolygon::distance_to(const Vector2d& point) const {
  if (contains(point, 0)) return 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (int k = 0; k < size(); ++k) {
    const Vector2d side = vertices_[next(k)] - vertices_[k], way = point - vertices_[k];
    const double t = std::clamp(side.dot(way) / side.squaredNorm(), 0.0, 1.0);
    nearest = std::min(nearest, (way - t * side).norm());
  }
  return nearest;
}

bool ConvexPolygon::has_vertex_near(const Vector2d& point, double distance) const {
  const auto is_near = [&](int k) {
    return (vertices_[k] - point).squaredNorm() <= distance * distance;
  };
  if (size() > kManySides) {
    const int k = find_sector(point);
    return is_near(k) || is_near(next(k));
  }
  for (int k = 0; k < size(); ++k) {
    if (is_near(k)) return true;
  }
  return false;
}

ClippedSegment ConvexPolygon::clip(const Vector2d& p, const Vector2d& q, double margin,
                                   double slack) const {
  if (size() > kManySides && margin == 0) return clip_by_chains(p, q);
  ClippedSegment result;
  for (int k = 0; k < size(); ++k) {
    const double at_p = height(k, p) - margin, at_q = height(k, q) - margin;
    if (at_p > slack && at_q > slack) return {};
    if (at_p <= slack && at_q <= slack) continue;
    const double t = std::clamp(at_p / (at_p - at_q), 0.0, 1.0);
    if (at_p > at_q && (t > result.start || result.start_side < 0)) {
      result.start = t;
      result.start_side = k;
    } else if (at_q > at_p && (t < result.end || result.end_side < 0)) {
      result.end = t;
      result.end_side = k;
    }
  }
  result.hits = result.start <= result.end;
  return result;
}

/// The extreme vertex lies between the sides whose normals enclose the direction. Nearly collinear
/// sides have normals in no reliable order, hence the climbing afterwards.
int ConvexPolygon::find_extreme(const Vector2d& direction) const {
  int k = next(last_not_after(normal_turns_, turn_between(normals_[0], direction)));
  for (int steps = 0; steps < size(); ++steps) {
    const int after = next(k), before = k == 0 ? size() - 1 : k - 1;
    const double here = direction.dot(vertices_[k]);
    if (direction.dot(vertices_[after]) > here) {
      k = after;
    } else if (direction.dot(vertices_[before]) > here) {
      k = before;
    } else {
      break;
    }
  }
  return k;
}

/// The side between vertices `from` and `to`, counterclockwise, that crosses normal·x = offset.
/// The vertices are on different sides of that line, and heights are monotone between them.
int ConvexPolygon::find_crossing(int from, int to, const Vector2d& normal, double offset) const {
  int count = to - from;
  if (count < 0) count += size();
  const bool starts_above = normal.dot(vertices_[from]) > offset;
  int low = 0, high = count;  // the crossing is between them
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    const bool is_above = normal.dot(vertices_[(from + middle) % size()]) > offset;
    (is_above == starts_above ? low : high) = middle;
  }
  return (from + low) % size();
}

ClippedSegment ConvexPolygon::clip_by_chains(const Vector2d& p, const Vector2d& q) const {
  const Vector2d along = q - p;
  const Vector2d normal(-along.y(), along.x());
  const double offset = normal.dot(p), squared_length = along.squaredNorm();
  const int top = find_extreme(normal), bottom = find_extreme(-normal);
  if (!(normal.dot(vertices_[top]) > offset) || !(normal.dot(vertices_[bottom]) < offset)) {
    return {};
  }
  ClippedSegment result;
  const auto parameter_at = [&](int side) {
    const Vector2d &v = vertices_[side], &w = vertices_[next(side)];
    const double at_v = normal.dot(v) - offset, at_w = normal.dot(w) - offset;
    const Vector2d x = v + (at_v / (at_v - at_w)) * (w - v);
    return along.dot(x - p) / squared_length;
  };
  int start_side = find_crossing(top, bottom, normal, offset);
  int end_side = find_crossing(bottom, top, normal, offset);
  double start = parameter_at(start_side), end = parameter_at(end_side);
  if (start > end) {
    std::swap(start, end);
    std::swap(start_side, end_side);
  }
  if (start > 0) {
    result.start = start;
    result.start_side = start_side;
  }
  if (end < 1) {
    result.end = end;
    result.end_side = end_side;
  }
  result.hits = result.start <= result.end;
  return result;
}

}  // namespace stiction
