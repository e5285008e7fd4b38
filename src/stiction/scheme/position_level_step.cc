#include "stiction/scheme/position_level_step.h"

#include <algorithm>

namespace stiction {
namespace {

/// Joints at the end of the step are exact up to the fixed point: next to no compliance, just
/// enough for redundant rows.
constexpr StepAssembly::ConstraintForm kConstraints{.compliance = 1e-12};

/// A fixed point is reached when q̂ moves by less than this share of the configuration.
constexpr double kFixedPointTolerance = 1e-14;
constexpr int kMaxIterations = 60;
/// So often alternatives of contacts are chosen anew.
constexpr int kMaxChoices = 8;
/// With the damping θ a map that contracts by c shrinks the move by 1 − θ(1 − c). What does worse
/// than c = 0.7 would is damped more, the rest less.
constexpr double kContraction = 0.7;
constexpr double kMinDamping = 1.0 / 64;

}  // namespace

/// By the gaps at the prediction.
void PositionLevelStep::choose_contacts(const ContactModel& model,
                                        const std::vector<ContactStatus>& closed, double touching) {
  is_active_.assign(model.num_contacts(), 0);
  active_.clear();
  for (int j = 0; j < model.num_contacts(); ++j) {
    const bool was_closed = !closed.empty() && closed[j] != ContactStatus::kOpen;
    if (is_suppressed_[j] || (!was_closed && prediction_gaps_[j] > touching)) continue;
    is_active_[j] = 1;
    active_.push_back(j);
  }
}

/// Returns whether there were any. The set only grows, so that a step ends.
bool PositionLevelStep::add_violated_contacts(const ContactModel& model, const State& end) {
  evaluate_gaps(model, end.t, end.q, gaps_);
  bool has_grown = false;
  for (int j = 0; j < model.num_contacts(); ++j)
    if (!is_active_[j] && !is_suppressed_[j] && gaps_[j] < 0) {
      is_active_[j] = 1;
      active_.insert(std::lower_bound(active_.begin(), active_.end(), j), j);
      has_grown = true;
    }
  return has_grown;
}

/// Chooses anew which patches of contacts part the solids, as of the prediction. Contacts of
/// patches that do not count any more are left out, but it is remembered that they took part; those
/// of new ones enter when they are violated.
void PositionLevelStep::choose_alternatives(const ContactModel& model, const State& start,
                                            double h) {
  evaluate_prediction_gaps(model, start.t + h);
  model.mark_suppressed({start.t, start.q, start_gaps_},
                        {start.t + h, prediction_, prediction_gaps_}, is_active_, is_suppressed_);
  active_.clear();
  for (int j = 0; j < model.num_contacts(); ++j)
    if (is_active_[j] && !is_suppressed_[j]) active_.push_back(j);
}

void PositionLevelStep::evaluate_gaps(const ContactModel& model, double t, const VectorXd& q,
                                      VectorXd& gaps) {
  gaps.resize(model.num_contacts());
  model.evaluate_all_gaps(t, q, gaps);
}

/// Once for every prediction, of which several problems may be made.
void PositionLevelStep::evaluate_prediction_gaps(const ContactModel& model, double t) {
  if (!has_prediction_gaps_) evaluate_gaps(model, t, prediction_, prediction_gaps_);
  has_prediction_gaps_ = true;
}

const StepSolution& PositionLevelStep::solve_at_prediction(const ContactModel& model,
                                                           const State& start, double h,
                                                           const Options& options,
                                                           StepForces& forces, SolveStage& solve,
                                                           State& end) {
  const EvaluationPoint prediction{start.t + h, prediction_}, mid{start.t + 0.5 * h, mid_};
  assembly_.clear();
  assembly_.add_mass_and_momentum(model, prediction, mid, start.v, h);
  if (options.is_gyroscopic_implicit)
    assembly_.make_gyroscopic_term_implicit(model, mid, start.v, h);
  assembly_.add_constraint_rows_at_end(model, prediction, start, h, kConstraints);
  assembly_.add_spring_rows_at_end(model, prediction, start, h);
  if (!active_.empty()) evaluate_prediction_gaps(model, prediction.t);
  assembly_.add_contacts_at_end(model, prediction, prediction_gaps_, start, h, active_);
  if (options.keeps_penetration)
    for (std::size_t j = 0; j < active_.size(); ++j)
      assembly_.problem()
          .contact_bias[assembly_.problem().contacts.row_start(static_cast<int>(j))] -=
          std::min(start_gaps_[active_[j]], 0.0) / h;
  forces.write(model, assembly_, h, start_);
  const StepSolution& solution = solve.probe(assembly_.problem(), solver_report_, &start_);
  forces.read(model, assembly_, solution, h);
  end.t = start.t + h;
  end.v = solution.w_vector();
  model.displace(start.q, end.v, h, end.q);
  return solution;
}

PositionLevelStep::Report PositionLevelStep::step(const ContactModel& model, const State& start,
                                                  const std::vector<ContactStatus>& closed,
                                                  double h, const Options& options,
                                                  StepForces& forces, SolveStage& solve, State& end,
                                                  OutcomeReader& reader, StepResult& result) {
  model.displace(start.q, start.v, 0.5 * h, mid_);
  if (model.has_alternatives() || options.keeps_penetration)
    evaluate_gaps(model, start.t, start.q, start_gaps_);

  Report report;
  const StepSolution* solution = &iterate(model, start, closed, h, options,
                                          model.has_alternatives(), forces, solve, end, report);
  // Where alternatives take turns: those that parted the solids at the start of the step.
  if (!report.has_converged && model.has_alternatives())
    solution = &iterate(model, start, closed, h, options, false, forces, solve, end, report);
  // Where there is no fixed point, or none that is found: the problem of the paper, which has an
  // answer.
  report.is_linear = !report.has_converged;
  if (report.is_linear) {
    Options linear = options;
    linear.is_nonlinear = false;
    solution = &iterate(model, start, closed, h, linear, false, forces, solve, end, report);
  }

  solve.commit(assembly_.problem(), *solution, solver_report_);
  const bool is_iterated = options.is_nonlinear && !report.is_linear;
  const OutcomeReader::Phase phase{
      .v_start = start.v,
      .v_end = end.v,
      .kind = is_iterated ? PhaseKind::kPositionLevel : PhaseKind::kLinearPositionLevel,
      .start = &start,
      .rows_t = start.t + h,
      .rows_q = &prediction_,
      .iterated_from = is_iterated ? &start.v : nullptr};
  reader.add(assembly_, *solution, phase, result);
  reader.add_applied_work(model, {start.t + 0.5 * h, mid_}, start.v, h, phase, result);
  status_.assign(model.num_contacts(), ContactStatus::kOpen);
  for (std::size_t j = 0; j < active_.size(); ++j)
    status_[active_[j]] = contact_status(assembly_.problem(), *solution, static_cast<int>(j));
  return report;
}

/// The fixed point q̂ = q⁺, with alternatives of contacts chosen on the way or those of the start.
const StepSolution& PositionLevelStep::iterate(const ContactModel& model, const State& start,
                                               const std::vector<ContactStatus>& closed, double h,
                                               const Options& options, bool chooses_alternatives,
                                               StepForces& forces, SolveStage& solve, State& end,
                                               Report& report) {
  model.displace(start.q, start.v, h, prediction_);
  has_prediction_gaps_ = false;
  evaluate_prediction_gaps(model, start.t + h);
  is_active_.assign(model.num_contacts(), 0);
  const ContactModel::GapsAt at_start{start.t, start.q, start_gaps_};
  const ContactModel::GapsAt at_prediction{start.t + h, prediction_, prediction_gaps_};
  model.mark_suppressed(at_start, chooses_alternatives ? at_prediction : at_start, is_active_,
                        is_suppressed_);
  choose_contacts(model, closed, options.touching);

  double damping = 1, last_move = 0;
  report.has_converged = true;
  for (int iteration = 0;; ++iteration) {
    const StepSolution* solution = nullptr;
    do {
      solution = &solve_at_prediction(model, start, h, options, forces, solve, end);
    } while (add_violated_contacts(model, end));
    if (!options.is_nonlinear) return *solution;
    model.displacement(prediction_, end.q, move_);
    const double move = move_.lpNorm<Eigen::Infinity>();
    const double size = start.q.lpNorm<Eigen::Infinity>() +
                        h * (start.v.lpNorm<Eigen::Infinity>() + end.v.lpNorm<Eigen::Infinity>());
    // Iterative solvers give answers to a tolerance, beyond which moves do not shrink.
    const bool is_stuck = iteration > 1 && move > 0.5 * last_move;
    if (!(move > (is_stuck ? solve.tolerance() : kFixedPointTolerance) * size)) return *solution;
    if (iteration == kMaxIterations) {
      report.has_converged = false;
      return *solution;
    }
    if (iteration > 1) {
      const bool contracts = move <= (1 - damping * (1 - kContraction)) * last_move;
      damping = std::clamp(contracts ? 2 * damping : 0.5 * damping, kMinDamping, 1.0);
    }
    last_move = move;
    model.displace(prediction_, move_, damping, prediction_);
    has_prediction_gaps_ = false;
    ++report.iterations;
    if (chooses_alternatives && iteration < kMaxChoices) choose_alternatives(model, start, h);
  }
}

}  // namespace stiction
