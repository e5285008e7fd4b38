#include "stiction/audit/phase_problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "stiction/audit/rounding.h"
#include "stiction/model/surfaces.h"

namespace stiction {
namespace {

/// (T15) and the compliances of docs/theory.md, relative to the mobility of a row.
constexpr double kMoreauShare = 6 - 4 * std::numbers::sqrt2, kMoreauCompliance = 1e-8,
                 kTrapezoidalCompliance = 1e-9, kPositionLevelCompliance = 1e-12,
                 kMidpointCompliance = 1e-12;

constexpr std::array<std::string_view, 9> kPhaseNames = {"step",           "impact",
                                                         "decompression",  "inelastic impact",
                                                         "position level", "linear position level",
                                                         "midpoint",       "velocity projection",
                                                         "projection"};

template <class Name, std::size_t size>
std::optional<Name> find_name(const std::array<std::string_view, size>& names,
                              std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Name>(found - names.begin());
}

double impulse_bound(double h, double effort) {
  return std::isinf(effort) ? StepProblem::kUnbounded : h * effort;
}

}  // namespace

std::optional<SchemeName> try_parse_scheme(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "moreau",        "stewart-trinkle", "anitescu-potra", "linearly-implicit-euler",
      "trapezoidal-1", "trapezoidal-2",   "spook"};
  return find_name<SchemeName>(kNames, name);
}

std::optional<PhaseName> try_parse_phase(std::string_view name) {
  return find_name<PhaseName>(kPhaseNames, name);
}

std::string_view to_text(PhaseName name) { return kPhaseNames[static_cast<std::size_t>(name)]; }

PhaseProblem::PhaseProblem(const Model& model, const AuditSettings& settings)
    : model_(model), settings_(settings) {
  for (const Model::Part& part : model.parts())
    if (surfaces_ == nullptr && part.system->surfaces() != nullptr) {
      surfaces_ = part.system->surfaces();
      part_ = &part;
    }
}

const ContactInfo& PhaseProblem::law_of(const AuditedContact& contact) const {
  if (contact.shape_a < 0) return model_.fixed_contact(static_cast<int>(contact.id));
  return surfaces_->law_of(contact.shape_a, contact.shape_b, contact.normal);
}

void PhaseProblem::append_contact(double t, const VectorXd& q, const AuditedContact& contact,
                                  RowSet& out) const {
  if (contact.shape_a < 0)
    return model_.append_fixed_contact_rows(t, q, static_cast<int>(contact.id), out);
  const auto own_q = q.segment(part_->q_offset, part_->system->num_q());
  const Pose carrier_a = surfaces_->place_carrier(t, own_q, contact.shape_a),
             carrier_b = surfaces_->place_carrier(t, own_q, contact.shape_b);
  surfaces_->append_touch_rows(
      t, {&carrier_a, &carrier_b},
      {contact.shape_a, contact.shape_b, {contact.gap, contact.normal, contact.point}},
      law_of(contact).num_tangents, part_->first_block, out);
}

// -------------------------------------------------------------------------------------------------
// Small parts

double PhaseProblem::mobility(const BlockRows& from, int row_block) const {
  double sum = 0;
  for (int e = from.entry_start(row_block); e < from.entry_start(row_block + 1); ++e) {
    const ConstRowMatrixMap mass = problem.mass_block(from.entry_block(e));
    for (int k = 0; k < from.entry_columns(e); ++k)
      sum += from.entry_values(e)[k] * from.entry_values(e)[k] / std::abs(mass(k, k));
  }
  return sum;
}

double PhaseProblem::times(const RowSet& from, int row_block, int row, const VectorXd& x) const {
  return from.rows.times(row_block, row, model_.block_starts(), x.data());
}

double PhaseProblem::abs_times(const BlockRows& from, int row_block, int row,
                               const VectorXd& x) const {
  double sum = 0;
  for (int e = from.entry_start(row_block); e < from.entry_start(row_block + 1); ++e) {
    const int n = from.entry_columns(e);
    for (int k = 0; k < n; ++k)
      sum += std::abs(from.entry_values(e)[row * n + k] *
                      x[model_.block_starts()[from.entry_block(e)] + k]);
  }
  return sum;
}

VectorXd PhaseProblem::constraints_at(const Point& point) const {
  VectorXd theta(model_.num_constraints());
  if (theta.size() > 0) model_.evaluate_constraints(point.t, point.q, theta);
  return theta;
}

VectorXd PhaseProblem::springs_at(const Point& point) const {
  VectorXd extension(model_.num_springs());
  if (extension.size() > 0) model_.evaluate_springs(point.t, point.q, extension);
  return extension;
}

VectorXd PhaseProblem::forces_at(const Point& point, const VectorXd& v,
                                 const AuditedPhase& phase) const {
  VectorXd force(v.size());
  model_.evaluate_force(point.t, point.q, v, force);
  if (phase.held_force.size() > 0) force += phase.held_force;
  return force;
}

