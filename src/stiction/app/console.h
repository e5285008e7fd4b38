// What the program says: results on stdout, messages on stderr.
#pragma once

#include <string_view>

namespace stiction {

/// Writes to stdout at once. Throws IoError where that fails: a lost result is a failed run.
void print_result(std::string_view text);
/// Writes to stderr. Failure is passed over: there is nobody left to tell, and the exit status
/// still says what happened.
void print_message(std::string_view text) noexcept;

}  // namespace stiction
