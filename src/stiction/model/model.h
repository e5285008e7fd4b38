// What the world is, immutable once built: the systems, where their coordinates lie in q and v, and
// the state they start from. Numbers that change while stepping are in State.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stiction/base/linear_algebra.h"
#include "stiction/model/system.h"

namespace stiction {

struct State {
  double t = 0;  // [s]
  VectorXd q;    // configuration
  VectorXd v;    // generalised velocity
};

/// Kinetic, potential and spring energy of a state, [J].
struct Energy {
  double kinetic = 0;
  double potential = 0;
  double spring = 0;
  double total() const { return kinetic + potential + spring; }
};

class Model {
 public:
  /// One system and where its numbers lie among all.
  struct Part {
    std::shared_ptr<const System> system;
    int q_offset = 0;
    int v_offset = 0;
    int first_block = 0;
    int constraint_offset = 0;  // among all constraints
    int velocity_row_offset = 0;
    int spring_offset = 0;
    int joint_row_offset = 0;  // of its constraints, velocity rows and springs among all joint rows
    int contact_offset = 0;
    std::size_t matrix_offset = 0, matrix_size = 0;  // of its blocks among all mass values
  };
  /// A mass block of the step problem.
  struct Block {
    int part = 0;
    int index = 0;  // in its system
    int v_offset = 0;
    int size = 0;
  };

  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  int num_q() const { return static_cast<int>(initial_state_.q.size()); }
  int num_v() const { return static_cast<int>(initial_state_.v.size()); }
  int num_constraints() const { return static_cast<int>(constraints_.size()); }
  int num_velocity_rows() const { return static_cast<int>(velocity_rows_.size()); }
  int num_springs() const { return static_cast<int>(springs_.size()); }
  /// Contacts that the systems name; shapes find theirs while stepping, see ContactModel.
  int num_fixed_contacts() const { return static_cast<int>(contacts_.size()); }
  /// Constraints, velocity rows, then springs, part by part.
  int num_joint_rows() const { return num_constraints() + num_velocity_rows() + num_springs(); }
  const ConstraintInfo& constraint(int i) const { return *constraints_[i].info; }
  const VelocityRowInfo& velocity_row(int i) const { return *velocity_rows_[i].info; }
  const SpringInfo& spring(int i) const { return *springs_[i].info; }
  const ContactInfo& fixed_contact(int j) const { return *contacts_[j].info; }
  int part_of_fixed_contact(int j) const { return contacts_[j].part; }
  /// The joint row of a constraint, velocity row or spring.
  int joint_row_of_constraint(int i) const { return constraints_[i].joint_row; }
  int joint_row_of_velocity_row(int i) const { return velocity_rows_[i].joint_row; }
  int joint_row_of_spring(int i) const { return springs_[i].joint_row; }
  bool has_compliant_constraints() const { return has_compliant_constraints_; }
  /// Whether constraints have a compliance or a motor's limit.
  bool has_soft_constraints() const { return has_soft_constraints_; }
  /// Offsets of the blocks in v, one per block.
  const int* block_starts() const { return block_starts_.data(); }

  const State& initial_state() const { return initial_state_; }

  /// As recordings show them.
  std::vector<std::string> q_names() const;
  std::vector<std::string> v_names() const;
  std::vector<std::string> joint_row_names() const;
  std::vector<std::string> fixed_contact_names() const;
  void record(const State& state, VectorXd& q, VectorXd& v) const;
  /// q and v of the state that a recording shows so; sizes are those of q_names and v_names.
  void restore(const ConstVectorRef& recorded_q, const ConstVectorRef& recorded_v,
               State& state) const;
  /// The way back: sets state.q and state.v, see System. Throws InputError if sizes differ.
  void adopt_recorded(const VectorXd& q, const VectorXd& v, State& state) const;

