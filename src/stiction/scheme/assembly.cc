#include "stiction/scheme/assembly.h"

#include <cmath>
#include <utility>

#include "stiction/base/known_size.h"
#include "stiction/base/pair.h"

namespace stiction {
namespace {

/// A contact whose gap is below this share of the way that forces alone would move it in the step
/// counts as touching: a body at rest on another keeps its contact although rounding lifts it off
/// by 1e-19 m. Of order h², hence without effect on the order of a scheme. Of the way in any
/// direction, not only along the normal: bricks side by side that gravity does not move towards
/// each other have gaps of rounding, too, and a wall whose contacts come and go with these does not
/// rest.
constexpr double kTouchingShare = 1e-6;

/// The certificate forgives the root of its tolerance in velocities, (T23): what a step with such
/// an error has opened still touches.
double touching_share(double tolerance) { return std::max(kTouchingShare, std::sqrt(tolerance)); }

/// Impulse of a force over h, which may be unbounded.
double bound(double h, double force) {
  return std::isinf(force) ? StepProblem::kUnbounded : h * force;
}

/// y += A x, A square and row-major.
void add_product(const double* A, int size, const double* x, double* y) {
  with_known_size<6, 3>(size, [&]<int kSize>() {
    const int n = known<kSize>(size);
    for (int i = 0; i < n; ++i, A += n) {
      Pair sum{};
      int k = 0;
      for (; k + 1 < n; k += 2) sum += load_pair(A + k) * load_pair(x + k);
      y[i] += k < n ? sum_of(sum) + A[k] * x[k] : sum_of(sum);
    }
  });
}

}  // namespace

void StepAssembly::clear() {
  problem_.clear();
  joint_rows_.clear();
  explicit_springs_.clear();
  contact_indices_.clear();
  contact_drifts_.clear();
  contact_tangents_.clear();
}

void StepAssembly::add_mass_and_momentum(const ContactModel& model,
                                         const EvaluationPoint& mass_point,
                                         const EvaluationPoint& force_point, const VectorXd& v,
                                         double h) {
  problem_.h = h;
  if (h != 0) {
    force_.resize(v.size());
    model.evaluate_force(force_point.t, force_point.q, v, force_);
  }
  for (const Model::Block& block : model.blocks()) problem_.add_mass_block(block.size);
  model.evaluate_masses(mass_point.t, mass_point.q, problem_.mass_values);
  constexpr int kGrain = 64;  // bodies that one task takes
  run_numbers(model.workers().get(), problem_.num_blocks(), kGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) {
      const int start = problem_.dof_start[b];
      double* p = problem_.p.data() + start;
      add_product(problem_.mass_values.data() + problem_.mass_start[b], problem_.block_size(b),
                  v.data() + start, p);
      if (h == 0) continue;
      for (int i = 0; i < problem_.block_size(b); ++i) p[i] += h * force_[start + i];
    }
  });
}

void StepAssembly::make_gyroscopic_term_implicit(const ContactModel& model,
                                                 const EvaluationPoint& point, const VectorXd& v,
                                                 double h) {
  VectorMap p(problem_.p.data(), problem_.num_dofs());
  model.add_gyroscopic(point.t, point.q, v, h, problem_.mass_values, p, matrix_storage_);
}

void StepAssembly::add_midpoint_mass_and_momentum(const ContactModel& model,
                                                  const EvaluationPoint& mid, const VectorXd& v,
                                                  const VectorXd& mean_velocity,
                                                  const VectorXd& guess, double h) {
  problem_.h = h;
  force_.resize(v.size());
  model.evaluate_force(mid.t, mid.q, mean_velocity, force_);
  for (int b = 0; b < static_cast<int>(model.blocks().size()); ++b) {
    const auto [part, index, start, n] = model.blocks()[b];
    RowMatrixMap mass = problem_.add_mass_block(n);
    model.evaluate_mass(mid.t, mid.q, b, mass);
    matrix_storage_.resize(static_cast<std::size_t>(n) * n);
    RowMatrixMap gyroscopic(matrix_storage_.data(), n, n);
    model.evaluate_gyroscopic(mid.t, mid.q, mean_velocity, b, gyroscopic);
    VectorMap p = problem_.block_p(b);
    p.noalias() = mass.lazyProduct(v.segment(start, n));
    p += h * force_.segment(start, n) + 0.5 * h * gyroscopic.lazyProduct(guess.segment(start, n));
    mass += 0.5 * h * gyroscopic;
  }
}

