// What an iteration of ADMM asks of the equations of motion. The iteration itself knows rows only:
// impulses x, velocities u = W x + q in the units of (T8), W the Delassus matrix (T6). How W is
// kept is the system's own business:
//
//   AdmmDelassus  W in sparse blocks, factored by SaddleLu: any problem
//   AdmmSaddle    the saddle matrix [M̂ −Rᵀ; R C] instead of W, factored by SaddleLdlt: problems
//   with
//                 bodies of symmetric mass and without direct couplings, in linear memory
#pragma once

#include <vector>

#include "stiction/solve/friction_blocks.h"

namespace stiction {

class AdmmSystem {
 public:
  virtual ~AdmmSystem() = default;

  /// The rows by themselves: kinds, bounds, friction, scales and q. Its W need not be that of the
  /// system.
  virtual const FrictionBlocks& rows() const = 0;

  /// Factors W + D with the diagonal matrix D > 0, one number per row. False if that is not
  /// possible.
  [[nodiscard]] virtual bool factor(const std::vector<double>& D) = 0;
  /// x ← (W + D)⁻¹x.
  virtual void solve(VectorRef x) = 0;
  /// u = W x + q.
  virtual void compute_velocity(const ConstVectorRef& x, KeptVector& u) = 0;
  /// What the stopping measure will say of these impulses, up to rounding.
  virtual double measure(const ConstVectorRef& x) = 0;

  /// Impulses of an earlier answer; zero if its sizes do not fit.
  virtual void read_solution(const StepProblem& problem, const StepSolution& solution,
                             KeptVector& x) const = 0;
  /// The impulses and the velocities of the bodies that follow from them.
  virtual void write_solution(const StepProblem& problem, const ConstVectorRef& x,
                              StepSolution& solution) = 0;
};

}  // namespace stiction