void PhaseProblem::begin(const AuditedPhase& phase) {
  problem.clear();
  rows.clear();
  prescribed.clear();
  prescribed_rows.clear();
  contact_drift.clear();
  contact_rounding.clear();
  iteration_error = 0;
  wants_applied_mean = false;
  problem.h = phase.length;
  model_.measure_coordinates(phase.start.q, sizes_);
  p_rounding = VectorXd::Zero(model_.num_v());
  turning_held_.clear();
  solution.lambda.clear();
  solution.r.clear();
}

/// w of the whole problem: what was used of it is a part of the way to its end, and in scheme II
/// the unknown is the mean velocity.
void PhaseProblem::set_velocity(const AuditedPhase& phase) {
  VectorXd w = phase.v_end;
  if (phase.share != 1) w = phase.start.v + (phase.v_end - phase.start.v) / phase.share;
  w_rounding =
      kUlps * (phase.start.v.cwiseAbs() + phase.v_end.cwiseAbs()) / std::min(1.0, phase.share);
  if (settings_.scheme == SchemeName::kTrapezoidal2 && phase.kind == PhaseName::kStep)
    w = 0.5 * (phase.start.v + w);
  solution.w.assign(w.data(), w.data() + w.size());
}

// -------------------------------------------------------------------------------------------------
// Mass and momentum

void PhaseProblem::add_mass(const Point& mass_at, const Point* force_at,
                            const AuditedPhase& phase) {
  const double h = phase.length;
  const VectorXd& v = phase.start.v;
  const VectorXd force =
      force_at != nullptr ? forces_at(*force_at, v, phase) : VectorXd(VectorXd::Zero(v.size()));
  for (int b = 0; b < static_cast<int>(model_.blocks().size()); ++b) {
    const auto [part, index, start, n] = model_.blocks()[b];
    RowMatrixMap mass = problem.add_mass_block(n);
    model_.evaluate_mass(mass_at.t, mass_at.q, b, mass);
    problem.block_p(b) = mass * v.segment(start, n) + h * force.segment(start, n);
    p_rounding.segment(start, n) = kUlps * (mass.cwiseAbs() * v.segment(start, n).cwiseAbs() +
                                            h * force.segment(start, n).cwiseAbs());
  }
}

/// M̂ = M + h S, p = M v + h (k + S v).                                                       (T16)
void PhaseProblem::make_gyroscopic_implicit(const Point& at, const AuditedPhase& phase) {
  const double h = phase.length;
  for (int b = 0; b < static_cast<int>(model_.blocks().size()); ++b) {
    const auto [part, index, start, n] = model_.blocks()[b];
    RowMatrixXd gyroscopic(n, n);
    model_.evaluate_gyroscopic(at.t, at.q, phase.start.v, b, gyroscopic);
    problem.block_p(b) += h * gyroscopic * phase.start.v.segment(start, n);
    problem.mass_block(b) += h * gyroscopic;
    p_rounding.segment(start, n) +=
        kUlps * h * gyroscopic.cwiseAbs() * phase.start.v.segment(start, n).cwiseAbs();
  }
}

/// M̃ = M − (h/2)k_v − (h²/4)k_q, k̃ = ½(k(t) + k(t + h) + h k_q v).                            (T17)
void PhaseProblem::add_trapezoidal_mass(const AuditedPhase& phase, const Point& mid,
                                        double factor) {
  const double h = phase.length;
  const State& start = phase.start;
  const VectorXd force = forces_at({start.t, start.q}, start.v, phase),
                 force_at_end = forces_at({start.t + h, start.q}, start.v, phase);
  for (int b = 0; b < static_cast<int>(model_.blocks().size()); ++b) {
    const auto [part, index, offset, n] = model_.blocks()[b];
    const auto v = start.v.segment(offset, n);
    RowMatrixMap mass = problem.add_mass_block(n);
    model_.evaluate_mass(mid.t, mid.q, b, mass);
    VectorXd k = force.segment(offset, n) + force_at_end.segment(offset, n);
    VectorXd sizes =
        force.segment(offset, n).cwiseAbs() + force_at_end.segment(offset, n).cwiseAbs();
    if (settings_.stepping.jacobians != ForceJacobians::kSpringsOnly) {
      RowMatrixXd k_q(n, n), k_v(n, n);
      model_.evaluate_jacobians(start.t + h, start.q, start.v, b, k_q, k_v);
      mass -= 0.5 * h * k_v + 0.25 * h * h * k_q;
      k += h * k_q * v;
      sizes += h * k_q.cwiseAbs() * v.cwiseAbs();
    }
    mass *= factor;
    problem.block_p(b) = mass * v + 0.5 * h * k;
    p_rounding.segment(offset, n) = kUlps * (mass.cwiseAbs() * v.cwiseAbs() + 0.5 * h * sizes);
  }
}