void StepAssembly::add_trapezoidal_mass_and_momentum(const ContactModel& model, const State& start,
                                                     const EvaluationPoint& mid, double h,
                                                     double factor, ForceJacobians jacobians) {
  problem_.h = h;
  force_.resize(start.v.size());
  force_at_end_.resize(start.v.size());
  model.evaluate_force(start.t, start.q, start.v, force_);
  model.evaluate_force(start.t + h, start.q, start.v, force_at_end_);
  force_ += force_at_end_;
  for (int b = 0; b < static_cast<int>(model.blocks().size()); ++b) {
    const auto [part, index, offset, n] = model.blocks()[b];
    const auto v = start.v.segment(offset, n);
    auto force = force_.segment(offset, n);
    RowMatrixMap mass = problem_.add_mass_block(n);
    model.evaluate_mass(mid.t, mid.q, b, mass);
    if (jacobians != ForceJacobians::kSpringsOnly) {
      matrix_storage_.resize(static_cast<std::size_t>(2) * n * n);
      RowMatrixMap k_q(matrix_storage_.data(), n, n),
          k_v(matrix_storage_.data() + static_cast<std::ptrdiff_t>(n) * n, n, n);
      model.evaluate_jacobians(start.t + h, start.q, start.v, b, k_q, k_v);
      mass -= 0.5 * h * k_v + 0.25 * h * h * k_q;
      force += h * k_q.lazyProduct(v);  // Potra et al. 2006, (6.9) with the factor h for h/2
    }
    mass *= factor;
    VectorMap p = problem_.block_p(b);
    p.noalias() = mass.lazyProduct(v);
    p += 0.5 * h * force;
  }
}

/// For mobility(), once M̂ is complete.
void StepAssembly::invert_mass_diagonal() {
  inverse_diagonal_.resize(problem_.num_dofs());
  for (int b = 0; b < problem_.num_blocks(); ++b) {
    const int start = problem_.dof_start[b], n = problem_.block_size(b);
    const double* mass = problem_.mass_values.data() + problem_.mass_start[b];
    for (int k = 0; k < n; ++k) inverse_diagonal_[start + k] = 1 / std::abs(mass[k * (n + 1)]);
  }
}

/// J diag(M)⁻¹Jᵀ of the first row of a row block.
double StepAssembly::mobility(const BlockRows& rows, int row_block) const {
  double sum = 0;
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
    const double* inverse = inverse_diagonal_.data() + problem_.dof_start[rows.entry_block(e)];
    const double* values = rows.entry_values(e);
    for (int k = 0; k < rows.entry_columns(e); ++k) sum += values[k] * values[k] * inverse[k];
  }
  return sum;
}

void StepAssembly::compute_normal_mobilities(std::vector<double>& mobilities) {
  invert_mass_diagonal();
  mobilities.resize(problem_.num_contacts());
  for (int j = 0; j < problem_.num_contacts(); ++j) mobilities[j] = mobility(problem_.contacts, j);
}

void StepAssembly::add_row(const BlockRows& from, int row, const StepProblem::BilateralRow& form,
                           const JointRow& joint_row) {
  problem_.add_bilateral_row(form);
  problem_.bilateral.add_entries_of(from, row);
  joint_rows_.push_back(joint_row);
}

/// Adds the rows in constraints_. With x the values in theta_, Θ is x + h (G w + ∂Θ/∂t) at the end
/// of the step.
void StepAssembly::add_constraints(const ContactModel& model, const VectorXd& v, double h,
                                   const ConstraintForm& form) {
  invert_mass_diagonal();
  for (int i = 0; i < model.num_constraints(); ++i) {
    const ConstraintInfo& info = model.constraint(i);
    const int joint_row = model.joint_row_of_constraint(i);
    if (h == 0 && !info.is_rigid()) continue;
    if (info.is_compliant()) {
      const Spring spring{1 / info.compliance, info.damping_time / info.compliance, theta_[i]};
      add_spring_row(constraints_, i, joint_row, spring, h, form.spring_rule, v);
      continue;
    }
    const bool is_motor = !info.is_rigid();
    // A motor that holds a position takes back all of its error at once, as far as it can.
    const double share = is_motor && form.stabilization == 0 ? 1 : form.stabilization;
    const double drift = constraints_.drift[i];
    add_row(constraints_.rows, i,
            {.compliance = is_motor ? 0 : form.compliance * mobility(constraints_.rows, i),
             .bias = (share == 0 || h == 0 ? 0 : -share * theta_[i] / h) - drift,
             .lower = -bound(h, info.max_effort),
             .upper = bound(h, info.max_effort)},
            {.joint_row = joint_row,
             .kind = is_motor ? JointRow::Kind::kMotor : JointRow::Kind::kRigid,
             .drift = drift});
  }
}

