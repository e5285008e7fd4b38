// A file as one string of bytes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace stiction {

/// The bytes of a file; nothing if it cannot be read, with the reason: "is a folder, expected a
/// file", or "cannot be read: " and what the system says.
[[nodiscard]] std::optional<std::string> try_read_file(const std::filesystem::path& path,
                                                       std::string& reason);
[[nodiscard]] std::optional<std::string> try_read_file(const std::filesystem::path& path);

}  // namespace stiction
