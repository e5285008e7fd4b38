// Solves step problems with polyhedral friction by Lemke's method (lemke_lcp.h), directly and to
// rounding. Guaranteed to find a solution when M̂ is positive definite, the bilateral rows are
// consistent, and the contact biases do no negative work on impulses that cancel each other (T9):
// they are nonnegative, or all derive from one velocity as those of equal restitution do. Redundant
// rows and degenerate contacts are no exception. Cubic in the number of contacts: meant for small
// problems and as the reference for other solvers. Refuses the disc with two tangents.
#pragma once

#include <memory>

#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"

namespace stiction {

struct LemkeSolverOptions {
  /// The method solves to rounding; an answer that misses even this is not called converged.
  double tolerance = 1e-8;
  StoppingMeasure measure = StoppingMeasure::kCertificate;
  /// Tries the basis of the last call first and takes it if it solves the problem: zero pivots in a
  /// scene at rest. Off by default, since the last bits of an answer then depend on what the object
  /// has solved before, and a simulation continued from a checkpoint would differ from one that was
  /// never stopped.
  bool warm_start = false;
};

class LemkeSolver : public Solver {
 public:
  explicit LemkeSolver(const LemkeSolverOptions& options = {});
  ~LemkeSolver() override;

  std::string_view name() const override { return "lemke"; }
  /// Attempts in turn, until one satisfies the solver's own check (`stage` of the report):
  ///   0 plain   1 another covering vector   2 dictionary recomputed every few pivots
  ///   3 long double   4 long double with other covering vectors
  ///   5 enumeration of all bases, for small problems with direct coupling
  /// An answer whose velocities show the rounding of impulses is polished (saddle_polish.h). Where
  /// the judge is still not content, the problem without bodies and joints
  /// (saddle_condensation.h, stage 4) and all attempts follow, each polished, and then all statuses
  /// of a small problem (stage 5).
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;
  /// There is no answer before the last pivot: a solve that takes longer ends without one.
  void set_time_limit(double seconds) override { max_seconds_ = seconds; }
  bool takes_section(const FrictionSection& section) const override {
    return section.kind != FrictionSection::Kind::kDisc;
  }

 private:
  struct Workspace;
  LemkeSolverOptions options_;
  double max_seconds_ = 0;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace stiction