void StepAssembly::add_velocity_rows(const ContactModel& model, const EvaluationPoint& point,
                                     double h, double compliance) {
  if (model.num_velocity_rows() == 0) return;
  using Kind = VelocityRowInfo::Kind;
  invert_mass_diagonal();
  constraints_.clear();
  model.append_velocity_rows(point.t, point.q, constraints_);
  for (int i = 0; i < model.num_velocity_rows(); ++i) {
    const VelocityRowInfo& info = model.velocity_row(i);
    // A motor without limit is as good as a constraint.
    const bool is_rigid = info.kind == Kind::kNonholonomic || std::isinf(info.max_effort);
    if (h == 0 && !is_rigid) continue;
    const double drift = constraints_.drift[i];
    // What is bounded holds exactly below its bound: friction does not creep.
    add_row(constraints_.rows, i,
            {.compliance = is_rigid ? compliance * mobility(constraints_.rows, i) : 0,
             .bias = -drift,
             .lower = -bound(h, info.max_effort),
             .upper = bound(h, info.max_effort)},
            {.joint_row = model.joint_row_of_velocity_row(i),
             .kind = is_rigid                    ? JointRow::Kind::kRigid
                     : info.kind == Kind::kMotor ? JointRow::Kind::kMotor
                                                 : JointRow::Kind::kFriction,
             .drift = drift});
  }
}

void StepAssembly::add_constraint_rows(const ContactModel& model, const EvaluationPoint& point,
                                       const State& start, double h, const ConstraintForm& form) {
  if (model.num_constraints() > 0) {
    constraints_.clear();
    model.append_constraint_rows(point.t, point.q, constraints_);
    if (h > 0 && (form.stabilization > 0 || model.has_soft_constraints())) {
      theta_.resize(model.num_constraints());
      model.evaluate_constraints(start.t, start.q, theta_);
    }
    add_constraints(model, start.v, h, form);
  }
  add_velocity_rows(model, point, h, form.compliance);
}

/// q − q̂, as a displacement.
void StepAssembly::evaluate_lag(const ContactModel& model, const EvaluationPoint& prediction,
                                const State& start) {
  model.displacement(prediction.q, start.q, lag_);
}

void StepAssembly::add_constraint_rows_at_end(const ContactModel& model,
                                              const EvaluationPoint& prediction, const State& start,
                                              double h, const ConstraintForm& form) {
  if (model.num_constraints() > 0) {
    evaluate_lag(model, prediction, start);
    constraints_.clear();
    model.append_constraint_rows(prediction.t, prediction.q, constraints_);
    theta_.resize(model.num_constraints());
    model.evaluate_constraints(prediction.t, prediction.q, theta_);
    for (int i = 0; i < model.num_constraints(); ++i)
      theta_[i] += row_times(constraints_, i, 0, lag_) - h * constraints_.drift[i];
    ConstraintForm at_end = form;
    at_end.stabilization = 1;
    add_constraints(model, start.v, h, at_end);
  }
  add_velocity_rows(model, prediction, h, form.compliance);
}

void StepAssembly::add_mean_constraint_rows(const ContactModel& model, const State& start, double h,
                                            const EvaluationPoint& mid,
                                            const VectorXd& mean_velocity, const VectorXd& change,
                                            double compliance) {
  if (model.num_constraints() > 0) {
    constraints_.clear();
    model.append_mean_constraint_rows(mid.t, h, mid.q, mean_velocity, change, constraints_);
    theta_.resize(model.num_constraints());
    model.evaluate_constraints(start.t, start.q, theta_);
    // v⁺ = 2w̄ − v: what add_constraints demands of w is demanded of the mean velocity.
    const int first = problem_.num_bilateral();
    add_constraints(
        model, start.v, h,
        {.compliance = compliance, .stabilization = 1, .spring_rule = SpringRule::kMeanByEnd});
    for (int i = first; i < problem_.num_bilateral(); ++i) {
      if (joint_rows_[i].kind == JointRow::Kind::kSpring) continue;
      problem_.bias[i] = 2 * problem_.bias[i] -
                         problem_.bilateral.times(i, 0, problem_.dof_start.data(), start.v.data());
    }
  }
  const int first = problem_.num_bilateral();
  add_velocity_rows(model, mid, h, compliance);
  for (int i = first; i < problem_.num_bilateral(); ++i) {
    if (joint_rows_[i].kind != JointRow::Kind::kRigid) continue;
    problem_.bias[i] = 2 * problem_.bias[i] -
                       problem_.bilateral.times(i, 0, problem_.dof_start.data(), start.v.data());
  }
}

