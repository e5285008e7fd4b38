#include "stiction/scheme/assembly.h"

#include <cmath>

namespace stiction {
namespace {

ConstVectorMap part_of(const VectorXd& x, const Model::Part& part) {
  return {x.data() + part.offset, part.system->num_coordinates()};
}

/// Compliance of constraint rows relative to their mobility. Redundant constraints that are
/// nonlinear depend on each other only up to the error of q, and would lock what they cannot hold
/// exactly. A rigid joint yields by this share of the velocity that its impulse would give, which
/// (T15) takes back: at a free fall of h = 1e-3 s, 1e-10 m/s.
constexpr double kConstraintCompliance = 1e-8;

/// A contact whose gap is below this share of the way that forces alone would move it in the step
/// counts as touching: a body at rest on another keeps its contact although rounding lifts it off
/// by 1e-19 m. Of order h², hence without effect on the order of a scheme.
constexpr double kTouchingShare = 1e-6;

}  // namespace

RowMatrixMap StepAssembly::matrix(int rows, int columns) {
  matrix_storage_.resize(static_cast<std::size_t>(rows) * columns);
  return {matrix_storage_.data(), rows, columns};
}

VectorMap StepAssembly::vector(int size) {
  vector_storage_.resize(size);
  return {vector_storage_.data(), size};
}

void StepAssembly::clear() {
  problem_.clear();
  joint_rows_.clear();
  contact_indices_.clear();
  contact_drifts_.clear();
}

void StepAssembly::add_mass_and_momentum(const Model& model, const EvaluationPoint& point,
                                         const VectorXd& v, double h) {
  problem_.h = h;
  for (const Model::Part& part : model.parts()) {
    const int n = part.system->num_coordinates();
    const ConstVectorMap q_part = part_of(point.q, part), v_part = part_of(v, part);
    RowMatrixMap mass = problem_.add_mass_block(n);
    part.system->evaluate_mass(point.t, q_part, mass);
    VectorMap force = vector(n);
    part.system->evaluate_force(point.t, q_part, v_part, force);
    VectorMap p = problem_.block_p(problem_.num_blocks() - 1);
    p.noalias() = mass.lazyProduct(v_part);
    p += h * force;
  }
}

void StepAssembly::add_constraint_rows(const Model& model, const EvaluationPoint& point,
                                       const State& start, double h, double stabilization) {
  for (std::size_t b = 0; b < model.parts().size(); ++b) {
    const Model::Part& part = model.parts()[b];
    const int num_rows = part.system->num_constraints(), n = part.system->num_coordinates();
    if (num_rows == 0) continue;
    RowMatrixMap rows = matrix(num_rows, n);
    VectorMap both = vector(2 * num_rows);
    auto drift = both.head(num_rows), theta = both.tail(num_rows);
    part.system->evaluate_constraint_rows(point.t, part_of(point.q, part), rows, drift);
    part.system->evaluate_constraints(start.t, part_of(start.q, part), theta);
    for (int i = 0; i < num_rows; ++i) {
      const double pull = h > 0 ? stabilization * theta[i] / h : 0;
      double mobility = 0;  // G diag(M)⁻¹Gᵀ
      for (int k = 0; k < n; ++k)
        mobility += rows(i, k) * rows(i, k) / problem_.mass_block(static_cast<int>(b))(k, k);
      problem_.add_bilateral_row(
          {.compliance = kConstraintCompliance * mobility, .bias = -drift[i] - pull});
      problem_.bilateral.add_entry(static_cast<int>(b), n) = rows.row(i);
      joint_rows_.push_back({.joint_row = part.constraint_offset + i, .drift = drift[i]});
    }
  }
}

void StepAssembly::add_spring_rows(const Model& model, const EvaluationPoint& point,
                                   const State& start, double h) {
  for (std::size_t b = 0; b < model.parts().size(); ++b) {
    const Model::Part& part = model.parts()[b];
    const int num_rows = part.system->num_springs(), n = part.system->num_coordinates();
    if (num_rows == 0) continue;
    RowMatrixMap rows = matrix(num_rows, n);
    VectorMap both = vector(2 * num_rows);
    auto drift = both.head(num_rows), extension = both.tail(num_rows);
    part.system->evaluate_spring_rows(point.t, part_of(point.q, part), rows, drift);
    part.system->evaluate_springs(start.t, part_of(start.q, part), extension);
    for (int i = 0; i < num_rows; ++i) {
      const GeneralizedSystem::SpringInfo& spring = part.system->layout().springs[i];
      const double stiffness = h * h * spring.stiffness + h * spring.damping;
      if (stiffness == 0) continue;  // no impulse in no time
      problem_.add_bilateral_row(
          {.compliance = 1 / stiffness,
           .bias = -h * spring.stiffness * extension[i] / stiffness - drift[i]});
      problem_.bilateral.add_entry(static_cast<int>(b), n) = rows.row(i);
      joint_rows_.push_back(
          {.joint_row = part.constraint_offset + part.system->num_constraints() + i,
           .drift = drift[i],
           .damping = h * spring.damping,
           .is_spring = true});
    }
  }
}

void StepAssembly::add_touching_contacts(const Model& model, const EvaluationPoint& point,
                                         const VectorXd& v) {
  for (std::size_t b = 0; b < model.parts().size(); ++b) {
    const GeneralizedSystem& system = *model.parts()[b].system;
    if (system.num_contacts() == 0) continue;
    const ConstVectorMap q_part = part_of(point.q, model.parts()[b]);
    gaps_.resize(system.num_contacts());
    VectorMap gaps(gaps_.data(), system.num_contacts());
    system.evaluate_gaps(point.t, q_part, gaps);
    measure_free_fall(static_cast<int>(b), part_of(v, model.parts()[b]));
    for (int j = 0; j < system.num_contacts(); ++j) {
      const int n = system.num_coordinates(),
                num_rows = 1 + system.layout().contacts[j].num_tangents;
      RowMatrixMap rows = matrix(num_rows, n);
      VectorMap drift = vector(num_rows);
      system.evaluate_contact_rows(point.t, q_part, j, rows, drift);
      const double fall = rows.row(0).cwiseAbs().dot(ConstVectorMap(free_fall_.data(), n));
      // Not a number counts as touching, so that it is seen.
      if (!(gaps[j] > kTouchingShare * fall))
        add_contact(model.parts()[b], static_cast<int>(b), j, v);
    }
  }
}

/// h²|k|/M per coordinate: how far forces alone move it in a step.
void StepAssembly::measure_free_fall(int block, const ConstVectorMap& v) {
  const ConstRowMatrixMap mass = problem_.mass_block(block);
  const double* p = problem_.p.data() + problem_.dof_start[block];
  free_fall_.resize(v.size());
  for (Eigen::Index k = 0; k < v.size(); ++k)
    free_fall_[k] = problem_.h * std::abs(p[k] - mass.row(k).dot(v)) / mass(k, k);
}

/// Adds contact j of a part with the rows and drifts that are in storage, with Newton restitution.
void StepAssembly::add_contact(const Model::Part& part, int block, int j, const VectorXd& v) {
  const GeneralizedSystem::ContactInfo& info = part.system->layout().contacts[j];
  const int n = part.system->num_coordinates(), num_rows = 1 + info.num_tangents;
  problem_.add_contact({.num_tangents = info.num_tangents,
                        .mu = info.mu,
                        .section = section_,
                        .key = static_cast<std::uint64_t>(part.contact_offset + j)});
  RowMatrixMap rows = problem_.contacts.add_entry(block, n);
  rows = ConstRowMatrixMap(matrix_storage_.data(), num_rows, n);
  double* bias = problem_.contact_bias.data() + problem_.num_contact_rows() - num_rows;
  for (int i = 0; i < num_rows; ++i) {
    const double restitution = i == 0 ? info.restitution : info.restitution_tangential;
    const double drift = vector_storage_[i];
    const double approach = rows.row(i).dot(part_of(v, part)) + drift;
    bias[i] = restitution * approach + drift;
    contact_drifts_.push_back(drift);
  }
  contact_indices_.push_back(part.contact_offset + j);
}

}  // namespace stiction
