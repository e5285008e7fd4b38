// Alternating directions with De Saxcé's shift: x obeys the equations of motion, y lies in the
// cones, z is the velocity that drives them together,
//
//   (W + (σ + ρ)I) x = −q − μ‖z_T‖n + z + ρy + σx,   y = P_K(x − z/ρ),   z ← z − ρ(x − y).
//
// One solve per iteration, a new factorisation only when ρ changes. Free rows enter as equations,
// without ρ; bounded rows are projected. How W is kept: admm_system.h.
#pragma once

#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/solve/admm_delassus.h"

namespace stiction {

/// Where the equations of motion are kept.
enum class AdmmForm {
  kAuto,      // whatever should be faster
  kDelassus,  // the Delassus matrix (admm_delassus.h)
  kSaddle,    // the saddle matrix (admm_saddle.h), where the problem allows it
};

struct AdmmOptions {
  double tolerance = 1e-6;  // of the measure
  StoppingMeasure measure = StoppingMeasure::kCertificate;
  int max_iterations = 5000;
  double max_seconds = 0;   // 0: no limit
  double penalty = 0.1;     // first ρ, relative to the effective mass
  double proximal = 1e-6;   // σ
  double relaxation = 1.6;  // in (0, 2)
  AdmmForm form = AdmmForm::kAuto;
};

/// The iteration without the frame of a Solver, for solvers that start with it.
class AdmmIteration {
 public:
  struct Limit {
    double tolerance = 0;    // of the measure of the system
    int max_iterations = 0;  // counted from the start
    Deadline deadline;
  };

  /// Begins at x; of the options those of the iteration count.
  void start(AdmmSystem& system, const AdmmOptions& options, const ConstVectorRef& x);
  /// Goes on to the limit, whatever was factored in between. x becomes the best iterate since the
  /// start; returns its residual.
  double go_on(AdmmSystem& system, const Limit& limit, KeptVector& x);

  /// The same with the Delassus matrix.
  void start(const FrictionBlocks& blocks, const AdmmOptions& options, const ConstVectorRef& x);
  double go_on(const FrictionBlocks& blocks, SaddleLu& lu, const Limit& limit, KeptVector& x);

  int iterations() const { return iterations_; }
  int factorisations() const { return factorisations_; }
  /// Of the best iterate; infinite also where a row that nothing moves does not hold.
  double residual() const { return least_; }
  /// False once a number on the way was not finite.
  bool is_finite() const { return is_finite_; }

 private:
  bool factor(AdmmSystem& system);
  void solve_motion(AdmmSystem& system);
  void project(const FrictionBlocks& rows);
  bool balance();
  void check(AdmmSystem& system);

  AdmmOptions options_;
  AdmmDelassus delassus_;
  int iterations_ = 0, factorisations_ = 0;
  int since_balance_ = 0;
  bool is_finite_ = true;
  double rho_ = 0;
  double least_ = 0;              // residual of best_
  double primal_ = 0, dual_ = 0;  // ‖x − y‖ and ρ‖Δy‖ in the energy norm
  std::vector<double> D_;         // σ + ρ, σ in free rows
  KeptVector x_, y_, z_, best_;
};

}  // namespace stiction