void StepAssembly::add_geometric_stiffness(const ContactModel& model, const EvaluationPoint& point,
                                           const VectorXd& v, double h,
                                           std::span<const double> joint_forces,
                                           std::span<const double> contact_forces,
                                           const Turning& turning) {
  traces_.assign(problem_.num_blocks(), 0.0);
  model.add_geometric_stiffness(point.t, point.q, joint_forces, contact_forces,
                                {.inertia = turning.inertia * h * h,
                                 .momentum = turning.momentum * h * h,
                                 .masses = problem_.mass_values.data(),
                                 .v = v.data(),
                                 .momenta = problem_.p.data(),
                                 .traces = traces_.data()});
}

StepAssembly::TurningExcess StepAssembly::find_turning_excess(
    const ContactModel& model, const EvaluationPoint& point, double h,
    std::span<const double> joint_forces, std::span<const double> contact_forces) {
  new_traces_.assign(problem_.num_blocks(), 0.0);
  traces_.resize(problem_.num_blocks(), 0.0);
  model.add_geometric_stiffness(point.t, point.q, joint_forces, contact_forces,
                                {.traces = new_traces_.data()});
  int worst = -1;
  double largest = -1;
  for (int b = 0; b < problem_.num_blocks(); ++b) {
    const double excess = new_traces_[b] - 2 * traces_[b];
    if (!(excess > largest)) continue;
    largest = excess;
    worst = b;
  }
  if (worst < 0) return {};
  return {.trace = h * h * new_traces_[worst], .used = h * h * traces_[worst]};
}

/// ∇φ and ∂φ/∂t at `rows_at` into springs_, φ at `values_at` into extension_.
void StepAssembly::evaluate_springs(const ContactModel& model, const EvaluationPoint& rows_at,
                                    const EvaluationPoint& values_at) {
  springs_.clear();
  model.append_spring_rows(rows_at.t, rows_at.q, springs_);
  extension_.resize(model.num_springs());
  model.evaluate_springs(values_at.t, values_at.q, extension_);
}

void StepAssembly::add_spring_rows(const ContactModel& model, const EvaluationPoint& point,
                                   const State& start, double h, SpringRule rule) {
  if (model.num_springs() == 0) return;
  evaluate_springs(model, point, {start.t, start.q});
  for (int i = 0; i < model.num_springs(); ++i)
    add_spring_row(springs_, i, model.joint_row_of_spring(i),
                   {model.spring(i).stiffness, model.spring(i).damping, extension_[i]}, h, rule,
                   start.v);
}

void StepAssembly::add_spring_rows_at_end(const ContactModel& model,
                                          const EvaluationPoint& prediction, const State& start,
                                          double h) {
  if (model.num_springs() == 0) return;
  evaluate_lag(model, prediction, start);
  evaluate_springs(model, prediction, prediction);
  // The rows add h (∇φᵀw + ∂φ/∂t) to an extension at the start.
  for (int i = 0; i < model.num_springs(); ++i)
    add_spring_row(springs_, i, model.joint_row_of_spring(i),
                   {model.spring(i).stiffness, model.spring(i).damping,
                    extension_[i] + row_times(springs_, i, 0, lag_) - h * springs_.drift[i]},
                   h, SpringRule::kEnd, start.v);
}

/// Adds row i as a spring whose extension is x at the start.
void StepAssembly::add_spring_row(const RowSet& rows, int i, int joint_row, const Spring& spring,
                                  double h, SpringRule rule, const VectorXd& v) {
  const bool is_mean = rule != SpringRule::kEnd;
  const double stiffness = (is_mean ? 0.5 : 1) * h * h * spring.stiffness + h * spring.damping;
  if (stiffness == 0) return;  // no impulse in no time
  double compliance = 1 / stiffness,
         bias = -h * spring.stiffness * spring.extension / stiffness - rows.drift[i];
  if (rule == SpringRule::kMeanByEnd) {
    compliance *= 2;
    bias = 2 * bias - row_times(rows, i, 0, v);
  }
  add_row(rows.rows, i, {.compliance = compliance, .bias = bias},
          {.joint_row = joint_row,
           .kind = JointRow::Kind::kSpring,
           .drift = rows.drift[i],
           .damping = h * spring.damping,
           .rule = rule});
}