/// M̂ += h²K, p += b h²K v, K of the forces that the scheme started from.                     (T28)
void PhaseProblem::add_turning(const AuditedPhase& phase) {
  const double h = phase.length;
  const State& start = phase.start;
  const TurningSum sum{.inertia = h * h,
                       .momentum = settings_.stepping.spook.stiffness_return * h * h,
                       .masses = problem.mass_values.data(),
                       .v = start.v.data(),
                       .momenta = problem.p.data()};
  model_.add_joint_stiffness(start.t, start.q, phase.turning, sum);
  for (const AuditedContact& contact : phase.contacts) {
    if (contact.shape_a < 0 || !(contact.turning[0] > 0)) continue;
    const auto num_rows = static_cast<std::size_t>(1 + law_of(contact).num_tangents);
    surfaces_->add_touch_stiffness(
        start.t, start.q.segment(part_->q_offset, part_->system->num_q()),
        {contact.shape_a, contact.shape_b, {contact.gap, contact.normal, contact.point}},
        std::span(contact.turning.data(), num_rows),
        sum.from(part_->matrix_offset, part_->v_offset, part_->first_block));
  }
}

/// What geometric stiffness does between bodies, by rows that are not recorded: their impulses
/// follow from the velocities at both ends, −h²k (G w + ŵ) + b h²k (G v + ŵ). What joint rows hold
/// goes into turning_held_.                                                                   (T28)
void PhaseProblem::add_turning_rows(const AuditedPhase& phase) {
  const double h = phase.length;
  const State& start = phase.start;
  TurningRows turning;
  turning.h = h;
  model_.append_turning_rows(start.t, start.q, phase.turning, turning);
  turning_held_ = turning.held;
  const VectorXd w =
      ConstVectorMap(solution.w.data(), static_cast<Eigen::Index>(solution.w.size()));
  const BlockRows& across = turning.across.rows;
  for (int i = 0; i < across.num_row_blocks(); ++i) {
    const double weight = h * h * turning.stiff[i], drift = turning.across.drift[i];
    const double share = settings_.stepping.spook.stiffness_return;
    const double impulse = weight * (share * (times(turning.across, i, 0, start.v) + drift) -
                                     times(turning.across, i, 0, w) - drift);
    const double rounding =
        weight *
        (abs_times(across, i, 0, w_rounding) +
         kUlps * (abs_times(across, i, 0, start.v) + abs_times(across, i, 0, w) + std::abs(drift)));
    for (int e = across.entry_start(i); e < across.entry_start(i + 1); ++e) {
      const int block = across.entry_block(e);
      const VectorXd row = across.entry_matrix(i, e).transpose();
      problem.block_p(block) += impulse * row;
      p_rounding.segment(problem.dof_start[block], row.size()) += rounding * row.cwiseAbs();
    }
  }
}

// -------------------------------------------------------------------------------------------------
// Rows of joints and springs

void PhaseProblem::add_row(const RowSet& from, int i, const StepProblem::BilateralRow& numbers,
                           Row row, const AuditedPhase& phase) {
  problem.add_bilateral_row(numbers);
  problem.bilateral.add_entries_of(from.rows, i);
  const int last = problem.num_bilateral() - 1;
  const ConstVectorMap w(solution.w.data(), static_cast<Eigen::Index>(solution.w.size()));
  row.rounding += abs_times(problem.bilateral, last, 0, w_rounding) +
                  kUlps * (abs_times(problem.bilateral, last, 0, w) + std::abs(numbers.bias));
  rows.push_back(row);
  solution.lambda.push_back(phase.impulse[static_cast<std::size_t>(row.joint_row)]);
}

void PhaseProblem::add_spring_row(const AuditedPhase& phase, const RowSet& from, int i,
                                  int joint_row, const SpringNumbers& spring, Mean mean) {
  const double h = phase.length;
  const double weight =
      (mean == Mean::kEnd ? 1 : 0.5) * h * h * spring.stiffness + h * spring.damping;
  if (weight == 0) return;
  double compliance = 1 / weight,
         bias = -h * spring.stiffness * spring.extension / weight - from.drift[i];
  if (mean == Mean::kMeanByEnd) {
    compliance *= 2;
    bias = 2 * bias - times(from, i, 0, phase.start.v);
  }
  add_row(from, i, {.compliance = compliance, .bias = bias},
          {.joint_row = joint_row,
           .kind = Row::Kind::kSpring,
           .drift = from.drift[i],
           .damping = h * spring.damping,
           .damps_mean_of_end = mean == Mean::kMeanByEnd,
           .rounding = 2 * h * spring.stiffness * spring.extension_rounding / weight},
          phase);
}

