// The version of the program, as it is stored in every recording.
#pragma once

#include <string_view>

namespace stiction {

std::string_view version();

}  // namespace stiction