void StepAssembly::add_explicit_springs(const ContactModel& model, const State& start, double h) {
  const EvaluationPoint here{start.t, start.q};
  if (model.num_springs() > 0) evaluate_springs(model, here, here);
  for (int i = 0; i < model.num_springs(); ++i) {
    const SpringInfo& spring = model.spring(i);
    const double drift = springs_.drift[i];
    const double damping = -h * spring.damping * (row_times(springs_, i, 0, start.v) + drift);
    const double impulse = -h * spring.stiffness * extension_[i] + damping;
    for (int e = springs_.rows.entry_start(i); e < springs_.rows.entry_start(i + 1); ++e)
      problem_.block_p(springs_.rows.entry_block(e)) +=
          impulse * springs_.rows.entry_matrix(i, e).transpose();
    explicit_springs_.push_back({.joint_row = model.joint_row_of_spring(i),
                                 .row = i,
                                 .drift = drift,
                                 .impulse = impulse,
                                 .damping_impulse = damping});
  }
}

/// J v and J diag(M)⁻¹Jᵀ of a row of the problem.
StepAssembly::RowFigures StepAssembly::measure_row(int row, const VectorXd& v) const {
  const BlockRows& rows = problem_.bilateral;
  Pair rate{}, mobility{};
  for (int e = rows.entry_start(row); e < rows.entry_start(row + 1); ++e) {
    const int start = problem_.dof_start[rows.entry_block(e)], n = rows.entry_columns(e);
    const double* values = rows.entry_values(e);
    const double* inverse = inverse_diagonal_.data() + start;
    const double* part = v.data() + start;
    int k = 0;
    for (; k + 1 < n; k += 2) {
      const Pair value = load_pair(values + k);
      rate += value * load_pair(part + k);
      mobility += value * value * load_pair(inverse + k);
    }
    if (k == n) continue;
    rate += Pair{values[k] * part[k], 0};
    mobility += Pair{values[k] * values[k] * inverse[k], 0};
  }
  return {sum_of(rate), sum_of(mobility)};
}

void StepAssembly::add_spook_rows(const ContactModel& model, const State& start, double h,
                                  const SpookForm& form) {
  const EvaluationPoint here{start.t, start.q};
  constexpr double kRigid = -1;
  const auto share_of = [&](double relaxation) { return 1 / (1 + 4 * relaxation / h); };  // φ
  const double usual_share = share_of(form.relaxation);
  const auto make_row = [&](int row, double value, double drift, double compliance, double share,
                            double effort) {
    const double limit = bound(h, effort);
    const RowFigures figures = measure_row(row, start.v);
    StepProblem::BilateralRow numbers{.compliance = compliance == kRigid
                                                        ? form.compliance * figures.mobility
                                                        : 4 * compliance * share / (h * h),
                                      .lower = -limit,
                                      .upper = limit};
    double pull = -4 * share / h * value;
    const double turning = compliance > 0 && form.turning != nullptr
                               ? h * h * form.turning->held[joint_rows_[row].joint_row]
                               : 0;
    if (turning > 0) {
      // λ = … − a h²k G v⁺ + b h²k G v in the same row, a = 1.                               (T28)
      const double total = 1 / numbers.compliance + turning;
      share = (share / numbers.compliance + form.stiffness_return * turning) / total;
      pull /= numbers.compliance * total;
      numbers.compliance = 1 / total;
    }
    numbers.bias = pull + share * (figures.rate + drift) - drift;
    return numbers;
  };
  invert_mass_diagonal();
  add_all_constraint_rows(model, here);
  for (int i = 0; i < model.num_constraints(); ++i) {
    const ConstraintInfo& info = model.constraint(i);
    const int row = problem_.num_bilateral() - model.num_constraints() + i;
    const double drift = constraints_.drift[i];
    JointRow& joint_row = joint_rows_[row];
    joint_row = {.joint_row = model.joint_row_of_constraint(i), .drift = drift};
    double compliance = kRigid, share = usual_share;
    if (info.is_compliant()) {
      joint_row.kind = JointRow::Kind::kSpring;
      joint_row.damping = h * info.damping_time / info.compliance;
      compliance = info.compliance;
      share = share_of(info.damping_time);
    } else {
      joint_row.kind = info.is_rigid() ? JointRow::Kind::kRigid : JointRow::Kind::kMotor;
      if (!info.is_rigid()) compliance = 0;
      if (info.damping_time > 0) share = share_of(info.damping_time);
    }
    problem_.set_bilateral_row(row,
                               make_row(row, theta_[i], drift, compliance, share, info.max_effort));
  }
  add_velocity_rows(model, here, h, form.compliance);
  if (form.turning != nullptr) add_turning_rows(*form.turning, start.v, {1, form.stiffness_return});
  if (model.num_springs() == 0) return;
  evaluate_springs(model, here, here);
  for (int i = 0; i < model.num_springs(); ++i) {
    const SpringInfo& spring = model.spring(i);
    const int joint_row = model.joint_row_of_spring(i), row = problem_.num_bilateral();
    if (!(spring.stiffness > 0)) {
      add_spring_row(springs_, i, joint_row, {0, spring.damping, 0}, h, SpringRule::kEnd, start.v);
      continue;
    }
    const double drift = springs_.drift[i];
    add_row(springs_.rows, i, {},
            {.joint_row = joint_row,
             .kind = JointRow::Kind::kSpring,
             .drift = drift,
             .damping = h * spring.damping});
    problem_.set_bilateral_row(
        row, make_row(row, extension_[i], drift, 1 / spring.stiffness,
                      share_of(spring.damping / spring.stiffness), StepProblem::kUnbounded));
  }
}

