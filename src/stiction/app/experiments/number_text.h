// Numbers as reports write them.
#pragma once

#include <string>

namespace stiction::experiments {

/// "1.24e-5", "0.103 m": at most so many digits, without superfluous zeros of exponents.
std::string show(double value, int digits = 3, const std::string& unit = {});

/// A wall time without unit, [s].
std::string show_seconds(double seconds);

/// 2^−exponent as people write it.
std::string power_of_two(int exponent);

}  // namespace stiction::experiments
