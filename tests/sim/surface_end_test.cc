// Steps that are iterated to their end leave no overlap with meshes and height fields there, though
// corners come to parts of a surface that they were not near when the step began. Distances are
// those of the audit, which shares no code with the detection.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stiction/audit/separation.h"
#include "stiction/model/surfaces.h"
#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

constexpr double kTolerance = 1e-9;

/// A box and a hull that fall on something folded, and turn; `side` is 1 for a valley, −1 for a
/// ridge.
std::string on_fold(double side) {
  return fmt::format(
      R"({{"stiction": 1, "gravity": [0, 0, -9.81], "materials": {{"wood": {{"mu": 0.3}}}},
      "bodies": [
        {{"name": "ground", "static": true, "shapes": [{{"type": "mesh", "material": "wood",
          "vertices": [[-1, -1, {0}], [1, -1, {0}], [1, 0, 0], [-1, 0, 0], [1, 1, {1}], [-1, 1, {1}]],
          "triangles": [[0, 1, 2], [0, 2, 3], [3, 2, 4], [3, 4, 5]]}}]}},
        {{"name": "box", "density": 800, "position": [0, 0.1, 0.35], "velocity": [0.5, -0.3, -1],
         "angular_velocity": [4, -3, 2],
         "shapes": [{{"type": "box", "size": [0.11, 0.23, 0.17], "material": "wood"}}]}},
        {{"name": "hull", "density": 800, "position": [0.5, -0.1, 0.45],
         "velocity": [-0.2, 0.3, -1], "angular_velocity": [-4, 2, 5],
         "shapes": [{{"type": "convex", "material": "wood", "points": [[0.12, 0, 0.02],
           [-0.1, 0.05, 0], [0.01, 0.11, -0.04], [0, -0.12, 0.01], [0.03, 0.02, 0.11],
           [-0.02, -0.03, -0.12], [0.07, -0.07, 0.06]]}}]}}]}})",
      0.2 * side, 0.25 * side);
}

/// A closed mesh that falls on a box: its corners are over faces, and edges over edges.
constexpr const char* kOnBox = R"({"stiction": 1, "gravity": [0, 0, -9.81],
    "materials": {"wood": {"mu": 0.4}},
    "bodies": [
      {"name": "ground", "static": true,
       "shapes": [{"type": "box", "size": [0.5, 0.5, 0.2], "position": [0, 0, -0.1],
                   "material": "wood"}]},
      {"name": "mesh", "mass": 2, "inertia": [0.02, 0.02, 0.02], "position": [0, 0, 0.2],
       "velocity": [0.5, 0.2, -1], "angular_velocity": [1, 2, 0.5],
       "shapes": [{"type": "mesh", "material": "wood",
         "vertices": [[0, 0, 0.15], [0.1, 0, -0.05], [-0.08, 0.08, -0.05], [-0.06, -0.1, -0.05]],
         "triangles": [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]}]}]})";

struct Overlaps {
  double deepest = 0;        // [m]
  double told = 0;           // [m] deepest of the certificates
  std::int64_t linear = 0;   // steps without a fixed point
  std::int64_t touches = 0;  // steps in which something touched
};

Overlaps run(const std::string& text, double h, int steps) {
  Diagnostics diagnostics("test.json");
  const std::optional<Scene> scene = read_scene(text, {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  SimulationOptions options;
  options.scheme = "stewart-trinkle";
  options.h = h;
  options.tolerance = kTolerance;
  Simulation simulation(scene->model, options);
  const Model::Part& part = simulation.model().parts().front();
  const Surfaces& surfaces = *part.system->surfaces();
  std::vector<AuditShape> shapes;
  for (const CollisionObject& object : surfaces.objects())
    shapes.emplace_back(object.shape->shape());
  Overlaps found;
  for (int i = 0; i < steps; ++i) {
    simulation.step();
    const State& end = simulation.state();
    const auto q = end.q.segment(part.q_offset, part.system->num_q());
    for (int k = 1; k < surfaces.num_objects(); ++k) {
      const Pose ground = surfaces.place_object(end.t, q, 0),
                 body = surfaces.place_object(end.t, q, k);
      const double gap = Separation::measure({shapes[k], body}, {shapes[0], ground}, 1e-6).gap;
      found.deepest = std::max(found.deepest, -gap);
      found.touches += gap < 1e-7 ? 1 : 0;
    }
    found.told = std::max(found.told, -simulation.certificate().gap);
  }
  found.linear = simulation.summary().linear_steps;
  return found;
}

/// What is let be is `tolerance` of the size of a shape, 0.25 m, and rounding of distances.
constexpr double kLetBe = 0.25 * kTolerance + 1e-9;

TEST(SurfaceEnd, IteratedStepsOnAFoldedMeshLeaveNoOverlap) {
  for (const double side : {1.0, -1.0}) {
    SCOPED_TRACE(side);
    const Overlaps found = run(on_fold(side), 2e-3, 400);
    EXPECT_GT(found.touches, 100);
    EXPECT_EQ(found.linear, 0);
    EXPECT_LT(found.deepest, kLetBe);
    EXPECT_LT(found.told, kLetBe);
  }
}

TEST(SurfaceEnd, IteratedStepsOfAMeshOnABoxLeaveNoOverlap) {
  const Overlaps found = run(kOnBox, 1e-3, 600);
  EXPECT_GT(found.touches, 100);
  EXPECT_EQ(found.linear, 0);
  EXPECT_LT(found.deepest, kLetBe);
  EXPECT_LT(found.told, kLetBe);
}

}  // namespace
}  // namespace stiction