void StepAssembly::add_turning_rows(const TurningRows& rows, const VectorXd& v,
                                    const Turning& turning) {
  for (std::size_t i = 0; i < rows.stiff.size(); ++i) {
    const int row = static_cast<int>(i);
    const double drift = rows.across.drift[i];
    const double rate = row_times(rows.across, row, 0, v) + drift;
    add_row(rows.across.rows, row,
            {.compliance = 1 / (turning.inertia * rows.h * rows.h * rows.stiff[i]),
             .bias = turning.momentum / turning.inertia * rate - drift},
            {.joint_row = -1, .kind = JointRow::Kind::kTurning, .drift = drift});
  }
}

/// Appends the rows of all constraints straight to the problem, their numbers still to be set; Θ
/// into theta_, drifts into constraints_.
void StepAssembly::add_all_constraint_rows(const ContactModel& model,
                                           const EvaluationPoint& point) {
  constraints_.clear();
  theta_.resize(model.num_constraints());
  std::swap(constraints_.rows, problem_.bilateral);
  model.append_constraints(point.t, point.q, constraints_, theta_);
  std::swap(constraints_.rows, problem_.bilateral);
  problem_.add_bilateral_numbers(model.num_constraints());
  joint_rows_.resize(problem_.num_bilateral());
}

void StepAssembly::add_spook_contacts(const ContactModel& model, const State& start, double h,
                                      const SpookForm& form, std::span<const int> contacts) {
  const double share = 1 / (1 + 4 * form.relaxation / h);  // φ
  if (!contacts.empty()) invert_mass_diagonal();
  for (const int contact : contacts) {
    const double rate = gap_rate(model, contact, start.v);
    add_evaluated_contact(model, contact)[0] += 4 * share / h * gaps_[contact] - share * rate;
    const double compliance = model.contact(contact).compliance;
    const int place = problem_.num_contacts() - 1;
    problem_.contact_compliance[problem_.contacts.row_start(place)] =
        compliance > 0 ? 4 * compliance * share / (h * h)
                       : form.compliance * mobility(problem_.contacts, place);
  }
}

/// Rows are made of what touches only: most of what detection lists is a little apart.
void StepAssembly::add_touching_contacts(const ContactModel& model, const EvaluationPoint& point,
                                         const VectorXd& v, double tolerance) {
  const int count = model.num_contacts();
  if (count == 0) return;
  ContactEvaluator::compute_gaps(model, point.t, point.q, gaps_, touches_);
  measure_free_fall(model, v);
  const double share = touching_share(tolerance);
  // As few batches as there are threads: but for the first they have to be put together afterwards.
  WorkerPool* const workers = model.workers().get();
  const int num_threads = workers == nullptr ? 1 : workers->num_threads();
  const int size = std::min(count, std::max(kBatch, (count + num_threads - 1) / num_threads));
  const auto num_batches = static_cast<std::size_t>((count + size - 1) / size);
  if (touching_.size() < num_batches) touching_.resize(num_batches);
  run_blocks(workers, count, size, [&](int begin, int end) {
    TouchingBatch& batch = touching_[begin / size];
    batch.clear();
    for (int j = begin; j < end; ++j)
      if (evaluate_if_touching(model, point, j, share, batch)) add_bias(model.contact(j), v, batch);
  });
  for (std::size_t i = 0; i < num_batches; ++i)
    add_batch(touching_[i], num_batches > 1 ? workers : nullptr);
}