  // The functions of all systems together, in the order of the parts; see System.
  void displace(const VectorXd& q, const VectorXd& v, double h, VectorXd& out,
                WorkerPool* workers = nullptr) const;
  void displacement(const VectorXd& from, const VectorXd& to, VectorXd& out) const;
  void measure_coordinates(const VectorXd& q, VectorXd& sizes) const;
  void evaluate_mass(double t, const VectorXd& q, int block, RowMatrixRef mass) const;
  /// Of all blocks, one after the other.
  void evaluate_masses(double t, const VectorXd& q, std::span<double> masses,
                       WorkerPool* workers = nullptr) const;
  double evaluate_kinetic_energy(const State& state, std::vector<double>& scratch) const;
  void evaluate_force(double t, const VectorXd& q, const VectorXd& v, VectorRef force) const;
  void evaluate_applied_force(double t, const VectorXd& q, const VectorXd& v,
                              VectorRef force) const;
  double evaluate_potential(double t, const VectorXd& q) const;
  void evaluate_jacobians(double t, const VectorXd& q, const VectorXd& v, int block,
                          RowMatrixRef k_q, RowMatrixRef k_v) const;
  void evaluate_gyroscopic(double t, const VectorXd& q, const VectorXd& v, int block,
                           RowMatrixRef gyroscopic) const;
  void add_gyroscopic(double t, const VectorXd& q, const VectorXd& v, double factor,
                      std::span<double> masses, VectorRef momentum,
                      std::vector<double>& scratch) const;
  void evaluate_constraints(double t, const VectorXd& q, VectorRef theta) const;
  void evaluate_springs(double t, const VectorXd& q, VectorRef extension) const;
  void evaluate_fixed_gaps(double t, const VectorXd& q, VectorRef gaps) const;
  void append_constraint_rows(double t, const VectorXd& q, RowSet& out) const;
  void append_constraints(double t, const VectorXd& q, RowSet& out, VectorRef theta) const;
  void append_velocity_rows(double t, const VectorXd& q, RowSet& out) const;
  void append_spring_rows(double t, const VectorXd& q, RowSet& out) const;
  void append_fixed_contact_rows(double t, const VectorXd& q, int contact, RowSet& out) const;
  void append_mean_constraint_rows(double t, double h, const VectorXd& q, const VectorXd& v,
                                   const VectorXd& change, RowSet& out) const;
  /// Of joints and springs.
  void add_joint_stiffness(double t, const VectorXd& q, std::span<const double> joint_forces,
                           const TurningSum& sum) const;
  void append_turning_rows(double t, const VectorXd& q, std::span<const double> joint_forces,
                           TurningRows& out) const;
  /// Of all joints of rigid bodies; see System.
  std::vector<std::string> reaction_names() const;
  void evaluate_reactions(const State& state, const VectorXd& joint_rows,
                          VectorXd& reactions) const;
  System::ContactPlace locate_fixed_contact(const State& state, int contact) const;

 private:
  friend class ModelBuilder;

  template <class Info>
  struct Item {
    const Info* info = nullptr;
    int part = 0;
    int joint_row = 0;
  };

  std::vector<Part> parts_;
  std::vector<Block> blocks_;
  std::vector<int> block_starts_;
  std::vector<Item<ConstraintInfo>> constraints_;
  std::vector<Item<VelocityRowInfo>> velocity_rows_;
  std::vector<Item<SpringInfo>> springs_;
  std::vector<Item<ContactInfo>> contacts_;
  State initial_state_;
  bool has_compliant_constraints_ = false;
  bool has_soft_constraints_ = false;
};

class ModelBuilder {
 public:
  /// Adds a system with its state at the start. Throws InputError if sizes differ or a number is
  /// not finite.
  void add_system(std::shared_ptr<const System> system, const VectorXd& position,
                  const VectorXd& velocity);
  [[nodiscard]] Model build() { return std::move(model_); }

 private:
  Model model_;
};

/// Evaluates what all schemes and the ledger ask of a state, with storage that is reused.
class ModelEvaluator {
 public:
  Energy compute_energy(const Model& model, const State& state);
  /// The largest |Θ| of constraints that are to hold exactly; 0 without.
  double compute_joint_error(const Model& model, const State& state);

 protected:
  /// Room for so many numbers; allocates only when it was never as large.
  VectorMap values(int size);

 private:
  std::vector<double> values_, mass_;
};

/// A number that tells models apart: names, contact laws, springs, and all functions evaluated at
/// the initial state. Equal for equal models on one machine.
std::uint64_t compute_fingerprint(const Model& model);

/// Why a simulation may not start from a state.
struct StartFault {
  enum class Where { kState, kMass, kForce, kContact, kShape, kConstraint, kVelocityRow, kSpring };
  Where where = Where::kState;
  int part = 0;   // of the model
  int index = 0;  // of the contact, shape, constraint or spring in its part; a force's velocity
  std::string message;        // names what is wrong, its value and what is allowed
  bool is_tolerable = false;  // with a larger tolerance
};

/// All of them: numbers that are not finite, a mass matrix that is not positive definite, a gap
/// below −tolerance, a constraint violated by more than it.
std::vector<StartFault> find_start_faults(const Model& model, const State& state,
                                          double penetration_tolerance);

}  // namespace stiction
