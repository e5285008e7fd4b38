// Pieces that schemes put step problems together from: mass blocks with the momentum, rows of
// constraints, springs and contacts of every system of a model, evaluated at a configuration of the
// scheme's choice. Drifts and indices of the rows are kept for reading the solution back.
#pragma once

#include <span>
#include <vector>

#include "stiction/base/stepping_options.h"
#include "stiction/model/model.h"
#include "stiction/problem/step_problem.h"

namespace stiction {

/// Where rows and forces are evaluated.
struct EvaluationPoint {
  double t = 0;
  const VectorXd& q;
};

/// Which velocity the impulse of a spring row is implicit in.
enum class SpringRule {
  kEnd,        // w = v⁺, spring taken at the end                                            (T14)
  kMean,       // w = (v + v⁺)/2, spring at the mean                                         (T18)
  kMeanByEnd,  // the same spring, w = v⁺
};

class StepAssembly {
 public:
  explicit StepAssembly(FrictionSection section) : section_(section) {}

  void clear();

  /// Mass blocks M(mass_point) and p = M v + h k(force_point, v).                             (T12)
  void add_mass_and_momentum(const Model& model, const EvaluationPoint& mass_point,
                             const EvaluationPoint& force_point, const VectorXd& v, double h);
  /// M̂ = M + h S and p = M v + h (k + S v): the gyroscopic force at v⁺ instead of v.         (T16)
  void make_gyroscopic_term_implicit(const Model& model, const EvaluationPoint& point,
                                     const VectorXd& v, double h);
  /// factor·M̃ and p = factor·M̃ v + h k̃ of the trapezoidal rule, M at `mid`.                  (T17)
  void add_trapezoidal_mass_and_momentum(const Model& model, const State& start,
                                         const EvaluationPoint& mid, double h, double factor,
                                         ForceJacobians jacobians);

  /// How rigid rows of constraints are, and how fast they take back their error.
  struct ConstraintForm {
    double compliance = 0;     // relative to the row's mobility
    double stabilization = 0;  // share of Θ that one step takes back
  };
  /// G w + Cλ = −∂Θ/∂t − stabilization·Θ(q, t)/h with G at `point`, Θ at `start` (no Θ term if h =
  /// 0). (T15)
  void add_constraint_rows(const Model& model, const EvaluationPoint& point, const State& start,
                           double h, const ConstraintForm& form);
  /// The same on position level: Θ(q̂) + G (q + h w − q̂) = 0 at the prediction q̂.            (T19)
  void add_constraint_rows_at_end(const Model& model, const EvaluationPoint& prediction,
                                  const State& start, double h, const ConstraintForm& form);

  /// Implicit springs and dampers as compliant rows; nothing for h = 0.
  void add_spring_rows(const Model& model, const EvaluationPoint& point, const State& start,
                       double h, SpringRule rule);
  /// Springs with the extension at the end of the step linearised about the prediction q̂.
  void add_spring_rows_at_end(const Model& model, const EvaluationPoint& prediction,
                              const State& start, double h);
  /// The impulse of springs and dampers as they are at the start, into p.
  void add_explicit_springs(const Model& model, const State& start, double h);

  /// Contacts whose gap at `point` is ≤ 0 up to rounding, with Newton restitution in the biases
  /// (T13). Needs the momentum.
  void add_touching_contacts(const Model& model, const EvaluationPoint& point, const VectorXd& v);
  /// Contacts on velocity level, u = γ⁺: the bias is the drift.
  void add_contacts(const Model& model, const EvaluationPoint& point,
                    std::span<const int> contacts);
  /// Contacts on position level: u_N is the gap at the end of the step over h.               (T19)
  void add_contacts_at_end(const Model& model, const EvaluationPoint& prediction,
                           const State& start, double h, std::span<const int> contacts);

  const StepProblem& problem() const { return problem_; }
  StepProblem& problem() { return problem_; }

  /// For every bilateral row: its joint row in the model, its drift, and the damper's h·δ.
  struct JointRow {
    int joint_row = 0;
    double drift = 0;    // ∂Θ/∂t or ∂φ/∂t
    double damping = 0;  // h δ [N s per m/s]
    bool is_spring = false;
    SpringRule rule = SpringRule::kEnd;  // which velocity the damper acts on
  };
  const std::vector<JointRow>& joint_rows() const { return joint_rows_; }
  /// A spring whose impulse is part of p.
  struct ExplicitSpring {
    int joint_row = 0;
    int part = 0;
    int first_entry = 0;  // of ∇φ in explicit_gradients()
    double drift = 0;
    double impulse = 0;          // [N s] of spring and damper
    double damping_impulse = 0;  // [N s] of the damper alone
  };
  const std::vector<ExplicitSpring>& explicit_springs() const { return explicit_springs_; }
  const std::vector<double>& explicit_gradients() const { return explicit_gradients_; }
  /// For every contact of the problem: its index in the model.
  const std::vector<int>& contact_indices() const { return contact_indices_; }
  /// ŵ per contact row.
  const std::vector<double>& contact_drifts() const { return contact_drifts_; }

 private:
  template <class Bias>
  void add_constraints(const Model& model, const EvaluationPoint& point, double compliance,
                       const Bias& bias);
  template <class Use>
  void for_each_spring(const Model& model, const EvaluationPoint& rows_at,
                       const EvaluationPoint& values_at, const Use& use);
  void add_spring_row(const Model::Part& part, int block, int i, double extension, double h,
                      SpringRule rule, const VectorXd& v);
  void measure_free_fall(int block, const ConstVectorMap& v);
  RowMatrixMap evaluate_contact(const Model& model, const EvaluationPoint& point, int part, int j);
  double* add_contact(const Model& model, int part, int j);
  RowMatrixMap matrix(int rows, int columns);
  VectorMap vector(int size);

  FrictionSection section_;
  StepProblem problem_;
  std::vector<JointRow> joint_rows_;
  std::vector<ExplicitSpring> explicit_springs_;
  std::vector<double> explicit_gradients_;
  std::vector<int> contact_indices_;
  std::vector<double> contact_drifts_;
  std::vector<double> matrix_storage_, vector_storage_, extra_storage_, gaps_, free_fall_;
};

}  // namespace stiction
