// One curve as an SVG picture: axes with round ticks, labels, no dependence on anything.
#pragma once

#include <span>
#include <string>

namespace stiction {

struct Plot {
  std::string title;
  std::string x_label, y_label;
  std::span<const double> x, y;  // same size
};

/// The picture as text. Points closer than a third of a pixel to the one before are left out.
std::string to_svg(const Plot& plot);

}  // namespace stiction
