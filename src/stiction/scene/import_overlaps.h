// Bodies of an imported robot that overlap at the start.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stiction/model/model.h"

namespace stiction {

struct BodyOverlap {
  std::pair<std::string, std::string> bodies;
  double depth = 0;  // [m] of the deepest contact
};

/// Pairs of moving bodies whose shapes penetrate each other by more than `tolerance` at the start
/// of a scene, each once.
std::vector<BodyOverlap> find_overlaps(const Model& model, double tolerance);

}  // namespace stiction
