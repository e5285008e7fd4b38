#include "stiction/app/experiments/number_text.h"

#include <fmt/format.h>

namespace stiction::experiments {

std::string show(double value, int digits, const std::string& unit) {
  std::string text = fmt::format("{:.{}g}", value, digits);
  if (const std::size_t e = text.find('e'); e != std::string::npos) {
    while (e + 3 < text.size() && text[e + 2] == '0') text.erase(e + 2, 1);
    if (text[e + 1] == '+') text.erase(e + 1, 1);
  }
  if (!unit.empty()) text += " " + unit;
  return text;
}

std::string show_seconds(double seconds) {
  return seconds < 10 ? fmt::format("{:.2f}", seconds) : fmt::format("{:.0f}", seconds);
}

std::string power_of_two(int exponent) {
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = "2⁻";
  for (const char c : std::to_string(exponent)) text += kDigits[c - '0'];
  return text;
}

}  // namespace stiction::experiments
