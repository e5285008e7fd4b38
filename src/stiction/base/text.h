// Small helpers for messages: the nearest known name, and lists of names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stiction {

/// The candidate closest to `word` by edit distance, if it is close enough to be what was meant
/// (at most a third of the word's length, at least one edit, letter case counting little).
std::optional<std::string> nearest_name(std::string_view word,
                                        std::span<const std::string> candidates);

/// "a, b, c".
std::string joined(std::span<const std::string> names);

/// "did you mean 'b'?", or "known: a, b, c" where nothing is near.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

/// A number for a message: the shortest text that reads back as the same number; nan has no sign.
std::string to_text(double value);

}  // namespace stiction
