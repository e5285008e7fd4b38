// The interior point method as a solver of its own: from the inside of the cones to a residual of
// about 1e-9 in 20 to 60 iterations, whatever the warm start was, then Newton steps with the
// statuses fixed. It ends in the middle of the solutions where there are many, so that contacts
// show their status clearly; that is what the polish needs on redundant problems.
//
// Exact Coulomb friction with the disc (or one tangent), bilateral rows with and without bounds,
// nonsymmetric W. A warm start that passes is returned as it is, any other is not used. Refuses box
// and polygon sections in space.
#pragma once

#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"
#include "stiction/solve/friction_blocks.h"
#include "stiction/solve/newton_interior.h"
#include "stiction/solve/newton_polish.h"
#include "stiction/solve/newton_work.h"
#include "stiction/solve/saddle_lu.h"

namespace stiction {

struct InteriorPointOptions {
  double tolerance = 1e-9;  // of the measure
  StoppingMeasure measure = StoppingMeasure::kCertificate;
  int max_iterations = 200;
  double max_flops = kMaxFlops;  // estimated, of these iterations; see newton_work.h
  double max_seconds = 0;        // 0: no limit
  bool has_polish = true;
};

class InteriorPointSolver final : public Solver {
 public:
  explicit InteriorPointSolver(const InteriorPointOptions& options = {});

  std::string_view name() const override { return "interior-point"; }
  /// `stage` of the report is 1 if the answer needed the polish.
  void set_time_limit(double seconds) override { options_.max_seconds = seconds; }
  bool takes_section(const FrictionSection& section) const override {
    return section.kind == FrictionSection::Kind::kDisc;
  }
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;

 private:
  bool is_warm_start_enough(const StepProblem& problem, const StepSolution& solution);
  bool finish(const StepProblem& problem, SolverReport& report, StepSolution& solution);

  InteriorPointOptions options_;
  Acceptance acceptance_;
  FrictionBlocks blocks_;
  SaddleLu lu_;
  InteriorPoint interior_;
  NewtonPolish polish_;
  KeptVector x_, u_, written_;
  double residual_ = 0;
};

}  // namespace stiction
