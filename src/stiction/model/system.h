// A mechanical system as schemes see it: velocities in blocks with a mass matrix each, forces, and
// rows that couple the blocks.
//
//   M(q,t) v̇ = k(t,q,v) + Gᵀλ + Aᵀα + Σ_j (N_jᵀν_j + T_jᵀβ_j),   q̇ = S(q) v                  (T10)
//
// A system in its own coordinates (GeneralizedSystem) is one block with S = I; rigid bodies
// (RigidBodySystem) are one block each. Displacements δq of a configuration are measured like
// velocities, so that nobody outside ever sees how orientations are stored: derivatives "with
// respect to q" are with respect to δq.
//
// All functions are const and keep no state: the same arguments give the same bits, from any
// thread.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "stiction/base/block_rows.h"
#include "stiction/base/linear_algebra.h"

namespace stiction {

class WorkerPool;

class Surfaces;

/// How a contact answers to an impact.
enum class ImpactLaw : std::uint8_t {
  kOfScheme,  // Newton in moreau, Poisson in schemes that locate collisions
  kNewton,    // γ⁺ ≥ −e γ⁻
  kPoisson,   // e times the impulse of compression in decompression
};

struct ContactInfo {
  std::string name;
  int num_tangents = 0;               // 0 (no friction), 1 (plane) or 2 (space)
  double mu = 0;                      // ≥ 0; 0 where num_tangents is 0
  double restitution = 0;             // e_N in [0, 1]
  double restitution_tangential = 0;  // e_T in [0, 1]
  double compliance = 0;              // ε ≥ 0 [m/N] of the normal; 0 is rigid
  ImpactLaw impact = ImpactLaw::kOfScheme;
};

struct SpringInfo {
  std::string name;
  double stiffness = 0;  // γ ≥ 0
  double damping = 0;    // δ ≥ 0
};

/// A holonomic constraint Θ(q, t) = 0.
struct ConstraintInfo {
  std::string name;
  /// ε ≥ 0 [m/N or rad/(N m)] and τ ≥ 0 [s]: force −(Θ + τ Θ̇)/ε. Zero ε is rigid.
  double compliance = 0;
  double damping_time = 0;
  /// Largest force [N or N m]; infinite unless a motor holds the constraint.
  double max_effort = std::numeric_limits<double>::infinity();

  bool is_rigid() const { return compliance == 0 && std::isinf(max_effort); }
  bool is_compliant() const { return compliance > 0; }
};

/// A condition on velocities alone, A(q,t) v + drift = 0, as long as it takes no more than
/// `max_effort`.
struct VelocityRowInfo {
  enum class Kind : std::uint8_t {
    kNonholonomic,  // rolling, knife edges: max_effort is infinite
    kMotor,         // drives at a speed
    kFriction,      // holds or brakes
  };
  std::string name;
  Kind kind = Kind::kNonholonomic;
  double max_effort = std::numeric_limits<double>::infinity();
};

/// Rows of constraints, springs or contacts, and how fast their values change by themselves.
struct RowSet {
  BlockRows rows;
  std::vector<double> drift;                             // one per row
  std::vector<std::array<Eigen::Vector3d, 2>> tangents;  // one pair per contact, in the world

  /// Contacts that systems name have no place in the world: their tangents are axes of their own.
  static std::array<Eigen::Vector3d, 2> tangents_without_place() {
    return {Eigen::Vector3d::UnitX(), Eigen::Vector3d::UnitY()};
  }

  void clear() {
    rows.clear();
    drift.clear();
    tangents.clear();
  }
  void remove_last_contact() {
    rows.remove_last_row_block();
    drift.resize(rows.num_rows());
    tangents.pop_back();
  }
};

/// Where the geometric stiffness K of forces that turn with bodies goes, block by block: symmetric
/// matrices, positive semidefinite (T28). What is null is not wanted.
struct TurningSum {
  double inertia = 0, momentum = 0;  // factors
  double* masses = nullptr;          // += inertia·K, matrices as of evaluate_masses
  const double* v = nullptr;         // with masses: velocities,
  double* momenta = nullptr;         // += momentum·K v
  double* traces = nullptr;          // one per block, += Σ K_ii/M_ii

  /// For a system whose matrices, velocities and blocks begin there.
  TurningSum from(std::size_t matrix, int velocity, int block) const {
    TurningSum part = *this;
    if (masses != nullptr) {
      part.masses += matrix;
      part.v += velocity;
      part.momenta += velocity;
    }
    if (traces != nullptr) part.traces += block;
    return part;
  }
};

/// Geometric stiffness between two bodies, which their blocks cannot hold without making them
/// heavier: rows take it.                                                                    (T28)
struct TurningRows {
  double h = 0;               // [s] of the step: there is no need below some share of inertia/h²
  std::vector<double> held;   // [N m/rad] per joint row, for those that yield
  RowSet across;              // of lines that carry a tension, two each
  std::vector<double> stiff;  // [N/m] of these rows, > 0

