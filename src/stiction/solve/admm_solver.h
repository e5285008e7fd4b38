// Coulomb friction by alternating directions (admm_iteration.h) on a sparse direct core: the saddle
// matrix of bodies and rows, or the Delassus matrix where the former does not exist or is larger.
// Exact friction with the disc (or one tangent). Good for residuals down to 1e-4 or 1e-6; linear
// convergence makes it slow beyond. Converged means that Acceptance took the answer; otherwise the
// best iterate is returned. Refuses box and polygon sections in space.
#pragma once

#include "stiction/problem/solver.h"
#include "stiction/solve/admm_iteration.h"
#include "stiction/solve/admm_saddle.h"

namespace stiction {

class AdmmSolver : public Solver {
 public:
  explicit AdmmSolver(const AdmmOptions& options = {});
  std::string_view name() const override { return "admm"; }
  void set_time_limit(double seconds) override { options_.max_seconds = seconds; }
  bool takes_section(const FrictionSection& section) const override {
    return section.kind == FrictionSection::Kind::kDisc;
  }
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;

  /// Of the last solve.
  AdmmForm form() const { return form_; }
  int factorisations() const { return iteration_.factorisations(); }

 private:
  AdmmSystem* assemble(const StepProblem& problem);
  bool iterate(AdmmSystem& system, const StepProblem& problem, StepSolution& solution);

  AdmmOptions options_;
  Acceptance acceptance_;
  FrictionBlocks blocks_;
  SaddleLu lu_;
  AdmmDelassus delassus_;
  AdmmSaddle saddle_;
  AdmmForm form_ = AdmmForm::kDelassus;
  AdmmIteration iteration_;
  KeptVector x_;
};

}  // namespace stiction