/// Θ as the scheme takes it is in `theta`.
void PhaseProblem::add_joints(const AuditedPhase& phase, const Point& rows_at,
                              const VectorXd& theta, const Form& form, bool has_time) {
  const double h = phase.length;
  scratch_.clear();
  if (model_.num_constraints() > 0) model_.append_constraint_rows(rows_at.t, rows_at.q, scratch_);
  const RowSet constraints = scratch_;
  for (int i = 0; i < model_.num_constraints(); ++i) {
    const ConstraintInfo& info = model_.constraint(i);
    if (!has_time && !info.is_rigid()) continue;
    const int joint_row = model_.joint_row_of_constraint(i);
    const double value_rounding =
        kUlps * (abs_times(constraints.rows, i, 0, sizes_) + std::abs(theta[i]));
    if (info.is_compliant()) {
      add_spring_row(
          phase, constraints, i, joint_row,
          {1 / info.compliance, info.damping_time / info.compliance, theta[i], value_rounding},
          form.spring);
      continue;
    }
    const bool is_motor = !info.is_rigid();
    const double share = !has_time ? 0 : is_motor && form.share == 0 ? 1 : form.share;
    const double drift = constraints.drift[i];
    add_row(constraints, i,
            {.compliance = is_motor ? 0 : form.compliance * mobility(constraints.rows, i),
             .bias = (share == 0 ? 0 : -share * theta[i] / h) - drift,
             .lower = -impulse_bound(h, info.max_effort),
             .upper = impulse_bound(h, info.max_effort)},
            {.joint_row = joint_row,
             .kind = is_motor ? Row::Kind::kMotor : Row::Kind::kRigid,
             .drift = drift,
             .rounding = share == 0 ? 0 : share * value_rounding / h},
            phase);
  }
}

void PhaseProblem::add_velocity_rows(const AuditedPhase& phase, const Point& rows_at,
                                     double compliance, bool has_time) {
  if (model_.num_velocity_rows() == 0) return;
  scratch_.clear();
  model_.append_velocity_rows(rows_at.t, rows_at.q, scratch_);
  const RowSet from = scratch_;
  for (int i = 0; i < model_.num_velocity_rows(); ++i) {
    const VelocityRowInfo& info = model_.velocity_row(i);
    const bool is_rigid =
        info.kind == VelocityRowInfo::Kind::kNonholonomic || std::isinf(info.max_effort);
    if (!has_time && !is_rigid) continue;
    add_row(from, i,
            {.compliance = is_rigid ? compliance * mobility(from.rows, i) : 0,
             .bias = -from.drift[i],
             .lower = -impulse_bound(phase.length, info.max_effort),
             .upper = impulse_bound(phase.length, info.max_effort)},
            {.joint_row = model_.joint_row_of_velocity_row(i),
             .kind = is_rigid                                     ? Row::Kind::kRigid
                     : info.kind == VelocityRowInfo::Kind::kMotor ? Row::Kind::kMotor
                                                                  : Row::Kind::kFriction,
             .drift = from.drift[i]},
            phase);
  }
}

void PhaseProblem::add_springs(const AuditedPhase& phase, const Point& rows_at,
                               const VectorXd& extension, Mean mean) {
  if (model_.num_springs() == 0) return;
  scratch_.clear();
  model_.append_spring_rows(rows_at.t, rows_at.q, scratch_);
  const RowSet from = scratch_;
  for (int i = 0; i < model_.num_springs(); ++i) {
    const SpringInfo& spring = model_.spring(i);
    add_spring_row(phase, from, i, model_.joint_row_of_spring(i),
                   {spring.stiffness, spring.damping, extension[i],
                    kUlps * (abs_times(from.rows, i, 0, sizes_) + std::abs(extension[i]))},
                   mean);
  }
}

/// anitescu-potra has springs among its forces: impulses −hγφ − hδφ̇ of the start.
void PhaseProblem::prescribe_springs(const AuditedPhase& phase) {
  if (model_.num_springs() == 0) return;
  const State& start = phase.start;
  const double h = phase.length;
  const VectorXd extension = springs_at({start.t, start.q});
  model_.append_spring_rows(start.t, start.q, prescribed_rows);
  for (int i = 0; i < model_.num_springs(); ++i) {
    const SpringInfo& spring = model_.spring(i);
    const int joint_row = model_.joint_row_of_spring(i);
    const double rate = times(prescribed_rows, i, 0, start.v) + prescribed_rows.drift[i];
    const double damping = -h * spring.damping * rate;
    const double impulse = -h * spring.stiffness * extension[i] + damping;
    const double size = spring.stiffness * (abs_times(prescribed_rows.rows, i, 0, sizes_) +
                                            std::abs(extension[i])) +
                        spring.damping * abs_times(prescribed_rows.rows, i, 0, start.v);
    prescribed.push_back({.joint_row = joint_row,
                          .expected = impulse,
                          .recorded = phase.impulse[static_cast<std::size_t>(joint_row)],
                          .rounding = kUlps * (h * size + std::abs(impulse)),
                          .damping_impulse = damping,
                          .drift = prescribed_rows.drift[i],
                          .gradient = i});
    const BlockRows& gradients = prescribed_rows.rows;
    for (int e = gradients.entry_start(i); e < gradients.entry_start(i + 1); ++e)
      problem.block_p(gradients.entry_block(e)) +=
          prescribed.back().recorded * gradients.entry_matrix(i, e).transpose();
  }
}

