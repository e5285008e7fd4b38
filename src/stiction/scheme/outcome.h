// Reads solved problems back into mechanics: what every contact and joint did in a step, and how
// much energy each of them gave to the system. A step may consist of several problems (substeps,
// impacts), whose impulses and works add up. Uses problems and their solutions, no solver.
#pragma once

#include "stiction/scheme/assembly.h"
#include "stiction/scheme/scheme.h"

namespace stiction {

/// What a contact of a solved problem does, judged by the velocity that the contact law sees.
ContactStatus contact_status(const StepProblem& problem, const StepSolution& solution, int contact);
/// u_N, u_T of (T3) and (T4); zero where the contact has fewer rows.
Eigen::Vector3d contact_velocity(const StepProblem& problem, const StepSolution& solution,
                                 int contact);

class OutcomeReader {
 public:
  /// Empties contacts, joint impulses, work and events of `result`.
  void begin(const ContactModel& model, StepResult& result);
  void begin(ContactModel&&, StepResult&) = delete;  // it has to outlive the reading

  /// One solved problem that takes v_start to v_end. `share` is the part of it that was used: an
  /// event may cut a step short.
  struct Phase {
    const VectorXd& v_start;
    const VectorXd& v_end;
    double share = 1;
    // For the log of phases; without `start` there is nothing to log.
    PhaseKind kind = PhaseKind::kStep;
    const State* start = nullptr;  // before the problem
    double rows_t = 0;             // where its contacts were evaluated
    const VectorXd* rows_q = nullptr;
    const VectorXd* iterated_from = nullptr;              // velocity, of kinds that iterate
    const std::vector<double>* turning_joints = nullptr;  // forces in geometric stiffness
    const std::vector<double>* turning_contacts = nullptr;
  };
  void add(const StepAssembly& assembly, const StepSolution& solution, const Phase& phase,
           StepResult& result);
  /// Work of the applied forces as they are at (point, v), over `duration`, along the mean velocity
  /// of `phase`.
  void add_applied_work(const ContactModel& model, const EvaluationPoint& point, const VectorXd& v,
                        double duration, const Phase& phase, StepResult& result);

  /// Orders the contacts and gives them their gaps at the end of the step; `result.end` is set.
  /// Returns all gaps there.
  const KeptVector& finish(const ContactModel& model, StepResult& result);

 private:
  void open_outcomes(const std::vector<int>& contacts, StepResult& result);
  void add_joints(const StepAssembly& assembly, const StepSolution& solution, const Phase& phase,
                  StepResult& result);
  void add_contacts(const StepAssembly& assembly, const StepSolution& solution, const Phase& phase,
                    StepResult& result);
  void sum_up_work(const StepProblem& problem, StepResult& result) const;
  void log(const StepAssembly& assembly, const StepSolution& solution, const Phase& phase,
           StepResult& result);

  bool ends_with_answer_ = false;  // v⁺ = w
  VectorXd mean_velocity_;  // (v + v⁺)/2: Δ½vᵀMv is exactly impulse · mean velocity for constant M
  VectorXd mean_and_end_;                // it and v⁺, their numbers in turn
  std::vector<double> speeds_;           // of coordinates, or what they would be without impulses
  const ContactModel* model_ = nullptr;  // of the step being read
  KeptVector gaps_;
  VectorXd force_;
  ContactTouches touches_;  // at the end of the step
  /// What a contact of a solved problem does.
  struct Motion {
    Eigen::Vector3d mean_rate, slip = Eigen::Vector3d::Zero();
    ContactStatus status;
  };
  /// What impulses along the rows of a contact did, [J]: against the motion, and by its drive.
  struct Work {
    Eigen::Vector3d spent, driven;
  };
  double find_tangential_speed(const StepProblem& problem, int contact) const;
  Motion read_motion(const StepProblem& problem, const StepSolution& solution, int contact) const;
  Work add_contact(const StepAssembly& assembly, const StepSolution& solution, double share,
                   int contact, ContactOutcome& outcome) const;
  std::vector<Work> work_;     // per contact of the problem
  std::vector<int> slot_;      // of every contact of the model in result.contacts, or −1
  bool has_outcomes_ = false;  // result.contacts is of the step being read
  bool are_in_order_ = true;   // they are by the number of their contact
};

}  // namespace stiction
