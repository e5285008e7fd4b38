// How far rounding may have moved a number. Internal to this room.
#pragma once

#include <limits>

namespace stiction {

/// Units in the last place that a number may be off by after the way through a recording and back,
/// and after sums of a few dozen terms in another order than the scheme's.
inline constexpr double kUlps = 64 * std::numeric_limits<double>::epsilon();

}  // namespace stiction
