#include "stiction/scheme/midpoint_step.h"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// The end of the step is found when it moves by less than this share of the configuration.
constexpr double kTolerance = 1e-11;
constexpr int kMaxIterations = 15;
/// What the shortest parts of a step may miss instead: a chain that snaps tight.
constexpr double kLastTolerance = 1e-7;
/// A step is cut into 2^depth at most.
constexpr int kMaxDepth = 6;

/// Joints in closed loops hold things twice, and differ by what the iteration has not found yet:
/// they yield a little, relative to their mobility. What they yield is taken back in the next step.
constexpr double kJointCompliance = 1e-12;

/// The stiffness of turning forces in the matrix of the iteration, (h/2)² of it.
constexpr double kTurningShare = 0.25;

}  // namespace

bool MidpointStep::step(const ContactModel& model, const State& start, double h,
                        std::span<const int> touching, StepForces& forces, SolveStage& solve,
                        State& end, OutcomeReader& reader, StepResult& result) {
  from_ = start;
  const double end_time = start.t + h;
  // Cuts of the step as a binary fraction: `done` units of h/2^kMaxDepth.
  constexpr int kUnits = 1 << kMaxDepth;
  int done = 0, length = kUnits;
  bool has_converged = true;
  result.substeps = 0;
  while (done < kUnits) {
    const double part = h * length / kUnits;
    start_forces_ = forces;
    if (!iterate(model, from_, part, length == 1, touching, forces, solve, end, result)) {
      if (length > 1) {
        forces = start_forces_;
        length /= 2;
        ++result.rejected_substeps;
        continue;
      }
      has_converged = false;
    }
    solve.commit(assembly_.problem(), solution_, report_);
    // Contacts have their rows at the start; what is iterated is the end.
    const OutcomeReader::Phase phase{.v_start = from_.v,
                                     .v_end = end.v,
                                     .kind = PhaseKind::kMidpoint,
                                     .start = &from_,
                                     .rows_t = from_.t,
                                     .rows_q = &from_.q};
    reader.add(assembly_, solution_, phase, result);
    reader.add_applied_work(model, {from_.t + 0.5 * part, q_mid_}, mean_velocity_, part, phase,
                            result);
    project_velocity(model, touching, solve, end, reader, result);
    ++result.substeps;
    done += length;
    // As long as possible again, on the grid of the halvings.
    while (length < kUnits && done % (2 * length) == 0) length *= 2;
    from_ = end;
  }
  end.t = end_time;
  return has_converged;
}

bool MidpointStep::iterate(const ContactModel& model, const State& start, double h,
                           bool is_shortest, std::span<const int> touching, StepForces& forces,
                           SolveStage& solve, State& end, StepResult& result) {
  end.t = guess_.t = start.t + h;
  guess_.v = start.v;
  model.displace(start.q, start.v, h, guess_.q);
  theta_start_.resize(model.num_constraints());
  change_.resize(model.num_constraints());
  model.evaluate_constraints(start.t, start.q, theta_start_);
  assembly_.evaluate_contacts(model, {start.t, start.q});
  const double size = start.q.lpNorm<Eigen::Infinity>() + h * start.v.lpNorm<Eigen::Infinity>();
  double last_move = 0;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    assemble(model, start, h, touching, forces, guess_);
    forces.write(model, assembly_, h, solver_start_);
    solution_ = solve.probe(assembly_.problem(), report_, &solver_start_);
    ++result.iterations;
    if (!report_.has_answer) {
      end = guess_;
      return false;
    }
    end.v = solution_.w_vector();
    mean_velocity_ = 0.5 * (start.v + end.v);
    model.displace(start.q, mean_velocity_, h, end.q);
    forces.read(model, assembly_, solution_, h);
    model.displacement(guess_.q, end.q, move_);
    const double move = move_.lpNorm<Eigen::Infinity>();
    if (!std::isfinite(move)) {
      end = guess_;
      return false;
    }
    std::swap(guess_.q, end.q);
    std::swap(guess_.v, end.v);
    // Solvers answer to a tolerance, beyond which moves do not shrink.
    const bool is_stuck = iteration > 2 && move > 0.5 * last_move;
    if (move <= (is_stuck ? 1e3 : 1) * kTolerance * size) {
      std::swap(guess_.q, end.q);
      std::swap(guess_.v, end.v);
      return true;
    }
    last_move = move;
  }
  std::swap(guess_.q, end.q);
  std::swap(guess_.v, end.v);
  return is_shortest && last_move <= kLastTolerance * size;
}

/// The linear problem whose fixed point v⁺ = guess.v is the step.
void MidpointStep::assemble(const ContactModel& model, const State& start, double h,
                            std::span<const int> touching, const StepForces& forces,
                            const State& guess) {
  mean_velocity_ = 0.5 * (start.v + guess.v);
  model.displace(start.q, mean_velocity_, 0.5 * h, q_mid_);
  const EvaluationPoint mid{start.t + 0.5 * h, q_mid_};
  model.evaluate_constraints(start.t + h, guess.q, change_);
  change_ -= theta_start_;
  assembly_.clear();
  assembly_.add_midpoint_mass_and_momentum(model, mid, start.v, mean_velocity_, guess.v, h);
  if (options_.geometric_stiffness)
    assembly_.add_geometric_stiffness(model, mid, guess.v, h, forces.joints, forces.contacts,
                                      {.inertia = kTurningShare, .momentum = kTurningShare});
  assembly_.add_mean_constraint_rows(model, start, h, mid, mean_velocity_, change_,
                                     kJointCompliance);
  if (options_.geometric_stiffness) {
    turning_rows_.clear();
    turning_rows_.h = h;
    model.append_turning_rows(mid.t, mid.q, forces.joints, turning_rows_);
    assembly_.add_turning_rows(turning_rows_, guess.v, {kTurningShare, kTurningShare});
  }
  assembly_.add_spring_rows(model, mid, start, h, SpringRule::kMeanByEnd);
  assembly_.add_spook_contacts(
      model, start, h, {.compliance = options_.compliance, .relaxation = options_.relaxation * h},
      touching);
}

/// The nearest velocities, in the norm of M, that the joints at q⁺ allow.
void MidpointStep::project_velocity(const ContactModel& model, std::span<const int> touching,
                                    SolveStage& solve, State& end, OutcomeReader& reader,
                                    StepResult& result) {
  if (model.num_constraints() + model.num_velocity_rows() == 0) return;
  const EvaluationPoint here{end.t, end.q};
  projection_.clear();
  projection_.add_mass_and_momentum(model, here, here, end.v, 0);
  projection_.add_constraint_rows(model, here, end, 0, {.compliance = options_.compliance});
  projection_.add_contacts(model, here, touching);
  const StepSolution& solution = solve.solve(projection_.problem());
  v_before_ = end.v;
  end.v = solution.w_vector();
  reader.add(projection_, solution,
             {.v_start = v_before_,
              .v_end = end.v,
              .kind = PhaseKind::kVelocityProjection,
              .start = &end,
              .rows_t = end.t,
              .rows_q = &end.q},
             result);
}

}  // namespace stiction
