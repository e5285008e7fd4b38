#include "stiction/scheme/projection.h"

#include <algorithm>
#include <cmath>

#include "stiction/base/infinity.h"

namespace stiction {
namespace {

/// A row holds if its value is below this share of its natural size: some hundred roundings.
constexpr double kTolerance = 1e-13;

/// Where iterations end above kTolerance without getting any further, rounding of ill-conditioned
/// rows is the reason up to here, contradiction beyond.
constexpr double kFeasible = 1e-10;

/// Few are needed: errors of a step are squared by every iteration.
constexpr int kMaxIterations = 50;

/// Compliance of constraint and gap rows relative to their mobility, so that rows may depend on
/// each other. Multipliers are kept and only their change feels it: the error it leaves, this share
/// of what was to be corrected, is gone after the next iteration.
constexpr double kRowCompliance = 1e-10;

/// The same for springs, larger, so that constraints win where both cannot hold: by the ratio of
/// the two in every iteration.
constexpr double kSpringCompliance = 1e-6;

/// Multipliers of springs are kept as well, which makes their rows exact, as long as nothing
/// contradicts them: springs gain, and their error is below this share of the way moved.
constexpr double kSpringAgreement = 1e-3;

/// Violation from which on springs are asked whether they stand in the way.
constexpr double kAlmost = 1e-6;

/// Contacts with a gap below this multiple of the shortest way that the correction can take enter
/// from the outset; others do if a correction violates them.
constexpr double kReach = 10;

/// Weight of springs beside constraints where a step is judged.
constexpr double kSpringWeight = 0.1;

constexpr double kSmallestShare = 1.0 / 1024;  // of a step that is worth trying

/// Of the size of its neighbours, in the norm of the mass, that a coordinate has at least: rounding
/// in a coordinate near zero is not taken for an error. Small, since neighbours may be heavy.
constexpr double kNeighbourShare = 1e-3;

/// Gaps below this share of their natural size touch at the start of a simulation.
constexpr double kTouching = 1e-9;

/// Not-a-number counts as infinite, so that no comparison loses it.
double relative(double amount, double size) {
  if (amount == 0) return 0;
  const double ratio = size > 0 ? amount / size : kInfinity;
  return std::isnan(ratio) ? kInfinity : ratio;
}

}  // namespace

PositionProjection::Outcome PositionProjection::project(const ContactModel& model,
                                                        const Request& request, SolveStage& solve,
                                                        VectorXd& q) {
  is_velocity_ = false;
  prepare(model, request.t, request.guess, request.guess);
  list_position_rows(model, request);
  Outcome outcome = run(model, solve, q);
  bool has_closed = false;
  for (Row& row : rows_)
    if (row.kind == Kind::kClosed) has_closed = true;
  if (outcome.is_feasible || !has_closed) return outcome;
  // Contacts that closed one after the other may not fit together at Φ = 0.
  for (Row& row : rows_)
    if (row.kind == Kind::kClosed) row.kind = Kind::kGap;
  const int iterations = outcome.iterations;
  outcome = run(model, solve, q);
  outcome.iterations += iterations;
  return outcome;
}

PositionProjection::Outcome PositionProjection::project_velocity(const ContactModel& model,
                                                                 SolveStage& solve, State& state) {
  list_velocity_rows(model, state);
  is_velocity_ = true;
  prepare(model, state.t, state.q, state.v);
  return run(model, solve, state.v);
}

/// Metric M(q) and natural sizes of the coordinates, for a projection of `target`.
void PositionProjection::prepare(const ContactModel& model, double t, const VectorXd& q,
                                 const VectorXd& target) {
  t_ = t;
  target_ = target;
  if (is_velocity_) {
    coordinate_size_ = target.cwiseAbs().cwiseMax(model.initial_state().v.cwiseAbs());
  } else {
    model.measure_coordinates(target, coordinate_size_);
    model.measure_coordinates(model.initial_state().q, start_size_);
    coordinate_size_ = coordinate_size_.cwiseMax(start_size_);
  }
  block_start_.clear();
  block_size_.clear();
  block_part_.clear();
  mass_start_.clear();
  mass_.clear();
  for (int b = 0; b < static_cast<int>(model.blocks().size()); ++b) {
    const Model::Block& block = model.blocks()[b];
    const int n = block.size;
    block_start_.push_back(block.v_offset);
    block_size_.push_back(n);
    block_part_.push_back(block.part);
    mass_start_.push_back(static_cast<int>(mass_.size()));
    mass_.resize(mass_.size() + static_cast<std::size_t>(n) * n);
    RowMatrixMap mass(mass_.data() + mass_start_.back(), n, n);
    model.evaluate_mass(t, q, b, mass);
    auto size = coordinate_size_.segment(block.v_offset, n);
    double square = 0;
    for (int k = 0; k < n; ++k) square += mass(k, k) * size[k] * size[k];
    for (int k = 0; k < n; ++k)
      size[k] = std::max(size[k], kNeighbourShare * std::sqrt(square / mass(k, k)));
  }
}

/// All rows of the model, none of them in use.
void PositionProjection::lay_out_rows(const ContactModel& model) {
  rows_.clear();
  const auto add = [&](auto number) {
    for (int p = 0; p < static_cast<int>(model.parts().size()); ++p)
      for (int i = 0; i < number(*model.parts()[p].system); ++i) rows_.push_back({.part = p});
  };
  add([](const System& system) { return system.num_constraints(); });
  add([](const System& system) { return system.num_springs(); });
  for (int j = 0; j < model.num_contacts(); ++j)
    rows_.push_back({.part = model.part_of_contact(j)});
}

void PositionProjection::list_position_rows(const ContactModel& model, const Request& request) {
  lay_out_rows(model);
  auto row = rows_.begin();
  for (int i = 0; i < model.num_constraints(); ++i, ++row)
    if (model.constraint(i).is_rigid()) row->kind = Kind::kJoint;
  for (int i = 0; i < model.num_springs(); ++i, ++row) {
    if (request.spring_targets.empty() || !(model.spring(i).stiffness > 0)) continue;
    row->kind = Kind::kSpring;
    row->target = request.spring_targets[i];
  }
  for (int j = 0; j < model.num_contacts(); ++j, ++row) {
    const bool is_closed = !request.contacts.empty() && request.contacts[j] != ContactStatus::kOpen;
    row->kind = is_closed ? Kind::kClosed : Kind::kGap;
  }
}

/// Constraints, conditions on velocities, and contacts that touch, with their gradients at state.q.
void PositionProjection::list_velocity_rows(const ContactModel& model, const State& state) {
  is_velocity_ = false;
  prepare(model, state.t, state.q, state.q);
  list_position_rows(model, {.t = state.t, .guess = state.q});
  evaluate_values(model, state.q);
  keep_trial_values();
  for (Row& row : rows_) row.is_wanted = row.kind != Kind::kUnused;
  evaluate_gradients(model, state.q);
  for (Row& row : rows_) {
    if (row.kind == Kind::kGap && row.value > kTouching * row.size) row.kind = Kind::kUnused;
    row.is_wanted = row.kind != Kind::kUnused;
    row.size = 0;
  }
  const int first = gradients_.rows.num_row_blocks();
  model.append_velocity_rows(state.t, state.q, gradients_);
  for (int i = 0; i < model.num_velocity_rows(); ++i)
    if (model.velocity_row(i).kind == VelocityRowInfo::Kind::kNonholonomic)
      rows_.push_back({.kind = Kind::kJoint,
                       .gradient = first + i,
                       .is_wanted = true,
                       .drift = gradients_.drift[gradients_.rows.row_start(first + i)]});
}

/// Of all rows that are wanted, with their drifts, mobilities and, the first time, their sizes.
void PositionProjection::evaluate_gradients(const ContactModel& model, const VectorXd& q) {
  gradients_.clear();
  model.append_constraint_rows(t_, q, gradients_);
  model.append_spring_rows(t_, q, gradients_);
  const int num_joint_rows = gradients_.rows.num_row_blocks();
  for (int i = 0; i < static_cast<int>(rows_.size()); ++i) {
    Row& row = rows_[i];
    row.gradient = i < num_joint_rows ? i : -1;
    if (!row.is_wanted) continue;
    if (i >= num_joint_rows) {
      row.gradient = gradients_.rows.num_row_blocks();
      model.append_contact_rows(t_, q, i - num_joint_rows, gradients_);
    }
    row.drift = gradients_.drift[gradients_.rows.row_start(row.gradient)];
    measure_row(row);
  }
}

/// The mobility of a row and, once, its natural size: what its value is the small difference of.
void PositionProjection::measure_row(Row& row) {
  double total = std::abs(row.value) + (is_velocity_ ? std::abs(row.drift) : 0);
  row.mobility = 0;
  const BlockRows& rows = gradients_.rows;
  for (int e = rows.entry_start(row.gradient); e < rows.entry_start(row.gradient + 1); ++e) {
    const int block = rows.entry_block(e);
    const ConstRowMatrixMap m = mass(block);
    const double* g = rows.entry_values(e);
    const double* size = coordinate_size_.data() + block_start_[block];
    for (int k = 0; k < rows.entry_columns(e); ++k) {
      row.mobility += g[k] * g[k] / m(k, k);
      total += std::abs(g[k]) * size[k];
    }
  }
  if (row.size == 0) row.size = total;
}

void PositionProjection::evaluate_values(const ContactModel& model, const VectorXd& x) {
  if (is_velocity_) {
    for (Row& row : rows_)
      if (row.is_wanted) row.trial = times_gradient(model, row, x) + row.drift;
    return;
  }
  const int num_constraints = model.num_constraints(), num_springs = model.num_springs();
  values_.resize(static_cast<Eigen::Index>(rows_.size()));
  model.evaluate_constraints(t_, x, values_.head(num_constraints));
  model.evaluate_springs(t_, x, values_.segment(num_constraints, num_springs));
  model.evaluate_gaps(t_, x, values_.tail(model.num_contacts()));
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].trial = values_[i] - rows_[i].target;
}

