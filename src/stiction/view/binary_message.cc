#include "stiction/view/binary_message.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

namespace stiction {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they are");

constexpr std::size_t kAlignment = 8;

std::size_t padding_of(std::size_t size) { return (kAlignment - size % kAlignment) % kAlignment; }

}  // namespace

void BinaryMessage::add(std::string_view name, std::span<const float> values) {
  append(name, "f32", values.data(), values.size(), sizeof(float));
}
void BinaryMessage::add(std::string_view name, std::span<const double> values) {
  append(name, "f64", values.data(), values.size(), sizeof(double));
}
void BinaryMessage::add(std::string_view name, std::span<const std::int32_t> values) {
  append(name, "i32", values.data(), values.size(), sizeof(std::int32_t));
}
void BinaryMessage::add(std::string_view name, std::span<const std::uint32_t> values) {
  append(name, "u32", values.data(), values.size(), sizeof(std::uint32_t));
}

void BinaryMessage::append(std::string_view name, const char* type, const void* values,
                           std::size_t count, std::size_t size) {
  entries_.push_back({std::string(name), type, data_.size(), count});
  if (count > 0) data_.append(static_cast<const char*>(values), count * size);
  data_.append(padding_of(data_.size()), '\0');
}

std::string BinaryMessage::finish() && {
  nlohmann::json directory = nlohmann::json::array();
  for (const Entry& entry : entries_)
    directory.push_back({{"name", entry.name},
                         {"type", entry.type},
                         {"offset", entry.offset},
                         {"count", entry.count}});
  std::string text = directory.dump();
  text.append(padding_of(sizeof(std::uint32_t) + text.size()), ' ');
  const auto size = static_cast<std::uint32_t>(text.size());
  std::string message(sizeof size, '\0');
  std::memcpy(message.data(), &size, sizeof size);
  return message + text + data_;
}

}  // namespace stiction
