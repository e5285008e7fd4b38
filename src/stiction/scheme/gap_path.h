// The gap of a contact over a step as the cubic that its values and rates at both ends determine
// (Potra et al. 2006, §7.2 and §10), and where it first goes from open to penetrating.
#pragma once

#include <optional>

namespace stiction {

struct GapPath {
  double length = 0;  // [s] of the step
  double start = 0, end = 0;
  double start_rate = 0, end_rate = 0;

  double at(double time) const;
  /// The first time in (0, length] at which the gap falls below zero, coming from above: the root,
  /// on its open side up to rounding. None if it never does, also if it is negative throughout.
  std::optional<double> find_closing() const;
};

}  // namespace stiction
