// Scenes as texts for tests of the reader: what it must accept, and what it says when it refuses.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "stiction/scene/scene.h"

namespace stiction {

inline const KnownNames kKnown{.schemes = {"moreau", "spook"}, .solvers = {"auto", "lemke"}};

/// The messages of a scene that must be refused.
inline std::string refusal(const std::string& text) {
  Diagnostics diagnostics("f");
  EXPECT_FALSE(read_scene(text, kKnown, diagnostics).has_value()) << text;
  EXPECT_TRUE(diagnostics.has_errors()) << text;
  return diagnostics.to_text();
}

/// A scene that must be accepted without a word.
inline Scene accepted(const std::string& text) {
  Diagnostics diagnostics("f");
  std::optional<Scene> scene = read_scene(text, kKnown, diagnostics);
  EXPECT_EQ(diagnostics.to_text(), "") << text;
  if (!scene) throw std::runtime_error("scene was refused");
  return std::move(*scene);
}

/// A scene with x and y. Everything before the entries of `generalized` that a test adds stands in
/// the first two lines, so that those begin at line 3, column 1.
struct SceneParts {
  std::string simulate{};  // entries of "simulate"
  std::string start = "\"x\": {}, \"y\": {}";
  std::string mass = "[[1, 0], [0, 1]]";
};

inline std::string scene_with(const std::string& entries, const SceneParts& parts = {}) {
  return fmt::format(
      "{{\"stiction\": 1, \"simulate\": {{{}}}, \"generalized\": {{\n\"coordinates\": {{{}}}, "
      "\"mass\": {}{}\n{}}}}}",
      parts.simulate, parts.start, parts.mass, entries.empty() ? "" : ",", entries);
}

inline std::string with_simulate(const std::string& entries) {
  return "{\"stiction\": 1, \"parameters\": {\"a\": 2}, \"generalized\": {\"coordinates\": {\"x\": "
         "{}}, "
         "\"mass\": [[1]]}, \"simulate\": {\n" +
         entries + "}}";
}

}  // namespace stiction