void PositionProjection::move(const ContactModel& model, const VectorXd& x, const VectorXd& step,
                              double share, VectorXd& out) const {
  if (is_velocity_)
    out = x + share * step;
  else
    model.displace(x, step, share, out);
}

void PositionProjection::keep_trial_values() {
  for (Row& row : rows_) row.value = row.trial;
}

/// By how much a row misses its condition at the trial point; 0 if it holds.
double PositionProjection::miss_of(const Row& row) {
  if (row.kind == Kind::kUnused || (row.kind == Kind::kGap && row.trial > 0)) return 0;
  return std::abs(row.trial);
}

/// At the trial point.
PositionProjection::Error PositionProjection::measure_error() const {
  Error error;
  for (const Row& row : rows_) {
    double& worst = row.kind == Kind::kSpring ? error.spring : error.violation;
    // A spring without direction cannot be held.
    if (row.kind == Kind::kSpring && !(row.mobility > 0)) continue;
    worst = std::max(worst, relative(miss_of(row), row.size));
  }
  return error;
}

/// Constraints hold, and springs do, too, or have no more to gain.
bool PositionProjection::Error::is_settled(const Error& last) const {
  return violation <= kTolerance && (spring <= kTolerance || spring > 0.5 * last.spring);
}

/// Constraints almost hold and springs do not gain any more.
bool PositionProjection::Error::is_spring_bound(const Error& last) const {
  return violation <= kAlmost && spring > kTolerance && spring > 0.5 * last.spring;
}

