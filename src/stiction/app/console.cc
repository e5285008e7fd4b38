#include "stiction/app/console.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>

#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"

namespace stiction {

void print_result(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw IoError(fmt::format("cannot write to the standard output: {}", system_reason(errno)));
}

void print_message(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace stiction