  void clear() {
    held.clear();
    across.clear();
    stiff.clear();
  }
};

class System {
 public:
  virtual ~System() = default;

  int num_q() const { return num_q_; }
  int num_v() const { return num_v_; }
  const std::vector<int>& block_sizes() const { return block_sizes_; }
  int num_blocks() const { return static_cast<int>(block_sizes_.size()); }
  const std::vector<ConstraintInfo>& constraints() const { return constraints_; }
  const std::vector<VelocityRowInfo>& velocity_rows() const { return velocity_rows_; }
  const std::vector<SpringInfo>& springs() const { return springs_; }
  const std::vector<ContactInfo>& contacts() const { return contacts_; }
  int num_constraints() const { return static_cast<int>(constraints_.size()); }
  int num_velocity_rows() const { return static_cast<int>(velocity_rows_.size()); }
  int num_springs() const { return static_cast<int>(springs_.size()); }
  int num_contacts() const { return static_cast<int>(contacts_.size()); }
  /// Constraints, velocity rows, springs.
  int num_joint_rows() const { return num_constraints() + num_velocity_rows() + num_springs(); }

  /// The number that a velocity coordinate goes by in messages: "y", "arm (angular y)".
  virtual std::string name_of_velocity(int i) const = 0;

  /// How recordings show a state; positions and velocities by name.
  virtual std::vector<std::string> recorded_q_names() const = 0;
  virtual std::vector<std::string> recorded_v_names() const = 0;
  virtual int num_recorded_q() const { return num_q_; }
  virtual int num_recorded_v() const { return num_v_; }
  virtual void record(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                      VectorRef recorded_q, VectorRef recorded_v) const;  // as they are

  /// The state of which a recording shows these numbers: record() undone, up to rounding.
  virtual void restore(const ConstVectorRef& recorded_q, const ConstVectorRef& recorded_v,
                       VectorRef q, VectorRef v) const;  // as they are
  /// The way back: the state that recordings show so. `q` and `v` hold a state nearby, from which
  /// comes what is not recorded. Throws InputError for numbers that no state has.
  virtual void adopt_recorded(double t, const ConstVectorRef& recorded_q,
                              const ConstVectorRef& recorded_v, VectorRef q, VectorRef v) const;

  /// q after the displacement h v; `out` may be `q`. Work on many bodies is shared out, here and
  /// below, to workers if there are any.
  virtual void displace(const ConstVectorRef& q, const ConstVectorRef& v, double h, VectorRef out,
                        WorkerPool* workers) const;  // q + h v
  /// The displacement that takes `from` to `to`.
  virtual void displacement(const ConstVectorRef& from, const ConstVectorRef& to,
                            VectorRef out) const;  // to − from

  /// How large each coordinate is, for judging small differences: one number per velocity.
  virtual void measure_coordinates(const ConstVectorRef& q, VectorRef sizes) const;  // |q|