/// Whether a share of a step is worth taking. Constraints alone are a good reason. Springs are one
/// if constraints, which are curved and miss by the square of the step, do not lose more.
bool PositionProjection::Error::is_improved_by(const Error& trial, double share) const {
  if (!std::isfinite(trial.violation) || !std::isfinite(trial.spring)) return false;
  if (violation > kTolerance &&
      trial.violation <= std::max(kTolerance, (1 - share / 4) * violation))
    return true;
  return trial.violation + kSpringWeight * trial.spring <=
         (1 - share / 8) * (violation + kSpringWeight * spring);
}

PositionProjection::Outcome PositionProjection::run(const ContactModel& model, SolveStage& solve,
                                                    VectorXd& x) {
  anchor_ = target_;
  x = target_;
  start(model);
  Outcome outcome;
  Error error = measure_error(), last{.violation = kInfinity, .spring = kInfinity};
  if (!error.is_settled(last) && !is_velocity_) choose_contacts_in_reach(model, x);
  while (!error.is_settled(last) && outcome.iterations < kMaxIterations) {
    if (!is_velocity_) evaluate_gradients(model, x);
    assemble(model, x);
    const StepSolution& solution = solve.solve(problem_);
    ++outcome.iterations;
    step_ = solution.w_vector();
    move(model, x, step_, 1, trial_);
    evaluate_values(model, trial_);
    if (admit_violated_contacts()) continue;
    // The first step says nothing yet about what springs can gain.
    if (outcome.iterations > 1) last = error;
    const double share = find_step(model, error, x);
    const bool do_springs_gain = share == 1 && error.spring <= 0.5 * last.spring;
    if (share > 0) update_multipliers(model, solution, share, do_springs_gain, x);
    const bool is_stuck = share == 0 || error.is_spring_bound(last);
    if (error.violation > kTolerance && is_stuck && release_springs(x)) continue;
    if (share == 0) break;
  }
  outcome.violation = error.violation;
  outcome.spring_error = error.spring;
  outcome.is_feasible = error.violation <= kFeasible;
  return outcome;
}

