#include "stiction/model/model.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/error.h"
#include "stiction/base/text.h"

namespace stiction {
namespace {

template <class Names>
std::vector<std::string> collect_names(const std::vector<Model::Part>& parts, const Names& names) {
  std::vector<std::string> all;
  for (const Model::Part& part : parts) names(part.system->layout(), all);
  return all;
}

}  // namespace

std::vector<std::string> Model::q_names() const {
  return collect_names(parts_, [](const GeneralizedSystem::Layout& layout, auto& all) {
    for (const std::string& name : layout.coordinates) all.push_back(name);
  });
}

std::vector<std::string> Model::v_names() const {
  std::vector<std::string> names = q_names();
  for (std::string& name : names) name.insert(0, "v.");
  return names;
}

std::vector<std::string> Model::joint_row_names() const {
  return collect_names(parts_, [](const GeneralizedSystem::Layout& layout, auto& all) {
    for (const std::string& name : layout.constraints) all.push_back(name);
    for (const auto& spring : layout.springs) all.push_back(spring.name);
  });
}

int Model::part_of_contact(int contact) const {
  int part = static_cast<int>(parts_.size()) - 1;
  while (parts_[part].contact_offset > contact) --part;
  return part;
}

std::vector<std::string> Model::contact_names() const {
  return collect_names(parts_, [](const GeneralizedSystem::Layout& layout, auto& all) {
    for (const auto& contact : layout.contacts) all.push_back(contact.name);
  });
}

void ModelBuilder::add_system(std::shared_ptr<const GeneralizedSystem> system,
                              const VectorXd& position, const VectorXd& velocity) {
  if (!system) throw InputError("system is null");
  const int n = system->num_coordinates();
  if (n == 0) throw InputError("system has no coordinates, at least one is needed");
  if (position.size() != n || velocity.size() != n)
    throw InputError(fmt::format("system has {} coordinates, but {} positions and {} velocities", n,
                                 position.size(), velocity.size()));
  if (!position.allFinite() || !velocity.allFinite())
    throw InputError("position or velocity of a system is not finite");
  const int offset = model_.num_q();
  model_.parts_.push_back({system, offset, model_.num_joint_rows_, model_.num_contacts_});
  State& start = model_.initial_state_;
  start.q.conservativeResize(offset + n);
  start.v.conservativeResize(offset + n);
  start.q.tail(n) = position;
  start.v.tail(n) = velocity;
  model_.num_joint_rows_ += system->num_constraints() + system->num_springs();
  model_.num_contacts_ += system->num_contacts();
}

Energy ModelEvaluator::compute_energy(const Model& model, const State& state) {
  Energy energy;
  for (const Model::Part& part : model.parts()) {
    const GeneralizedSystem& system = *part.system;
    const int n = system.num_coordinates();
    const ConstVectorMap q(state.q.data() + part.offset, n), v(state.v.data() + part.offset, n);
    mass_.resize(static_cast<std::size_t>(n) * n);
    RowMatrixMap mass(mass_.data(), n, n);
    system.evaluate_mass(state.t, q, mass);
    double twice_kinetic = 0;
    for (int i = 0; i < n; ++i) twice_kinetic += v[i] * mass.row(i).dot(v);
    energy.kinetic += 0.5 * twice_kinetic;
    energy.potential += system.evaluate_potential(state.t, q);
    if (system.num_springs() == 0) continue;
    values_.resize(system.num_springs());
    VectorMap extension(values_.data(), system.num_springs());
    system.evaluate_springs(state.t, q, extension);
    for (int i = 0; i < system.num_springs(); ++i)
      energy.spring += 0.5 * system.layout().springs[i].stiffness * extension[i] * extension[i];
  }
  return energy;
}

void ModelEvaluator::compute_gaps(const Model& model, double t, const VectorXd& q,
                                  VectorXd& gaps) const {
  gaps.resize(model.num_contacts());
  for (const Model::Part& part : model.parts())
    if (const int n = part.system->num_contacts(); n > 0)
      part.system->evaluate_gaps(t, q.segment(part.offset, part.system->num_coordinates()),
                                 gaps.segment(part.contact_offset, n));
}

VectorMap ModelEvaluator::compute_contact_rates(const Model& model, const State& state,
                                                int contact) {
  const Model::Part& part = model.parts()[model.part_of_contact(contact)];
  const int n = part.system->num_coordinates(), j = contact - part.contact_offset;
  const int num_rows = 1 + part.system->layout().contacts[j].num_tangents;
  mass_.resize(static_cast<std::size_t>(num_rows) * n);
  values_.resize(num_rows);
  RowMatrixMap rows(mass_.data(), num_rows, n);
  VectorMap rates(values_.data(), num_rows);
  part.system->evaluate_contact_rows(state.t, state.q.segment(part.offset, n), j, rows, rates);
  rates += rows.lazyProduct(state.v.segment(part.offset, n));
  return rates;
}

double ModelEvaluator::compute_gap_rate(const Model& model, const State& state, int contact) {
  return compute_contact_rates(model, state, contact)[0];
}

double ModelEvaluator::compute_slip_speed(const Model& model, const State& state, int contact) {
  const VectorMap rates = compute_contact_rates(model, state, contact);
  return rates.tail(rates.size() - 1).norm();
}

double ModelEvaluator::compute_smallest_gap(const Model& model, const State& state) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const Model::Part& part : model.parts()) {
    const GeneralizedSystem& system = *part.system;
    if (system.num_contacts() == 0) continue;
    values_.resize(system.num_contacts());
    VectorMap gaps(values_.data(), system.num_contacts());
    system.evaluate_gaps(state.t, state.q.segment(part.offset, system.num_coordinates()), gaps);
    for (const double gap : gaps) smallest = gap < smallest || std::isnan(gap) ? gap : smallest;
  }
  return smallest;
}

