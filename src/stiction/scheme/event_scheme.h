// Time stepping with located events (Anitescu–Potra 2002, §3; Potra et al. 2006, §7 and §8). A step
// of length h is a sequence of smooth substeps, each with a fixed set of active contacts, broken at
//
//   collisions    an inactive contact closes: the step is cut there, an impact follows, the rest of
//                 the step is done anew
//   transitions   a closed contact changes between sticking, slipping and open: the step is cut at
//                 the end of the old state (schemes of second order only)
//
// and, if asked for, chosen in length by an error estimate. Contacts are active while they press,
// and when their gap is below max(ε_a, ε_b h³) and they are not leaving (7.1). Where events follow
// each other faster than a floor, location gives up: the rest of the step is taken on position
// level, inelastically, and recorded as EventKind::kFloor.
#pragma once

#include <array>
#include <limits>

#include "stiction/base/root.h"
#include "stiction/scheme/impact.h"
#include "stiction/scheme/position_level_step.h"
#include "stiction/scheme/projection.h"
#include "stiction/scheme/substep.h"
#include "stiction/scheme/transition.h"

namespace stiction {

class EventScheme final : public Scheme {
 public:
  EventScheme(std::unique_ptr<SubstepRule> rule, const SchemeOptions& options);

  std::string_view name() const override { return rule_->name(); }
  void check(const ContactModel& model) const override {
    check_contacts_are_rigid(name(), model);
    rule_->check(model);
  }
  bool has_symmetric_masses(const ContactModel& model, const State& state) const override {
    return rule_->has_symmetric_masses(model, state);
  }
  std::vector<std::string> notes(const ContactModel& model) const override;
  void step(const ContactModel& model, const State& start, const SchemeMemory& memory, double h,
            SolveStage& solve, StepResult& result) override;
  const StepProblem& last_problem() const override { return *last_problem_; }

 private:
  /// A smooth substep that may or may not be taken.
  struct Attempt {
    explicit Attempt(FrictionSection section) : assembly(section) {}
    StepAssembly assembly;
    StepSolution solution;
    SolverReport report;
    State end;
    double length = 0;
  };
  struct Collision {
    double time = 0;  // from the start of the substep
    int contact = 0;
    bool is_met = true;  // false: substeps that are longer close it, but none meets it
  };
  enum class Inactive { kAll, kTouching, kApart };  // contacts, by their gap at state_
  struct Lowest {
    double gap = std::numeric_limits<double>::infinity();
    int contact = -1;
  };
  /// What every part of a step needs.
  struct Context {
    const ContactModel& model;
    SolveStage& solve;
    StepResult& result;
  };

  void begin(const Context& c, const State& start, const SchemeMemory& memory, double h);
  void run(const Context& c, const State& start, double length, Attempt& attempt);
  double advance(const Context& c, double remaining);
  double advance_with_control(const Context& c, double remaining);
  double estimate_error(const ContactModel& model, const Attempt& coarse, const Attempt& fine);

  void choose_contacts(const Context& c, double length);
  bool is_touching(int contact) const { return gaps_[contact] <= contact_tolerance_; }
  void hold(int contact) {
    is_held_[contact] = 1;
    has_new_hold_ = true;
  }
  void let_go_what_left();
  double take(const Context& c, Attempt& attempt);
  void accept(const Context& c, const Attempt& attempt, double time);
  int find_deepest_inactive() const;
  std::optional<Collision> find_collision(const Context& c, Attempt& attempt);
  std::optional<Collision> find_collision_on_path(const Context& c, const Attempt& attempt);
  std::optional<Collision> find_collision_by_steps(const Context& c, Attempt& attempt);
  Lowest find_lowest(const VectorXd& gaps, Inactive which) const;
  Lowest find_lowest_after(const Context& c, double length, Inactive which, Attempt& attempt);
  bool hold_what_comes_back();
  Collision find_closing(const Context& c, RootBracket bracket, double gap_low, double gap_high,
                         Inactive which, Attempt& attempt);
  bool stores_energy(const Context& c, const Attempt& attempt, double time);
  template <class Margin>
  std::optional<double> find_transition(const Margin& margin, double length, double time) const;
  bool take_transition(const Context& c, Attempt& attempt, double& time);
  bool is_flight(const Context& c, const Attempt& attempt, const Collision& collision);
  void strike(const Context& c, int contact, ImpactStage::Rule rule = {});
  int find_fastest_approach(const Context& c, double slowest);
  void guess_status(const Context& c);
  void strike_approaching(const Context& c, double remaining);
  void count_event(const Context& c, const StepEvent& event);
  double finish_without_events(const Context& c, double remaining);
  void compute_spring_targets(const Context& c, const VectorXd& v_end, double h);
  void project(const Context& c);

  SteppingOptions options_;
  std::unique_ptr<SubstepRule> rule_;
  bool projects_;
  ImpactStage impact_;
  PositionLevelStep fallback_;
  PositionProjection projection_;
  TransitionWatch watch_;
  OutcomeReader reader_;
  ContactEvaluator evaluator_;
  StepForces forces_;              // of the substep taken last
  StepSolution solver_start_;      // that they make
  std::vector<Attempt> attempts_;  // coarse, first half, second half, trial
  const StepProblem* last_problem_;

  // Of the step being taken:
  State state_;                        // reached so far
  std::vector<ContactStatus> status_;  // of every contact
  std::vector<char> is_held_;          // contacts whose flight is too short to be followed
  bool has_new_hold_ = false;
  std::vector<char> has_struck_;  // contacts that have collided
  std::vector<int> active_;
  std::vector<char> is_active_;
  std::vector<int> participants_;
  VectorXd gaps_, end_gaps_;            // at state_, at the end of an attempt
  std::vector<double> spring_targets_;  // that the last substep aimed at, for the projection
  RowSet spring_rows_;
  VectorXd rows_q_;  // where the contacts of a phase were evaluated
  VectorXd spring_values_, mean_velocity_, difference_, sizes_;
  double contact_tolerance_ = 0;
  double h_ = 0;           // [s] of the whole step
  double end_time_ = 0;    // [s]
  double slow_rate_ = 0;   // [m/s] moves a contact by less than its tolerance in the step
  double floor_ = 0;       // [s]
  double last_event_ = 0;  // [s]
  int num_short_ = 0;      // events in a row that were closer than the floor, or not met
  int max_short_ = 0;      // that many are a Zeno sequence
  double substep_ = 0;     // [s] that error control would take next
};

}  // namespace stiction
