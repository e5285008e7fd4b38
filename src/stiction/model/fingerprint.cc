// compute_fingerprint: FNV-1a over everything that a model says of itself at its initial
// state and at a few places around it.
#include "stiction/base/random.h"
#include "stiction/model/model.h"

namespace stiction {
namespace {

constexpr int kNumPlaces = 3;

class Hash {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3u;
  }
  void add(double x) { add(&x, sizeof x); }
  void add(const std::string& text) { add(text.c_str(), text.size() + 1); }
  template <class Matrix>
  void add_all(const Matrix& numbers) {
    for (Eigen::Index i = 0; i < numbers.size(); ++i) add(numbers.data()[i]);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

void add_layout(const GeneralizedSystem::Layout& layout, Hash& hash) {
  for (const std::string& name : layout.coordinates) hash.add(name);
  for (const std::string& name : layout.constraints) hash.add(name);
  for (const auto& spring : layout.springs) {
    hash.add(spring.name);
    for (const double x : {spring.stiffness, spring.damping}) hash.add(x);
  }
  for (const auto& contact : layout.contacts) {
    hash.add(contact.name);
    for (const double x : {contact.mu, contact.restitution, contact.restitution_tangential})
      hash.add(x);
    hash.add(static_cast<double>(contact.impact));
  }
}

void add_functions(const GeneralizedSystem& system, double t, const VectorXd& q, const VectorXd& v,
                   Hash& hash) {
  const int n = system.num_coordinates();
  RowMatrixXd mass(n, n);
  system.evaluate_mass(t, q, mass);
  hash.add_all(mass);
  VectorXd force(n);
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
  for (int i = 0; i < system.num_contacts(); ++i) {
    const int num_rows = 1 + system.layout().contacts[i].num_tangents;
    RowMatrixXd rows(num_rows, n);
    VectorXd drift(num_rows);
    system.evaluate_contact_rows(t, q, i, rows, drift);
    hash.add_all(rows);
    hash.add_all(drift);
  }
}

}  // namespace

std::uint64_t compute_fingerprint(const Model& model) {
  Hash hash;
  const State& start = model.initial_state();
  for (const Model::Part& part : model.parts()) {
    const int n = part.system->num_coordinates();
    add_layout(part.system->layout(), hash);
    VectorXd q = start.q.segment(part.offset, n), v = start.v.segment(part.offset, n);
    add_functions(*part.system, start.t, q, v, hash);
    // Functions may agree at the start and nowhere else: look at other places and times too.
    Random random(1);
    for (int i = 0; i < kNumPlaces; ++i) {
      for (int k = 0; k < n; ++k) {
        q[k] += random.uniform(-0.5, 0.5);
        v[k] += random.uniform(-0.5, 0.5);
      }
      add_functions(*part.system, start.t + random.uniform(), q, v, hash);
    }
  }
  return hash.value();
}

}  // namespace stiction
