// Projection of positions onto the constraints after a step, (46) of Anitescu–Potra 2002: with q̃
// the end of the step,
//
//   min ½ ‖q − q̃‖²   with   Θ(q, t) = 0,   Φ(q, t) ≥ 0,   φ(q, t) = φ*
//
// where φ* are the extensions that the step gave to the springs to first order, φ + h(∇φᵀv⁺ +
// ∂φ/∂t). Taking constraint errors back then adds nothing to the energy of springs. The norm is
// that of M(q̃) and not the paper's Euclidean one, which would depend on the units of the
// coordinates. Sequential quadratic programming: every iteration is a step problem whose unknown w
// is the change of q. What it demands, and what it does where rows contradict each other:
// docs/schemes/projection.md.
#pragma once

#include <span>
#include <vector>

#include "stiction/scheme/scheme.h"

namespace stiction {

class PositionProjection {
 public:
  struct Request {
    double t = 0;           // [s]
    const VectorXd& guess;  // q̃; may be the vector that receives the answer
    /// φ*, one per spring of the model, part by part; those without stiffness are not read. Empty:
    /// springs are not held.
    std::span<const double> spring_targets{};
    /// One per contact of the model: what is not open is held at Φ = 0, unless the constraints then
    /// contradict each other. Empty: Φ ≥ 0 for all.
    std::span<const ContactStatus> contacts{};
  };

  struct Outcome {
    int iterations = 0;       // step problems solved
    double violation = 0;     // [-] worst |Θ| or −Φ, relative to the natural size of its row
    double spring_error = 0;  // [-] worst |φ − φ*|, likewise
    bool is_feasible = true;  // violation at rounding; springs may have had to give way
  };

  /// Sets q. If the guess meets all conditions to rounding it is returned bit by bit and nothing is
  /// solved. If the outcome is not feasible, q is the best that was found and is finite for a
  /// finite guess. Does not allocate once warm.
  [[nodiscard]] Outcome project(const ContactModel& model, const Request& request,
                                SolveStage& solve, VectorXd& q);

  /// The nearest v with G v + ∂Θ/∂t = 0 and N v + ŵ_N ≥ 0 for the contacts that touch, in the norm
  /// of M: for a start whose velocities contradict its constraints. Changes state.v alone.
  [[nodiscard]] Outcome project_velocity(const ContactModel& model, SolveStage& solve,
                                         State& state);

  /// The step problem that was solved last.
  const StepProblem& last_problem() const { return problem_; }

 private:
  enum class Kind { kUnused, kJoint, kSpring, kGap, kClosed };

  /// A constraint, spring or contact of the model: all constraints, all springs, all contacts.
  struct Row {
    Kind kind = Kind::kUnused;
    int part = 0;
    int gradient = -1;       // row block in gradients_, −1 if not evaluated
    bool is_wanted = false;  // takes part; contacts out of reach do not
    double target = 0;       // of a spring
    double value = 0;        // Θ, Φ or φ − φ* at the current point
    double trial = 0;        // and at the one in question
    double drift = 0;        // ∂/∂t of the value
    double mobility = 0;     // G diag(M)⁻¹Gᵀ
    double size = 0;         // of what the value is a small difference; 0: not measured yet
    double multiplier = 0;   // so far
  };

  /// Of a point, relative.
  struct Error {
    double violation = 0;
    double spring = 0;

    bool is_settled(const Error& last) const;
    bool is_spring_bound(const Error& last) const;
    bool is_improved_by(const Error& trial, double share) const;
  };

  void prepare(const ContactModel& model, double t, const VectorXd& q, const VectorXd& target);
  void lay_out_rows(const ContactModel& model);
  void list_position_rows(const ContactModel& model, const Request& request);
  void list_velocity_rows(const ContactModel& model, const State& state);

  void evaluate_gradients(const ContactModel& model, const VectorXd& q);
  void measure_row(Row& row);
  void evaluate_values(const ContactModel& model, const VectorXd& x);
  void keep_trial_values();
  static double miss_of(const Row& row);
  Error measure_error() const;

  Outcome run(const ContactModel& model, SolveStage& solve, VectorXd& x);
  void start(const ContactModel& model);
  void choose_contacts_in_reach(const ContactModel& model, const VectorXd& x);
  bool admit_violated_contacts();
  bool release_springs(const VectorXd& x);
  void assemble(const ContactModel& model, const VectorXd& x);
  double find_step(const ContactModel& model, Error& error, VectorXd& x);
  void find_way(const ContactModel& model, const VectorXd& x);
  void update_multipliers(const ContactModel& model, const StepSolution& solution, double share,
                          bool do_springs_gain, const VectorXd& x);

  double times_gradient(const ContactModel& model, const Row& row, const VectorXd& x) const {
    return gradients_.rows.times(row.gradient, 0, model.block_starts(), x.data());
  }
  /// x moved by share·step.
  void move(const ContactModel& model, const VectorXd& x, const VectorXd& step, double share,
            VectorXd& out) const;
  ConstRowMatrixMap mass(int block) const {
    return {mass_.data() + mass_start_[block], block_size_[block], block_size_[block]};
  }

  bool is_velocity_ = false;  // rows are linear, with gradients at a q that stays
  double t_ = 0;
  VectorXd target_;  // the guess
  VectorXd anchor_;  // what the nearest point is sought to: the guess, until springs are released
  VectorXd trial_;
  std::vector<int> block_start_, block_size_, block_part_, mass_start_;  // one per block
  std::vector<double> mass_;  // M block by block, row-major
  VectorXd coordinate_size_, start_size_;
  std::vector<Row> rows_;
  RowSet gradients_;
  std::vector<double> part_move_;  // in the norm of diag(M), one per part
  VectorXd values_, step_, way_;
  StepProblem problem_;
  std::vector<int> problem_rows_;  // the row behind each row of the problem
};

}  // namespace stiction
