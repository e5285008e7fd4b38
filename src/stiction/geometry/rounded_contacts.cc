#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/geometry/contact_pair.h"
#include "stiction/geometry/rounded_core.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

void collect_balls(ContactPair& pair, const RoundedCore& a, const RoundedCore& b) {
  pair.emit(a.end_feature(0), b.end_feature(0), make_contact_id(a.end_code(0), b.end_code(0)));
}

/// A ball against a segment.
void collect_ball_and_segment(ContactPair& pair, const RoundedCore& a, const RoundedCore& b) {
  const double along = b.along(relative_position(pair));
  if (std::abs(along) < b.half) {
    pair.emit(a.end_feature(0), b.line_feature(), make_contact_id(a.end_code(0), edge_code(0)));
    return;
  }
  const int end = along > 0 ? 1 : 0;
  pair.emit(a.end_feature(0), b.end_feature(end), make_contact_id(a.end_code(0), b.end_code(end)));
}

/// Ends of one segment over the other, the crossing where it is nearer than any of them, and the
/// two nearest ends where those are nearer still.
class SegmentPair {
 public:
  SegmentPair(ContactPair& pair, const RoundedCore& a, const RoundedCore& b)
      : pair_(pair), a_(a), b_(b), center_a_(relative_position(pair)) {}

  void collect() {
    if (is_out_of_reach()) return;
    append_ends_of_a();
    append_ends_of_b();
    append_crossing();
    append_nearest_ends();
  }

 private:
  Vector3d end_of_a(int end) const { return center_a_ + a_.end_offset(end); }

  /// By the nearest points: those of the lines, moved into one segment, from there to the other and
  /// back. Not asked of nearly parallel axes, where the first of these is mostly rounding.
  bool is_out_of_reach() const {
    const double cosine = a_.axis.dot(b_.axis), squared_sine = 1 - cosine * cosine;
    if (!(squared_sine > 1e-6)) return false;
    const double on_a = a_.along(center_a_), on_b = b_.along(center_a_);
    const auto clamp = [](double s, double half) { return std::clamp(s, -half, half); };
    double s = clamp((cosine * on_b - on_a) / squared_sine, a_.half);
    const double t = clamp(on_b + s * cosine, b_.half);
    s = clamp(t * cosine - on_a, a_.half);
    const double reach = pair_.options.reach + a_.radius + b_.radius + pair_.tie;
    return (center_a_ + s * a_.axis - t * b_.axis).squaredNorm() > reach * reach;
  }

  void append_ends_of_a() {
    for (int end = 0; end < 2; ++end) {
      if (std::abs(b_.along(end_of_a(end))) > b_.half + pair_.snap) continue;
      pair_.emit(a_.end_feature(end), b_.line_feature(),
                 make_contact_id(a_.end_code(end), edge_code(0)));
    }
  }

  void append_ends_of_b() {
    for (int end = 0; end < 2; ++end) {
      const double along = a_.along(b_.end_offset(end) - center_a_);
      if (std::abs(along) > a_.half + pair_.snap) continue;
      if (is_opposite_end(end, along)) continue;
      pair_.emit(a_.line_feature(), b_.end_feature(end),
                 make_contact_id(edge_code(0), b_.end_code(end)));
    }
  }

  /// Whether an end of a has been taken at the same place.
  bool is_opposite_end(int end, double along) const {
    if (std::abs(std::abs(along) - a_.half) > pair_.snap) return false;
    const double back = b_.along(end_of_a(along > 0 ? 1 : 0));
    return std::abs(back - (end == 1 ? b_.half : -b_.half)) <= pair_.snap;
  }

  void append_crossing() {
    const Vector3d cross = a_.axis.cross(b_.axis);
    const double squared_sine = cross.squaredNorm();
    if (!(squared_sine > 1e-12)) return;
    const double s = b_.axis.cross(center_a_).dot(cross) / squared_sine;
    const double t = a_.axis.cross(center_a_).dot(cross) / squared_sine;
    if (std::abs(s) > a_.half || std::abs(t) > b_.half) return;
    const double height = cross.dot(center_a_) / std::sqrt(squared_sine);
    const double gap = std::abs(height) - a_.radius - b_.radius;
    if (!(gap < pair_.smallest_gap() - pair_.tie)) return;
    pair_.emit(a_.line_feature(), b_.line_feature(), make_contact_id(edge_code(0), edge_code(0)),
               height >= 0 ? 1 : -1);
  }

  void append_nearest_ends() {
    if (are_ends_beyond(pair_.smallest_gap() + a_.radius + b_.radius)) return;
    int best_a = 0, best_b = 0;
    double nearest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        const double distance = (end_of_a(i) - b_.end_offset(j)).norm();
        if (distance < nearest - pair_.tie) {
          nearest = distance;
          best_a = i;
          best_b = j;
        }
      }
    }
    if (!(nearest - a_.radius - b_.radius < pair_.smallest_gap() - pair_.tie)) return;
    pair_.emit(a_.end_feature(best_a), b_.end_feature(best_b),
               make_contact_id(a_.end_code(best_a), b_.end_code(best_b)));
  }

  /// Whether all ends are certainly further from each other: without a root for each pair of them.
  bool are_ends_beyond(double distance) const {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        least = std::min(least, (end_of_a(i) - b_.end_offset(j)).squaredNorm());
    return distance > 0 && least > distance * distance;
  }

  ContactPair& pair_;
  const RoundedCore &a_, &b_;
  Vector3d center_a_;  // from the centre of b, along the axes of the world
};

/// Capsule a, sphere b.
void collect_segment_and_ball(ContactPair& pair, const RoundedCore& a, const RoundedCore& b) {
  const double along = a.along(-relative_position(pair));
  if (std::abs(along) < a.half) {
    pair.emit(a.line_feature(), b.end_feature(0), make_contact_id(edge_code(0), b.end_code(0)));
    return;
  }
  const int end = along > 0 ? 1 : 0;
  pair.emit(a.end_feature(end), b.end_feature(0), make_contact_id(a.end_code(end), b.end_code(0)));
}

void collect_core_pair(ContactPair& pair, const RoundedCore& a, const RoundedCore& b) {
  if (a.num_ends() == 1 && b.num_ends() == 1) return collect_balls(pair, a, b);
  if (a.num_ends() == 1) return collect_ball_and_segment(pair, a, b);
  if (b.num_ends() == 1) return collect_segment_and_ball(pair, a, b);
  SegmentPair(pair, a, b).collect();
}

void collect_over_plane(ContactPair& pair, const RoundedCore& a) {
  const Plane& plane = std::get<Plane>(pair.b.shape());
  const ContactFeature ground = make_plane_feature(plane.offset * plane.normal, plane.normal);
  for (int end = 0; end < a.num_ends(); ++end) {
    pair.emit(a.end_feature(end), ground, make_contact_id(a.end_code(end), whole()));
  }
}

}  // namespace

void collect_rounded_contacts(ContactPair& pair) {
  const RoundedCore a(pair.a, pair.pose_a);
  switch (pair.b.kind()) {
    case ShapeKind::kPlane:
      collect_over_plane(pair, a);
      break;
    case ShapeKind::kSphere:
    case ShapeKind::kCapsule:
      collect_core_pair(pair, a, RoundedCore(pair.b, pair.pose_b));
      break;
    case ShapeKind::kCylinder:
      collect_rounded_cylinder_contacts(pair, a);
      break;
    default:
      collect_rounded_polytope_contacts(pair, a);
      return;
  }
  if (pair.num_candidates() > 0) pair.close_patch(pair.smallest_gap());
}

}  // namespace stiction
