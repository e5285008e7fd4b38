// The block "view": what it makes, and what is wrong with it.
#include <gtest/gtest.h>

#include "tests/scene/scene_texts.h"

namespace stiction {
namespace {

/// A scene with x, y, a parameter r and a contact "floor"; the block's entries begin at line 2.
std::string scene_viewed(const std::string& entries) {
  return R"({"stiction": 1, "parameters": {"r": 0.5}, "generalized": {"coordinates": {"x": {}, "y": {}},
 "mass": [[1, 0], [0, 1]], "contacts": [{"name": "floor", "gap": "y"}]}, "view": {
)" + entries +
         "}}";
}

TEST(ViewReader, FramesLinksAndContactsHaveTheirFormulas) {
  const SceneView view = accepted(scene_viewed(R"(
    "frames": [{"name": "a", "position": ["x + r", 0, "y"], "orientation": {"axis": [0, 2, 0], "angle": "x"},
                "shapes": [{"type": "sphere", "radius": "r", "color": "#12abEF"}, {"type": "box", "size": [1, 2, 3]}]},
               {}],
    "links": [{"type": "spring", "from": [0, 0, 0], "to": ["x", 0, "y"], "radius": "r/5"}],
    "contacts": [{"name": "floor", "position": ["x", 0, 0], "tangent": [2, 0, 0]}],
    "follow": "a", "up": [0, 3, 0])"))
                             .view;
  ASSERT_EQ(view.frames.size(), 2u);
  EXPECT_EQ(symbols_of(view.frames[0].position[0]), std::vector<std::string>{"x"});
  EXPECT_EQ(view.frames[0].axis, Eigen::Vector3d::UnitY());
  ASSERT_EQ(view.frames[0].shapes.size(), 2u);
  EXPECT_EQ(view.frames[0].shapes[0].color, "#12abEF");
  EXPECT_EQ(std::get<Sphere>(view.frames[0].shapes[0].shape).radius, 0.5);
  EXPECT_EQ(view.frames[1].name, "frame 2");
  ASSERT_EQ(view.links.size(), 1u);
  EXPECT_TRUE(view.links[0].is_spring);
  EXPECT_EQ(view.links[0].radius, 0.1);
  ASSERT_EQ(view.contacts.size(), 1u);
  EXPECT_EQ(view.contacts[0].normal, Eigen::Vector3d::UnitZ());
  EXPECT_EQ(view.contacts[0].tangents[0], Eigen::Vector3d::UnitX());
  EXPECT_EQ(view.follow, 0);
  EXPECT_EQ(view.up, Eigen::Vector3d::UnitY());
}

TEST(ViewReader, FaultsHaveTheirPlaceAndAWayOut) {
  EXPECT_NE(refusal(scene_viewed(R"("frames": [{"position": ["z", 0, 0]}])")).find("unknown"),
            std::string::npos);
  EXPECT_NE(refusal(scene_viewed(R"("frames": [{"shapes": [{"type": "sphere"}]}])"))
                .find("view.frames[0].shapes[0]"),
            std::string::npos);
  EXPECT_NE(
      refusal(scene_viewed(
                  R"("frames": [{"shapes": [{"type": "sphere", "radius": 1, "color": "red"}]}])"))
          .find("'red' is not a colour"),
      std::string::npos);
  EXPECT_NE(refusal(scene_viewed(R"("contacts": [{"name": "flor", "position": [0, 0, 0]}])"))
                .find("floor"),
            std::string::npos);
  EXPECT_NE(refusal(scene_viewed(R"("follow": "b", "frames": [{"name": "a"}])")).find("'b'"),
            std::string::npos);
  EXPECT_NE(refusal(scene_viewed(R"("links": [{"from": [0, 0, 0]}])")).find("to"),
            std::string::npos);
}

TEST(ViewReader, ShapesOfBodiesThatDoNotTouchAreSeen) {
  const Scene scene = accepted(R"({"stiction": 1, "bodies": [{"name": "a", "mass": 1, "shapes": [
    {"type": "sphere", "radius": 1, "color": "#000000"}, {"type": "sphere", "radius": 2, "contact": false}]}]})");
  ASSERT_EQ(scene.view.body_shapes.size(), 1u);
  EXPECT_EQ(std::get<Sphere>(scene.view.body_shapes[0].shape.shape).radius, 2);
  EXPECT_EQ(scene.view.colors, std::vector<std::string>{"#000000"});
}

}  // namespace
}  // namespace stiction
