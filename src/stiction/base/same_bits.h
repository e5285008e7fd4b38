// Comparison of numbers as they are stored: zeros of different sign differ, not-a-numbers may
// agree.
#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

namespace stiction {

/// For types without padding.
template <class T>
bool is_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  static_assert(std::is_trivially_copyable_v<T>);
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace stiction
