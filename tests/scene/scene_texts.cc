#include "tests/scene/scene_texts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>
#include <stdexcept>
#include <utility>

namespace stiction {

std::string refusal(const std::string& text) {
  Diagnostics diagnostics("f");
  EXPECT_FALSE(read_scene(text, kKnown, diagnostics).has_value()) << text;
  EXPECT_TRUE(diagnostics.has_errors()) << text;
  return diagnostics.to_text();
}

Scene accepted(const std::string& text) {
  Diagnostics diagnostics("f");
  std::optional<Scene> scene = read_scene(text, kKnown, diagnostics);
  EXPECT_EQ(diagnostics.to_text(), "") << text;
  if (!scene) throw std::runtime_error("scene was refused");
  return std::move(*scene);
}

std::string scene_with(const std::string& entries, const SceneParts& parts) {
  return fmt::format(
      "{{\"stiction\": 1, \"simulate\": {{{}}}, \"generalized\": {{\n\"coordinates\": {{{}}}, "
      "\"mass\": {}{}\n{}}}}}",
      parts.simulate, parts.start, parts.mass, entries.empty() ? "" : ",", entries);
}

std::string with_simulate(const std::string& entries) {
  return "{\"stiction\": 1, \"parameters\": {\"a\": 2}, \"generalized\": {\"coordinates\": {\"x\": "
         "{}}, "
         "\"mass\": [[1]]}, \"simulate\": {\n" +
         entries + "}}";
}

}  // namespace stiction
