// Alternating directions with De Saxcé's shift on the sparse direct core: x obeys the equations of
// motion, y lies in the cones, z is the velocity that drives them together,
//
//   (W + (σ + ρ)I) x = −q − μ‖z_T‖n + z + ρy + σx,   y = P_K(x − z/ρ),   z ← z − ρ(x − y).
//
// One solve per iteration, a new factorisation only when ρ changes. Exact Coulomb friction with the
// disc (or one tangent). Good for residuals down to 1e-4 or 1e-6 and as a start for Newton; linear
// convergence makes it slow beyond. Bounded rows are projected, free rows enter as equations.
#pragma once

#include "stiction/problem/solver.h"
#include "stiction/solve/friction_blocks.h"
#include "stiction/solve/newton_deadline.h"
#include "stiction/solve/saddle_lu.h"

namespace stiction {

struct AdmmOptions {
  double tolerance = 1e-6;  // of the measure
  StoppingMeasure measure = StoppingMeasure::kCertificate;
  int max_iterations = 5000;
  double max_seconds = 0;   // 0: no limit
  double penalty = 0.1;     // first ρ, relative to the effective mass
  double proximal = 1e-6;   // σ
  double relaxation = 1.6;  // in (0, 2)
};

/// The iteration without the frame of a Solver, for solvers that start with it.
class AdmmIteration {
 public:
  struct Limit {
    double tolerance = 0;    // of FrictionBlocks::residual
    int max_iterations = 0;  // counted from the start
    Deadline deadline;
  };

  /// Begins at x; of the options those of the iteration count.
  void start(const FrictionBlocks& blocks, const AdmmOptions& options, const VectorXd& x);
  /// Goes on to the limit, whatever `lu` was used for in between. x becomes the best iterate since
  /// the start; returns its residual.
  double go_on(const FrictionBlocks& blocks, SaddleLu& lu, const Limit& limit, VectorXd& x);
  int iterations() const { return iterations_; }
  double residual() const { return least_; }

 private:
  bool factor(const FrictionBlocks& blocks, SaddleLu& lu);
  void solve_motion(const FrictionBlocks& blocks, SaddleLu& lu);
  void project(const FrictionBlocks& blocks);
  bool balance();
  void check(const FrictionBlocks& blocks);

  AdmmOptions options_;
  int iterations_ = 0;
  int since_balance_ = 0;
  double rho_ = 0;
  double least_ = 0;              // residual of best_
  double primal_ = 0, dual_ = 0;  // ‖x − y‖ and ρ‖Δy‖ in the energy norm
  std::vector<double> B_;
  VectorXd x_, y_, z_, u_, best_;
};

class AdmmSolver : public Solver {
 public:
  explicit AdmmSolver(const AdmmOptions& options = {});
  std::string_view name() const override { return "admm"; }
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;

 private:
  AdmmOptions options_;
  Acceptance acceptance_;
  FrictionBlocks blocks_;
  SaddleLu lu_;
  AdmmIteration iteration_;
  VectorXd x_;
};

}  // namespace stiction
