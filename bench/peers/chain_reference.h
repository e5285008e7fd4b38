// The truth the engines are measured against: the same chain as a planar mechanism in minimal
// coordinates, the angles θᵢ of the rods, integrated by the classical Runge–Kutta method (order 4)
// with steps far below the period of its fastest vibration. No joint can open, by construction.
//
// In the plane (x, z) rod i has the direction uᵢ = (cos θᵢ, sin θᵢ) and the normal nᵢ = (−sin θᵢ,
// cos θᵢ). With fᵢ the force on rod i at its beginning and f_N the one on the ball,
//     m aᵢ = fᵢ − fᵢ₊₁ + m g,     I θ̈ᵢ = −(l/2) nᵢ·(fᵢ + fᵢ₊₁),     m_ball a_ball = f_N + m_ball g,
// and neighbours have the same acceleration where they meet. Eliminating the accelerations leaves a
// symmetric positive definite system with 2×2 blocks on three diagonals for the forces:
//     Qᵢ₋₁ fᵢ₋₁ + (Pᵢ₋₁ + Pᵢ) fᵢ + Qᵢ fᵢ₊₁ = −(l/2)(uᵢ₋₁ θ̇ᵢ₋₁² + uᵢ θ̇ᵢ²),
//     P = 1/m + (l²/4I) n nᵀ,     Q = −1/m + (l²/4I) n nᵀ,     P_N = 1/m_ball,
// whose first row has no predecessor and −g on its right. So one evaluation costs O(N), also under
// a ball a million times heavier than a rod, where the vibrations ask for steps of microseconds.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "bench/peers/chain.h"

namespace stiction::bench {

struct ChainAngles {
  Eigen::VectorXd theta, rate;  // [rad], [rad/s], one per rod
};

class ChainReference {
 public:
  explicit ChainReference(const ChainScene& scene);

  const ChainAngles& state() const { return state_; }
  void set_state(const ChainAngles& state) { state_ = state; }
  /// θ̈ at a state [rad/s²].
  const Eigen::VectorXd& compute_acceleration(const ChainAngles& at);
  /// One Runge–Kutta step.
  void advance(double dt);
  /// The bodies in space, for the shared measurements.
  std::vector<BodyState> bodies() const;

 private:
  struct Rod {
    Eigen::Vector2d u, n;
  };
  void assemble_forces(const ChainAngles& at);
  void solve_forces();

  ChainScene scene_;
  ChainAngles state_, stage_;
  std::vector<Rod> rods_;
  std::vector<Eigen::Matrix2d> diagonal_, upper_;  // [1/kg], links + 1 and links blocks
  std::vector<Eigen::Vector2d> forces_;            // [N], right side before solving
  Eigen::VectorXd acceleration_;
  Eigen::VectorXd rate_sum_, acceleration_sum_;
};

struct ReferencePath {
  std::vector<Eigen::Vector3d> path;  // [m] ball after each h
  double energy_drift = 0;            // greatest |E − E₀| / (m g L)
  double path_error = 0;  // [m] greatest distance to the same with half as many substeps
  int substeps = 0;       // per h
};

/// The ball's path over `duration`, with as many substeps as it takes for the energy to drift by
/// less than 1e-6 of m g L and for doubling them to move the path by less than 1e-6 of the rope.
/// Throws std::runtime_error if no number of them suffices: then it would not be a reference.
ReferencePath compute_reference(const ChainScene& scene, double duration);

/// Greatest distance of the path from the reference, relative to the length of the rope; infinite
/// if the path ends before the reference does.
double compute_path_error(const ChainScene& scene, const std::vector<Eigen::Vector3d>& path,
                          const ReferencePath& reference);

}  // namespace stiction::bench
