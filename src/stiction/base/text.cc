#include "stiction/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

namespace stiction {
namespace {

/// Levenshtein distance in half edits: a change of letter case costs one half edit, all else two.
int half_edits(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = 2 * static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = 2 * static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
      const int replace = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
      const int best = std::min({row[j] + 2, row[j - 1] + 2, diagonal + replace});
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view word,
                                        std::span<const std::string> candidates) {
  const int limit = std::max(2, 2 * static_cast<int>(word.size()) / 3);
  std::optional<std::string> nearest;
  int best = limit + 1;
  for (const std::string& candidate : candidates) {
    const int distance = half_edits(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string joined(std::span<const std::string> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  if (const auto nearest = nearest_name(word, candidates))
    return fmt::format("did you mean '{}'?", *nearest);
  if (candidates.empty()) return {};
  return "known: " + joined(candidates);
}

std::string to_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

}  // namespace stiction
