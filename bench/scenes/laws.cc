// Scenes of few bodies whose motion is known in closed form, and the heavy chain, whose motion is
// known to many digits (bench/peers/chain_reference.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "bench/peers/chain_reference.h"
#include "bench/scenes/scenes.h"

namespace stiction::bench {
namespace {

constexpr double kMu = 0.5;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// The frame that is nearest to a time.
const std::vector<BodyState>& frame_at(const Trajectory& trajectory, double time) {
  return trajectory.frames.at(static_cast<std::size_t>(std::lround(time / trajectory.h)));
}

double duration_of(const Trajectory& trajectory) {
  return static_cast<double>(trajectory.frames.size() - 1) * trajectory.h;
}

Eigen::Vector3d direction_of(double angle_deg) {
  const double angle = angle_deg * std::numbers::pi / 180;
  return {std::cos(angle), std::sin(angle), 0};
}

/// A frame is off by turning the y axis: x points down the slope.
Eigen::Quaterniond make_tilt(double slope) {
  return Eigen::Quaterniond(Eigen::AngleAxisd(slope, Eigen::Vector3d::UnitY()));
}

}  // namespace

/// tan α = 0.98 μ sticks; tan α = 1.02 μ slides with g (sin α − μ cos α).
SceneCase make_incline(bool is_steep) {
  const double slope = std::atan(kMu * (is_steep ? 1.02 : 0.98));
  const Eigen::Quaterniond tilt = make_tilt(slope);
  SceneCase result;
  SceneDescription& scene = result.description;
  scene.name = is_steep ? "incline above" : "incline below";
  scene.claim =
      is_steep ? "slides with g (sin α − μ cos α), tan α = 1.02 μ" : "a box sticks, tan α = 0.98 μ";
  scene.duration = 2;
  scene.settled_from = 1;
  SceneBody plane = make_static("plane", Box{{10, 4, 1}}, tilt * Eigen::Vector3d(0, 0, -0.5));
  plane.orientation = tilt;
  plane.mu = kMu;
  SceneBody box = make_solid("box", Box{{0.6, 0.4, 0.2}}, 1000);
  box.position = tilt * Eigen::Vector3d(0, 0, 0.1 - kSeat);
  box.orientation = tilt;
  box.mu = kMu;
  scene.bodies = {plane, box};
  if (!is_steep) {
    result.error_names = {"creep [m/s]"};
    result.judge = [tilt](const SceneDescription& s,
                          const Trajectory& trajectory) -> std::vector<SceneError> {
      const double seconds = duration_of(trajectory);
      const double from = std::min(s.settled_from, seconds / 2);
      // Along the slope; what sinks or rises is the business of overlap and drift.
      const Eigen::Vector3d way = tilt.conjugate() * (trajectory.frames.back()[1].p_WB -
                                                      frame_at(trajectory, from)[1].p_WB);
      return {{"creep [m/s]", way.head<2>().norm() / (seconds - from)}};
    };
    return result;
  }
  const double acceleration = kGravity * (std::sin(slope) - kMu * std::cos(slope));
  const Eigen::Vector3d down = tilt * Eigen::Vector3d::UnitX();
  result.error_names = {"acceleration", "way"};
  result.judge = [=](const SceneDescription& s,
                     const Trajectory& trajectory) -> std::vector<SceneError> {
    const double seconds = duration_of(trajectory);
    const BodyState& end = trajectory.frames.back()[1];
    const double speed = down.dot(end.v_WB), way = down.dot(end.p_WB - s.bodies[1].position);
    return {{"acceleration", std::abs(speed / (acceleration * seconds) - 1)},
            {"way", std::abs(way / (acceleration * seconds * seconds / 2) - 1)}};
  };
  return result;
}

/// Four boxes along the axes of the world, thrown in four directions: all slide v²/(2 μ g).
SceneCase make_sliding() {
  constexpr double kSpeed = 3;
  static constexpr std::array<double, 4> kAngles = {0, 15, 30, 45};
  SceneCase result;
  SceneDescription& scene = result.description;
  scene.name = "sliding";
  scene.claim = "boxes slide v²/(2 μ g), in directions of 0, 15, 30 and 45 degrees";
  scene.duration = 1.5;
  scene.settled_from = 1;
  SceneBody ground = make_static("ground", Box{{20, 20, 1}}, {0, 0, -0.5});
  ground.mu = kMu;
  scene.bodies.push_back(ground);
  SceneBody box = make_solid("box", Box{{0.4, 0.4, 0.2}}, 1000);
  box.mu = kMu;
  for (std::size_t i = 0; i < kAngles.size(); ++i) {
    box.name = fmt::format("box {:g}", kAngles[i]);
    box.position = {0, 3 * static_cast<double>(i) - 4.5, 0.1 - kSeat};
    box.velocity = kSpeed * direction_of(kAngles[i]);
    scene.bodies.push_back(box);
  }
  result.error_names = {"way", "between directions", "sideways"};
  result.judged_from = kSpeed / (kMu * kGravity);
  result.judge = [](const SceneDescription& s,
                    const Trajectory& trajectory) -> std::vector<SceneError> {
    const double expected = kSpeed * kSpeed / (2 * kMu * kGravity);
    double error = 0, sideways = 0, shortest = 1e300, longest = 0;
    for (std::size_t i = 0; i < kAngles.size(); ++i) {
      const Eigen::Vector3d way = trajectory.frames.back()[i + 1].p_WB - s.bodies[i + 1].position;
      const double along = direction_of(kAngles[i]).dot(way) / expected;
      const double across = direction_of(kAngles[i] + 90).dot(way) / expected;
      error = std::max(error, std::abs(along - 1));
      sideways = std::max(sideways, std::abs(across));
      shortest = std::min(shortest, along);
      longest = std::max(longest, along);
    }
    return {{"way", error}, {"between directions", longest - shortest}, {"sideways", sideways}};
  };
  return result;
}

/// Solid balls on a plate that a constant force F drags along a slider. They roll: the centre of a
/// ball has 2/7 of the acceleration a of the plate, which is F/(M + 2/7 Σ m).
SceneCase make_rolling_plate() {
  constexpr int kBalls = 10;
  constexpr double kPlate = 100, kAcceleration = 2, kThickness = 0.1;
  SceneCase result;
  SceneDescription& scene = result.description;
  scene.name = "rolling plate";
  scene.claim = "balls on a dragged plate roll with 2/7 of its acceleration";
  scene.duration = 2;
  scene.settled_from = 1;
  const Eigen::Vector3d size(12, 5, kThickness);
  SceneBody plate = make_solid("plate", Box{size}, kPlate / size.prod());
  plate.position = {0, 0, -kThickness / 2};
  plate.mu = kMu;
  scene.bodies.push_back(plate);
  scene.joints.push_back({.kind = SceneJoint::Kind::kSlider,
                          .first = kGround,
                          .second = 0,
                          .at = plate.position,
                          .axis = Eigen::Vector3d::UnitX()});
  double dragged = kPlate;  // [kg] that the force feels
  for (int i = 0; i < kBalls; ++i) {
    const double radius = 0.1 + 0.01 * i;
    SceneBody ball = make_solid(fmt::format("ball {}", i + 1), Sphere{radius}, 1000);
    ball.position = {3, 0.45 * (i - (kBalls - 1) / 2.0), radius - kSeat};
    ball.mu = kMu;
    dragged += 2.0 / 7 * ball.mass;
    scene.bodies.push_back(ball);
  }
  scene.bodies[0].force = {kAcceleration * dragged, 0, 0};
  result.error_names = {"acceleration", "plate", "spin"};
  result.judge = [](const SceneDescription& s,
                    const Trajectory& trajectory) -> std::vector<SceneError> {
    const double speed = kAcceleration * duration_of(trajectory);  // of the plate
    const std::vector<BodyState>& end = trajectory.frames.back();
    double error = 0, spin = 0;
    for (int i = 1; i <= kBalls; ++i) {
      const double radius = std::get<Sphere>(s.bodies[index(i)].shape).radius;
      const Eigen::Vector3d v(2.0 / 7 * speed, 0, 0), w(0, -5.0 / 7 * speed / radius, 0);
      error = std::max(error, (end[index(i)].v_WB - v).norm() / v.norm());
      spin = std::max(spin, (end[index(i)].w_WB - w).norm() / w.norm());
    }
    const double plate_error = std::abs(end[0].v_WB.x() / speed - 1);
    return {{"acceleration", error}, {"plate", plate_error}, {"spin", spin}};
  };
  return result;
}

SceneCase make_chain(const ChainScene& chain) {
  static constexpr double kCompared = 1.5;  // [s]: beyond the first swing a distance says nothing
  SceneCase result;
  SceneDescription& scene = result.description;
  scene.name = "chain";
  scene.claim = fmt::format("{} links of {:g} kg carry a ball of {:g} kg, swinging", chain.links,
                            chain.link_mass, chain.ball_mass);
  scene.h = chain.h;
  scene.duration = chain.duration;
  scene.settled_from = chain.duration / 2;
  // The axis of a cylinder is z; that of a rod is x at the start.
  const Eigen::Quaterniond along_x(
      Eigen::AngleAxisd(std::numbers::pi / 2, Eigen::Vector3d::UnitY()));
  for (int i = 0; i < chain.num_bodies(); ++i) {
    SceneBody body;
    body.touches = false;
    body.mass = chain.body_mass(i);
    body.position = chain.body_position(i);
    body.inertia = chain.body_inertia(i);
    if (i < chain.links) {
      body.name = fmt::format("link {}", i + 1);
      body.shape = Cylinder{chain.link_radius, chain.link_length};
      body.orientation = along_x;
      std::swap(body.inertia.x(), body.inertia.z());
    } else {
      body.name = "ball";
      body.shape = Sphere{chain.ball_radius};
    }
    scene.bodies.push_back(body);
    scene.joints.push_back(
        {.first = i == 0 ? kGround : i - 1, .second = i, .at = chain.joint_position(i)});
  }
  result.error_names = {"path / length"};
  result.judge = [chain](const SceneDescription&,
                         const Trajectory& trajectory) -> std::vector<SceneError> {
    std::vector<Eigen::Vector3d> path;
    for (std::size_t k = 1; k < trajectory.frames.size(); ++k)
      path.push_back(trajectory.frames[k].back().p_WB);
    const ReferencePath reference =
        compute_reference(chain, std::min(kCompared, duration_of(trajectory)));
    return {{"path / length", compute_path_error(chain, path, reference)}};
  };
  return result;
}

}  // namespace stiction::bench