bool StepAssembly::evaluate_if_touching(const ContactModel& model, const EvaluationPoint& point,
                                        int contact, double share, TouchingBatch& batch) const {
  // Not a number counts as touching, so that it is seen. What overlaps does however far it falls.
  const double gap = gaps_[contact];
  if (gap > 0 && gap > share * model.bound_normal_row(contact, touches_, fall_sums_.data()))
    return false;
  model.append_contact_rows(point.t, point.q, contact, touches_, batch.set);
  const int place = batch.set.rows.num_row_blocks() - 1;
  if (gap > 0 && gap > share * fall_at_contact(batch.set.rows, place) &&
      gap > kTouchingShare * fall_beside_contact(batch.set.rows, place)) {
    batch.set.remove_last_contact();
    return false;
  }
  batch.contacts.push_back(contact);
  batch.mu.push_back(model.contact(contact).mu);
  batch.keys.push_back(model.contact_key(contact));
  return true;
}

/// Drift and restitution of the newest contact of a batch.
void StepAssembly::add_bias(const ContactInfo& info, const VectorXd& v,
                            TouchingBatch& batch) const {
  const RowSet& set = batch.set;
  const int place = set.rows.num_row_blocks() - 1;
  if (info.restitution == 0 && info.restitution_tangential == 0) {
    for (std::size_t i = set.rows.row_start(place); i < set.drift.size(); ++i)
      batch.bias.push_back(set.drift[i]);
    return;
  }
  for (int i = 0; i <= info.num_tangents; ++i) {
    const double restitution = i == 0 ? info.restitution : info.restitution_tangential;
    const double drift = set.drift[set.rows.row_start(place) + i];
    batch.bias.push_back(
        restitution == 0 ? drift : drift + restitution * (row_times(set, place, i, v) + drift));
  }
}

/// Takes all of the batch out of it where its contacts are the first ones.
void StepAssembly::add_batch(TouchingBatch& batch, WorkerPool* workers) {
  const bool is_first = problem_.contacts.num_row_blocks() == 0;
  const auto append = [is_first](auto& from, auto& to) {
    if (is_first)
      to.swap(from);
    else
      to.insert(to.end(), from.begin(), from.end());
  };
  if (is_first)
    std::swap(problem_.contacts, batch.set.rows);
  else
    problem_.contacts.append(batch.set.rows, workers);
  run_blocks(workers, 2, 1, [&](int part, int) {
    if (part == 0) {
      append(batch.set.tangents, contact_tangents_);
      return;
    }
    problem_.contact_compliance.resize(problem_.contacts.num_rows(), 0.0);
    append(batch.bias, problem_.contact_bias);
    append(batch.mu, problem_.mu);
    append(batch.keys, problem_.key);
    problem_.section.resize(problem_.mu.size(), section_);
    append(batch.contacts, contact_indices_);
    append(batch.set.drift, contact_drifts_);
  });
}

void StepAssembly::evaluate_contacts(const ContactModel& model, const EvaluationPoint& point) {
  const int count = model.num_contacts();
  ContactEvaluator::compute_gaps(model, point.t, point.q, gaps_, touches_);
  const std::size_t num_batches = (static_cast<std::size_t>(count) + kBatch - 1) / kBatch;
  if (batches_.size() < num_batches) batches_.resize(num_batches);
  run_blocks(model.workers().get(), count, kBatch, [&](int begin, int end) {
    RowSet& set = batches_[begin / kBatch];
    set.clear();
    for (int j = begin; j < end; ++j) model.append_contact_rows(point.t, point.q, j, touches_, set);
  });
}

/// Of the contacts that were evaluated.
void StepAssembly::measure_falls(const ContactModel& model, const VectorXd& v) {
  measure_free_fall(model, v);
  falls_.resize(model.num_contacts());
  run_blocks(model.workers().get(), model.num_contacts(), kBatch, [&](int begin, int end) {
    const BlockRows& rows = batches_[begin / kBatch].rows;
    for (int j = begin; j < end; ++j) falls_[j] = fall_at_contact(rows, j - begin);
  });
}

void StepAssembly::find_touching(const ContactModel& model, const VectorXd& v, double tolerance,
                                 std::vector<int>& contacts) {
  if (model.num_contacts() == 0) return;
  measure_falls(model, v);
  const double share = touching_share(tolerance);
  for (int j = 0; j < model.num_contacts(); ++j)
    if (gaps_[j] <= share * falls_[j]) contacts.push_back(j);
}