/// (T29), φ = 1/(1 + 4τ/h).
void PhaseProblem::add_spook_rows(const AuditedPhase& phase) {
  const double h = phase.length;
  const State& start = phase.start;
  const SpookOptions& options = settings_.stepping.spook;
  const auto share_of = [&](double tau) { return 1 / (1 + 4 * tau / h); };
  const auto add = [&](const RowSet& from, int i, double value, double compliance, double share,
                       double effort, Row row) {
    const double rate = times(from, i, 0, start.v) + from.drift[i];
    double pull = 4 * share / h;
    if (row.kind == Row::Kind::kSpring && !turning_held_.empty()) {
      const double held = h * h * turning_held_[static_cast<std::size_t>(row.joint_row)];
      const double yielding = 1 / (1 + held * compliance);
      pull *= yielding;
      share = yielding * (share + options.stiffness_return * held * compliance);
      compliance *= yielding;
    }
    row.drift = from.drift[i];
    row.rounding = kUlps * (pull * (abs_times(from.rows, i, 0, sizes_) + std::abs(value)) +
                            share * abs_times(from.rows, i, 0, start.v));
    add_row(from, i,
            {.compliance = compliance,
             .bias = -pull * value + share * rate - from.drift[i],
             .lower = -impulse_bound(h, effort),
             .upper = impulse_bound(h, effort)},
            row, phase);
  };
  const double usual = share_of(options.relaxation * h);
  const VectorXd theta = constraints_at({start.t, start.q});
  RowSet constraints;
  if (theta.size() > 0) model_.append_constraint_rows(start.t, start.q, constraints);
  for (int i = 0; i < model_.num_constraints(); ++i) {
    const ConstraintInfo& info = model_.constraint(i);
    Row row{.joint_row = model_.joint_row_of_constraint(i)};
    double compliance = options.compliance * mobility(constraints.rows, i), share = usual;
    if (info.is_compliant()) {
      row.kind = Row::Kind::kSpring;
      row.damping = h * info.damping_time / info.compliance;
      share = share_of(info.damping_time);
      compliance = 4 * info.compliance * share / (h * h);
    } else {
      if (info.damping_time > 0) share = share_of(info.damping_time);
      if (!info.is_rigid()) {
        row.kind = Row::Kind::kMotor;
        compliance = 0;
      }
    }
    add(constraints, i, theta[i], compliance, share, info.max_effort, row);
  }
  add_velocity_rows(phase, {start.t, start.q}, options.compliance, true);
  const VectorXd extension = springs_at({start.t, start.q});
  RowSet springs;
  if (extension.size() > 0) model_.append_spring_rows(start.t, start.q, springs);
  for (int i = 0; i < model_.num_springs(); ++i) {
    const SpringInfo& spring = model_.spring(i);
    const int joint_row = model_.joint_row_of_spring(i);
    if (!(spring.stiffness > 0)) {
      add_spring_row(phase, springs, i, joint_row, {0, spring.damping, 0, 0}, Mean::kEnd);
      continue;
    }
    const double share = share_of(spring.damping / spring.stiffness);
    add(springs, i, extension[i], 4 / spring.stiffness * share / (h * h), share,
        StepProblem::kUnbounded,
        {.joint_row = joint_row, .kind = Row::Kind::kSpring, .damping = h * spring.damping});
  }
}

// -------------------------------------------------------------------------------------------------
// Contacts

/// Adds the contact with its drifts as biases; returns its first row. `rows_rounding` [m] is how
/// far its point may be off.
int PhaseProblem::add_contact(const AuditedPhase& phase, const AuditedContact& contact,
                              const Point& rows_at, double rows_rounding) {
  const ContactInfo& info = law_of(contact);
  scratch_.clear();
  append_contact(rows_at.t, rows_at.q, contact, scratch_);
  problem.add_contact({.num_tangents = info.num_tangents,
                       .mu = info.mu,
                       .section = settings_.friction,
                       .key = contact.id});
  problem.contacts.add_entries_of(scratch_.rows, 0);
  const int block = problem.num_contacts() - 1, first = problem.contacts.row_start(block);
  const ConstVectorMap w(solution.w.data(), static_cast<Eigen::Index>(solution.w.size()));
  double speed = 0;
  for (const int side : {contact.shape_a, contact.shape_b})
    if (side >= 0) speed = std::max(speed, w.cwiseAbs().maxCoeff());
  for (int i = 0; i <= info.num_tangents; ++i) {
    problem.contact_bias[first + i] = scratch_.drift[i];
    contact_drift.push_back(scratch_.drift[i]);
    contact_rounding.push_back(abs_times(problem.contacts, block, i, w_rounding) +
                               kUlps * (abs_times(problem.contacts, block, i, w) +
                                        abs_times(problem.contacts, block, i, phase.start.v) +
                                        std::abs(scratch_.drift[i])) +
                               rows_rounding * speed);
    solution.r.push_back(contact.impulse[i]);
  }
  return first;
}