double ModelEvaluator::compute_joint_error(const Model& model, const State& state) {
  double largest = 0;
  for (const Model::Part& part : model.parts()) {
    const GeneralizedSystem& system = *part.system;
    if (system.num_constraints() == 0) continue;
    values_.resize(system.num_constraints());
    VectorMap theta(values_.data(), system.num_constraints());
    system.evaluate_constraints(state.t, state.q.segment(part.offset, system.num_coordinates()),
                                theta);
    for (const double x : theta)
      largest = std::abs(x) > largest || std::isnan(x) ? std::abs(x) : largest;
  }
  return largest;
}

namespace {

using Where = StartFault::Where;

/// Share of the velocities involved that a constraint may be violated by: less than a slip of the
/// pen, more than numbers written with four digits.
constexpr double kVelocityTolerance = 1e-3;

/// Collects the faults of one part.
class PartInspector {
 public:
  PartInspector(const Model& model, int part, const State& state, double tolerance,
                std::vector<StartFault>& faults)
      : system_(*model.parts()[part].system),
        part_(part),
        t_(state.t),
        q_(state.q.segment(model.parts()[part].offset, system_.num_coordinates())),
        v_(state.v.segment(model.parts()[part].offset, system_.num_coordinates())),
        tolerance_(tolerance),
        faults_(faults) {}

  void inspect_mass() {
    RowMatrixXd mass(q_.size(), q_.size());
    system_.evaluate_mass(t_, q_, mass);
    if (!mass.allFinite()) {
      add(Where::kMass, 0, "mass matrix is not finite at the start");
    } else if (Eigen::LLT<MatrixXd>(mass).info() != Eigen::Success) {
      const MatrixXd symmetric = 0.5 * (mass + mass.transpose());
      add(Where::kMass, 0,
          fmt::format("mass matrix is not positive definite at the start, its smallest eigenvalue "
                      "is {:.3g}",
                      symmetric.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff()));
    }
  }

  void inspect_force() {
    VectorXd force(q_.size());
    system_.evaluate_force(t_, q_, v_, force);
    for (int i = 0; i < force.size(); ++i)
      if (!std::isfinite(force[i]))
        add(Where::kForce, i,
            fmt::format("force on '{}' is {} at the start, must be finite",
                        system_.layout().coordinates[i], to_text(force[i])));
  }

