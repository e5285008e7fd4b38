// Gravity of most tests and scenes.
#pragma once

namespace stiction::testing {

inline constexpr double kGravity = 9.81;  // [m/s²]

}  // namespace stiction::testing
