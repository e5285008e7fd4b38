#include "bench/peers/chain_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace stiction::bench {
namespace {

constexpr double kEnergyTolerance = 1e-6;  // of m g L
constexpr double kPathTolerance = 1e-6;    // of the rope

/// The fastest transverse vibration of a chain under the tension T turns with about 2 √(T/(m l));
/// the tension at the bottom of the swing is 3 m g of everything that hangs.
double estimate_fastest_vibration(const ChainScene& scene) {
  const double tension = 3 * kGravity * (scene.ball_mass + scene.links * scene.link_mass);
  return 2 * std::sqrt(tension / (scene.link_mass * scene.link_length));
}

ReferencePath integrate(const ChainScene& scene, double duration, int substeps) {
  ReferencePath result;
  result.substeps = substeps;
  ChainReference chain(scene);
  const double start = compute_energy(scene, chain.bodies());
  const int num_steps = static_cast<int>(std::lround(duration / scene.h));
  for (int k = 0; k < num_steps; ++k) {
    for (int i = 0; i < substeps; ++i) chain.advance(scene.h / substeps);
    const std::vector<BodyState> bodies = chain.bodies();
    const double drift = std::abs(compute_energy(scene, bodies) - start) / scene.energy_scale();
    // Not std::max, which would drop a NaN.
    if (!(drift <= result.energy_drift)) result.energy_drift = drift;
    result.path.push_back(bodies.back().p_WB);
  }
  return result;
}

}  // namespace

ChainReference::ChainReference(const ChainScene& scene)
    : scene_(scene),
      rods_(scene.links),
      diagonal_(scene.links + 1),
      upper_(scene.links),
      forces_(scene.links + 1),
      acceleration_(scene.links) {
  state_.theta = state_.rate = Eigen::VectorXd::Zero(scene.links);
  stage_ = state_;
}

void ChainReference::assemble_forces(const ChainAngles& at) {
  const int n = scene_.links;
  const double m = scene_.link_mass, l = scene_.link_length;
  const double c = l * l / (4 * scene_.body_inertia(0).y());
  const Eigen::Matrix2d inverse_mass = Eigen::Matrix2d::Identity() / m;
  diagonal_[0].setZero();
  forces_[0] = {0, kGravity};  // −g, and g is along −z
  for (int i = 0; i < n; ++i) {
    const double cosine = std::cos(at.theta[i]), sine = std::sin(at.theta[i]);
    Rod& rod = rods_[i];
    rod.u = {cosine, sine};
    rod.n = {-sine, cosine};
    const Eigen::Matrix2d turning = c * rod.n * rod.n.transpose();
    const Eigen::Vector2d centripetal = (-l / 2 * at.rate[i] * at.rate[i]) * rod.u;
    diagonal_[i] += inverse_mass + turning;
    diagonal_[i + 1] = inverse_mass + turning;
    upper_[i] = turning - inverse_mass;
    forces_[i] += centripetal;
    forces_[i + 1] = centripetal;
  }
  diagonal_[n] += Eigen::Matrix2d::Identity() / scene_.ball_mass;
}

void ChainReference::solve_forces() {
  const int n = scene_.links;
  for (int i = 1; i <= n; ++i) {
    const Eigen::Matrix2d factor = upper_[i - 1] * diagonal_[i - 1].inverse();  // upper_ symmetric
    diagonal_[i] -= factor * upper_[i - 1];
    forces_[i] -= factor * forces_[i - 1];
  }
  forces_[n] = diagonal_[n].inverse() * forces_[n];
  for (int i = n - 1; i >= 0; --i)
    forces_[i] = diagonal_[i].inverse() * (forces_[i] - upper_[i] * forces_[i + 1]);
}

const Eigen::VectorXd& ChainReference::compute_acceleration(const ChainAngles& at) {
  assemble_forces(at);
  solve_forces();
  const double lever = scene_.link_length / (2 * scene_.body_inertia(0).y());
  for (int i = 0; i < scene_.links; ++i)
    acceleration_[i] = -lever * rods_[i].n.dot(forces_[i] + forces_[i + 1]);
  return acceleration_;
}

void ChainReference::advance(double dt) {
  constexpr double kNode[] = {0, 0.5, 0.5, 1}, kWeight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  stage_ = state_;
  rate_sum_.setZero(scene_.links);
  acceleration_sum_.setZero(scene_.links);
  for (int s = 0; s < 4; ++s) {
    if (s > 0) {
      // stage_.rate still holds the previous stage's slope of theta.
      stage_.theta = state_.theta + kNode[s] * dt * stage_.rate;
      stage_.rate = state_.rate + kNode[s] * dt * acceleration_;
    }
    compute_acceleration(stage_);
    rate_sum_ += kWeight[s] * stage_.rate;
    acceleration_sum_ += kWeight[s] * acceleration_;
  }
  state_.theta += dt * rate_sum_;
  state_.rate += dt * acceleration_sum_;
}

std::vector<BodyState> ChainReference::bodies() const {
  std::vector<BodyState> result(scene_.num_bodies());
  Eigen::Vector3d p_end = Eigen::Vector3d::Zero(), v_end = Eigen::Vector3d::Zero();
  for (int i = 0; i < scene_.links; ++i) {
    // θ turns x towards z, which is a negative turn about y.
    BodyState& link = result[i];
    link.R_WB = Eigen::AngleAxisd(-state_.theta[i], Eigen::Vector3d::UnitY());
    link.w_WB = {0, -state_.rate[i], 0};
    const Eigen::Vector3d half = link.R_WB * Eigen::Vector3d(scene_.link_length / 2, 0, 0);
    const Eigen::Vector3d v_half = link.w_WB.cross(half);
    link.p_WB = p_end + half;
    link.v_WB = v_end + v_half;
    p_end += 2 * half;
    v_end += 2 * v_half;
  }
  result.back().p_WB = p_end;
  result.back().v_WB = v_end;
  return result;
}

ReferencePath compute_reference(const ChainScene& scene, double duration) {
  // A twentieth of a radian per step: RK4 then loses (ω dt)⁶/72 ≈ 2e-10 of a vibration's energy
  // per step, and vibrations hold a small part of it. A light ball cracks like a whip, which the
  // estimate does not know: then more.
  const double radians_per_h = estimate_fastest_vibration(scene) * scene.h;
  const int substeps = static_cast<int>(std::ceil(radians_per_h / 0.1));
  constexpr int kDoublings = 6;
  ReferencePath coarse = integrate(scene, duration, substeps);
  for (int i = 1; i <= kDoublings; ++i) {
    ReferencePath fine = integrate(scene, duration, substeps << i);
    for (std::size_t k = 0; k < fine.path.size(); ++k)
      fine.path_error = std::max(fine.path_error, (fine.path[k] - coarse.path[k]).norm());
    if (fine.energy_drift <= kEnergyTolerance &&
        fine.path_error <= kPathTolerance * scene.rope_length())
      return fine;
    coarse = std::move(fine);
  }
  throw std::runtime_error("reference chain: energy drifts by " +
                           std::to_string(coarse.energy_drift) + " of m g L, path by " +
                           std::to_string(coarse.path_error) + " m");
}

double compute_path_error(const ChainScene& scene, const std::vector<Eigen::Vector3d>& path,
                          const ReferencePath& reference) {
  if (path.size() < reference.path.size()) return std::numeric_limits<double>::infinity();
  double error = 0;
  for (std::size_t k = 0; k < reference.path.size(); ++k)
    error = std::max(error, (path[k] - reference.path[k]).norm());
  return error / scene.rope_length();
}

}  // namespace stiction::bench
