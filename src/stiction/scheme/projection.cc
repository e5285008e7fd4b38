#include "stiction/scheme/projection.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

PositionProjection::Outcome PositionProjection::project(const Model& model, const Request& request,
                                                        SolveStage& solve, VectorXd& q) {
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

PositionProjection::Outcome PositionProjection::project_velocity(const Model& model,
                                                                 SolveStage& solve, State& state) {
  list_velocity_rows(model, state);
  is_velocity_ = true;
  prepare(model, state.t, state.q, state.v);
  return run(model, solve, state.v);
}

/// Metric M(q) and natural sizes of the coordinates, for a projection of `target`.
void PositionProjection::prepare(const Model& model, double t, const VectorXd& q,
                                 const VectorXd& target) {
  t_ = t;
  target_ = target;
  const VectorXd& start = is_velocity_ ? model.initial_state().v : model.initial_state().q;
  part_start_.clear();
  part_size_.clear();
  mass_start_.clear();
  mass_.clear();
  coordinate_size_.resize(target.size());
  for (const Model::Part& part : model.parts()) {
    const int n = part.system->num_coordinates();
    part_start_.push_back(part.offset);
    part_size_.push_back(n);
    mass_start_.push_back(static_cast<int>(mass_.size()));
    mass_.resize(mass_.size() + static_cast<std::size_t>(n) * n);
    RowMatrixMap mass(mass_.data() + mass_start_.back(), n, n);
    part.system->evaluate_mass(t, ConstVectorMap(q.data() + part.offset, n), mass);
    double* size = coordinate_size_.data() + part.offset;
    double square = 0;
    for (int k = 0; k < n; ++k) {
      size[k] = std::max(std::abs(target[part.offset + k]), std::abs(start[part.offset + k]));
      square += mass(k, k) * size[k] * size[k];
    }
    for (int k = 0; k < n; ++k)
      size[k] = std::max(size[k], kNeighbourShare * std::sqrt(square / mass(k, k)));
  }
}

/// All rows of the model, none of them in use.
void PositionProjection::lay_out_rows(const Model& model) {
  rows_.clear();
  int gradient_start = 0;
  for (std::size_t p = 0; p < model.parts().size(); ++p) {
    const GeneralizedSystem& system = *model.parts()[p].system;
    const int num_rows = system.num_constraints() + system.num_springs() + system.num_contacts();
    for (int i = 0; i < num_rows; ++i, gradient_start += system.num_coordinates())
      rows_.push_back({.part = static_cast<int>(p), .gradient_start = gradient_start});
  }
  gradients_.resize(gradient_start);
}

void PositionProjection::list_position_rows(const Model& model, const Request& request) {
  lay_out_rows(model);
  std::size_t spring = 0, contact = 0, i = 0;
  for (const Model::Part& part : model.parts()) {
    const GeneralizedSystem& system = *part.system;
    for (int k = 0; k < system.num_constraints(); ++k) rows_[i++].kind = Kind::kJoint;
    for (int k = 0; k < system.num_springs(); ++k, ++i, ++spring) {
      if (request.spring_targets.empty() || !(system.layout().springs[k].stiffness > 0)) continue;
      rows_[i].kind = Kind::kSpring;
      rows_[i].target = request.spring_targets[spring];
    }
    for (int k = 0; k < system.num_contacts(); ++k, ++i, ++contact) {
      const bool is_closed =
          !request.contacts.empty() && request.contacts[contact] != ContactStatus::kOpen;
      rows_[i].kind = is_closed ? Kind::kClosed : Kind::kGap;
    }
  }
}

/// Constraints, and contacts that touch, with their gradients at state.q.
void PositionProjection::list_velocity_rows(const Model& model, const State& state) {
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
}

/// Of all rows that are wanted, with their drifts, mobilities and, the first time, their sizes.
void PositionProjection::evaluate_gradients(const Model& model, const VectorXd& q) {
  for (const Model::Part& part : model.parts()) {
    const GeneralizedSystem& system = *part.system;
    const int n = system.num_coordinates(), num_constraints = system.num_constraints(),
              num_springs = system.num_springs();
    const ConstVectorMap q_part(q.data() + part.offset, n);
    Row* row = rows_.data() + part.constraint_offset + part.contact_offset;
    scratch_.resize(num_constraints + num_springs);
    if (num_constraints > 0)
      system.evaluate_constraint_rows(
          t_, q_part, RowMatrixMap(gradients_.data() + row->gradient_start, num_constraints, n),
          VectorMap(scratch_.data(), num_constraints));
    if (num_springs > 0)
      system.evaluate_spring_rows(
          t_, q_part,
          RowMatrixMap(gradients_.data() + row[num_constraints].gradient_start, num_springs, n),
          VectorMap(scratch_.data() + num_constraints, num_springs));
    for (int i = 0; i < num_constraints + num_springs; ++i) row[i].drift = scratch_[i];
    evaluate_contact_gradients(system, q_part, row + num_constraints + num_springs);
  }
  for (Row& row : rows_)
    if (row.is_wanted) measure_row(row);
}

void PositionProjection::evaluate_contact_gradients(const GeneralizedSystem& system,
                                                    const ConstVectorMap& q, Row* row) {
  const int n = system.num_coordinates();
  for (int j = 0; j < system.num_contacts(); ++j) {
    if (!row[j].is_wanted) continue;
    const int num_rows = 1 + system.layout().contacts[j].num_tangents;
    scratch_.resize(static_cast<std::size_t>(num_rows) * (n + 1));
    RowMatrixMap all(scratch_.data(), num_rows, n);
    VectorMap drift(scratch_.data() + static_cast<std::ptrdiff_t>(num_rows) * n, num_rows);
    system.evaluate_contact_rows(t_, q, j, all, drift);
    VectorMap(gradients_.data() + row[j].gradient_start, n) = all.row(0);
    row[j].drift = drift[0];
  }
}

/// The mobility of a row and, once, its natural size: what its value is the small difference of.
void PositionProjection::measure_row(Row& row) {
  const ConstVectorMap g = gradient(row);
  const ConstRowMatrixMap m = mass(row.part);
  const double* size = coordinate_size_.data() + part_start_[row.part];
  double total = std::abs(row.value) + (is_velocity_ ? std::abs(row.drift) : 0);
  row.mobility = 0;
  for (Eigen::Index k = 0; k < g.size(); ++k) {
    row.mobility += g[k] * g[k] / m(k, k);
    total += std::abs(g[k]) * size[k];
  }
  if (row.size == 0) row.size = total;
}

void PositionProjection::evaluate_values(const Model& model, const VectorXd& x) {
  if (is_velocity_) {
    for (Row& row : rows_)
      if (row.is_wanted)
        row.trial = gradient(row).dot(
                        ConstVectorMap(x.data() + part_start_[row.part], part_size_[row.part])) +
                    row.drift;
    return;
  }
  for (const Model::Part& part : model.parts()) {
    const GeneralizedSystem& system = *part.system;
    const int num_constraints = system.num_constraints(), num_springs = system.num_springs(),
              num_contacts = system.num_contacts();
    const ConstVectorMap q(x.data() + part.offset, system.num_coordinates());
    scratch_.resize(num_constraints + num_springs + num_contacts);
    double* value = scratch_.data();
    if (num_constraints > 0) system.evaluate_constraints(t_, q, VectorMap(value, num_constraints));
    value += num_constraints;
    if (num_springs > 0) system.evaluate_springs(t_, q, VectorMap(value, num_springs));
    value += num_springs;
    if (num_contacts > 0) system.evaluate_gaps(t_, q, VectorMap(value, num_contacts));
    Row* row = rows_.data() + part.constraint_offset + part.contact_offset;
    for (std::size_t i = 0; i < scratch_.size(); ++i) row[i].trial = scratch_[i] - row[i].target;
  }
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

PositionProjection::Outcome PositionProjection::run(const Model& model, SolveStage& solve,
                                                    VectorXd& x) {
  anchor_ = target_;
  x = target_;
  start(model);
  Outcome outcome;
  Error error = measure_error(), last{.violation = kInfinity, .spring = kInfinity};
  if (!error.is_settled(last) && !is_velocity_) choose_contacts_in_reach(model, x);
  while (!error.is_settled(last) && outcome.iterations < kMaxIterations) {
    if (!is_velocity_) evaluate_gradients(model, x);
    assemble(x);
    const StepSolution& solution = solve.solve(problem_);
    ++outcome.iterations;
    trial_ = x + solution.w_vector();
    evaluate_values(model, trial_);
    if (admit_violated_contacts()) continue;
    // The first step says nothing yet about what springs can gain.
    if (outcome.iterations > 1) last = error;
    const double share = find_step(model, solution, error, x);
    const bool do_springs_gain = share == 1 && error.spring <= 0.5 * last.spring;
    if (share > 0) update_multipliers(solution, share, do_springs_gain, x);
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
void PositionProjection::start(const Model& model) {
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

void PositionProjection::choose_contacts_in_reach(const Model& model, const VectorXd& x) {
  for (Row& row : rows_)
    if (row.kind == Kind::kGap) row.is_wanted = true;
  evaluate_gradients(model, x);
  part_move_.assign(part_size_.size(), 0.0);
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
void PositionProjection::assemble(const VectorXd& x) {
  problem_.clear();
  problem_rows_.clear();
  for (int part = 0; part < static_cast<int>(part_size_.size()); ++part) {
    const int n = part_size_[part], offset = part_start_[part];
    problem_.add_mass_block(n) = mass(part);
    VectorMap p = problem_.block_p(part);
    for (int k = 0; k < n; ++k) p += mass(part).col(k) * (anchor_[offset + k] - x[offset + k]);
  }
  for (int i = 0; i < static_cast<int>(rows_.size()); ++i) {
    const Row& row = rows_[i];
    if (!row.is_wanted || !(row.mobility > 0)) continue;
    const double compliance = row.kind == Kind::kSpring ? kSpringCompliance : kRowCompliance;
    problem_.add_bilateral_row(
        {.compliance = compliance * row.mobility,
         .bias = -row.value,
         .lower = row.kind == Kind::kGap ? -row.multiplier : -StepProblem::kUnbounded});
    problem_.bilateral.add_entry(row.part, part_size_[row.part]) = gradient(row).transpose();
    problem_.block_p(row.part) += row.multiplier * gradient(row);
    problem_rows_.push_back(i);
  }
}

/// Moves x by the largest share of the step that helps, and returns it; 0 if none does. The whole
/// step has been evaluated.
double PositionProjection::find_step(const Model& model, const StepSolution& solution, Error& error,
                                     VectorXd& x) {
  for (double share = 1;; share *= 0.5) {
    const Error trial = measure_error();
    if (error.is_improved_by(trial, share)) {
      error = trial;
      x = trial_;
      keep_trial_values();
      return share;
    }
    if (share <= kSmallestShare) return 0;
    trial_ = x + 0.5 * share * solution.w_vector();
    evaluate_values(model, trial_);
  }
}

void PositionProjection::update_multipliers(const StepSolution& solution, double share,
                                            bool do_springs_gain, const VectorXd& x) {
  part_move_.assign(part_size_.size(), 0.0);
  for (std::size_t part = 0; part < part_size_.size(); ++part) {
    for (int k = 0; k < part_size_[part]; ++k) {
      const double move = x[part_start_[part] + k] - anchor_[part_start_[part] + k];
      part_move_[part] += mass(static_cast<int>(part))(k, k) * move * move;
    }
    part_move_[part] = std::sqrt(part_move_[part]);
  }
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
