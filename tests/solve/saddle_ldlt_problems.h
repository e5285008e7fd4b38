// Mechanisms of rigid bodies as step problems, for the direct solvers and their benchmark: chains,
// trees and nets of bodies with hinges or ball joints, and walls of bricks with contacts. Positions
// are jittered so that no number is special; the same seed gives the same problem everywhere.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/problem/step_problem.h"

namespace stiction::testing {

struct MechanismOptions {
  int rows_per_joint = 5;  // 3: ball joint, 5: hinge, 6: weld
  double mass_ratio = 1;   // masses alternate between 1 and this
  double compliance = 0;
  double mu = 0.5;       // of a wall
  int num_tangents = 2;  // of a wall
  double jitter = 0.1;   // [m] of positions
  std::uint64_t seed = 1;
};

class MechanismMaker {
 public:
  using Vector = Eigen::Vector3d;

  explicit MechanismMaker(const MechanismOptions& options)
      : options_(options), random_(options.seed * 77 + 5) {}

  StepProblem& problem() { return problem_; }

  int add_body(const Vector& position);

  /// Joins a to b, or to the ground for b = −1, at the middle of the two.
  void add_joint(int a, int b, const Vector& ground = Vector::Zero());

  /// A contact of `upper` on `lower` (−1: the ground) at a point, normal upwards.
  void add_contact(int upper, int lower, const Vector& at);

 private:
  Vector jitter();

  /// Rows 0 … 2 hold the point together, 3 … 5 the orientation.
  void append_axis(int body, const Vector& at, int row, double sign);

  MechanismOptions options_;
  Random random_;
  StepProblem problem_;
  std::vector<Vector> position_;
};

/// A chain that hangs from the ground.
StepProblem make_chain(int num_bodies, const MechanismOptions& options = {});

/// Body i hangs on body (i − 1)/arity.
StepProblem make_tree(int num_bodies, int arity, const MechanismOptions& options = {});

/// A net of bodies, each joined to its right and lower neighbours; corners on the ground.
StepProblem make_net(int nx, int ny, const MechanismOptions& options = {});

/// Bricks in running bond on the ground, `nx` per course; four contact points at each pair, of
/// which one is redundant.
StepProblem make_wall(int nx, int ny, const MechanismOptions& options = {});

/// Many bodies on one that carries them all.
StepProblem make_star(int num_bodies, const MechanismOptions& options = {});

}  // namespace stiction::testing
