#pragma once

#include <limits>

namespace stiction {

/// Of bounds that bind nothing, and of what is yet to be found.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace stiction
