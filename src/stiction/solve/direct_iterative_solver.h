// Direct–iterative splitting of Lacoursière & Linde ([SPOOK] §16): joints and contact normals by a
// direct method for given friction (direct_iterative_stage.h), contacts by Gauss–Seidel sweeps for
// given joint impulses, in turns, ending with the direct method. Whatever friction did, joints
// hold to rounding and normals are complementary; what is left is an error of friction impulses.
// Made for machines: large mass ratios, long chains, few contacts.
//
// The splitting need not converge (no splitting of this problem is known to). It reports kConverged
// only if the answer passes; otherwise the best answer that a direct stage left behind. Refuses
// problems with direct couplings and nonsymmetric mass blocks (kUnsupported). See
// docs/solvers/direct-iterative.md.
#pragma once

#include <vector>

#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"
#include "stiction/solve/contact_blocks.h"
#include "stiction/solve/direct_iterative_stage.h"
#include "stiction/solve/gauss_seidel_residual.h"
#include "stiction/solve/gauss_seidel_state.h"
#include "stiction/solve/nsgs_acceleration.h"

namespace stiction {

struct DirectIterativeOptions {
  double tolerance = 1e-9;  // [-] of the measure
  StoppingMeasure measure = StoppingMeasure::kCertificate;
  int max_rounds = 300;       // of sweeps and a direct stage each; 5 in the paper, 0: direct only
  int sweeps_per_round = 15;  // as in the paper
  bool sweeps_move_normals = true;  // as in the paper; false: β for the ν of the direct stage
  Acceleration acceleration = Acceleration::kAnderson;  // over rounds; kNone: as in the paper
  int depth = 5;                                        // of Anderson's method, 1 to 16
  bool warm_start = true;  // from the impulses in the solution, if they fit
};

class DirectIterativeSolver : public Solver {
 public:
  /// Throws InputError for options outside their ranges.
  explicit DirectIterativeSolver(const DirectIterativeOptions& options = {});

  std::string_view name() const override { return "direct-iterative"; }
  /// `iterations` are rounds; tells how long direct stages and sweeps took.
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;
  void set_time_limit(double seconds) override { max_seconds_ = seconds; }
  bool takes_nonsymmetric_masses() const override { return false; }

  /// One entry per stage of the last solve: the start, then direct and sweeps in turns.
  struct History {
    std::vector<char> is_direct;
    std::vector<double> joint;     // [-] violation of (T2), relative to the impulses
    std::vector<double> normal;    // [-] violation of 0 ≤ u_N ⊥ ν ≥ 0, likewise
    std::vector<double> residual;  // [-] the whole, in the measure of the options
    std::vector<double> energy;    // [J] ½xᵀWx + aᵀx (T6), which direct stages lower
    std::vector<int> work;         // factorisations of a direct stage, sweeps of the other
  };
  const History& history() const { return history_; }

 private:
  SaddleLdlt::Status start(const StepProblem& problem, const StepSolution& solution,
                           SolverReport& report);
  bool iterate(const StepProblem& problem, StepSolution& solution, SolverReport& report);
  void run_direct(SolverReport& report);
  void run_sweeps(SolverReport& report);
  void prepare_acceleration();
  template <int kDim>
  double visit(int contact);
  void update_velocities();
  void record(bool is_direct, int work);
  bool passes(const StepProblem& problem, StepSolution& solution);

  DirectIterativeOptions options_;
  double max_seconds_ = 0;
  Acceptance acceptance_;
  ContactBlocks blocks_;
  GaussSeidelResidual judge_;
  SweepState state_;
  DirectStage direct_;
  NsgsAccelerator<double> accelerator_;
  std::vector<double> weight_;  // √ω per row
  History history_;
  double residual_ = 0;           // of the last recorded stage
  std::vector<double> velocity_;  // of all rows, at the last recorded stage
  std::vector<double> free_;      // of all rows, without impulses
  std::vector<double> hint_;      // per contact, of OneContact
  std::vector<double> best_;      // impulses of the best direct stage
  double best_residual_ = 0;
  double scale_ = 0;          // [√J] impulses that count as one
  double data_scale_ = 0;     // [√J] of the data alone
  double own_tolerance_ = 0;  // tightened when the acceptance refuses
  bool is_finite_ = true;
};

}  // namespace stiction
