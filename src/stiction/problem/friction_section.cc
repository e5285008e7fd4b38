#include "stiction/problem/friction_section.h"

#include <fmt/format.h>

#include <charconv>

#include "stiction/base/error.h"

namespace stiction {
namespace {

bool is_valid_polygon(int num_sides) {
  return num_sides >= 4 && num_sides <= 1024 && num_sides % 2 == 0;
}

}  // namespace

FrictionSection FrictionSection::polygon(int num_sides) {
  if (!is_valid_polygon(num_sides))
    throw InputError(fmt::format(
        "friction polygon has {} sides, expected an even number from 4 to 1024", num_sides));
  return {Kind::kPolygon, num_sides};
}

std::optional<FrictionSection> try_parse_friction_section(std::string_view text) {
  if (text == "disc") return FrictionSection::disc();
  if (text == "box") return FrictionSection::box();
  constexpr std::string_view kPrefix = "polygon:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  int num_sides = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), num_sides);
  if (error != std::errc() || end != text.data() + text.size() || !is_valid_polygon(num_sides))
    return std::nullopt;
  return FrictionSection::polygon(num_sides);
}

std::string to_text(const FrictionSection& section) {
  switch (section.kind) {
    case FrictionSection::Kind::kDisc:
      return "disc";
    case FrictionSection::Kind::kBox:
      return "box";
    case FrictionSection::Kind::kPolygon:
      return fmt::format("polygon:{}", section.num_sides);
  }
  return "unknown";
}

}  // namespace stiction
