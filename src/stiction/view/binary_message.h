// Arrays of numbers with names, as the page of the viewer reads them without copying: the size of a
// directory (u32), the directory (JSON: name, type, offset, count, and other facts), then the
// arrays, each at a multiple of eight bytes from the beginning. Little-endian throughout.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stiction {

class BinaryMessage {
 public:
  void add(std::string_view name, std::span<const float> values);
  void add(std::string_view name, std::span<const double> values);
  void add(std::string_view name, std::span<const std::int32_t> values);
  void add(std::string_view name, std::span<const std::uint32_t> values);
  /// The message; nothing can be added afterwards.
  std::string finish() &&;

 private:
  struct Entry {
    std::string name;
    const char* type;
    std::size_t offset, count;  // offset from the first array
  };
  void append(std::string_view name, const char* type, const void* values, std::size_t count,
              std::size_t size);

  std::vector<Entry> entries_;
  std::string data_;
};

}  // namespace stiction
