// compute_fingerprint: FNV-1a over everything that a model says of itself at its initial
// state and at a few places around it.
#include "stiction/base/fnv_hash.h"
#include "stiction/base/random.h"
#include "stiction/model/model.h"

namespace stiction {
namespace {

constexpr int kNumPlaces = 3;

class Hash {
 public:
  void add(double x) { hash_.add(&x, sizeof x); }
  void add(const std::string& text) { hash_.add(text.c_str(), text.size() + 1); }
  template <class Matrix>
  void add_all(const Matrix& numbers) {
    for (Eigen::Index i = 0; i < numbers.size(); ++i) add(numbers.data()[i]);
  }
  std::uint64_t value() const { return hash_.value(); }

 private:
  FnvHash hash_;
};

void add_layout(const System& system, Hash& hash) {
  for (const std::string& name : system.recorded_q_names()) hash.add(name);
  for (const ConstraintInfo& constraint : system.constraints()) {
    hash.add(constraint.name);
    for (const double x : {constraint.compliance, constraint.damping_time, constraint.max_effort})
      hash.add(x);
  }
  for (const VelocityRowInfo& row : system.velocity_rows()) {
    hash.add(row.name);
    hash.add(static_cast<double>(row.kind));
    hash.add(row.max_effort);
  }
  for (const SpringInfo& spring : system.springs()) {
    hash.add(spring.name);
    for (const double x : {spring.stiffness, spring.damping}) hash.add(x);
  }
  for (const ContactInfo& contact : system.contacts()) {
    hash.add(contact.name);
    for (const double x : {contact.mu, contact.restitution, contact.restitution_tangential})
      hash.add(x);
    hash.add(static_cast<double>(contact.impact));
  }
}

void add_rows(const RowSet& set, Hash& hash) {
  for (int i = 0; i < set.rows.num_row_blocks(); ++i)
    for (int e = set.rows.entry_start(i); e < set.rows.entry_start(i + 1); ++e)
      hash.add_all(set.rows.entry_matrix(i, e));
  for (const double x : set.drift) hash.add(x);
}

void add_functions(const System& system, double t, const VectorXd& q, const VectorXd& v,
                   Hash& hash) {
  for (int b = 0; b < system.num_blocks(); ++b) {
    RowMatrixXd mass(system.block_sizes()[b], system.block_sizes()[b]);
    system.evaluate_block_mass(t, q, b, mass);
    hash.add_all(mass);
  }
  VectorXd force(system.num_v());
  system.evaluate_force(t, q, v, force);
  hash.add_all(force);
  hash.add(system.evaluate_potential(t, q));
  VectorXd theta(system.num_constraints()), extension(system.num_springs());
  system.evaluate_constraints(t, q, theta);
  system.evaluate_springs(t, q, extension);
  hash.add_all(theta);
  hash.add_all(extension);
  VectorXd gaps(system.num_contacts());
  system.evaluate_gaps(t, q, gaps);
  hash.add_all(gaps);
  RowSet rows;
  system.append_velocity_rows(t, q, 0, rows);
  for (int i = 0; i < system.num_contacts(); ++i) system.append_contact_rows(t, q, i, 0, rows);
  add_rows(rows, hash);
}

}  // namespace

std::uint64_t compute_fingerprint(const Model& model) {
  Hash hash;
  const State& start = model.initial_state();
  for (const Model::Part& part : model.parts()) {
    const System& system = *part.system;
    add_layout(system, hash);
    VectorXd q = start.q.segment(part.q_offset, system.num_q()),
             v = start.v.segment(part.v_offset, system.num_v());
    add_functions(system, start.t, q, v, hash);
    // Functions may agree at the start and nowhere else: look at other places and times too.
    Random random(1);
    VectorXd shift(system.num_v());
    for (int i = 0; i < kNumPlaces; ++i) {
      for (int k = 0; k < system.num_v(); ++k) {
        shift[k] = random.uniform(-0.5, 0.5);
        v[k] += random.uniform(-0.5, 0.5);
      }
      system.displace(q, shift, 1, q, nullptr);
      add_functions(system, start.t + random.uniform(), q, v, hash);
    }
  }
  return hash.value();
}

}  // namespace stiction
