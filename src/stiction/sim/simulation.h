// A model, a scheme and a solver married: owns the state and the clock, certifies every step, keeps
// the energy ledger, and tells observers. Steps that miss the tolerance are not taken silently.
//
//   Simulation simulation(model, {.h = 1e-4});
//   simulation.run(2.0);
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stiction/base/error.h"
#include "stiction/base/stopwatch.h"
#include "stiction/contact/contact_model.h"
#include "stiction/scheme/scheme.h"
#include "stiction/sim/energy_ledger.h"
#include "stiction/sim/key_places.h"
#include "stiction/sim/sleepers.h"
#include "stiction/sim/step_times.h"

namespace stiction {

/// What to do with a step whose certificate misses the tolerance.
enum class OnFailure {
  kReject,         // throw StepRejected, the state stays as it was before the step
  kRetrySmaller,   // halve the step, up to kMaxHalvings times, then reject
  kAcceptAndFlag,  // take it; the recording and the summary show it
};

struct SimulationOptions {
  std::string scheme = "moreau";
  std::string solver = "auto";
  double h = 1e-3;          // [s] > 0
  double tolerance = 1e-9;  // [-] on Certificate::residual(), > 0
  FrictionSection friction{FrictionSection::Kind::kPolygon, 8};
  OnFailure on_failure = OnFailure::kReject;
  /// [s] of wall time for a step, ≥ 0; 0: none. Solvers stop at it with their best answer, which is
  /// taken and, if it misses the tolerance, flagged. Results then depend on the machine.
  double budget = 0;
  double penetration_tolerance = 1e-6;  // [m] allowed at the start
  bool project_start = false;  // move the start to where constraints, gaps and velocities agree
  /// Leaves out of the steps what is at rest to rounding, until something changes (T37). Schemes
  /// that cannot do so say it in notes().
  bool sleep = false;
  /// Whether steps and their stages are timed; otherwise StepTimes are zero, but for whole steps
  /// where there is a budget. Six looks at the clock, 5 % of a step of one box.
  bool times_steps = true;
  SteppingOptions stepping{};
  CollisionOptions collision{};
};

/// One step as observers see it; references live as long as the call.
struct StepRecord {
  std::int64_t step = 0;  // 0 is the start
  double h = 0;           // [s] of this step
  const State& state;     // at its end
  const std::vector<ContactOutcome>& contacts;
  const std::vector<double>& joint_impulses;
  const std::vector<StepEvent>& events;
  const EnergyLedger& energy;
  const Certificate& certificate;
  const SolverReport& solver;
  StepTimes times{};                     // of this step, up to the observers
  const PhaseLog* phases = nullptr;      // that it was made of; empty unless an observer wants them
  const VectorXd* held_force = nullptr;  // of controllers in this step; empty: none
  /// Accepted although it misses the tolerance, or a part of the scheme beside its problems failed.
  bool is_flagged = false;
};

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void on_step(const StepRecord& record) = 0;
  /// Whether steps are to keep StepRecord::phases, from add_observer() on.
  virtual bool wants_phases() const { return false; }
};

/// Worst figures since the simulation began.
struct RunSummary {
  std::int64_t steps = 0;
  int contacts_max = 0;
  int reduced_max = 0;  // candidates for contacts that a step left out (patch_reduction.h)
  double residual_max = 0;
  double gap_min = std::numeric_limits<double>::infinity();
  double joint_error_max = 0;
  std::int64_t steps_above_tolerance = 0;  // accepted ones
  std::int64_t retries = 0;
  std::int64_t overruns = 0;    // steps that took longer than their budget
  double overrun_residual = 0;  // the largest of steps above tolerance under a budget
  std::array<std::int64_t, kNumEventKinds> events{};  // by EventKind
  std::int64_t substeps = 0;
  std::int64_t rejected_substeps = 0;  // by error control
  std::int64_t scheme_iterations = 0;  // of nonlinear schemes and of projections
  std::int64_t linear_steps = 0;       // of a nonlinear scheme whose iteration did not converge
  std::int64_t impact_gains = 0;       // impacts that raised the energy beyond rounding
  double impact_gain = 0;              // [J] by all of them together
  int asleep_max = 0;                  // bodies that slept at the same time
  std::int64_t asleep_steps = 0;       // steps of bodies that slept in them
  std::int64_t wakes = 0;              // of groups of bodies
  StepTimes times{};                   // of all steps
  DurationHistogram step_walls{};      // [s] of every step

  std::int64_t count(EventKind kind) const { return events[static_cast<std::size_t>(kind)]; }
};

/// A step missed the tolerance and was not taken.
class StepRejected : public Error {
 public:
  StepRejected(const std::string& message, double time_of_step, Certificate evidence,
               SolverReport solver_report)
      : Error(message), time(time_of_step), certificate(evidence), report(solver_report) {}
  double time;
  Certificate certificate;
  SolverReport report;
};

class Simulation {
 public:
  /// Throws InputError if an option is out of range or the model may not start (find_start_faults).
  Simulation(Model model, const SimulationOptions& options);

  /// One step of length h, 0 ≤ h < ∞; h = 0 is a pure impact. Returns the length taken, which is
  /// shorter after a retry. Throws StepRejected.
  double step(double h);
  double step() { return step(options_.h); }
  /// Steps of options().h, the last one shorter where `duration` is no multiple. `should_stop` is
  /// asked before every step. Returns whether the end was reached.
  bool run(double duration, const std::function<bool()>& should_stop = {});
  /// Throws the InputError that run(duration) would throw.
  void check_duration(double duration) const;