void PhaseProblem::add_spook_contacts(const AuditedPhase& phase) {
  const double h = phase.length;
  const State& start = phase.start;
  const SpookOptions& options = settings_.stepping.spook;
  const double share = 1 / (1 + 4 * options.relaxation);
  for (const AuditedContact& contact : phase.contacts) {
    const int first = add_contact(phase, contact, {start.t, start.q}, 0);
    const int block = problem.num_contacts() - 1;
    const double rate = times(scratch_, 0, 0, start.v) + scratch_.drift[0];
    problem.contact_bias[first] += 4 * share / h * contact.gap - share * rate;
    const double own = law_of(contact).compliance;
    problem.contact_compliance[first] =
        own > 0 ? 4 * own * share / (h * h)
                : options.compliance * mobility(problem.contacts, block);
    contact_rounding[first] +=
        kUlps * (4 * share / h * abs_times(problem.contacts, block, 0, sizes_) +
                 share * abs_times(problem.contacts, block, 0, start.v));
  }
}

// -------------------------------------------------------------------------------------------------
// Kinds of phases

/// (T19), rows at q̂.
void PhaseProblem::add_position_level(const AuditedPhase& phase) {
  const double h = phase.length;
  const State& start = phase.start;
  VectorXd mid, predicted;
  model_.displace(start.q, start.v, 0.5 * h, mid);
  model_.displace(start.q, start.v, h, predicted);
  const Point at{start.t + h, phase.rows ? phase.rows->q : predicted};
  const Point force_at{start.t + 0.5 * h, mid};
  add_mass(at, &force_at, phase);
  if (settings_.scheme == SchemeName::kStewartTrinkle &&
      settings_.stepping.gyroscopic == GyroscopicTerm::kImplicit)
    make_gyroscopic_implicit(force_at, phase);
  VectorXd lag;
  model_.displacement(at.q, start.q, lag);
  VectorXd theta = constraints_at(at), extension = springs_at(at);
  scratch_.clear();
  if (theta.size() > 0) model_.append_constraint_rows(at.t, at.q, scratch_);
  for (Eigen::Index i = 0; i < theta.size(); ++i)
    theta[i] += times(scratch_, static_cast<int>(i), 0, lag) - h * scratch_.drift[i];
  scratch_.clear();
  if (extension.size() > 0) model_.append_spring_rows(at.t, at.q, scratch_);
  for (Eigen::Index i = 0; i < extension.size(); ++i)
    extension[i] += times(scratch_, static_cast<int>(i), 0, lag) - h * scratch_.drift[i];
  add_joints(phase, at, theta, {.compliance = kPositionLevelCompliance, .share = 1}, true);
  add_velocity_rows(phase, at, kPositionLevelCompliance, true);
  add_springs(phase, at, extension, Mean::kEnd);
  // In schemes that locate events this is the way out of a Zeno sequence, and keeps penetrations
  // that are there, which are at most what counts as closed.
  const double kept = settings_.scheme == SchemeName::kStewartTrinkle
                          ? 0
                          : settings_.stepping.events.contact_tolerance / h;
  for (const AuditedContact& contact : phase.contacts) {
    const int first = add_contact(phase, contact, at, 0);
    const int block = problem.num_contacts() - 1;
    problem.contact_bias[first] = (contact.gap + times(scratch_, 0, 0, lag)) / h;
    problem.contact_compliance[first] = law_of(contact).compliance / (h * h);
    contact_rounding[first] += kept + kUlps *
                                          (abs_times(problem.contacts, block, 0, sizes_) +
                                           abs_times(problem.contacts, block, 0, lag)) /
                                          h;
  }
}

