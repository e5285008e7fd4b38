#include "bench/peers/chain.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

namespace stiction::bench {
namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// std::max(a, NaN) is a, which would hide the NaN.
double max_or_nan(double a, double b) { return a < b || std::isnan(b) ? b : a; }

}  // namespace

int ChainScene::num_steps() const { return static_cast<int>(std::lround(duration / h)); }

Eigen::Vector3d ChainScene::body_inertia(int body) const {
  if (body == links) return Eigen::Vector3d::Constant(0.4 * ball_mass * ball_radius * ball_radius);
  const double r2 = link_radius * link_radius;
  const double across = link_mass * (3 * r2 + link_length * link_length) / 12;
  return {link_mass * r2 / 2, across, across};
}

Eigen::Vector3d ChainScene::body_position(int body) const {
  return {(body < links ? body + 0.5 : links) * link_length, 0, 0};
}

void check_scene(const ChainScene& scene) {
  require(scene.links >= 1, "links: must be at least 1");
  require(scene.link_mass > 0, "link_mass: must be positive");
  require(scene.link_length > 0, "link_length: must be positive");
  require(scene.link_radius > 0, "link_radius: must be positive");
  require(scene.ball_mass > 0, "ball_mass: must be positive");
  require(scene.ball_radius > 0, "ball_radius: must be positive");
  require(scene.h > 0, "h: must be positive");
  require(scene.duration >= scene.h, "duration: must be at least h");
}

std::vector<BodyState> make_start(const ChainScene& scene) {
  std::vector<BodyState> bodies(scene.num_bodies());
  for (int i = 0; i < scene.num_bodies(); ++i) bodies[i].p_WB = scene.body_position(i);
  return bodies;
}

double compute_gap(const ChainScene& scene, const std::vector<BodyState>& bodies) {
  const Eigen::Vector3d half(scene.link_length / 2, 0, 0);
  Eigen::Vector3d p_end = Eigen::Vector3d::Zero();  // of the predecessor
  double gap = 0;
  for (int i = 0; i < scene.links; ++i) {
    const BodyState& link = bodies[i];
    gap = max_or_nan(gap, (link.p_WB - link.R_WB * half - p_end).norm());
    p_end = link.p_WB + link.R_WB * half;
  }
  return max_or_nan(gap, (bodies[scene.links].p_WB - p_end).norm());
}

double compute_energy(const ChainScene& scene, const std::vector<BodyState>& bodies) {
  double energy = 0;
  for (int i = 0; i < scene.num_bodies(); ++i) {
    const BodyState& body = bodies[i];
    const Eigen::Vector3d w_WB_B = body.R_WB.conjugate() * body.w_WB;
    energy += scene.body_mass(i) * (body.v_WB.squaredNorm() / 2 + kGravity * body.p_WB.z()) +
              w_WB_B.dot(scene.body_inertia(i).cwiseProduct(w_WB_B)) / 2;
  }
  return energy;
}

ChainResult run_chain(const ChainScene& scene, const ChainLabel& label, ChainWorld& world) {
  using Clock = std::chrono::steady_clock;
  ChainResult result;
  result.engine = label.engine;
  result.settings = label.settings;
  result.energy_start = result.energy_end = compute_energy(scene, make_start(scene));
  std::vector<BodyState> bodies(scene.num_bodies());
  std::vector<double> seconds;
  for (int k = 0; k < scene.num_steps(); ++k) {
    const Clock::time_point begin = Clock::now();
    world.step();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    world.read(bodies);
    const double gap = compute_gap(scene, bodies), energy = compute_energy(scene, bodies);
    result.finite = !world.is_lost() && std::all_of(bodies.begin(), bodies.end(), is_finite) &&
                    std::isfinite(gap) && std::isfinite(energy);
    if (!result.finite) break;
    result.gap_max = std::max(result.gap_max, gap);
    result.energy_max_above_start =
        std::max(result.energy_max_above_start, energy - result.energy_start);
    result.energy_end = energy;
    result.path.push_back(bodies[scene.links].p_WB);
  }
  result.wall_per_step = median_of(std::move(seconds));
  return result;
}

}  // namespace stiction::bench
