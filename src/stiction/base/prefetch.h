// Memory that will be read soon, asked for ahead of time.
#pragma once

#include <cstddef>

namespace stiction {

/// Starts to bring `size` bytes into the cache. Changes no result, and any address is allowed. A
/// function that does nothing else must be inlined: it is one without effect to some compilers,
/// which leave out the call.
[[gnu::always_inline]] inline void prefetch(const void* address, std::size_t size = 1) {
  constexpr std::size_t kLine = 64;
  const char* const first = static_cast<const char*>(address);
  for (std::size_t offset = 0; offset < size; offset += kLine) __builtin_prefetch(first + offset);
  if (size > 1) __builtin_prefetch(first + size - 1);  // in a further line, if it began late in one
}

}  // namespace stiction