/// (T13) with h = 0, or (T25), (T26).
void PhaseProblem::add_impact(const AuditedPhase& phase, const AuditedPhase* compression) {
  const State& start = phase.start;
  const Point here{start.t, start.q};
  add_mass(here, nullptr, phase);
  const bool is_projection = phase.kind == PhaseName::kVelocityProjection;
  const double compliance = is_spook() ? settings_.stepping.spook.compliance : 0;
  add_joints(phase, here, constraints_at(here), {.compliance = compliance}, false);
  add_velocity_rows(phase, here, compliance, false);
  const VectorXd& before = compression != nullptr ? compression->start.v : start.v;
  double fastest = 0;
  std::vector<std::vector<double>> rates;
  for (const AuditedContact& contact : phase.contacts) {
    const int first = add_contact(phase, contact, here, 0);
    std::vector<double>& rate = rates.emplace_back();
    for (int i = 0; i <= law_of(contact).num_tangents; ++i)
      rate.push_back(times(scratch_, 0, i, before) + scratch_.drift[i]);
    fastest = std::max(fastest, -rate[0]);
    if (!is_projection)
      problem.contact_compliance[first] =
          compliance * mobility(problem.contacts, problem.num_contacts() - 1);
  }
  const bool is_elastic =
      compression != nullptr || (phase.kind == PhaseName::kImpact &&
                                 fastest > settings_.stepping.events.restitution_threshold);
  for (std::size_t j = 0; j < phase.contacts.size(); ++j) {
    const ContactInfo& info = law_of(phase.contacts[j]);
    const bool is_newton =
        info.impact == ImpactLaw::kNewton || (info.impact == ImpactLaw::kOfScheme && is_spook());
    const int first = problem.contacts.row_start(static_cast<int>(j));
    if (is_elastic && is_newton)
      for (int i = 0; i <= info.num_tangents; ++i)
        problem.contact_bias[first + i] +=
            (i == 0 ? info.restitution : info.restitution_tangential) * rates[j][i];
    if (compression == nullptr || is_newton || j >= compression->contacts.size()) continue;
    const double restituted = info.restitution * compression->contacts[j].impulse[0];
    solution.r[first] -= restituted;
    const BlockRows& from = problem.contacts;
    const int block = static_cast<int>(j);
    for (int e = from.entry_start(block); e < from.entry_start(block + 1); ++e)
      problem.block_p(from.entry_block(e)) +=
          restituted * ConstVectorMap(from.entry_values(e), from.entry_columns(e));
  }
}

/// (T31) at its fixed point.
void PhaseProblem::add_midpoint(const AuditedPhase& phase) {
  const double h = phase.length;
  const State& start = phase.start;
  const VectorXd mean = 0.5 * (start.v + phase.v_end);
  VectorXd mid, end;
  model_.displace(start.q, mean, 0.5 * h, mid);
  model_.displace(start.q, mean, h, end);
  const Point at{start.t + 0.5 * h, mid};
  const VectorXd force = forces_at(at, mean, phase);
  for (int b = 0; b < static_cast<int>(model_.blocks().size()); ++b) {
    const auto [part, index, offset, n] = model_.blocks()[b];
    RowMatrixMap mass = problem.add_mass_block(n);
    model_.evaluate_mass(at.t, at.q, b, mass);
    problem.block_p(b) = mass * start.v.segment(offset, n) + h * force.segment(offset, n);
    p_rounding.segment(offset, n) =
        kUlps * (mass.cwiseAbs() * start.v.segment(offset, n).cwiseAbs() +
                 h * force.segment(offset, n).cwiseAbs());
  }
  // v⁺ = 2w̄ − v: what is demanded of the mean velocity, written for v⁺.
  const auto turn_to_end = [&](std::size_t first, auto concerns) {
    for (std::size_t i = first; i < rows.size(); ++i) {
      if (!concerns(rows[i].kind)) continue;
      const int row = static_cast<int>(i);
      problem.bias[i] = 2 * problem.bias[i] -
                        problem.bilateral.times(row, 0, model_.block_starts(), start.v.data());
      rows[i].rounding =
          2 * rows[i].rounding + kUlps * abs_times(problem.bilateral, row, 0, start.v);
    }
  };
  if (model_.num_constraints() > 0) {
    const VectorXd theta = constraints_at({start.t, start.q});
    VectorXd change = constraints_at({start.t + h, end}) - theta;
    RowSet mean_rows;
    model_.append_mean_constraint_rows(at.t, h, at.q, mean, change, mean_rows);
    for (int i = 0; i < model_.num_constraints(); ++i) {
      const ConstraintInfo& info = model_.constraint(i);
      const int joint_row = model_.joint_row_of_constraint(i);
      const double value_rounding =
          kUlps * (abs_times(mean_rows.rows, i, 0, sizes_) + std::abs(theta[i]));
      if (info.is_compliant()) {
        add_spring_row(
            phase, mean_rows, i, joint_row,
            {1 / info.compliance, info.damping_time / info.compliance, theta[i], value_rounding},
            Mean::kMeanByEnd);
        continue;
      }
      const bool is_motor = !info.is_rigid();
      add_row(mean_rows, i,
              {.compliance = is_motor ? 0 : kMidpointCompliance * mobility(mean_rows.rows, i),
               .bias = -theta[i] / h - mean_rows.drift[i],
               .lower = -impulse_bound(h, info.max_effort),
               .upper = impulse_bound(h, info.max_effort)},
              {.joint_row = joint_row,
               .kind = is_motor ? Row::Kind::kMotor : Row::Kind::kRigid,
               .drift = mean_rows.drift[i],
               .rounding = value_rounding / h},
              phase);
    }
    turn_to_end(0, [](Row::Kind kind) { return kind != Row::Kind::kSpring; });
  }
  const std::size_t first = rows.size();
  add_velocity_rows(phase, at, kMidpointCompliance, true);
  turn_to_end(first, [](Row::Kind kind) { return kind == Row::Kind::kRigid; });
  add_springs(phase, at, springs_at({start.t, start.q}), Mean::kMeanByEnd);
  add_spook_contacts(phase);
}