/// Where springs contradict constraints and have found their compromise: the rest of the way leads
/// to the point that is nearest to this one. The large multipliers of the contradiction go, beside
/// which a solver would not see what is left. False if no spring is held.
bool PositionProjection::release_springs(const VectorXd& x) {
  bool has_springs = false;
  for (Row& row : rows_)
    if (row.kind == Kind::kSpring && row.is_wanted) {
      has_springs = true;
      row.is_wanted = false;
    }
  if (!has_springs) return false;
  anchor_ = x;
  for (Row& row : rows_) row.multiplier = 0;
  return true;
}

/// Values and sizes at the target, of contacts only where the target violates them.
void PositionProjection::start(const ContactModel& model) {
  evaluate_values(model, target_);
  keep_trial_values();
  for (Row& row : rows_) {
    row.multiplier = 0;
    const bool is_apart = row.kind == Kind::kGap && row.value >= 0;
    if (!is_velocity_) row.is_wanted = row.kind != Kind::kUnused && !is_apart;
    if (is_velocity_ && row.is_wanted) measure_row(row);
  }
  if (!is_velocity_) evaluate_gradients(model, target_);
}

void PositionProjection::choose_contacts_in_reach(const ContactModel& model, const VectorXd& x) {
  for (Row& row : rows_)
    if (row.kind == Kind::kGap) row.is_wanted = true;
  evaluate_gradients(model, x);
  part_move_.assign(model.parts().size(), 0.0);
  for (const Row& row : rows_) {
    const double miss = miss_of(row);
    if (miss > 0 && row.mobility > 0)
      part_move_[row.part] = std::max(part_move_[row.part], miss / std::sqrt(row.mobility));
  }
  for (Row& row : rows_)
    if (row.kind == Kind::kGap)
      row.is_wanted = !(row.value > kReach * std::sqrt(row.mobility) * part_move_[row.part]);
}

/// Adds contacts that the trial point violates although they were thought out of reach.
bool PositionProjection::admit_violated_contacts() {
  bool has_new = false;
  for (Row& row : rows_) {
    const bool is_left_out = row.kind == Kind::kGap && !row.is_wanted;
    if (!is_left_out || relative(miss_of(row), row.size) <= kTolerance) continue;
    row.is_wanted = has_new = true;
  }
  return has_new;
}