  /// M(q, t) of one block, symmetric positive definite.
  virtual void evaluate_block_mass(double t, const ConstVectorRef& q, int block,
                                   RowMatrixRef mass) const = 0;
  /// All of them, row-major one after the other.
  virtual void evaluate_masses(double t, const ConstVectorRef& q, std::span<double> masses,
                               WorkerPool* workers) const;
  /// ½vᵀMv. `scratch` is room that is reused, here and below.
  virtual double evaluate_kinetic_energy(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                         std::vector<double>& scratch) const;
  /// k(t, q, v): applied forces, −∂V/∂q and velocity terms (T11); springs are not in it.
  virtual void evaluate_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                              VectorRef force) const = 0;
  /// The part of k that has no potential and is no velocity term of M: what `energy/applied`
  /// counts.
  virtual void evaluate_applied_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                      VectorRef force) const;  // zero
  /// V(q, t); its forces are in k.
  virtual double evaluate_potential(double t, const ConstVectorRef& q) const;  // zero
  /// k_q = ∂k/∂q and k_v = ∂k/∂v of one block with respect to its own coordinates.
  virtual void evaluate_block_jacobians(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                        int block, RowMatrixRef k_q, RowMatrixRef k_v) const = 0;
  /// Whether evaluate_block_jacobians is exact and not made of differences.
  virtual bool has_exact_force_jacobians() const { return false; }
  /// The gyroscopic matrix S(t, q, v) of one block, antisymmetric: −S v is the part of the velocity
  /// terms in k that does no work whatever velocity S is multiplied with (T16).
  virtual void evaluate_block_gyroscopic(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                         int block, RowMatrixRef gyroscopic) const = 0;

  /// factor·S of all blocks added to matrices as those of evaluate_masses, factor·S v to
  /// `momentum`.
  virtual void add_gyroscopic(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                              double factor, std::span<double> masses, VectorRef momentum,
                              std::vector<double>& scratch) const;

  /// Θ(q, t) of all constraints.
  virtual void evaluate_constraints(double t, const ConstVectorRef& q, VectorRef theta) const;
  /// Appends G = ∂Θ/∂q and ∂Θ/∂t, a row block of one row each. The blocks of the system are
  /// numbered from `first_block`, here and below.
  virtual void append_constraint_rows(double t, const ConstVectorRef& q, int first_block,
                                      RowSet& out) const;
  /// Both, where one point serves for values and rows.
  virtual void append_constraints(double t, const ConstVectorRef& q, int first_block, RowSet& out,
                                  VectorRef theta) const;
  /// Appends A, and its drift: minus the speed that a motor wants.
  virtual void append_velocity_rows(double t, const ConstVectorRef& q, int first_block,
                                    RowSet& out) const;

  /// Extensions φ(q, t) of the springs, 0 at rest.
  virtual void evaluate_springs(double t, const ConstVectorRef& q, VectorRef extension) const;
  virtual void append_spring_rows(double t, const ConstVectorRef& q, int first_block,
                                  RowSet& out) const;

  /// Φ_j(q, t) of all contacts, ≥ 0 when apart.
  virtual void evaluate_gaps(double t, const ConstVectorRef& q, VectorRef gaps) const;
  /// Appends the rows of contact j as one row block: N = ∂Φ/∂q, then the tangent rows; and their
  /// drifts, so that the relative velocity is γ = rows·v + drift.
  virtual void append_contact_rows(double t, const ConstVectorRef& q, int contact, int first_block,
                                   RowSet& out) const;

  /// Where a contact is, for recordings.
  struct ContactPlace {
    int a = -1, b = -1;  // bodies by their number; −1 is the world, or no body
    std::array<double, 3> position{kNowhere, kNowhere, kNowhere};  // [m]
    std::array<double, 3> normal{kNowhere, kNowhere, kNowhere};    // from b to a
    static constexpr double kNowhere = std::numeric_limits<double>::quiet_NaN();
  };
  virtual ContactPlace locate_contact(double t, const ConstVectorRef& q, int contact) const;

  /// Names of the forces and torques that joints exert on their bodies, and their values for given
  /// forces (or impulses) of all joint rows.
  virtual std::vector<std::string> reaction_names() const { return {}; }
  virtual int num_reactions() const { return 0; }
  virtual void evaluate_reactions(double t, const ConstVectorRef& q,
                                  const ConstVectorRef& joint_rows, VectorRef reactions) const;

  /// Constraint rows for a step of length h with the mean velocity v: those at its middle (t, q),
  /// corrected such that h (rows·v + drift) is `change`, by how much Θ changes in it.       (T31)
  virtual void append_mean_constraint_rows(double t, double h, const ConstVectorRef& q,
                                           const ConstVectorRef& v, const ConstVectorRef& change,
                                           int first_block, RowSet& out) const;

  /// Forces that pull at a body turn it back: adds this stiffness of every block. Forces are those
  /// of all joint rows.                                                                       (T28)
  virtual void add_joint_stiffness(double t, const ConstVectorRef& q,
                                   std::span<const double> joint_forces,
                                   const TurningSum& sum) const;  // none
  /// What such forces do between two bodies: appends `held` for all joint rows of the system, and
  /// rows across lines. Reads out.h.                                                         (T28)
  virtual void append_turning_rows(double t, const ConstVectorRef& q,
                                   std::span<const double> joint_forces, int first_block,
                                   TurningRows& out) const;  // none

  /// Shapes that may touch; null if there are none.
  virtual const Surfaces* surfaces() const { return nullptr; }

 protected:
  void set_sizes(int num_q, std::vector<int> block_sizes);
  std::vector<ConstraintInfo> constraints_;
  std::vector<VelocityRowInfo> velocity_rows_;
  std::vector<SpringInfo> springs_;
  std::vector<ContactInfo> contacts_;

 private:
  int num_q_ = 0, num_v_ = 0;
  std::vector<int> block_sizes_;
};

}  // namespace stiction
