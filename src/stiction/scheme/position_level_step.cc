#include "stiction/scheme/position_level_step.h"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// Joints at the end of the step are exact up to the fixed point: next to no compliance, just
/// enough for redundant rows.
constexpr StepAssembly::ConstraintForm kConstraints{.compliance = 1e-12};

/// A fixed point is reached when q̂ moves by less than this share of the configuration.
constexpr double kFixedPointTolerance = 1e-14;
constexpr int kMaxIterations = 60;
/// With the damping θ a map that contracts by c shrinks the move by 1 − θ(1 − c). What does worse
/// than c = 0.7 would is damped more, the rest less.
constexpr double kContraction = 0.7;
constexpr double kMinDamping = 1.0 / 64;

}  // namespace

void PositionLevelStep::choose_contacts(const ContactModel& model,
                                        const std::vector<ContactStatus>& closed, double t) {
  evaluator_.compute_gaps(model, t, prediction_, gaps_);
  is_active_.assign(model.num_contacts(), 0);
  active_.clear();
  for (int j = 0; j < model.num_contacts(); ++j) {
    const bool was_closed = !closed.empty() && closed[j] != ContactStatus::kOpen;
    // Of alternatives those that do not count are infinitely far.
    if (std::isinf(gaps_[j]) || (!was_closed && gaps_[j] >= 0)) continue;
    is_active_[j] = 1;
    active_.push_back(j);
  }
}

/// Returns whether there were any. The set only grows, so that a step ends.
bool PositionLevelStep::add_violated_contacts(const ContactModel& model, const State& end) {
  evaluator_.compute_gaps(model, end.t, end.q, gaps_);
  bool has_grown = false;
  for (int j = 0; j < model.num_contacts(); ++j)
    if (!is_active_[j] && gaps_[j] < 0) {
      is_active_[j] = 1;
      active_.insert(std::lower_bound(active_.begin(), active_.end(), j), j);
      has_grown = true;
    }
  return has_grown;
}

const StepSolution& PositionLevelStep::solve_at_prediction(const ContactModel& model,
                                                           const State& start, double h,
                                                           const Options& options,
                                                           SolveStage& solve, State& end) {
  const EvaluationPoint prediction{start.t + h, prediction_}, mid{start.t + 0.5 * h, mid_};
  assembly_.clear();
  assembly_.add_mass_and_momentum(model, prediction, mid, start.v, h);
  if (options.is_gyroscopic_implicit)
    assembly_.make_gyroscopic_term_implicit(model, mid, start.v, h);
  assembly_.add_constraint_rows_at_end(model, prediction, start, h, kConstraints);
  assembly_.add_spring_rows_at_end(model, prediction, start, h);
  assembly_.add_contacts_at_end(model, prediction, start, h, active_);
  if (options.keeps_penetration)
    for (std::size_t j = 0; j < active_.size(); ++j)
      assembly_.problem()
          .contact_bias[assembly_.problem().contacts.row_start(static_cast<int>(j))] -=
          std::min(start_gaps_[active_[j]], 0.0) / h;
  const StepSolution& solution = solve.probe(assembly_.problem(), solver_report_);
  end.t = start.t + h;
  end.v = solution.w_vector();
  model.displace(start.q, end.v, h, end.q);
  return solution;
}

PositionLevelStep::Report PositionLevelStep::step(const ContactModel& model, const State& start,
                                                  const std::vector<ContactStatus>& closed,
                                                  double h, const Options& options,
                                                  SolveStage& solve, State& end,
                                                  OutcomeReader& reader, StepResult& result) {
  model.displace(start.q, start.v, h, prediction_);
  model.displace(start.q, start.v, 0.5 * h, mid_);
  choose_contacts(model, closed, start.t + h);
  evaluator_.compute_gaps(model, start.t, start.q, start_gaps_);

  Report report;
  double damping = 1, last_move = 0;
  const StepSolution* solution = nullptr;
  while (true) {
    do {
      solution = &solve_at_prediction(model, start, h, options, solve, end);
    } while (add_violated_contacts(model, end));
    if (!options.is_nonlinear) break;
    model.displacement(prediction_, end.q, move_);
    const double move = move_.lpNorm<Eigen::Infinity>();
    const double size = start.q.lpNorm<Eigen::Infinity>() +
                        h * (start.v.lpNorm<Eigen::Infinity>() + end.v.lpNorm<Eigen::Infinity>());
    // Iterative solvers give answers to a tolerance, beyond which moves do not shrink.
    const bool is_stuck = report.iterations > 1 && move > 0.5 * last_move;
    if (!(move > (is_stuck ? solve.tolerance() : kFixedPointTolerance) * size)) break;
    if (report.iterations == kMaxIterations) {
      report.has_converged = false;
      break;
    }
    if (report.iterations > 1) {
      const bool contracts = move <= (1 - damping * (1 - kContraction)) * last_move;
      damping = std::clamp(contracts ? 2 * damping : 0.5 * damping, kMinDamping, 1.0);
    }
    last_move = move;
    model.displace(prediction_, move_, damping, prediction_);
    ++report.iterations;
  }

  solve.commit(assembly_.problem(), *solution, solver_report_);
  const OutcomeReader::Phase phase{.v_start = start.v, .v_end = end.v};
  reader.add(assembly_, *solution, phase, result);
  reader.add_applied_work(model, {start.t + 0.5 * h, mid_}, start.v, h, phase, result);
  status_.assign(model.num_contacts(), ContactStatus::kOpen);
  for (std::size_t j = 0; j < active_.size(); ++j)
    status_[active_[j]] = contact_status(assembly_.problem(), *solution, static_cast<int>(j));
  return report;
}

}  // namespace stiction
