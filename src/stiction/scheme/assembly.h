// Pieces that schemes put step problems together from: mass blocks with the momentum, rows of
// constraints, springs and contacts of every system of a model, evaluated at a configuration of the
// scheme's choice. Drifts and indices of the rows are kept for reading the solution back.
#pragma once

#include <vector>

#include "stiction/model/model.h"
#include "stiction/problem/step_problem.h"

namespace stiction {

/// Where rows and forces are evaluated.
struct EvaluationPoint {
  double t = 0;
  const VectorXd& q;
};

class StepAssembly {
 public:
  explicit StepAssembly(FrictionSection section) : section_(section) {}

  /// Mass blocks M(point) and p = M v + h k(point, v).                                        (T12)
  void add_mass_and_momentum(const Model& model, const EvaluationPoint& point, const VectorXd& v,
                             double h);
  /// G w + Cλ = −∂Θ/∂t − stabilization·Θ(q, t)/h with G at `point`, Θ at `start` (no Θ term if h =
  /// 0) and a tiny C. (T15)
  void add_constraint_rows(const Model& model, const EvaluationPoint& point, const State& start,
                           double h, double stabilization);
  /// Implicit springs and dampers as compliant rows (T14); nothing for h = 0.
  void add_spring_rows(const Model& model, const EvaluationPoint& point, const State& start,
                       double h);
  /// Contacts whose gap at `point` is ≤ 0 up to rounding, with Newton restitution in the biases
  /// (T13). Needs the momentum.
  void add_touching_contacts(const Model& model, const EvaluationPoint& point, const VectorXd& v);

  void clear();

  const StepProblem& problem() const { return problem_; }
  StepProblem& problem() { return problem_; }

  /// For every bilateral row: its joint row in the model, its drift, and the damper's h·δ.
  struct JointRow {
    int joint_row = 0;
    double drift = 0;    // ∂Θ/∂t or ∂φ/∂t
    double damping = 0;  // h δ [N s per m/s]
    bool is_spring = false;
  };
  const std::vector<JointRow>& joint_rows() const { return joint_rows_; }
  /// For every contact of the problem: its index in the model.
  const std::vector<int>& contact_indices() const { return contact_indices_; }
  /// ŵ per contact row.
  const std::vector<double>& contact_drifts() const { return contact_drifts_; }

 private:
  void measure_free_fall(int block, const ConstVectorMap& v);
  void add_contact(const Model::Part& part, int block, int j, const VectorXd& v);
  RowMatrixMap matrix(int rows, int columns);
  VectorMap vector(int size);

  FrictionSection section_;
  StepProblem problem_;
  std::vector<JointRow> joint_rows_;
  std::vector<int> contact_indices_;
  std::vector<double> contact_drifts_;
  std::vector<double> matrix_storage_, vector_storage_, gaps_, free_fall_;
};

}  // namespace stiction
