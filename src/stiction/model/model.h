// What the world is, immutable once built: the systems, where their coordinates lie in q and v, and
// the state they start from. Numbers that change while stepping are in State.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stiction/base/linear_algebra.h"
#include "stiction/model/generalized_system.h"

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
  /// One generalised-coordinate system: one mass block of the step problem.
  struct Part {
    std::shared_ptr<const GeneralizedSystem> system;
    int offset = 0;             // of its coordinates in q and v
    int constraint_offset = 0;  // of its constraints and springs among all joint rows
    int contact_offset = 0;     // of its contacts among all contacts
  };

  const std::vector<Part>& parts() const { return parts_; }
  int num_q() const { return static_cast<int>(initial_state_.q.size()); }
  int num_v() const { return static_cast<int>(initial_state_.v.size()); }
  /// Constraints, then springs, part by part.
  int num_joint_rows() const { return num_joint_rows_; }
  int num_contacts() const { return num_contacts_; }
  /// The index of the part that a contact belongs to.
  int part_of_contact(int contact) const;

  const State& initial_state() const { return initial_state_; }

  std::vector<std::string> q_names() const;
  std::vector<std::string> v_names() const;
  std::vector<std::string> joint_row_names() const;
  std::vector<std::string> contact_names() const;

 private:
  friend class ModelBuilder;

  std::vector<Part> parts_;
  State initial_state_;
  int num_joint_rows_ = 0;
  int num_contacts_ = 0;
};

class ModelBuilder {
 public:
  /// Adds a system with its state at the start. Throws InputError if sizes differ or a number is
  /// not finite.
  void add_system(std::shared_ptr<const GeneralizedSystem> system, const VectorXd& position,
                  const VectorXd& velocity);
  [[nodiscard]] Model build() { return std::move(model_); }

 private:
  Model model_;
};

/// Evaluates what all schemes and the ledger ask of a state, with storage that is reused.
class ModelEvaluator {
 public:
  Energy compute_energy(const Model& model, const State& state);
  /// All gaps Φ(q, t), in the order of the contacts.
  void compute_gaps(const Model& model, double t, const VectorXd& q, VectorXd& gaps) const;
  /// γ_N = N v + ŵ_N of one contact.
  double compute_gap_rate(const Model& model, const State& state, int contact);
  /// ‖T v + ŵ_T‖ of one contact.
  double compute_slip_speed(const Model& model, const State& state, int contact);
  /// The smallest gap; infinite without contacts.
  double compute_smallest_gap(const Model& model, const State& state);
  /// The largest |Θ|; 0 without constraints.
  double compute_joint_error(const Model& model, const State& state);

 private:
  /// γ of all rows of a contact, in values_.
  VectorMap compute_contact_rates(const Model& model, const State& state, int contact);

  std::vector<double> values_;
  std::vector<double> mass_;
};

/// A number that tells models apart: names, contact laws, springs, and all functions evaluated at
/// the initial state. Equal for equal models on one machine.
std::uint64_t compute_fingerprint(const Model& model);

/// Why a simulation may not start from a state.
struct StartFault {
  enum class Where { kState, kMass, kForce, kContact, kConstraint, kSpring };
  Where where = Where::kState;
  int part = 0;         // of the model
  int index = 0;        // of the contact, constraint or spring in its part; a force's coordinate
  std::string message;  // names what is wrong, its value and what is allowed
  bool is_tolerable = false;  // with a larger tolerance
};

/// All of them: numbers that are not finite, a mass matrix that is not positive definite, a gap
/// below −tolerance, a constraint violated by more than it.
std::vector<StartFault> find_start_faults(const Model& model, const State& state,
                                          double penetration_tolerance);

}  // namespace stiction
