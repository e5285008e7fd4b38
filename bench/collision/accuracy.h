// What a contender reported against the distances of all pairs of bodies.
#pragma once

#include <span>
#include <vector>

#include "bench/collision/contender.h"
#include "bench/collision/packed_scene.h"

namespace stiction::bench {

struct Accuracy {
  double worst_error = 0;  // [m] of the smallest gap of a pair, over pairs reported and near
  int num_touching = 0;    // pairs that overlap, by more than kTouchTolerance
  int num_missed = 0;      // of these, without any contact
  int num_phantom = 0;     // pairs reported to overlap that are apart, both by more than that
};

constexpr double kTouchTolerance = 1e-6;  // [m]

/// Signed distances of all pairs of bodies that are within kReach, sorted, by compute_distance for
/// all pairs of parts whose bounding balls are that near. Quadratic.
std::vector<BodyGap> compute_true_gaps(const PackedScene& scene, std::span<const Pose> poses);

Accuracy compute_accuracy(std::span<const BodyGap> truth, std::span<const BodyGap> reported);

}  // namespace stiction::bench
