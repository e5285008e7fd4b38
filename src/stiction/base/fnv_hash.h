// FNV-1a with 64 bits: tells things apart, protects from nobody. The same on all platforms for
// bytes; numbers are hashed as they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stiction {

class FnvHash {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) add_byte(bytes[i]);
  }
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }
  /// Texts one after the other are hashed as one; add_byte between them keeps them apart.
  void add(std::string_view text) { add(text.data(), text.size()); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace stiction
