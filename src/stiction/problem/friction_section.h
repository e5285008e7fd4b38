// The section B of the friction cone: the friction impulse β of a contact with normal impulse ν
// lies in μν·B and dissipates as much as B allows (T4).
//   disc      {‖b‖ ≤ 1}, Coulomb's law itself
//   polygon   regular k-gon inscribed in the disc, first vertex on tangent 1 (the papers' cone)
//   box       {|b₁| ≤ 1, |b₂| ≤ 1}
// With a single tangent row all three are the interval [−1, 1].
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stiction {

struct FrictionSection {
  enum class Kind { kDisc = 0, kPolygon = 1, kBox = 2 };

  Kind kind = Kind::kDisc;
  int num_sides = 0;  // of a polygon, even and at least 4 so that B = −B; 0 otherwise

  static constexpr FrictionSection disc() { return {}; }
  static constexpr FrictionSection box() { return {Kind::kBox, 0}; }
  static FrictionSection polygon(int num_sides);  // throws InputError unless even and in [4, 1024]

  bool operator==(const FrictionSection&) const = default;
};

/// Reads "disc", "box" or "polygon:K"; nothing if it is none of these.
std::optional<FrictionSection> try_parse_friction_section(std::string_view text);
std::string to_text(const FrictionSection& section);

}  // namespace stiction