  /// Goes on from another state, as a new start would: nothing of the last step is remembered, and
  /// the energy account begins anew. Throws InputError like the constructor; nothing is changed
  /// then. Observers are not told.
  void set_state(const State& state);
  /// Goes on under another model of the same coordinates, rows and shapes: other forces, laws of
  /// contact, springs. State, clock and what the scheme remembers stay; the energy that the change
  /// brings or takes counts as applied. Throws InputError; nothing is changed then.
  void exchange_model(Model model);
  /// Goes on with other options but for those of the start and of collision detection. What the
  /// scheme remembers stays if it is the same scheme. Throws InputError; nothing is changed then.
  void change_options(const SimulationOptions& options);
  /// A generalised force that acts in all steps from now on, see ContactModel; empty: none. Throws
  /// InputError if it has not one finite number per velocity. A checkpoint does not keep it.
  void set_held_force(const VectorXd& force);

  /// With the contacts of the step tried last.
  const ContactModel& model() const { return model_; }
  const SimulationOptions& options() const { return options_; }
  const State& state() const { return state_; }
  const EnergyLedger& energy() const { return ledger_; }
  const RunSummary& summary() const { return summary_; }
  // Of the step taken last:
  const std::vector<ContactOutcome>& contacts() const { return taken().contacts; }
  const std::vector<double>& joint_impulses() const { return taken().joint_impulses; }
  const std::vector<StepEvent>& events() const { return taken().events; }
  const Certificate& certificate() const { return evidence_.certificate; }
  const SolverReport& solver_report() const { return evidence_.report; }
  /// The step problem solved last.
  const StepProblem& last_problem() const;
  /// After StepRejected: the first problem of the step that was not solved to the tolerance, or the
  /// one solved last if the step failed for another reason.
  const StepProblem& rejected_problem() const {
    return stage_.certificate().meets(stage_.tolerance()) ? last_problem()
                                                          : stage_.offending_problem();
  }
  /// Bodies (mass blocks) that sleep.
  int num_asleep() const { return sleepers_ ? sleepers_->num_asleep() : 0; }
  /// What the scheme leaves out of the model and which joint rows are redundant, in sentences.
  std::vector<std::string> notes() const;

  /// The observer is told of every step taken from now on, and at once of the present state. It
  /// must outlive the simulation's steps.
  void add_observer(StepObserver& observer);
  void remove_observer(StepObserver& observer);
  /// Tells the observer of the present state once more.
  void notify(StepObserver& observer) const;

  /// Everything that the next steps depend on, to a file and back: a run that continues from a
  /// checkpoint gives the same bits as one that was never interrupted. Throws IoError; `restore`
  /// throws InputError if the checkpoint belongs to another model, scheme or solver.
  void save(const std::string& path) const;
  void restore(const std::string& path);

 private:
  static constexpr int kMaxHalvings = 12;

  /// Times are start + index·h, not sums of h, so that they carry no accumulated rounding.
  struct Clock {
    double start = 0;
    double h = 0;
    std::int64_t index = 0;
    double after_step(double next_h, double now);
  };

  /// What a step leaves behind beside its result.
  struct Evidence {
    Certificate certificate;
    SolverReport report;
    StepTimes times{};
    double h = 0;
    bool is_flagged = false;
  };

  void make_stage();
  void wake_all();
  void wake_met(double h);
  void project_start();
  void validate(const State& state) const;
  void forget_last_step();
  bool try_step(double h);
  void add_stage_times();
  bool is_timed() const { return options_.times_steps || options_.budget > 0; }
  bool meets_hidden_overlaps(double h, bool may_repeat);
  /// The step taken: its `end` is in state_, its `memory` serves the next step.
  StepResult& taken() { return results_[taken_place_]; }
  const StepResult& taken() const { return results_[taken_place_]; }
  /// The one being tried, which may be rejected.
  StepResult& attempt() { return results_[1 - taken_place_]; }
  const StepResult& attempt() const { return results_[1 - taken_place_]; }
  bool has_same_contacts(const SchemeMemory& memory) const;
  const SchemeMemory& recall();
  bool has_answer() const;
  void accept_step(double h, bool is_flagged);
  void summarize_step();
  std::string rejection_text(double h) const;

  ContactModel model_;
  SimulationOptions options_;
  std::unique_ptr<Scheme> scheme_;
  std::unique_ptr<Solver> solver_;
  RestingSolver* resting_ = nullptr;  // solver_, where things may sleep
  std::unique_ptr<Sleepers> sleepers_;
  SolveStage stage_;
  ContactEvaluator evaluator_;
  State state_;
  SchemeMemory memory_;                // of the step taken, for the contacts of the one being tried
  std::array<StepResult, 2> results_;  // taken() and attempt(): which is which changes each step
  int taken_place_ = 0;
  Energy attempt_energy_;
  StepTimes attempt_times_;  // of all attempts at the step
  double reserve_ = 0;       // [s] what steps take after their last solve, under a budget
  Stopwatch watch_;          // of the last one: to ask what time it is takes a share of small steps
  Evidence evidence_;        // of the step taken
  VectorXd taken_force_;     // of controllers in it
  Clock clock_;
  EnergyLedger ledger_;
  RunSummary summary_;
  std::vector<StepObserver*> observers_;
  KeyPlaces places_;            // scratch: of keys in taken().memory
  std::vector<char> is_asked_;  // scratch: contacts of the last attempt
};

}  // namespace stiction
