// Meshes of scenes: what is at fault, whether a repair is offered, and what a repair tells.
#include "stiction/scene/shape_reader.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/scene/body_texts.h"

namespace stiction {
namespace {

constexpr double kRounding = 1e-14;  // numbers of order one after a few operations
constexpr const char* kHopeless = "help: the mesh cannot be repaired safely";

/// A tetrahedron of volume 1/6 with a fifth vertex that its triangles do not have.
std::string tetrahedron(const std::string& triangles, bool repairs = false) {
  return one_body(R"("density": 1, "shapes": [{"type": "mesh", )" +
                  std::string(repairs ? R"("repair": true, )" : "") +
                  R"("vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]],
     "triangles": [)" +
                  triangles + "]}]");
}

/// Faults, and what "repair" says that it does about them.
struct Case {
  const char* triangles;
  const char* repair;  // null where there is none
};
const Case kCases[] = {
    {"[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 3, 2]", "1 triangle turned"},
    {"[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2], [2, 1, 0]", "1 duplicate triangle dropped"},
    {"[0, 2, 1], [0, 0, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2], [3, 1, 3]",
     "2 degenerate triangles dropped"},
    {"[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 3, 2], [0, 0, 1], [1, 2, 3]",
     "1 degenerate triangle dropped, 1 duplicate triangle dropped, 1 triangle turned"},
    {"[0, 1, 2], [0, 3, 1], [1, 3, 2], [0, 2, 3]", "4 triangles turned"},
    // A fin: an edge of three triangles. That another triangle could be turned is no help.
    {"[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2], [0, 1, 4]", nullptr},
    {"[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 3, 2], [0, 1, 4]", nullptr},
    // Two triangles that cover each other in opposite directions.
    {"[0, 1, 2], [0, 2, 1]", nullptr},
};

TEST(ShapeReader, OffersARepairOnlyWhereItSucceeds) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.triangles);
    const std::string text = refusal(tetrahedron(one.triangles));
    const std::string offer =
        one.repair != nullptr ? std::string("help: \"repair\": true mends the mesh: ") + one.repair
                              : kHopeless;
    EXPECT_NE(text.find(offer), std::string::npos) << text;
    EXPECT_EQ(text.find("\"repair\"") != std::string::npos, one.repair != nullptr) << text;
  }
}

/// The offer is kept, and what was done is told with the place of the mesh.
TEST(ShapeReader, TellsWhatWasRepaired) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.triangles);
    const std::string text = tetrahedron(one.triangles, true);
    if (one.repair == nullptr) {
      EXPECT_NE(refusal(text).find(kHopeless), std::string::npos) << refusal(text);
      continue;
    }
    Diagnostics diagnostics("scene.json");
    const std::optional<Scene> scene = read_scene(text, kKnown, diagnostics);
    ASSERT_TRUE(scene) << diagnostics.to_text();
    EXPECT_EQ(
        diagnostics.to_text(),
        std::string("scene.json:2:26: warning: bodies[0].shapes[0]: the mesh was repaired: ") +
            one.repair + "\n");
    EXPECT_NEAR(bodies_of(*scene).description().bodies.at(0).mass, 1 / 6.0, kRounding);
  }
}

TEST(ShapeReader, SaysNothingOfAMeshThatNeedsNoRepair) {
  for (const bool repairs : {false, true})
    accepted(tetrahedron("[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]", repairs));
}

/// Indices and numbers of triangles are for their author to mend.
TEST(ShapeReader, OffersNoRepairOfIndices) {
  for (const bool repairs : {false, true})
    for (const char* triangles : {"[0, 2, 1], [0, 1, 17]", "[0, 0, 1]"}) {
      const std::string text = refusal(tetrahedron(triangles, repairs));
      EXPECT_EQ(text.find("help:"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace stiction
