// Pieces that schemes put step problems together from: mass blocks with the momentum, rows of
// constraints, springs and contacts of every system of a model, evaluated at a configuration of the
// scheme's choice. Drifts and indices of the rows are kept for reading the solution back.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stiction/base/stepping_options.h"
#include "stiction/contact/contact_model.h"
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
  void add_mass_and_momentum(const ContactModel& model, const EvaluationPoint& mass_point,
                             const EvaluationPoint& force_point, const VectorXd& v, double h);
  /// M̂ = M + h S and p = M v + h (k + S v): the gyroscopic force at v⁺ instead of v.         (T16)
  void make_gyroscopic_term_implicit(const ContactModel& model, const EvaluationPoint& point,
                                     const VectorXd& v, double h);
  /// M̂ = M + (h/2) S(w̄) and p = M v + h k(mid, w̄) + (h/2) S v̂⁺, which for v⁺ = v̂⁺ is the midpoint
  /// rule.                                                                                  (T31)
  void add_midpoint_mass_and_momentum(const ContactModel& model, const EvaluationPoint& mid,
                                      const VectorXd& v, const VectorXd& mean_velocity,
                                      const VectorXd& guess, double h);
  /// factor·M̃ and p = factor·M̃ v + h k̃ of the trapezoidal rule, M at `mid`.                  (T17)
  void add_trapezoidal_mass_and_momentum(const ContactModel& model, const State& start,
                                         const EvaluationPoint& mid, double h, double factor,
                                         ForceJacobians jacobians);

  /// How rigid rows of constraints are, and how fast they take back their error.
  struct ConstraintForm {
    double compliance = 0;                      // relative to the row's mobility
    double stabilization = 0;                   // share of Θ that one step takes back
    SpringRule spring_rule = SpringRule::kEnd;  // of constraints with a compliance of their own
  };
  /// G w + Cλ = −∂Θ/∂t − stabilization·Θ(q, t)/h with G at `point`, Θ at `start` (no Θ term if h =
  /// 0), (T15); then velocity rows A w = −drift at `point`. Constraints with a compliance of their
  /// own are springs. What is bounded by an effort f is bounded by h f, and takes no part if h = 0.
  void add_constraint_rows(const ContactModel& model, const EvaluationPoint& point,
                           const State& start, double h, const ConstraintForm& form);
  /// The same on position level: Θ(q̂) + G (q + h w − q̂) = 0 at the prediction q̂.            (T19)
  void add_constraint_rows_at_end(const ContactModel& model, const EvaluationPoint& prediction,
                                  const State& start, double h, const ConstraintForm& form);

  /// SPOOK's regularisation: relative compliance of rigid rows, and relaxation time.
  struct SpookForm {
    double compliance = 0;  // C of rigid rows and of normals, relative to their mobility
    double relaxation = 0;  // τ [s] where a constraint has none of its own
    const TurningRows* turning = nullptr;  // geometric stiffness between bodies             (T28)
    double stiffness_return = 0;           // b of it; a is 1
  };
  /// G w + Cλ = −(4φ/h)Θ + φ G v with C = 4εφ/h², φ = 1/(1 + 4τ/h), for constraints and springs
  /// (ε = 1/γ, τ = δ/γ); dampers alone are rows with C = 1/(hδ), (T29). Then rows of geometric
  /// stiffness, which are no joint rows.
  void add_spook_rows(const ContactModel& model, const State& start, double h,
                      const SpookForm& form);
  /// u_N = N w + Cν + (4φ/h)Φ − φ N v of contacts that were evaluated at the start.
  void add_spook_contacts(const ContactModel& model, const State& start, double h,
                          const SpookForm& form, std::span<const int> contacts);

  /// Mean rows over a step with the mean velocity w̄ and the change ΔΘ of all constraints: Ḡ v⁺ =
  /// −Ḡ v − 2 (∂Θ/∂t + Θ(q)/h), such that the step ends on the constraints; nonholonomic rows at
  /// `mid` act on the mean velocity, too, motors and friction on v⁺.                        (T31)
  void add_mean_constraint_rows(const ContactModel& model, const State& start, double h,
                                const EvaluationPoint& mid, const VectorXd& mean_velocity,
                                const VectorXd& change, double compliance);
  /// M̂ += a h²K and p += b h²K v for the geometric stiffness K of given forces.            (T28)
  struct Turning {
    double inertia = 0;   // a
    double momentum = 0;  // b
  };
  void add_geometric_stiffness(const ContactModel& model, const EvaluationPoint& point,
                               const VectorXd& v, double h, std::span<const double> joint_forces,
                               std::span<const double> contact_forces, const Turning& turning);
  /// The rows of lines: λ = −a h²k (G w + ŵ) + b h²k (G v + ŵ). They are no joint rows.       (T28)
  void add_turning_rows(const TurningRows& rows, const VectorXd& v, const Turning& turning);
  /// Where forces other than those used turn most: h²ΣK_ii/M_ii of that block, and in `used` the
  /// same for the forces of the last call of add_geometric_stiffness.
  struct TurningExcess {
    double trace = 0;
    double used = 0;
  };
  TurningExcess find_turning_excess(const ContactModel& model, const EvaluationPoint& point,
                                    double h, std::span<const double> joint_forces,
                                    std::span<const double> contact_forces);

  /// Implicit springs and dampers as compliant rows; nothing for h = 0.
  void add_spring_rows(const ContactModel& model, const EvaluationPoint& point, const State& start,
                       double h, SpringRule rule);
  /// Springs with the extension at the end of the step linearised about the prediction q̂.
  void add_spring_rows_at_end(const ContactModel& model, const EvaluationPoint& prediction,
                              const State& start, double h);
  /// The impulse of springs and dampers as they are at the start, into p.
  void add_explicit_springs(const ContactModel& model, const State& start, double h);

  /// Rows and gaps of all contacts at a point, for those functions below that say so; they hold
  /// until they are evaluated anew, also if the problem is cleared.
  void evaluate_contacts(const ContactModel& model, const EvaluationPoint& point);
  /// Φ of all contacts that were evaluated, alternatives suppressed.
  const KeptVector& evaluated_gaps() const { return gaps_; }
  /// N v + ŵ_N of a contact that was evaluated.
  double gap_rate(const ContactModel& model, int contact, const VectorXd& v) const {
    const RowSet& set = batches_[contact / kBatch];
    const int j = contact % kBatch;
    return set.rows.times(j, 0, model.block_starts(), v.data()) + set.drift[set.rows.row_start(j)];
  }

  /// Contacts whose gap at `point` is ≤ 0, up to rounding and to what a solver with this tolerance
  /// is forgiven, with Newton restitution in the biases (T13). Needs the momentum.
  void add_touching_contacts(const ContactModel& model, const EvaluationPoint& point,
                             const VectorXd& v, double tolerance);
  /// Appends the same contacts to a list, of those that were evaluated.
  void find_touching(const ContactModel& model, const VectorXd& v, double tolerance,
                     std::vector<int>& contacts);
  /// Contacts on velocity level, u = γ⁺: the bias is the drift.
  void add_contacts(const ContactModel& model, const EvaluationPoint& point,
                    std::span<const int> contacts);
  /// Contacts on position level: u_N is the gap at the end of the step over h.               (T19)
  /// `gaps` are those of all contacts at the prediction.
  void add_contacts_at_end(const ContactModel& model, const EvaluationPoint& prediction,
                           const VectorXd& gaps, const State& start, double h,
                           std::span<const int> contacts);

  /// N diag(M)⁻¹Nᵀ of the contacts of the problem.
  void compute_normal_mobilities(std::vector<double>& mobilities);

  const StepProblem& problem() const { return problem_; }
  StepProblem& problem() { return problem_; }

  /// For every bilateral row: its joint row in the model, its drift, and the damper's h·δ.
  struct JointRow {
    enum class Kind : std::uint8_t { kRigid, kMotor, kFriction, kSpring, kTurning };
    int joint_row = 0;  // −1 if kTurning
    Kind kind = Kind::kRigid;
    double drift = 0;                    // ∂Θ/∂t or ∂φ/∂t
    double damping = 0;                  // h δ [N s per m/s]
    SpringRule rule = SpringRule::kEnd;  // which velocity the damper acts on
  };
  const std::vector<JointRow>& joint_rows() const { return joint_rows_; }
  /// A spring whose impulse is part of p.
  struct ExplicitSpring {
    int joint_row = 0;
    int row = 0;  // of ∇φ in explicit_gradients()
    double drift = 0;
    double impulse = 0;          // [N s] of spring and damper
    double damping_impulse = 0;  // [N s] of the damper alone
  };
  const std::vector<ExplicitSpring>& explicit_springs() const { return explicit_springs_; }
  const BlockRows& explicit_gradients() const { return springs_.rows; }
  /// For every contact of the problem: its index in the model.
  const std::vector<int>& contact_indices() const { return contact_indices_; }
  /// ŵ per contact row.
  const std::vector<double>& contact_drifts() const { return contact_drifts_; }
  /// In the world, per contact.
  const std::vector<std::array<Eigen::Vector3d, 2>>& contact_tangents() const {
    return contact_tangents_;
  }

 private:
  /// Contacts whose rows one task evaluates: some ten microseconds.
  static constexpr int kBatch = 64;

  void add_constraints(const ContactModel& model, const VectorXd& v, double h,
                       const ConstraintForm& form);
  void add_velocity_rows(const ContactModel& model, const EvaluationPoint& point, double h,
                         double compliance);
  void add_row(const BlockRows& from, int row, const StepProblem::BilateralRow& form,
               const JointRow& joint_row);
  /// A spring's numbers; a compliant constraint is one, too.
  struct Spring {
    double stiffness = 0;
    double damping = 0;
    double extension = 0;
  };
  void add_spring_row(const RowSet& rows, int i, int joint_row, const Spring& spring, double h,
                      SpringRule rule, const VectorXd& v);
  void evaluate_springs(const ContactModel& model, const EvaluationPoint& rows_at,
                        const EvaluationPoint& values_at);
  void evaluate_lag(const ContactModel& model, const EvaluationPoint& prediction,
                    const State& start);
  void evaluate_contact(const ContactModel& model, const EvaluationPoint& point, int contact);
  double* add_contact(const ContactModel& model, int contact, const RowSet& set, int row_block);
  double* add_evaluated_contact(const ContactModel& model, int contact) {
    return add_contact(model, contact, batches_[contact / kBatch], contact % kBatch);
  }
  /// Contacts that touch, of those of the model that one thread looks at.
  struct TouchingBatch {
    RowSet set;
    std::vector<int> contacts;
    std::vector<double> mu;
    std::vector<std::uint64_t> keys;
    std::vector<double> bias;  // one per row

    void clear() {
      set.clear();
      contacts.clear();
      mu.clear();
      keys.clear();
      bias.clear();
    }
  };
  bool evaluate_if_touching(const ContactModel& model, const EvaluationPoint& point, int contact,
                            double share, TouchingBatch& batch) const;
  void add_bias(const ContactInfo& info, const VectorXd& v, TouchingBatch& batch) const;
  void add_batch(TouchingBatch& batch, WorkerPool* workers);
  struct RowFigures {
    double rate = 0, mobility = 0;
  };
  RowFigures measure_row(int row, const VectorXd& v) const;
  void add_all_constraint_rows(const ContactModel& model, const EvaluationPoint& point);
  void invert_mass_diagonal();
  double mobility(const BlockRows& rows, int row_block) const;
  double row_times(const RowSet& set, int row_block, int row, const VectorXd& v) const {
    return set.rows.times(row_block, row, problem_.dof_start.data(), v.data());
  }
  void measure_free_fall(const ContactModel& model, const VectorXd& v);
  void measure_free_fall_of(int block, const VectorXd& v);
  double fall_at_contact(const BlockRows& rows, int row_block) const;
  double fall_beside_contact(const BlockRows& rows, int row_block) const;
  void measure_falls(const ContactModel& model, const VectorXd& v);

  FrictionSection section_;
  StepProblem problem_;
  std::vector<JointRow> joint_rows_;
  std::vector<ExplicitSpring> explicit_springs_;
  std::vector<int> contact_indices_;
  std::vector<double> contact_drifts_;
  std::vector<std::array<Eigen::Vector3d, 2>> contact_tangents_;
  RowSet constraints_, springs_, contact_;
  std::vector<RowSet> batches_;  // rows of all contacts, kBatch of them in each
  ContactTouches touches_;       // of all contacts
  std::vector<TouchingBatch> touching_;
  std::vector<double> fall_sums_;  // per block, see measure_free_fall
  std::vector<double> falls_;      // how far forces alone move them along their normal
  KeptVector gaps_;
  VectorXd theta_, extension_, force_, force_at_end_, free_fall_, lag_;
  std::vector<double> matrix_storage_;
  std::vector<double> traces_, new_traces_;  // of geometric stiffness, per block
  std::vector<double> inverse_diagonal_;     // 1/|M̂| per coordinate
};

}  // namespace stiction
