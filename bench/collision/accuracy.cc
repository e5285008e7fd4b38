#include "bench/collision/accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "stiction/geometry/distance.h"

namespace stiction::bench {
namespace {

double compute_body_gap(const PackedBody& a, const Pose& pose_a, const PackedBody& b,
                        const Pose& pose_b) {
  double gap = std::numeric_limits<double>::infinity();
  for (const Part& p : a.parts) {
    const Pose pose_p = pose_a * p.pose;
    for (const Part& q : b.parts) {
      const Pose pose_q = pose_b * q.pose;
      const double between = (pose_p * p.shape->center() - pose_q * q.shape->center()).norm();
      if (between > p.shape->bounding_radius() + q.shape->bounding_radius() + kReach) continue;
      gap = std::min(gap, compute_distance(*p.shape, pose_p, *q.shape, pose_q).gap);
    }
  }
  return gap;
}

}  // namespace

std::vector<BodyGap> compute_true_gaps(const PackedScene& scene, std::span<const Pose> poses) {
  std::vector<BodyGap> gaps;
  for (int a = 0; a < scene.num_bodies(); ++a) {
    for (int b = a + 1; b < scene.num_bodies(); ++b) {
      const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
      const double gap = compute_body_gap(scene.bodies()[i], poses[i], scene.bodies()[j], poses[j]);
      if (gap <= kReach) gaps.push_back({a, b, gap});
    }
  }
  return gaps;
}

Accuracy compute_accuracy(std::span<const BodyGap> truth, std::span<const BodyGap> reported) {
  std::map<std::pair<int, int>, double> found;
  for (const BodyGap& pair : reported) found[{pair.a, pair.b}] = pair.gap;
  Accuracy accuracy;
  for (const BodyGap& pair : truth) {
    const bool touches = pair.gap < -kTouchTolerance;
    accuracy.num_touching += touches ? 1 : 0;
    const auto place = found.find({pair.a, pair.b});
    if (place == found.end()) {
      accuracy.num_missed += touches ? 1 : 0;
      continue;
    }
    accuracy.worst_error = std::max(accuracy.worst_error, std::abs(place->second - pair.gap));
    if (place->second < -kTouchTolerance && pair.gap > kTouchTolerance) ++accuracy.num_phantom;
    found.erase(place);
  }
  for (const auto& [bodies, gap] : found)
    if (gap < -kTouchTolerance) ++accuracy.num_phantom;  // further apart than kReach
  return accuracy;
}

}  // namespace stiction::bench
