// Values of a scene are replaced where a path says, and nowhere else.
#include "stiction/scene/scene_override.h"

#include <gtest/gtest.h>

namespace stiction {
namespace {

const std::string kScene = R"({
  // a comment
  "parameters": {"mu": 0.5, "g": 9.81}, "simulate": {"h": 1e-3},
  "bodies": [{"name": "cart", "mass": 1}, {"name": "big cart", "mass": 2.50}]})";

std::string with(const std::vector<SceneOverride>& overrides) {
  Diagnostics diagnostics("scene");
  return override_scene(kScene, overrides, diagnostics).value_or(diagnostics.to_text());
}

TEST(SceneOverride, ReplacesByNamePathNumberAndItemName) {
  EXPECT_EQ(with({}),
            R"({"parameters": {"mu": 0.5, "g": 9.81}, "simulate": {"h": 1e-3}, "bodies": )"
            R"([{"name": "cart", "mass": 1}, {"name": "big cart", "mass": 2.50}]})");
  EXPECT_NE(with({{"mu", "0.25"}}).find(R"("mu": 0.25)"), std::string::npos);
  EXPECT_NE(with({{"h", "1e-4"}}).find(R"("h": 1e-4)"), std::string::npos);
  EXPECT_NE(with({{"bodies[1].mass", "7"}}).find(R"("big cart", "mass": 7)"), std::string::npos);
  EXPECT_NE(with({{"bodies['big cart'].mass", "7"}}).find(R"("mass": 7)"), std::string::npos);
  EXPECT_NE(with({{"bodies.cart.mass", "\"mu\""}}).find(R"("cart", "mass": "mu")"),
            std::string::npos);
  EXPECT_NE(with({{"simulate.scheme", "\"spook\""}}).find(R"("h": 1e-3, "scheme": "spook")"),
            std::string::npos);
}

TEST(SceneOverride, TellsWhatIsNotThere) {
  EXPECT_NE(with({{"mux", "1"}}).find("no such parameter"), std::string::npos);
  EXPECT_NE(with({{"bodies.cat.mass", "1"}}).find("did you mean 'cart'"), std::string::npos);
  EXPECT_NE(with({{"bodies[2].mass", "1"}}).find("no '2' there"), std::string::npos);
  EXPECT_NE(with({{"bodies[", "1"}}).find("is no path"), std::string::npos);
  EXPECT_NE(with({{"mu", "{"}}).find("error"), std::string::npos);
}

TEST(SceneOverride, TextsSurviveTheWayThroughJson) {
  Diagnostics diagnostics("scene");
  const std::string text =
      R"({"a": "quote \" back \\ line \n tab \t é", "b": [true, null, -1e-300]})";
  const auto once = override_scene(text, {}, diagnostics);
  ASSERT_TRUE(once);
  const auto first = parse_json(text, diagnostics), second = parse_json(*once, diagnostics);
  EXPECT_EQ(first->find("a")->string, second->find("a")->string);
  EXPECT_EQ(override_scene(*once, {}, diagnostics), once);
}

}  // namespace
}  // namespace stiction
