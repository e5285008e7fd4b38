// Scenes of many bodies: what they come to has no closed form, but what may not happen has.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bench/scenes/measure.h"
#include "bench/scenes/scenes.h"
#include "stiction/base/random.h"

namespace stiction::bench {
namespace {

constexpr double kMu = 0.5;

SceneBody make_ground() {
  SceneBody ground = make_static("ground", Box{{20, 20, 1}}, {0, 0, -0.5});
  ground.mu = kMu;
  return ground;
}

std::vector<SceneError> judge_rest(const SceneDescription& scene, const Trajectory& trajectory) {
  double drift = 0;
  for (const auto& frame : trajectory.frames) drift = std::max(drift, compute_drift(scene, frame));
  return {{"drift [m]", drift}};
}

}  // namespace

/// Running bond: every other course begins and ends with half a brick. A millimetre between
/// neighbours of a course, so that they stand on the course below and on nothing else.
SceneCase make_wall() {
  constexpr int kCourses = 10, kBricks = 20;
  constexpr double kGapBetween = 1e-3;
  const Eigen::Vector3d size(0.4, 0.2, 0.2);
  SceneCase result;
  SceneDescription& scene = result.description;
  scene.name = "wall";
  scene.claim = "does not move";
  scene.duration = 5;
  scene.settled_from = 4;
  scene.bodies.push_back(make_ground());
  const double pitch = size.x() + kGapBetween;
  const auto add_brick = [&](int course, double length, double x) {
    SceneBody brick = make_solid(fmt::format("brick {}", scene.num_bodies()),
                                 Box{{length, size.y(), size.z()}}, 2000);
    brick.position = {x, 0, (course + 0.5) * size.z() - (course + 1) * kSeat};
    brick.mu = kMu;
    scene.bodies.push_back(brick);
  };
  for (int course = 0; course < kCourses; ++course) {
    const bool is_shifted = course % 2 == 1;
    const double left = -kBricks / 2.0 * pitch;
    const double half = (size.x() - kGapBetween) / 2;
    if (is_shifted) add_brick(course, half, left + half / 2);
    for (int i = 0; i < kBricks - (is_shifted ? 1 : 0); ++i)
      add_brick(course, size.x(), left + (i + (is_shifted ? 1.0 : 0.5)) * pitch - kGapBetween / 2);
    if (is_shifted) add_brick(course, half, -left - kGapBetween - half / 2);
  }
  result.judge = judge_rest;
  result.error_names = {"drift [m]"};
  return result;
}

SceneCase make_struck_wall() {
  constexpr double kRadius = 0.4, kDensity = 2000, kSpeed = 12;
  SceneCase result = make_wall();
  SceneDescription& scene = result.description;
  scene.name = "struck wall";
  scene.claim = "is knocked down";
  SceneBody ball = make_solid("ball", Sphere{kRadius}, kDensity);
  ball.position = {0.1, -1, 1.1};
  ball.velocity = {0, kSpeed, 0};
  ball.mu = kMu;
  scene.bodies.push_back(ball);
  result.judge = {};
  result.error_names = {};
  return result;
}

SceneCase make_stack() {
  constexpr int kCubes = 10;
  constexpr double kSide = 0.5, kDensity = 1000, kTopRatio = 1000;
  SceneCase result;
  SceneDescription& scene = result.description;
  scene.name = "stack";
  scene.claim = "ten cubes stand, the top of 1,000 times the density";
  scene.duration = 5;
  scene.settled_from = 4;
  scene.bodies.push_back(make_ground());
  for (int i = 0; i < kCubes; ++i) {
    SceneBody cube = make_solid(fmt::format("cube {}", i + 1), Box{{kSide, kSide, kSide}},
                                kDensity * (i + 1 == kCubes ? kTopRatio : 1));
    cube.position = {0, 0, (i + 0.5) * kSide - (i + 1) * kSeat};
    cube.mu = kMu;
    scene.bodies.push_back(cube);
  }
  result.judge = judge_rest;
  result.error_names = {"drift [m]"};
  return result;
}

/// Ten layers deep whatever the number, so that the time per sphere can be compared.
SceneCase make_spheres(int count) {
  constexpr int kLayers = 10;
  constexpr double kRadius = 0.05, kWall = 0.5, kSpacing = 2.1 * kRadius;
  const int side = static_cast<int>(std::lround(std::sqrt(count / static_cast<double>(kLayers))));
  const double inner = side * kSpacing, height = (kLayers + 2) * kSpacing;
  SceneCase result;
  SceneDescription& scene = result.description;
  scene.name = fmt::format("{} spheres", side * side * kLayers);
  scene.claim = "fall into a box and do not overlap";
  scene.duration = 3;
  scene.settled_from = 2;
  const double outer = inner + 2 * kWall;
  const auto add_wall = [&](const char* name, const Eigen::Vector3d& size,
                            const Eigen::Vector3d& position) {
    SceneBody wall = make_static(name, Box{size}, position);
    wall.mu = kMu;
    scene.bodies.push_back(wall);
  };
  add_wall("floor", {outer, outer, kWall}, {0, 0, -kWall / 2});
  for (const int sign : {-1, 1}) {
    const double offset = sign * (inner + kWall) / 2;
    add_wall(sign < 0 ? "left" : "right", {kWall, outer, height}, {offset, 0, height / 2});
    add_wall(sign < 0 ? "front" : "back", {outer, kWall, height}, {0, offset, height / 2});
  }
  const SceneBody sphere = make_solid("sphere", Sphere{kRadius}, 1000);
  Random random(1);
  const double jitter = 0.4 * (kSpacing - 2 * kRadius);
  for (int layer = 0; layer < kLayers; ++layer)
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) {
        SceneBody body = sphere;
        body.name = fmt::format("sphere {}", scene.num_bodies());
        body.mu = kMu;
        body.position =
            kSpacing * Eigen::Vector3d(i + 0.5 - side / 2.0, j + 0.5 - side / 2.0, layer + 0.5);
        for (int axis = 0; axis < 3; ++axis) body.position[axis] += random.uniform(-jitter, jitter);
        scene.bodies.push_back(body);
      }
  return result;
}

