// Cylinders and capsules that lie along two edges, nearly parallel to them: both ends of what they
// have in common with an edge count. With the nearest point alone, which goes from one end to the
// other when they turn by rounding, they sink for ever; crossings of axis and edge that are
// followed within a step run away along both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

constexpr double kRadius = 0.15, kHalf = 0.1;  // [m] of what lies there; half of the groove
constexpr double kFall = 2e-3;                 // [m] before it lies

/// A beam of 0.1 m by 1 m by 0.3 m, whose upper edge towards the groove is at ±kHalf.
std::string describe_beam(const std::string& kind, double side) {
  const double x = side * (kHalf + 0.05);
  if (kind == "box")
    return fmt::format(
        R"({{"type": "box", "size": [0.1, 1, 0.3], "position": [{}, 0, -0.15], "material": "m"}})",
        x);
  std::string corners;
  for (const double z : {-0.3, 0.0})
    for (const double y : {-0.5, 0.5})
      for (const double dx : {-0.05, 0.05})
        corners += fmt::format("{}[{}, {}, {}]", corners.empty() ? "" : ", ", x + dx, y, z);
  if (kind == "convex")
    return fmt::format(R"({{"type": "convex", "points": [{}], "material": "m"}})", corners);
  return fmt::format(
      R"({{"type": "mesh", "vertices": [{}], "triangles": [[0, 2, 3], [0, 3, 1], [4, 5, 7],
         [4, 7, 6], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7],
         [1, 7, 5]], "material": "m"}})",
      corners);
}

Scene make_groove(const std::string& kind, const std::string& shape, double yaw) {
  // The axis along y, then turned about z.
  const double c = std::cos(yaw / 2) * std::sqrt(0.5), s = std::sin(yaw / 2) * std::sqrt(0.5);
  const std::string text = fmt::format(
      R"({{"stiction": 1, "gravity": [0, 0, -9.81], "materials": {{"m": {{"mu": 0.5}}}}, "bodies": [
        {{"name": "beams", "static": true, "shapes": [{}, {}]}},
        {{"name": "log", "density": 1000, "position": [0, 0, {}],
          "orientation": [{}, {}, {}, {}], "shapes": [{{{}, "material": "m"}}]}}]}})",
      describe_beam(kind, -1), describe_beam(kind, 1),
      std::sqrt(kRadius * kRadius - kHalf * kHalf) + kFall, c, c, s, s, shape);
  Diagnostics diagnostics("test.json");
  auto scene = read_scene(text, {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  return *scene;
}

constexpr const char* kCylinder = R"("type": "cylinder", "radius": 0.15, "length": 0.6)";
constexpr const char* kCapsule = R"("type": "capsule", "radius": 0.15, "length": 0.4)";

class AlongEdges : public ::testing::TestWithParam<const char*> {};

TEST_P(AlongEdges, WhatLiesThereStaysThere) {
  constexpr double kDegree = std::numbers::pi / 180;
  for (const char* shape : {kCylinder, kCapsule})
    for (const double yaw : {0.0, 1e-4, 1e-3, 0.01, 0.1, 0.3}) {
      SCOPED_TRACE(fmt::format("{}, {} degrees", shape, yaw));
      Simulation simulation(make_groove(GetParam(), shape, yaw * kDegree).model,
                            {.scheme = "moreau", .h = 2e-3});
      for (int k = 0; k < 1500; ++k) {
        simulation.step();
        // All contacts are where the body is, and the edges are.
        for (const ContactOutcome& contact : simulation.contacts()) {
          ASSERT_LE(std::abs(contact.place.position[1]), 0.36);
          ASSERT_NEAR(std::abs(contact.place.position[0]), kHalf, 2e-3);
        }
      }
      // Contacts that close within a step hold from the next one on: at √(2 g 2 mm) that is up to
      // 0.4 mm along their normals. Nothing is lost after that.
      const double lowest = std::sqrt(kRadius * kRadius - kHalf * kHalf) - 6e-4;
      EXPECT_GT(simulation.state().q[2], lowest);
      EXPECT_GE(simulation.summary().gap_min, -4.5e-4);
      EXPECT_LT(simulation.state().v.norm(), 1e-6);
    }
}

TEST_P(AlongEdges, EndsOfStepsHaveNoOverlap) {
  constexpr double kDegree = std::numbers::pi / 180;
  for (const char* shape : {kCylinder, kCapsule})
    for (const double yaw : {1e-3, 0.01, 0.3}) {
      SCOPED_TRACE(fmt::format("{}, {} degrees", shape, yaw));
      Simulation simulation(make_groove(GetParam(), shape, yaw * kDegree).model,
                            {.scheme = "stewart-trinkle", .h = 2e-3});
      const double start = simulation.energy().now.total();
      for (int k = 0; k < 500; ++k) simulation.step();
      EXPECT_GE(simulation.summary().gap_min, -1e-6);
      EXPECT_LE(simulation.energy().now.total(), start);
    }
}

INSTANTIATE_TEST_SUITE_P(Beams, AlongEdges, ::testing::Values("box", "convex", "mesh"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace stiction
