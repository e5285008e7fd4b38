// Nonsmooth Gauss–Seidel: sweeps over all contacts and bilateral rows, each solved exactly for the
// present impulses of the others (one_contact.h), on body velocities or on the coupling K, without
// any assembled matrix (contact_blocks.h). Linear memory, cheap sweeps, linear convergence at best:
// the solver for many contacts and moderate accuracy. Takes every step problem and every section;
// an answer that misses the tolerance is returned with kMaxIterations, never as converged. See
// docs/solvers/nsgs.md.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"
#include "stiction/solve/sweep_workshop.h"

namespace stiction {

struct NsgsOptions {
  double tolerance = 1e-9;  // [-] of the measure
  StoppingMeasure measure = StoppingMeasure::kCertificate;
  int max_iterations = 10000;  // sweeps
  Acceleration acceleration = Acceleration::kHybrid;
  int depth = 3;            // of Anderson's method, 1 to 16
  double relaxation = 1;    // in (0, 2), above 1 is over-relaxation
  bool alternates = false;  // forward and backward sweeps in turn; acceleration then works on pairs
  /// Leaves out contacts that hardly move, except under Anderson's method and in packs
  /// (sweep_packs.h).
  bool freezes = true;
  int stall_sweeps = 2000;  // gives up when this many sweeps gain less than a tenth; 0: never
  bool warm_start = true;   // from the impulses in the solution, if they fit
  /// A start is an answer only if it passes this measure, too; others get this many sweeps at
  /// least.
  StoppingMeasure start_measure = StoppingMeasure::kCertificate;
  int least_sweeps = 0;
  /// So many are made whatever the time.
  int timeless_sweeps = 1;
  bool shortens_start = false;  // see SweepState::shorten
  /// In packs, where a sweep takes a tenth of the time, this many times as many are made before
  /// they end or are given up.
  int pack_patience = 1;
  /// At least so many sweeps between checks after the first, 1 to 20. Packs tell when a check is
  /// worth while.
  int check_gap = 1;
  bool asks_judge = true;         // false: its own residual decides, for callers who ask themselves
  bool focuses = false;           // sweeps over what is still wrong apart (sweep_focus.h)
  WorkerPool* workers = nullptr;  // to share out the work; must outlive the solver
};

class NsgsSolver : public Solver {
 public:
  /// Throws InputError for options outside their ranges. Who shares a workshop answers for its
  /// layout.
  explicit NsgsSolver(const NsgsOptions& options = {},
                      std::shared_ptr<SweepWorkshop> workshop = nullptr);

  std::string_view name() const override { return "nsgs"; }
  void set_time_limit(double seconds) override { max_seconds_ = seconds; }
  /// `iterations` are sweeps; zero if the start already passes.
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;
  /// Of answers, not of starts that were one.
  const Certifier* certifier() const override { return &acceptance_.certifier(); }

  /// Of the residual, where no judge is asked.
  void set_tolerance(double tolerance) { options_.tolerance = tolerance; }
  /// Of the answer of the last solve, in the measure of the options.
  double residual() const { return best_level_; }

 private:
  bool try_nothing(const StepProblem& problem, StepSolution& solution);
  bool start(const StepProblem& problem, const StepSolution& solution);
  SolverReport iterate(const StepProblem& problem, const Deadline& deadline,
                       StepSolution& solution);
  void choose_visits();
  void choose_momentum(int number);
  void visit_in_double(int number);
  void sweep(int number);
  void accelerate(int number);
  void prepare_acceleration(int number);
  void restart_acceleration(int number);
  double evaluate_and_focus(int number, const Deadline& deadline, bool& is_focused);
  bool focus(int number, const Deadline& deadline);
  int patience() const { return is_packed() ? options_.pack_patience : 1; }
  double evaluate(int number);
  double evaluate_start();
  double measure(double largest_motion);
  void note(double level);
  bool confirm_start(const StepProblem& problem, StepSolution& solution);
  bool confirm(const StepProblem& problem, StepSolution& solution);
  bool is_answer(const StepProblem& problem, StepSolution& solution, double& measured);
  Acceleration acceleration() const;
  const std::vector<double>& weigh_impulses();
  bool has_changes() const;
  bool is_promising(int number) const;
  bool is_far_off(int number) const;
  bool is_rough() const;
  bool is_rounding(int number) const;
  bool is_packed() const { return visits_ != Visits::kOneByOne; }
  bool may_visit_packs() const;
  bool may_begin_in_packs() const;
  void load_packs();
  void store_packs();
  void store_impulses();
  void refresh(int number);
  /// act(desk) with the packs that are visited.
  template <class Act>
  void with_packs(const Act& act) {
    if (visits_ == Visits::kInSinglePacks) act(workshop_->single_packs);
    if (visits_ == Visits::kInDoublePacks) act(workshop_->double_packs);
  }
  /// act(accelerator, values), impulses first.
  template <class Act>
  void with_accelerator(const Act& act) {
    with_packs([&](auto& desk) { act(desk.accelerator, desk.packs.values()); });
    if (!is_packed()) act(workshop_->double_packs.accelerator, std::span<double>(state_.values()));
  }

  NsgsOptions options_;
  Acceptance acceptance_, start_acceptance_;
  std::shared_ptr<SweepWorkshop> workshop_;
  bool is_alone_;  // in its workshop
  ContactBlocks& blocks_;
  SweepState& state_;
  double best_level_ = 0;  // the residual of the best state seen
  double target_ = 0;      // residual at which to ask for acceptance
  int last_gain_ = 0;      // sweep at which the residual had last fallen by a tenth
  double gain_level_ = 0;
  double max_seconds_ = 0;
  bool has_changed_over_ = false;  // the hybrid acceleration, to NNCG
  /// How sweeps visit contacts; where they do so in packs, the state is that of the packs.
  enum class Visits { kOneByOne, kInSinglePacks, kInDoublePacks };
  Visits visits_ = Visits::kOneByOne;
  bool is_start_measured_ = false;  // by the method before, see SweepWorkshop
  double promising_ = 0;  // share of the target that a sweep in packs may change at its end
  double change_ = 0;     // by the last sweep of packs, in the terms of (T23)
  double momentum_ = 0;   // β
  int late_from_ = 0;     // sweep from which contacts that go on changing are what is left
  double way_ = 1;        // share of its way that a contact which slides goes in a sweep
  int last_evaluation_ = 0;
  bool is_extrapolated_ = false;  // what the last sweep began from
  int pair_start_ = 0;            // the sweep after which the accelerator was last given a start
  bool is_focus_vain_ = false;    // the last one gained nothing: sweeps over everything first
};

}  // namespace stiction