std::string PhaseProblem::assemble(const AuditedPhase& phase, const AuditedPhase* compression) {
  begin(phase);
  set_velocity(phase);
  const State& start = phase.start;
  const double h = phase.length;
  const Point here{start.t, start.q};
  const bool is_gyroscopic_implicit = settings_.stepping.gyroscopic == GyroscopicTerm::kImplicit;
  switch (phase.kind) {
    case PhaseName::kProjection:
      return "a projection has no impulses";
    case PhaseName::kImpact:
    case PhaseName::kInelasticImpact:
    case PhaseName::kVelocityProjection:
      add_impact(phase, nullptr);
      return {};
    case PhaseName::kDecompression:
      if (compression == nullptr) return "a decompression without compression";
      add_impact(phase, compression);
      return {};
    case PhaseName::kPositionLevel:
    case PhaseName::kLinearPositionLevel:
      add_position_level(phase);
      return {};
    case PhaseName::kMidpoint:
      add_midpoint(phase);
      return {};
    case PhaseName::kStep:
      break;
  }
  switch (settings_.scheme) {
    case SchemeName::kMoreau: {
      VectorXd mid;
      model_.displace(start.q, start.v, 0.5 * h, mid);
      const Point at{start.t + 0.5 * h, mid};
      add_mass(at, &at, phase);
      if (is_gyroscopic_implicit) make_gyroscopic_implicit(at, phase);
      add_joints(phase, at, constraints_at(here),
                 {.compliance = kMoreauCompliance, .share = kMoreauShare}, h > 0);
      add_velocity_rows(phase, at, kMoreauCompliance, h > 0);
      add_springs(phase, at, springs_at(here), Mean::kEnd);
      for (const AuditedContact& contact : phase.contacts) {
        const ContactInfo& info = law_of(contact);
        const int first = add_contact(phase, contact, at, 0);
        for (int i = 0; i <= info.num_tangents; ++i)
          problem.contact_bias[first + i] +=
              (i == 0 ? info.restitution : info.restitution_tangential) *
              (times(scratch_, 0, i, start.v) + scratch_.drift[i]);
      }
      return {};
    }
    case SchemeName::kAnitescuPotra:
    case SchemeName::kLinearlyImplicitEuler: {
      const bool is_implicit = settings_.scheme == SchemeName::kLinearlyImplicitEuler;
      add_mass(here, &here, phase);
      if (!is_implicit) prescribe_springs(phase);
      if (is_gyroscopic_implicit ||
          (is_implicit && settings_.stepping.gyroscopic == GyroscopicTerm::kOfScheme))
        make_gyroscopic_implicit(here, phase);
      add_joints(phase, here, constraints_at(here), {}, true);
      add_velocity_rows(phase, here, 0, true);
      if (is_implicit) add_springs(phase, here, springs_at(here), Mean::kEnd);
      for (const AuditedContact& contact : phase.contacts) add_contact(phase, contact, here, 0);
      return {};
    }
    case SchemeName::kTrapezoidal1:
    case SchemeName::kTrapezoidal2: {
      const bool is_mean = settings_.scheme == SchemeName::kTrapezoidal2;
      wants_applied_mean = true;
      VectorXd q_mid, q_end;
      model_.displace(start.q, start.v, 0.5 * h, q_mid);
      model_.displace(start.q, start.v, h, q_end);
      const Point mid{start.t + 0.5 * h, q_mid}, end{start.t + h, q_end};
      const Point& at = is_mean ? mid : end;
      const Mean mean = is_mean ? Mean::kMean : Mean::kMeanByEnd;
      add_trapezoidal_mass(phase, mid, is_mean ? 2 : 1);
      add_joints(phase, at, constraints_at(here),
                 {.compliance = kTrapezoidalCompliance, .spring = mean}, true);
      add_velocity_rows(phase, at, kTrapezoidalCompliance, true);
      add_springs(phase, mid, springs_at(here), mean);
      for (const AuditedContact& contact : phase.contacts) add_contact(phase, contact, at, 0);
      if (is_mean) admit_taken_back(phase);
      return {};
    }
    case SchemeName::kSpook:
      add_mass(here, &here, phase);
      if (settings_.stepping.gyroscopic != GyroscopicTerm::kExplicit)
        make_gyroscopic_implicit(here, phase);
      if (settings_.stepping.spook.geometric_stiffness) {
        if (phase.turning.size() != phase.impulse.size())
          return "the forces that geometric stiffness is made of are not recorded";
        add_turning(phase);
        add_turning_rows(phase);
      }
      add_spook_rows(phase);
      add_spook_contacts(phase);
      return {};
    case SchemeName::kStewartTrinkle:
      return "stewart-trinkle has no phases of this kind";
  }
  return "unknown scheme";
}

}  // namespace stiction