  void inspect_gaps() {
    VectorXd gaps(system_.num_contacts());
    system_.evaluate_gaps(t_, q_, gaps);
    for (int i = 0; i < system_.num_contacts(); ++i) {
      const std::string& name = system_.layout().contacts[i].name;
      if (!std::isfinite(gaps[i]))
        add(Where::kContact, i,
            fmt::format("gap of contact '{}' is {} at the start, must be finite", name,
                        to_text(gaps[i])));
      else if (gaps[i] < -tolerance_)
        add(Where::kContact, i,
            fmt::format("contact '{}' penetrates by {:.3g} m at the start, {:.3g} m is allowed",
                        name, -gaps[i], tolerance_),
            true);
    }
  }

  /// Directions of contacts, constraints and springs, and their drifts.
  void inspect_rows() {
    for (int i = 0; i < system_.num_contacts(); ++i) {
      const auto& contact = system_.layout().contacts[i];
      RowMatrixXd rows(1 + contact.num_tangents, q_.size());
      VectorXd drift(1 + contact.num_tangents);
      system_.evaluate_contact_rows(t_, q_, i, rows, drift);
      if (!rows.allFinite() || !drift.allFinite())
        add(Where::kContact, i,
            fmt::format("directions of contact '{}' are not finite at the start", contact.name));
    }
    RowMatrixXd rows(system_.num_constraints(), q_.size());
    VectorXd drift(system_.num_constraints());
    system_.evaluate_constraint_rows(t_, q_, rows, drift);
    for (int i = 0; i < system_.num_constraints(); ++i) {
      const std::string& name = system_.layout().constraints[i];
      const double rate = rows.row(i).dot(v_) + drift[i];
      const double size = rows.row(i).cwiseAbs().dot(v_.cwiseAbs()) + std::abs(drift[i]);
      if (!std::isfinite(size))
        add(Where::kConstraint, i,
            fmt::format("direction of constraint '{}' is not finite at the start", name));
      else if (std::abs(rate) > kVelocityTolerance * size)
        add(Where::kConstraint, i,
            fmt::format("constraint '{}' changes by {:.3g} per second at the start, must be 0: the "
                        "velocities do not fit it",
                        name, rate));
    }
  }

  void inspect_springs() {
    const int n = system_.num_springs();
    VectorXd extension(n), drift(n);
    RowMatrixXd rows(n, q_.size());
    system_.evaluate_springs(t_, q_, extension);
    system_.evaluate_spring_rows(t_, q_, rows, drift);
    for (int i = 0; i < n; ++i)
      if (!std::isfinite(extension[i]) || !rows.row(i).allFinite() || !std::isfinite(drift[i]))
        add(Where::kSpring, i,
            fmt::format("extension of spring '{}' or its direction is not finite at the start",
                        system_.layout().springs[i].name));
  }

  void inspect_constraints() {
    VectorXd theta(system_.num_constraints());
    system_.evaluate_constraints(t_, q_, theta);
    for (int i = 0; i < system_.num_constraints(); ++i)
      if (!(std::abs(theta[i]) <= tolerance_))
        add(Where::kConstraint, i,
            fmt::format("constraint '{}' is {:.3g} at the start, must be 0 within {:.3g}",
                        system_.layout().constraints[i], theta[i], tolerance_),
            std::isfinite(theta[i]));
  }

 private:
  void add(Where where, int index, std::string message, bool is_tolerable = false) {
    faults_.push_back({where, part_, index, std::move(message), is_tolerable});
  }

  const GeneralizedSystem& system_;
  int part_;
  double t_;
  VectorXd q_, v_;
  double tolerance_;
  std::vector<StartFault>& faults_;
};

}  // namespace

std::vector<StartFault> find_start_faults(const Model& model, const State& state,
                                          double penetration_tolerance) {
  std::vector<StartFault> faults;
  if (!std::isfinite(state.t) || !state.q.allFinite() || !state.v.allFinite())
    return {{Where::kState, 0, 0, "state at the start is not finite", false}};
  for (int part = 0; part < static_cast<int>(model.parts().size()); ++part) {
    PartInspector inspector(model, part, state, penetration_tolerance, faults);
    inspector.inspect_mass();
    inspector.inspect_force();
    inspector.inspect_gaps();
    inspector.inspect_constraints();
    inspector.inspect_rows();
    inspector.inspect_springs();
  }
  if (faults.empty() && !std::isfinite(ModelEvaluator().compute_energy(model, state).total()))
    faults.push_back({Where::kState, 0, 0, "energy at the start is not finite", false});
  return faults;
}

}  // namespace stiction