/// On a plane of 20 degrees, between two guides and against a stop at its foot.
SceneCase make_logs() {
  constexpr int kColumns = 10, kLayers = 6;
  constexpr double kRadius = 0.15, kLength = 2, kWall = 0.5, kSpacing = 2.1 * kRadius;
  const double slope = 20 * std::numbers::pi / 180;
  const Eigen::Quaterniond tilt(Eigen::AngleAxisd(slope, Eigen::Vector3d::UnitY()));
  SceneCase result;
  SceneDescription& scene = result.description;
  scene.name = "logs";
  scene.claim = "roll against a stop and do not overlap";
  scene.duration = 5;
  scene.settled_from = 4;
  const double width = kLength + 2 * kRadius + 0.1, length = 8, height = 3;
  // All in the frame of the slope: x down, y across, z off the plane; the stop ends at x = 0.
  const auto place = [&](SceneBody body, const Eigen::Vector3d& position) {
    body.position = tilt * position;
    body.orientation = tilt * body.orientation;
    body.mu = kMu;
    scene.bodies.push_back(body);
  };
  const auto add_wall = [&](const char* name, const Eigen::Vector3d& size,
                            const Eigen::Vector3d& position) {
    place(make_static(name, Box{size}, {}), position);
  };
  add_wall("slope", {length, width + 2 * kWall, kWall}, {kWall - length / 2, 0, -kWall / 2});
  add_wall("stop", {kWall, width, height}, {kWall / 2, 0, height / 2});
  for (const int sign : {-1, 1})
    add_wall(sign < 0 ? "left guide" : "right guide", {length, kWall, height},
             {kWall - length / 2, sign * (width + kWall) / 2, height / 2});
  SceneBody log = make_solid("log", Capsule{kRadius, kLength}, 600);
  log.orientation = Eigen::AngleAxisd(std::numbers::pi / 2, Eigen::Vector3d::UnitX());
  for (int layer = 0; layer < kLayers; ++layer)
    for (int column = 0; column < kColumns; ++column) {
      log.name = fmt::format("log {}", layer * kColumns + column + 1);
      place(log, {-(column + 0.5 + 0.25 * (layer % 2)) * kSpacing, 0, (layer + 0.5) * kSpacing});
    }
  return result;
}

}  // namespace stiction::bench
