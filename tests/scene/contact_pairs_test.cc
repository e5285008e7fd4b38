// Which shapes of a scene touch, and how.
#include "stiction/scene/contact_pairs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/scene/body_texts.h"

namespace stiction {
namespace {

using Names = std::vector<std::string>;

const std::string kBall = R"("mass": 1, "shapes": [{"type": "sphere", "radius": 0.1}])";

Names contact_names(const std::string& text) {
  Names names;
  for (const BodyContactDescription& contact : described(text).contacts)
    names.push_back(contact.name);
  return names;
}

/// A ball and the ground, with materials as entries of their shapes.
BodyContactDescription ball_on_ground(const std::string& ball, const std::string& ground) {
  return described(scene_of(R"("materials": {"ice": {"mu": 0.02, "restitution": 0.25},
      "rubber": {"mu": 0.5, "restitution": 0.75, "restitution_tangential": "a/4"}}, "bodies": [
      {"name": "ground", "static": true, "shapes": [{"type": "plane", "offset": -1)" +
                            ground + R"(}]}, {"name": "ball", "mass": 1,
      "shapes": [{"type": "sphere", "radius": 0.5, "position": [0, 0, 1])" +
                            ball + "}]}]"))
      .contacts.at(0);
}

TEST(ContactPairs, FirstSideIsTheRoundOne) {
  const BodyContactDescription contact = ball_on_ground("", "");
  EXPECT_EQ(contact.name, "ball-ground");
  EXPECT_EQ(contact.sides[0].body, 1);
  EXPECT_EQ(std::get<Sphere>(contact.sides[0].shape).radius, 0.5);
  EXPECT_EQ(contact.sides[0].frame.position, Eigen::Vector3d(0, 0, 1));
  EXPECT_EQ(contact.sides[1].body, 0);
  EXPECT_EQ(std::get<Plane>(contact.sides[1].shape).offset, -1);
}

TEST(ContactPairs, MaterialsCombineByTheirRule) {
  const std::string ice = R"(, "material": "ice")", rubber = R"(, "material": "rubber")";
  const BodyContactDescription both = ball_on_ground(ice, rubber);
  EXPECT_DOUBLE_EQ(both.mu, 0.1);  // √(0.02·0.5)
  EXPECT_EQ(both.restitution, 0.25);
  EXPECT_EQ(both.restitution_tangential, 0);
  const BodyContactDescription one = ball_on_ground("", rubber);
  EXPECT_EQ(one.mu, 0.5);
  EXPECT_EQ(one.restitution, 0.75);
  EXPECT_EQ(one.restitution_tangential, 0.5);
  EXPECT_EQ(ball_on_ground(ice, "").mu, 0.02);
  const BodyContactDescription none = ball_on_ground("", "");
  EXPECT_EQ(none.mu, 0);
  EXPECT_EQ(none.restitution, 0);
}

TEST(ContactPairs, PairsAreOfDifferentBodiesOneOfWhichMoves) {
  EXPECT_EQ(
      contact_names(scene_of(R"("bodies": [
      {"name": "floor", "static": true, "shapes": [{"type": "plane"}]},
      {"name": "wall", "static": true, "shapes": [{"type": "plane", "normal": [1, 0, 0]}]},
      {"name": "piston", "kinematic": {"position": [2, 0, 3]}, "shapes": [{"type": "sphere",
       "radius": 0.1}]},
      {"name": "pair", "mass": 1, "position": [1, 0, 1], "shapes": [{"type": "sphere",
       "radius": 0.1}, {"type": "ellipsoid", "radii": [0.1, 0.2, 0.3], "position": [1, 0, 0],
       "contact": false}]},
      {"name": "egg", "mass": 1, "position": [5, 0, 1], "shapes": [{"type": "ellipsoid",
       "radii": [0.1, 0.2, 0.3]}, {"type": "sphere", "radius": 0.1, "contact": false}]}],
      "joints": [{"type": "ball", "bodies": ["pair", "egg"], "at": [0, 0, 0]},
      {"type": "distance", "bodies": ["egg", "piston"], "at": [[5, 0, 1], [2, 0, 3]]}])")),
      (Names{"pair[0]-floor", "egg[0]-floor", "pair[0]-wall", "egg[0]-wall", "piston-pair[0]"}));
}

TEST(ContactPairs, JoinedBodiesTouchIfAJointSaysSo) {
  const auto names = [](const std::string& first, const std::string& second) {
    return contact_names(scene_of(R"("bodies": [{"name": "a", )" + kBall + R"(}, {"name": "b",
      "position": [1, 0, 0], )" + kBall +
                                  R"(}], "joints": [
      {"type": "ball", "bodies": ["b", "a"], "at": [0, 0, 0])" +
                                  first + R"(},
      {"type": "ball", "bodies": ["a", "b"], "at": [0, 0, 1])" +
                                  second + "}]"));
  };
  EXPECT_EQ(names("", ""), Names{});
  EXPECT_EQ(names(R"(, "collide": false)", ""), Names{});
  EXPECT_EQ(names(R"(, "collide": true)", ""), Names{"a-b"});
  EXPECT_EQ(names("", R"(, "collide": true)"), Names{"a-b"});
}

TEST(ContactPairs, NamesOfContactsDiffer) {
  EXPECT_EQ(contact_names(scene_of(R"("bodies": [{"name": "a", )" + kBall + R"(},
      {"name": "b-c", "position": [1, 0, 0], )" +
                                   kBall + R"(},
      {"name": "a-b", "position": [2, 0, 0], )" +
                                   kBall + R"(},
      {"name": "c", "position": [3, 0, 0], )" +
                                   kBall + "}]")),
            (Names{"a-b-c", "a-a-b", "a-c", "b-c-a-b", "b-c-c", "a-b-c 2"}));
}

TEST(ContactPairs, ShapesWithoutContactFunctionAreNamedOnce) {
  const std::string text = refusal(scene_of(R"("bodies": [
{"name": "floor", "static": true, "shapes": [{"type": "plane"}]},
{"name": "crate", "mass": 1, "shapes": [{"type": "box", "size": [1, 1, 1]}]},
{"name": "egg", "mass": 1, "shapes": [{"type": "ellipsoid", "radii": [1, 1, 2]}]},
{"name": "ball", "mass": 1, "shapes": [{"type": "sphere", "radius": 1}]}])"));
  const std::string help =
      "  help: available: sphere-plane, ellipsoid-plane, sphere-sphere; write \"contact\": false "
      "to leave a shape out of contact\n";
  EXPECT_EQ(text,
            "f:4:41: error: bodies[1].shapes[0]: contact between this box of 'crate' and a plane "
            "of 'floor' is not available in this version\n" +
                help +
                "f:5:39: error: bodies[2].shapes[0]: contact between this ellipsoid of 'egg' and a "
                "sphere of 'ball' is not available in this version\n" +
                help);
}

}  // namespace
}  // namespace stiction