/// The step problem of one iteration. With y the multipliers so far and d the change of x:
///
///   M d = M(x̃ − x) + Gᵀy + GᵀΔy,    G d + C Δy = −(Θ, φ − φ*),    N d + C Δν + Φ ≥ 0 ⊥ ν + Δν ≥ 0
///
/// Gaps are rows whose change of the multiplier is bounded from below by −ν: as in the others it
/// vanishes in the end, so that errors of a solver are relative to what is left to correct.
void PositionProjection::assemble(const ContactModel& model, const VectorXd& x) {
  problem_.clear();
  problem_rows_.clear();
  find_way(model, x);
  for (int b = 0; b < static_cast<int>(block_size_.size()); ++b) {
    const int n = block_size_[b];
    problem_.add_mass_block(n) = mass(b);
    VectorMap p = problem_.block_p(b);
    for (int k = 0; k < n; ++k) p -= mass(b).col(k) * way_[block_start_[b] + k];
  }
  for (int i = 0; i < static_cast<int>(rows_.size()); ++i) {
    const Row& row = rows_[i];
    if (!row.is_wanted || !(row.mobility > 0)) continue;
    const double compliance = row.kind == Kind::kSpring ? kSpringCompliance : kRowCompliance;
    problem_.add_bilateral_row(
        {.compliance = compliance * row.mobility,
         .bias = -row.value,
         .lower = row.kind == Kind::kGap ? -row.multiplier : -StepProblem::kUnbounded});
    const BlockRows& rows = gradients_.rows;
    for (int e = rows.entry_start(row.gradient); e < rows.entry_start(row.gradient + 1); ++e) {
      const ConstVectorMap gradient(rows.entry_values(e), rows.entry_columns(e));
      problem_.bilateral.add_entry(rows.entry_block(e), rows.entry_columns(e)) =
          gradient.transpose();
      problem_.block_p(rows.entry_block(e)) += row.multiplier * gradient;
    }
    problem_rows_.push_back(i);
  }
}

/// Moves x by the largest share of the step that helps, and returns it; 0 if none does. The whole
/// step has been evaluated.
double PositionProjection::find_step(const ContactModel& model, Error& error, VectorXd& x) {
  for (double share = 1;; share *= 0.5) {
    const Error trial = measure_error();
    if (error.is_improved_by(trial, share)) {
      error = trial;
      x = trial_;
      keep_trial_values();
      return share;
    }
    if (share <= kSmallestShare) return 0;
    move(model, x, step_, 0.5 * share, trial_);
    evaluate_values(model, trial_);
  }
}

/// From the anchor to x.
void PositionProjection::find_way(const ContactModel& model, const VectorXd& x) {
  if (is_velocity_)
    way_ = x - anchor_;
  else
    model.displacement(anchor_, x, way_);
}

void PositionProjection::update_multipliers(const ContactModel& model, const StepSolution& solution,
                                            double share, bool do_springs_gain, const VectorXd& x) {
  find_way(model, x);
  part_move_.assign(model.parts().size(), 0.0);
  for (std::size_t b = 0; b < block_size_.size(); ++b)
    for (int k = 0; k < block_size_[b]; ++k) {
      const double way = way_[block_start_[b] + k];
      part_move_[block_part_[b]] += mass(static_cast<int>(b))(k, k) * way * way;
    }
  for (double& way : part_move_) way = std::sqrt(way);
  for (std::size_t i = 0; i < problem_rows_.size(); ++i) {
    Row& row = rows_[problem_rows_[i]];
    if (row.kind == Kind::kSpring) {
      const double way = std::sqrt(row.mobility) * part_move_[row.part];
      if (!do_springs_gain || std::abs(row.value) > kSpringAgreement * way) continue;
    }
    row.multiplier += share * solution.lambda[i];
    if (row.kind == Kind::kGap) row.multiplier = std::max(row.multiplier, 0.0);
  }
}

}  // namespace stiction
