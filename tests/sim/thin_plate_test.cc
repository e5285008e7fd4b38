// What falls on a plate that is thinner than the way of a step stays on it: of the sides of the
// plate, alternatives to each other, the far one is open at the end of such a step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

constexpr double kHalfHeight = 0.02;  // [m] of what falls

Scene drop_on_plate(const std::string& shape, double height) {
  const std::string text = fmt::format(
      R"({{"stiction": 1, "gravity": [0, 0, -9.81], "materials": {{"wood": {{"mu": 0.5}}}},
      "bodies": [
        {{"name": "plate", "static": true, "shapes": [{{"type": "box", "size": [4, 4, 0.01],
          "position": [0, 0, -0.005], "material": "wood"}}]}},
        {{"name": "thing", "density": 1000, "position": [0.1, 0.2, {}],
         "shapes": [{{{}, "material": "wood"}}]}}]}})",
      height, shape);
  Diagnostics diagnostics("test.json");
  auto scene = read_scene(text, {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  return *scene;
}

TEST(ThinPlate, HoldsWhatWouldPassThroughItInAStep) {
  for (const char* shape :
       {R"("type": "sphere", "radius": 0.02)", R"("type": "box", "size": [0.04, 0.05, 0.04])",
        R"("type": "capsule", "radius": 0.02, "length": 0.1,
                               "orientation": [0.7071067811865476, 0.7071067811865476, 0, 0])"})
    for (double height = 1; height < 2; height += 0.05) {
      SCOPED_TRACE(fmt::format("{} from {} m", shape, height));
      Simulation simulation(drop_on_plate(shape, height).model,
                            {.scheme = "stewart-trinkle", .h = 1.0 / 60});
      for (int k = 0; k < 60; ++k) simulation.step();
      ASSERT_NEAR(simulation.state().q[2], kHalfHeight, 1e-6);
    }
}

}  // namespace
}  // namespace stiction