/// How far forces alone move a contact along its normal.
double StepAssembly::fall_at_contact(const BlockRows& rows, int row_block) const {
  double fall = 0;
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
    const double* values = rows.entry_values(e);
    const double* falls = free_fall_.data() + problem_.dof_start[rows.entry_block(e)];
    const int n = rows.entry_columns(e);
    if (n != 6) {
      fall += ConstVectorMap(values, n).cwiseAbs().dot(ConstVectorMap(falls, n));
      continue;
    }
    Pair sum{};
    for (int k = 0; k < 6; k += 2)
      sum += Pair{std::abs(values[k]), std::abs(values[k + 1])} * load_pair(falls + k);
    fall += sum_of(sum);
  }
  return fall;
}

/// How far they would if they were along its normal.
double StepAssembly::fall_beside_contact(const BlockRows& rows, int row_block) const {
  double fall = 0;
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
    const ConstVectorMap normal(rows.entry_values(e), rows.entry_columns(e));
    fall += normal.lpNorm<Eigen::Infinity>() * fall_sums_[rows.entry_block(e)];
  }
  return fall;
}

/// h²|k|/M per coordinate: how far forces alone move it in a step. And sums over every block.
void StepAssembly::measure_free_fall(const ContactModel& model, const VectorXd& v) {
  free_fall_.resize(v.size());
  fall_sums_.assign(model.blocks().size(), 0.0);
  const int num_blocks = static_cast<int>(model.blocks().size());
  constexpr int kGrain = 16;  // bodies that one task takes
  run_numbers(model.workers().get(), num_blocks, kGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) measure_free_fall_of(b, v);
  });
}

void StepAssembly::measure_free_fall_of(int block, const VectorXd& v) {
  const int start = problem_.dof_start[block];
  const double* mass = problem_.mass_values.data() + problem_.mass_start[block];
  with_known_size<6>(problem_.block_size(block), [&]<int kSize>() {
    const int n = known<kSize>(problem_.block_size(block));
    using Coordinates = Eigen::Matrix<double, kSize == 0 ? Eigen::Dynamic : kSize, 1>;
    const Eigen::Map<const Coordinates> x(v.data() + start, n);
    double sum = 0;
    for (int k = 0; k < n; ++k) {
      const double* row = mass + static_cast<std::ptrdiff_t>(k) * n;
      const double momentum = Eigen::Map<const Coordinates>(row, n).dot(x);
      const double fall = problem_.h * std::abs(problem_.p[start + k] - momentum) / row[k];
      free_fall_[start + k] = fall;
      sum += std::abs(fall);
    }
    fall_sums_[block] = sum;
  });
}

void StepAssembly::add_contacts(const ContactModel& model, const EvaluationPoint& point,
                                std::span<const int> contacts) {
  for (const int contact : contacts) {
    evaluate_contact(model, point, contact);
    add_contact(model, contact, contact_, 0);
  }
}

void StepAssembly::add_contacts_at_end(const ContactModel& model, const EvaluationPoint& prediction,
                                       const VectorXd& gaps, const State& start, double h,
                                       std::span<const int> contacts) {
  if (contacts.empty()) return;
  evaluate_lag(model, prediction, start);
  for (const int contact : contacts) {
    evaluate_contact(model, prediction, contact);
    add_contact(model, contact, contact_, 0)[0] =
        (gaps[contact] + row_times(contact_, 0, 0, lag_)) / h;
    problem_.contact_compliance[problem_.contacts.row_start(problem_.num_contacts() - 1)] =
        model.contact(contact).compliance / (h * h);
  }
}

/// Rows and drifts of a contact, into contact_.
void StepAssembly::evaluate_contact(const ContactModel& model, const EvaluationPoint& point,
                                    int contact) {
  contact_.clear();
  model.append_contact_rows(point.t, point.q, contact, contact_);
}

/// Adds a contact whose rows are a row block of `set`; returns its biases, which are the drifts.
double* StepAssembly::add_contact(const ContactModel& model, int contact, const RowSet& set,
                                  int row_block) {
  const ContactInfo& info = model.contact(contact);
  problem_.add_contact({.num_tangents = info.num_tangents,
                        .mu = info.mu,
                        .section = section_,
                        .key = model.contact_key(contact)});
  problem_.contacts.add_entries_of(set.rows, row_block);
  const int num_rows = 1 + info.num_tangents;
  const double* drift = set.drift.data() + set.rows.row_start(row_block);
  double* bias = problem_.contact_bias.data() + problem_.num_contact_rows() - num_rows;
  for (int i = 0; i < num_rows; ++i) {
    bias[i] = drift[i];
    contact_drifts_.push_back(drift[i]);
  }
  contact_indices_.push_back(contact);
  contact_tangents_.push_back(set.tangents[row_block]);
  return bias;
}

}  // namespace stiction
