// Projected Gauss–Seidel as game engines and Lacoursière & Linde (SPOOK, §15, §17 and
// algorithm 21.1) use it, in the three variants whose convergence they compare:
//
//   all separate      every row on its own, tangents bounded by ±μν of the latest normal impulse;
//   block projection  the contact as if it stuck, then tangents shortened to the friction bound;
//   block tangents    normal first, then both tangents at once, shortened likewise.
//
// None of them solves the contact law of a contact exactly; their fixed points obey other laws (a
// box; friction not quite against the slip) but for special W, see docs/solvers/pgs.md. The
// residual is that of the true law, so they may end with kMaxIterations at a fixed point. They are
// here for comparison; use NsgsSolver for answers.
#pragma once

#include <vector>

#include "stiction/problem/contact_status.h"
#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"
#include "stiction/solve/contact_blocks.h"
#include "stiction/solve/gauss_seidel_residual.h"
#include "stiction/solve/gauss_seidel_sweep.h"

namespace stiction {

enum class PgsVariant { kAllSeparate, kBlockProjection, kBlockTangents };

struct PgsOptions {
  double tolerance = 1e-9;  // [-] of the measure
  StoppingMeasure measure = StoppingMeasure::kCertificate;
  int max_iterations = 1000;
  PgsVariant variant = PgsVariant::kBlockTangents;
  bool warm_start = true;
};

class PgsSolver : public Solver {
 public:
  /// Throws InputError for options outside their ranges.
  explicit PgsSolver(const PgsOptions& options = {});

  std::string_view name() const override { return "pgs"; }
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;
  void set_time_limit(double seconds) override { max_seconds_ = seconds; }

  /// One entry per sweep of the last solve, entry 0 is the start. For plots of the relaxation.
  struct History {
    std::vector<double> residual;        // [-] of the measure
    std::vector<double> change;          // [√J] 2-norm of the change of all impulses
    std::vector<int> num_state_changes;  // contacts that changed between open, stick and slip
  };
  const History& history() const { return history_; }

 private:
  bool start(const StepProblem& problem, const StepSolution& solution);
  double judge(double change);
  int count_state_changes();
  bool confirm(const StepProblem& problem, StepSolution& solution);
  double sweep();
  double visit_bilateral(int row);
  template <int kDim>
  double visit_contact(int contact);

  PgsOptions options_;
  double max_seconds_ = 0;
  Acceptance acceptance_;
  ContactBlocks blocks_;
  GaussSeidelResidual judge_;
  SweepState state_;
  History history_;
  std::vector<ContactStatus> status_;
  std::vector<double> best_;
  double best_residual_ = 0;
  double target_ = 0;  // residual at which to ask for acceptance
};

}  // namespace stiction
