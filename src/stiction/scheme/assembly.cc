#include "stiction/scheme/assembly.h"

#include <cmath>
#include <utility>

namespace stiction {
namespace {

ConstVectorMap part_of(const VectorXd& x, const Model::Part& part) {
  return {x.data() + part.offset, part.system->num_coordinates()};
}

/// A contact whose gap is below this share of the way that forces alone would move it in the step
/// counts as touching: a body at rest on another keeps its contact although rounding lifts it off
/// by 1e-19 m. Of order h², hence without effect on the order of a scheme.
constexpr double kTouchingShare = 1e-6;

/// row · (q − q̂) over the coordinates of a part.
template <class Row>
double lag(const Row& row, const Model::Part& part, const State& start,
           const EvaluationPoint& prediction) {
  return row.dot(part_of(start.q, part) - part_of(prediction.q, part));
}

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
  explicit_springs_.clear();
  explicit_gradients_.clear();
  contact_indices_.clear();
  contact_drifts_.clear();
}

void StepAssembly::add_mass_and_momentum(const Model& model, const EvaluationPoint& mass_point,
                                         const EvaluationPoint& force_point, const VectorXd& v,
                                         double h) {
  problem_.h = h;
  for (const Model::Part& part : model.parts()) {
    const int n = part.system->num_coordinates();
    const ConstVectorMap v_part = part_of(v, part);
    RowMatrixMap mass = problem_.add_mass_block(n);
    part.system->evaluate_mass(mass_point.t, part_of(mass_point.q, part), mass);
    VectorMap p = problem_.block_p(problem_.num_blocks() - 1);
    p.noalias() = mass.lazyProduct(v_part);
    if (h == 0) continue;
    VectorMap force = vector(n);
    part.system->evaluate_force(force_point.t, part_of(force_point.q, part), v_part, force);
    p += h * force;
  }
}

void StepAssembly::make_gyroscopic_term_implicit(const Model& model, const EvaluationPoint& point,
                                                 const VectorXd& v, double h) {
  for (int b = 0; b < problem_.num_blocks(); ++b) {
    const Model::Part& part = model.parts()[b];
    const ConstVectorMap v_part = part_of(v, part);
    const int n = part.system->num_coordinates();
    RowMatrixMap gyroscopic = matrix(n, n);
    part.system->evaluate_gyroscopic(point.t, part_of(point.q, part), v_part, gyroscopic);
    problem_.mass_block(b) += h * gyroscopic;
    problem_.block_p(b) += h * gyroscopic.lazyProduct(v_part);
  }
}

void StepAssembly::add_trapezoidal_mass_and_momentum(const Model& model, const State& start,
                                                     const EvaluationPoint& mid, double h,
                                                     double factor, ForceJacobians jacobians) {
  problem_.h = h;
  for (const Model::Part& part : model.parts()) {
    const int n = part.system->num_coordinates();
    const ConstVectorMap q = part_of(start.q, part), v = part_of(start.v, part);
    RowMatrixMap mass = problem_.add_mass_block(n);
    part.system->evaluate_mass(mid.t, part_of(mid.q, part), mass);
    VectorMap both = vector(2 * n);
    auto force = both.head(n), force_at_end = both.tail(n);
    part.system->evaluate_force(start.t, q, v, force);
    part.system->evaluate_force(start.t + h, q, v, force_at_end);
    force += force_at_end;
    if (jacobians != ForceJacobians::kSpringsOnly) {
      RowMatrixMap both_slopes = matrix(2 * n, n);
      auto k_q = both_slopes.topRows(n), k_v = both_slopes.bottomRows(n);
      part.system->evaluate_force_jacobians(start.t + h, q, v, k_q, k_v);
      mass -= 0.5 * h * k_v + 0.25 * h * h * k_q;
      force += h * k_q.lazyProduct(v);  // Potra et al. 2006, (6.9) with the factor h for h/2
    }
    mass *= factor;
    VectorMap p = problem_.block_p(problem_.num_blocks() - 1);
    p.noalias() = mass.lazyProduct(v);
    p += 0.5 * h * force;
  }
}

/// Adds all constraint rows; `bias(part, row, i, drift)` says what b is, with G and ∂Θ/∂t at
/// `point`.
template <class Bias>
void StepAssembly::add_constraints(const Model& model, const EvaluationPoint& point,
                                   double compliance, const Bias& bias) {
  for (int b = 0; b < static_cast<int>(model.parts().size()); ++b) {
    const Model::Part& part = model.parts()[b];
    const int num_rows = part.system->num_constraints(), n = part.system->num_coordinates();
    if (num_rows == 0) continue;
    RowMatrixMap rows = matrix(num_rows, n);
    VectorMap drift = vector(num_rows);
    part.system->evaluate_constraint_rows(point.t, part_of(point.q, part), rows, drift);
    const ConstRowMatrixMap mass = std::as_const(problem_).mass_block(b);
    for (int i = 0; i < num_rows; ++i) {
      double mobility = 0;  // G diag(M)⁻¹Gᵀ
      for (int k = 0; k < n; ++k) mobility += rows(i, k) * rows(i, k) / std::abs(mass(k, k));
      problem_.add_bilateral_row(
          {.compliance = compliance * mobility, .bias = bias(part, rows.row(i), i, drift[i])});
      problem_.bilateral.add_entry(b, n) = rows.row(i);
      joint_rows_.push_back({.joint_row = part.constraint_offset + i, .drift = drift[i]});
    }
  }
}

void StepAssembly::add_constraint_rows(const Model& model, const EvaluationPoint& point,
                                       const State& start, double h, const ConstraintForm& form) {
  const double rate = h > 0 ? form.stabilization / h : 0;
  add_constraints(model, point, form.compliance,
                  [&](const Model::Part& part, const auto&, int i, double drift) {
                    if (rate == 0) return -drift;
                    if (i == 0) {
                      extra_storage_.resize(part.system->num_constraints());
                      VectorMap theta(extra_storage_.data(), part.system->num_constraints());
                      part.system->evaluate_constraints(start.t, part_of(start.q, part), theta);
                    }
                    return -drift - rate * extra_storage_[i];
                  });
}

void StepAssembly::add_constraint_rows_at_end(const Model& model, const EvaluationPoint& prediction,
                                              const State& start, double h,
                                              const ConstraintForm& form) {
  add_constraints(model, prediction, form.compliance,
                  [&](const Model::Part& part, const auto& row, int i, double) {
                    if (i == 0) {
                      extra_storage_.resize(part.system->num_constraints());
                      VectorMap theta(extra_storage_.data(), part.system->num_constraints());
                      part.system->evaluate_constraints(prediction.t, part_of(prediction.q, part),
                                                        theta);
                    }
                    return -(extra_storage_[i] + lag(row, part, start, prediction)) / h;
                  });
}

/// Evaluates ∇φ and ∂φ/∂t at `rows_at` and φ at `values_at`, and calls use(part, block, i, row,
/// drift, extension) for every spring, with the rows and drifts of its part in storage.
template <class Use>
void StepAssembly::for_each_spring(const Model& model, const EvaluationPoint& rows_at,
                                   const EvaluationPoint& values_at, const Use& use) {
  for (int b = 0; b < static_cast<int>(model.parts().size()); ++b) {
    const Model::Part& part = model.parts()[b];
    const int num_rows = part.system->num_springs(), n = part.system->num_coordinates();
    if (num_rows == 0) continue;
    RowMatrixMap rows = matrix(num_rows, n);
    VectorMap both = vector(2 * num_rows);
    auto drift = both.head(num_rows), extension = both.tail(num_rows);
    part.system->evaluate_spring_rows(rows_at.t, part_of(rows_at.q, part), rows, drift);
    part.system->evaluate_springs(values_at.t, part_of(values_at.q, part), extension);
    for (int i = 0; i < num_rows; ++i) use(part, b, i, rows.row(i), drift[i], extension[i]);
  }
}

void StepAssembly::add_spring_rows(const Model& model, const EvaluationPoint& point,
                                   const State& start, double h, SpringRule rule) {
  for_each_spring(
      model, point, {start.t, start.q},
      [&](const Model::Part& part, int block, int i, const auto&, double, double extension) {
        add_spring_row(part, block, i, extension, h, rule, start.v);
      });
}

void StepAssembly::add_spring_rows_at_end(const Model& model, const EvaluationPoint& prediction,
                                          const State& start, double h) {
  // The rows add h (∇φᵀw + ∂φ/∂t) to an extension at the start.
  for_each_spring(model, prediction, prediction,
                  [&](const Model::Part& part, int block, int i, const auto& row, double drift,
                      double extension) {
                    add_spring_row(part, block, i,
                                   extension + lag(row, part, start, prediction) - h * drift, h,
                                   SpringRule::kEnd, start.v);
                  });
}

/// Adds spring i of a part with the rows and drifts that are in storage.
void StepAssembly::add_spring_row(const Model::Part& part, int block, int i, double extension,
                                  double h, SpringRule rule, const VectorXd& v) {
  const int n = part.system->num_coordinates();
  const GeneralizedSystem::SpringInfo& spring = part.system->layout().springs[i];
  const ConstVectorMap row(matrix_storage_.data() + static_cast<std::ptrdiff_t>(i) * n, n);
  const double drift = vector_storage_[i];
  const bool is_mean = rule != SpringRule::kEnd;
  const double stiffness = (is_mean ? 0.5 : 1) * h * h * spring.stiffness + h * spring.damping;
  if (stiffness == 0) return;  // no impulse in no time
  double compliance = 1 / stiffness, bias = -h * spring.stiffness * extension / stiffness - drift;
  if (rule == SpringRule::kMeanByEnd) {
    compliance *= 2;
    bias = 2 * bias - row.dot(part_of(v, part));
  }
  problem_.add_bilateral_row({.compliance = compliance, .bias = bias});
  problem_.bilateral.add_entry(block, n) = row.transpose();
  joint_rows_.push_back({.joint_row = part.constraint_offset + part.system->num_constraints() + i,
                         .drift = drift,
                         .damping = h * spring.damping,
                         .is_spring = true,
                         .rule = rule});
}

void StepAssembly::add_explicit_springs(const Model& model, const State& start, double h) {
  const EvaluationPoint here{start.t, start.q};
  for_each_spring(model, here, here,
                  [&](const Model::Part& part, int block, int i, const auto& row, double drift,
                      double extension) {
                    const GeneralizedSystem::SpringInfo& spring = part.system->layout().springs[i];
                    const double damping =
                        -h * spring.damping * (row.dot(part_of(start.v, part)) + drift);
                    const double impulse = -h * spring.stiffness * extension + damping;
                    problem_.block_p(block) += impulse * row.transpose();
                    explicit_springs_.push_back(
                        {.joint_row = part.constraint_offset + part.system->num_constraints() + i,
                         .part = block,
                         .first_entry = static_cast<int>(explicit_gradients_.size()),
                         .drift = drift,
                         .impulse = impulse,
                         .damping_impulse = damping});
                    for (Eigen::Index k = 0; k < row.size(); ++k)
                      explicit_gradients_.push_back(row[k]);
                  });
}

void StepAssembly::add_touching_contacts(const Model& model, const EvaluationPoint& point,
                                         const VectorXd& v) {
  for (int b = 0; b < static_cast<int>(model.parts().size()); ++b) {
    const Model::Part& part = model.parts()[b];
    const GeneralizedSystem& system = *part.system;
    if (system.num_contacts() == 0) continue;
    gaps_.resize(system.num_contacts());
    VectorMap gaps(gaps_.data(), system.num_contacts());
    system.evaluate_gaps(point.t, part_of(point.q, part), gaps);
    const ConstVectorMap v_part = part_of(v, part);
    measure_free_fall(b, v_part);
    for (int j = 0; j < system.num_contacts(); ++j) {
      const RowMatrixMap rows = evaluate_contact(model, point, b, j);
      const double fall =
          rows.row(0).cwiseAbs().dot(ConstVectorMap(free_fall_.data(), system.num_coordinates()));
      // Not a number counts as touching, so that it is seen.
      if (gaps[j] > kTouchingShare * fall) continue;
      const GeneralizedSystem::ContactInfo& info = system.layout().contacts[j];
      double* bias = add_contact(model, b, j);
      for (int i = 0; i < rows.rows(); ++i) {
        const double restitution = i == 0 ? info.restitution : info.restitution_tangential;
        bias[i] += restitution * (rows.row(i).dot(v_part) + bias[i]);
      }
    }
  }
}

/// h²|k|/M per coordinate: how far forces alone move it in a step.
void StepAssembly::measure_free_fall(int block, const ConstVectorMap& v) {
  const ConstRowMatrixMap mass = std::as_const(problem_).mass_block(block);
  const double* p = problem_.p.data() + problem_.dof_start[block];
  free_fall_.resize(v.size());
  for (Eigen::Index k = 0; k < v.size(); ++k)
    free_fall_[k] = problem_.h * std::abs(p[k] - mass.row(k).dot(v)) / mass(k, k);
}

void StepAssembly::add_contacts(const Model& model, const EvaluationPoint& point,
                                std::span<const int> contacts) {
  for (const int contact : contacts) {
    const int part = model.part_of_contact(contact);
    const int j = contact - model.parts()[part].contact_offset;
    evaluate_contact(model, point, part, j);
    add_contact(model, part, j);
  }
}

void StepAssembly::add_contacts_at_end(const Model& model, const EvaluationPoint& prediction,
                                       const State& start, double h,
                                       std::span<const int> contacts) {
  int last_part = -1;
  for (const int contact : contacts) {
    const int b = model.part_of_contact(contact);
    const Model::Part& part = model.parts()[b];
    if (b != last_part) {
      gaps_.resize(part.system->num_contacts());
      VectorMap gaps(gaps_.data(), part.system->num_contacts());
      part.system->evaluate_gaps(prediction.t, part_of(prediction.q, part), gaps);
      last_part = b;
    }
    const int j = contact - part.contact_offset;
    const RowMatrixMap rows = evaluate_contact(model, prediction, b, j);
    add_contact(model, b, j)[0] = (gaps_[j] + lag(rows.row(0), part, start, prediction)) / h;
  }
}

/// Rows and drifts of contact j of a part, into storage.
RowMatrixMap StepAssembly::evaluate_contact(const Model& model, const EvaluationPoint& point,
                                            int part, int j) {
  const GeneralizedSystem& system = *model.parts()[part].system;
  const int num_rows = 1 + system.layout().contacts[j].num_tangents;
  RowMatrixMap rows = matrix(num_rows, system.num_coordinates());
  VectorMap drift = vector(num_rows);
  system.evaluate_contact_rows(point.t, part_of(point.q, model.parts()[part]), j, rows, drift);
  return rows;
}

/// Adds contact j of a part with the rows and drifts that are in storage; returns its biases, which
/// are the drifts.
double* StepAssembly::add_contact(const Model& model, int part, int j) {
  const GeneralizedSystem& system = *model.parts()[part].system;
  const GeneralizedSystem::ContactInfo& info = system.layout().contacts[j];
  const int n = system.num_coordinates(), num_rows = 1 + info.num_tangents;
  const int index = model.parts()[part].contact_offset + j;
  problem_.add_contact({.num_tangents = info.num_tangents,
                        .mu = info.mu,
                        .section = section_,
                        .key = static_cast<std::uint64_t>(index)});
  problem_.contacts.add_entry(part, n) = ConstRowMatrixMap(matrix_storage_.data(), num_rows, n);
  double* bias = problem_.contact_bias.data() + problem_.num_contact_rows() - num_rows;
  for (int i = 0; i < num_rows; ++i) {
    bias[i] = vector_storage_[i];
    contact_drifts_.push_back(vector_storage_[i]);
  }
  contact_indices_.push_back(index);
  return bias;
}

}  // namespace stiction
