#include "stiction/base/whole_file.h"

#include <cerrno>
#include <fstream>

#include "stiction/base/atomic_file.h"

namespace stiction {

std::optional<std::string> try_read_file(const std::filesystem::path& path, std::string& reason) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    reason = "is a folder, expected a file";
    return std::nullopt;
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  // In chunks: iterators over a stream do not tell an error from the end of the file.
  char chunk[1 << 14];
  while (file.read(chunk, sizeof chunk) || file.gcount() > 0)
    bytes.append(chunk, static_cast<std::size_t>(file.gcount()));
  if (file.eof() && !file.bad()) return bytes;
  reason = "cannot be read: " + system_reason(errno);
  return std::nullopt;
}

std::optional<std::string> try_read_file(const std::filesystem::path& path) {
  std::string ignored;
  return try_read_file(path, ignored);
}

}  // namespace stiction
