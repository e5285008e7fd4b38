// Bytes as text, RFC 4648.
#pragma once

#include <string>
#include <string_view>

namespace stiction {

std::string to_base64(std::string_view bytes);

}  // namespace stiction
