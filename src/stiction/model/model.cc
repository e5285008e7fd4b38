#include "stiction/model/model.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "stiction/base/error.h"

namespace stiction {
namespace {

/// x of one system, by offset and size.
ConstVectorMap slice(const VectorXd& x, int offset, int size) { return {x.data() + offset, size}; }
ConstVectorMap q_of(const VectorXd& q, const Model::Part& part) {
  return slice(q, part.q_offset, part.system->num_q());
}
ConstVectorMap v_of(const VectorXd& v, const Model::Part& part) {
  return slice(v, part.v_offset, part.system->num_v());
}

void append(std::vector<std::string>& all, const std::vector<std::string>& names) {
  all.insert(all.end(), names.begin(), names.end());
}

}  // namespace

std::vector<std::string> Model::q_names() const {
  std::vector<std::string> all;
  for (const Part& part : parts_) append(all, part.system->recorded_q_names());
  return all;
}

std::vector<std::string> Model::v_names() const {
  std::vector<std::string> all;
  for (const Part& part : parts_) append(all, part.system->recorded_v_names());
  return all;
}

std::vector<std::string> Model::joint_row_names() const {
  std::vector<std::string> all;
  for (const Part& part : parts_) {
    for (const ConstraintInfo& info : part.system->constraints()) all.push_back(info.name);
    for (const VelocityRowInfo& info : part.system->velocity_rows()) all.push_back(info.name);
    for (const SpringInfo& info : part.system->springs()) all.push_back(info.name);
  }
  return all;
}

std::vector<std::string> Model::fixed_contact_names() const {
  std::vector<std::string> all;
  for (const auto& contact : contacts_) all.push_back(contact.info->name);
  return all;
}

void Model::record(const State& state, VectorXd& q, VectorXd& v) const {
  int num_q = 0, num_v = 0;
  for (const Part& part : parts_) {
    num_q += part.system->num_recorded_q();
    num_v += part.system->num_recorded_v();
  }
  q.resize(num_q);
  v.resize(num_v);
  int i = 0, k = 0;
  for (const Part& part : parts_) {
    const int nq = part.system->num_recorded_q(), nv = part.system->num_recorded_v();
    part.system->record(state.t, q_of(state.q, part), v_of(state.v, part), q.segment(i, nq),
                        v.segment(k, nv));
    i += nq;
    k += nv;
  }
}

void Model::restore(const ConstVectorRef& recorded_q, const ConstVectorRef& recorded_v,
                    State& state) const {
  state.q.resize(num_q());
  state.v.resize(num_v());
  int i = 0, k = 0;
  for (const Part& part : parts_) {
    const int nq = part.system->num_recorded_q(), nv = part.system->num_recorded_v();
    part.system->restore(recorded_q.segment(i, nq), recorded_v.segment(k, nv),
                         state.q.segment(part.q_offset, part.system->num_q()),
                         state.v.segment(part.v_offset, part.system->num_v()));
    i += nq;
    k += nv;
  }
}

void Model::adopt_recorded(const VectorXd& q, const VectorXd& v, State& state) const {
  int num_q = 0, num_v = 0;
  for (const Part& part : parts_) {
    num_q += part.system->num_recorded_q();
    num_v += part.system->num_recorded_v();
  }
  if (q.size() != num_q || v.size() != num_v)
    throw InputError(fmt::format("state has {} positions and {} velocities, must have {} and {}",
                                 q.size(), v.size(), num_q, num_v));
  int i = 0, k = 0;
  for (const Part& part : parts_) {
    const int nq = part.system->num_recorded_q(), nv = part.system->num_recorded_v();
    part.system->adopt_recorded(state.t, q.segment(i, nq), v.segment(k, nv),
                                state.q.segment(part.q_offset, part.system->num_q()),
                                state.v.segment(part.v_offset, part.system->num_v()));
    i += nq;
    k += nv;
  }
}

void Model::displace(const VectorXd& q, const VectorXd& v, double h, VectorXd& out,
                     WorkerPool* workers) const {
  out.resize(q.size());
  for (const Part& part : parts_)
    part.system->displace(q_of(q, part), v_of(v, part), h,
                          out.segment(part.q_offset, part.system->num_q()), workers);
}

void Model::displacement(const VectorXd& from, const VectorXd& to, VectorXd& out) const {
  out.resize(num_v());
  for (const Part& part : parts_)
    part.system->displacement(q_of(from, part), q_of(to, part),
                              out.segment(part.v_offset, part.system->num_v()));
}

void Model::measure_coordinates(const VectorXd& q, VectorXd& sizes) const {
  sizes.resize(num_v());
  for (const Part& part : parts_)
    part.system->measure_coordinates(q_of(q, part),
                                     sizes.segment(part.v_offset, part.system->num_v()));
}

void Model::evaluate_mass(double t, const VectorXd& q, int block, RowMatrixRef mass) const {
  const Part& part = parts_[blocks_[block].part];
  part.system->evaluate_block_mass(t, q_of(q, part), blocks_[block].index, mass);
}

void Model::evaluate_masses(double t, const VectorXd& q, std::span<double> masses,
                            WorkerPool* workers) const {
  for (const Part& part : parts_)
    part.system->evaluate_masses(t, q_of(q, part),
                                 masses.subspan(part.matrix_offset, part.matrix_size), workers);
}

double Model::evaluate_kinetic_energy(const State& state, std::vector<double>& scratch) const {
  double sum = 0;
  for (const Part& part : parts_)
    sum += part.system->evaluate_kinetic_energy(state.t, q_of(state.q, part), v_of(state.v, part),
                                                scratch);
  return sum;
}

void Model::evaluate_force(double t, const VectorXd& q, const VectorXd& v, VectorRef force) const {
  for (const Part& part : parts_)
    part.system->evaluate_force(t, q_of(q, part), v_of(v, part),
                                force.segment(part.v_offset, part.system->num_v()));
}

void Model::evaluate_applied_force(double t, const VectorXd& q, const VectorXd& v,
                                   VectorRef force) const {
  for (const Part& part : parts_)
    part.system->evaluate_applied_force(t, q_of(q, part), v_of(v, part),
                                        force.segment(part.v_offset, part.system->num_v()));
}

double Model::evaluate_potential(double t, const VectorXd& q) const {
  double sum = 0;
  for (const Part& part : parts_) sum += part.system->evaluate_potential(t, q_of(q, part));
  return sum;
}

void Model::evaluate_jacobians(double t, const VectorXd& q, const VectorXd& v, int block,
                               RowMatrixRef k_q, RowMatrixRef k_v) const {
  const Part& part = parts_[blocks_[block].part];
  part.system->evaluate_block_jacobians(t, q_of(q, part), v_of(v, part), blocks_[block].index, k_q,
                                        k_v);
}

void Model::evaluate_gyroscopic(double t, const VectorXd& q, const VectorXd& v, int block,
                                RowMatrixRef gyroscopic) const {
  const Part& part = parts_[blocks_[block].part];
  part.system->evaluate_block_gyroscopic(t, q_of(q, part), v_of(v, part), blocks_[block].index,
                                         gyroscopic);
}

void Model::add_gyroscopic(double t, const VectorXd& q, const VectorXd& v, double factor,
                           std::span<double> masses, VectorRef momentum,
                           std::vector<double>& scratch) const {
  for (const Part& part : parts_)
    part.system->add_gyroscopic(t, q_of(q, part), v_of(v, part), factor,
                                masses.subspan(part.matrix_offset, part.matrix_size),
                                momentum.segment(part.v_offset, part.system->num_v()), scratch);
}

void Model::evaluate_constraints(double t, const VectorXd& q, VectorRef theta) const {
  for (const Part& part : parts_)
    if (const int n = part.system->num_constraints(); n > 0)
      part.system->evaluate_constraints(t, q_of(q, part), theta.segment(part.constraint_offset, n));
}

void Model::evaluate_springs(double t, const VectorXd& q, VectorRef extension) const {
  for (const Part& part : parts_)
    if (const int n = part.system->num_springs(); n > 0)
      part.system->evaluate_springs(t, q_of(q, part), extension.segment(part.spring_offset, n));
}

void Model::evaluate_fixed_gaps(double t, const VectorXd& q, VectorRef gaps) const {
  for (const Part& part : parts_)
    if (const int n = part.system->num_contacts(); n > 0)
      part.system->evaluate_gaps(t, q_of(q, part), gaps.segment(part.contact_offset, n));
}

void Model::append_constraint_rows(double t, const VectorXd& q, RowSet& out) const {
  for (const Part& part : parts_)
    part.system->append_constraint_rows(t, q_of(q, part), part.first_block, out);
}

void Model::append_constraints(double t, const VectorXd& q, RowSet& out, VectorRef theta) const {
  for (const Part& part : parts_)
    if (const int n = part.system->num_constraints(); n > 0)
      part.system->append_constraints(t, q_of(q, part), part.first_block, out,
                                      theta.segment(part.constraint_offset, n));
}

void Model::append_velocity_rows(double t, const VectorXd& q, RowSet& out) const {
  for (const Part& part : parts_)
    part.system->append_velocity_rows(t, q_of(q, part), part.first_block, out);
}

void Model::append_spring_rows(double t, const VectorXd& q, RowSet& out) const {
  for (const Part& part : parts_)
    part.system->append_spring_rows(t, q_of(q, part), part.first_block, out);
}

void Model::append_fixed_contact_rows(double t, const VectorXd& q, int contact, RowSet& out) const {
  const Part& part = parts_[contacts_[contact].part];
  part.system->append_contact_rows(t, q_of(q, part), contact - part.contact_offset,
                                   part.first_block, out);
  out.tangents.push_back(RowSet::tangents_without_place());
}

void Model::append_mean_constraint_rows(double t, double h, const VectorXd& q, const VectorXd& v,
                                        const VectorXd& change, RowSet& out) const {
  for (const Part& part : parts_)
    if (const int n = part.system->num_constraints(); n > 0)
      part.system->append_mean_constraint_rows(t, h, q_of(q, part), v_of(v, part),
                                               slice(change, part.constraint_offset, n),
                                               part.first_block, out);
}

std::vector<std::string> Model::reaction_names() const {
  std::vector<std::string> all;
  for (const Part& part : parts_) append(all, part.system->reaction_names());
  return all;
}

void Model::evaluate_reactions(const State& state, const VectorXd& joint_rows,
                               VectorXd& reactions) const {
  int size = 0;
  for (const Part& part : parts_) size += part.system->num_reactions();
  reactions.resize(size);
  int start = 0;
  for (const Part& part : parts_) {
    const int n = part.system->num_reactions();
    if (n > 0)
      part.system->evaluate_reactions(
          state.t, q_of(state.q, part),
          slice(joint_rows, part.joint_row_offset, part.system->num_joint_rows()),
          reactions.segment(start, n));
    start += n;
  }
}

System::ContactPlace Model::locate_fixed_contact(const State& state, int contact) const {
  const Part& part = parts_[contacts_[contact].part];
  return part.system->locate_contact(state.t, q_of(state.q, part), contact - part.contact_offset);
}

void Model::add_joint_stiffness(double t, const VectorXd& q, std::span<const double> joint_forces,
                                const TurningSum& sum) const {
  for (const Part& part : parts_)
    part.system->add_joint_stiffness(
        t, q_of(q, part),
        joint_forces.subspan(part.joint_row_offset, part.system->num_joint_rows()),
        sum.from(part.matrix_offset, part.v_offset, part.first_block));
}

void Model::append_turning_rows(double t, const VectorXd& q, std::span<const double> joint_forces,
                                TurningRows& out) const {
  for (const Part& part : parts_)
    part.system->append_turning_rows(
        t, q_of(q, part),
        joint_forces.subspan(part.joint_row_offset, part.system->num_joint_rows()),
        part.first_block, out);
}

void ModelBuilder::add_system(std::shared_ptr<const System> system, const VectorXd& position,
                              const VectorXd& velocity) {
  if (!system) throw InputError("system is null");
  const int num_q = system->num_q(), num_v = system->num_v();
  if (num_v == 0) throw InputError("system has no coordinates, at least one is needed");
  if (position.size() != num_q || velocity.size() != num_v)
    throw InputError(fmt::format("system has {} coordinates, but {} positions and {} velocities",
                                 num_q, position.size(), velocity.size()));
  if (!position.allFinite() || !velocity.allFinite())
    throw InputError("position or velocity of a system is not finite");
  Model& m = model_;
  std::size_t matrix_size = 0;
  for (const int n : system->block_sizes()) matrix_size += static_cast<std::size_t>(n) * n;
  const Model::Part part{
      .system = system,
      .q_offset = m.num_q(),
      .v_offset = m.num_v(),
      .first_block = static_cast<int>(m.blocks_.size()),
      .constraint_offset = m.num_constraints(),
      .velocity_row_offset = m.num_velocity_rows(),
      .spring_offset = m.num_springs(),
      .joint_row_offset = m.num_joint_rows(),
      .contact_offset = m.num_fixed_contacts(),
      .matrix_offset =
          m.parts_.empty() ? 0 : m.parts_.back().matrix_offset + m.parts_.back().matrix_size,
      .matrix_size = matrix_size};
  const int index = static_cast<int>(m.parts_.size());
  m.parts_.push_back(part);
  int v_offset = part.v_offset;
  for (int b = 0; b < system->num_blocks(); ++b) {
    const int size = system->block_sizes()[b];
    m.blocks_.push_back({index, b, v_offset, size});
    m.block_starts_.push_back(v_offset);
    v_offset += size;
  }
  int row = part.joint_row_offset;
  for (const ConstraintInfo& info : system->constraints()) {
    m.constraints_.push_back({&info, index, row++});
    m.has_compliant_constraints_ = m.has_compliant_constraints_ || info.is_compliant();
    m.has_soft_constraints_ = m.has_soft_constraints_ || !info.is_rigid();
  }
  for (const VelocityRowInfo& info : system->velocity_rows())
    m.velocity_rows_.push_back({&info, index, row++});
  for (const SpringInfo& info : system->springs()) m.springs_.push_back({&info, index, row++});
  for (const ContactInfo& info : system->contacts()) m.contacts_.push_back({&info, index, 0});
  State& start = m.initial_state_;
  start.q.conservativeResize(part.q_offset + num_q);
  start.v.conservativeResize(part.v_offset + num_v);
  start.q.tail(num_q) = position;
  start.v.tail(num_v) = velocity;
}

VectorMap ModelEvaluator::values(int size) {
  values_.resize(size);
  return {values_.data(), size};
}

Energy ModelEvaluator::compute_energy(const Model& model, const State& state) {
  Energy energy;
  energy.potential = model.evaluate_potential(state.t, state.q);
  energy.kinetic = model.evaluate_kinetic_energy(state, mass_);
  if (model.num_springs() > 0) {
    VectorMap numbers = values(model.num_springs());
    model.evaluate_springs(state.t, state.q, numbers);
    for (int i = 0; i < model.num_springs(); ++i)
      energy.spring += 0.5 * model.spring(i).stiffness * numbers[i] * numbers[i];
  }
  if (model.has_compliant_constraints()) {
    VectorMap numbers = values(model.num_constraints());
    model.evaluate_constraints(state.t, state.q, numbers);
    for (int i = 0; i < model.num_constraints(); ++i)
      if (model.constraint(i).is_compliant())
        energy.spring += 0.5 * numbers[i] * numbers[i] / model.constraint(i).compliance;
  }
  return energy;
}

double ModelEvaluator::compute_joint_error(const Model& model, const State& state) {
  double largest = 0;
  if (model.num_constraints() == 0) return largest;
  VectorMap numbers = values(model.num_constraints());
  model.evaluate_constraints(state.t, state.q, numbers);
  for (int i = 0; i < model.num_constraints(); ++i) {
    const double error = std::abs(numbers[i]);
    if (!model.constraint(i).is_rigid()) continue;
    largest = error > largest || std::isnan(error) ? error : largest;
  }
  return largest;
}

}  // namespace stiction
