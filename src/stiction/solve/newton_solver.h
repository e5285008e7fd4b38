// Solves friction problems with the disc to rounding. Attempts in turn, each starting from the best
// impulses so far unless it says otherwise (`stage` of the report):
//
//   0 the warm start as it is; a few semi-smooth Newton steps if the problem is small, or a few
//     dozen iterations of ADMM; Newton steps with fixed statuses (NewtonPolish); semi-smooth Newton
//     steps with a proximal term (ProximalNewton)
//   1 the interior point method from inside the cones, polished; the proximal Newton steps again
//   2 proximal Newton steps until the budget is spent, polished from time to time
//
// Redundant contacts and joints and nonsymmetric W are allowed. The own residual imitates the
// measure of the options; converged means that Acceptance took the answer. Otherwise the best
// iterate is returned with the status kMaxIterations. Refuses box and polygon sections in space.
// The work is bounded by `max_iterations` and by `max_flops`, whichever is spent first.
#pragma once

#include <memory>

#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"
#include "stiction/solve/newton_work.h"

namespace stiction {

struct NewtonOptions {
  double tolerance = 1e-10;  // of the measure
  StoppingMeasure measure = StoppingMeasure::kCertificate;
  int max_iterations = 2000;     // Newton and interior point iterations
  double max_flops = kMaxFlops;  // estimated, of these iterations; see newton_work.h
  double max_seconds = 0;        // 0: no limit
  int starter_iterations = 100;  // of ADMM; 0: none
  bool has_interior_stage = true;
  bool improves_starts = false;  // also those that will do: what rests comes to rest to rounding
};

class NewtonSolver : public Solver {
 public:
  explicit NewtonSolver(const NewtonOptions& options = {});
  ~NewtonSolver() override;

  std::string_view name() const override { return "newton"; }
  void set_time_limit(double seconds) override { options_.max_seconds = seconds; }
  bool takes_section(const FrictionSection& section) const override {
    return section.kind == FrictionSection::Kind::kDisc;
  }
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;

 private:
  struct Workspace;
  NewtonOptions options_;
  Acceptance acceptance_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace stiction
