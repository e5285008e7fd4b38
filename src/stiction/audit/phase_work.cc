#include "stiction/audit/phase_work.h"

namespace stiction {

/// (T30).
void add_work(const Model& model, const AuditSettings& settings, const AuditedPhase& phase,
              const PhaseProblem& assembled, PhaseWork& work) {
  const StepProblem& problem = assembled.problem;
  const State& start = phase.start;
  const VectorXd mean = 0.5 * (start.v + phase.v_end);
  const auto rate = [&](const BlockRows& rows, int row_block, int row, const double* x) {
    return rows.times(row_block, row, model.block_starts(), x);
  };
  using Kind = PhaseProblem::Row::Kind;
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    const PhaseProblem::Row& row = assembled.rows[i];
    const double impulse = phase.share * assembled.solution.lambda[i];
    const double mean_rate = rate(problem.bilateral, i, 0, mean.data());
    if (row.kind == Kind::kMotor) {
      work.add(work.motor, impulse * mean_rate);
      continue;
    }
    if (row.kind == Kind::kFriction) work.add(work.friction, impulse * (mean_rate + row.drift));
    work.add(work.motor, -impulse * row.drift);
    if (row.kind != Kind::kSpring || row.damping == 0) continue;
    double damped = rate(problem.bilateral, i, 0, assembled.solution.w.data());
    if (row.damps_mean_of_end)
      damped = 0.5 * (damped + rate(problem.bilateral, i, 0, start.v.data()));
    work.add(work.friction,
             -phase.share * row.damping * (damped + row.drift) * (mean_rate + row.drift));
  }
  for (const PhaseProblem::PrescribedSpring& spring : assembled.prescribed) {
    const double mean_rate =
        rate(assembled.prescribed_rows.rows, spring.gradient, 0, mean.data()) + spring.drift;
    work.add(work.motor, -phase.share * spring.recorded * spring.drift);
    work.add(work.friction, phase.share * spring.damping_impulse * mean_rate);
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int first = problem.contacts.row_start(j);
    for (int i = 0; i < problem.contacts.num_rows(j); ++i) {
      const double impulse = phase.share * phase.contacts[j].impulse[i];
      const double drift = assembled.contact_drift[first + i];
      const double mean_rate = rate(problem.contacts, j, i, mean.data());
      work.add(i == 0 ? work.impact : work.friction, impulse * (mean_rate + drift));
      work.add(work.motor, -impulse * drift);
    }
  }
  const double used = phase.share * phase.length;
  if (used == 0) return;
  VectorXd force(start.v.size()), at;
  const auto add_force = [&](double t, const VectorXd& q, const VectorXd& v, double duration) {
    model.evaluate_applied_force(t, q, v, force);
    if (phase.held_force.size() > 0) force += phase.held_force;
    for (Eigen::Index i = 0; i < v.size(); ++i)
      work.add(work.applied, duration * force[i] * mean[i]);
  };
  if (phase.kind == PhaseName::kMidpoint) {
    model.displace(start.q, mean, 0.5 * used, at);
    add_force(start.t + 0.5 * used, at, mean, used);
  } else if (phase.kind != PhaseName::kStep || settings.scheme == SchemeName::kMoreau) {
    model.displace(start.q, start.v, 0.5 * phase.length, at);
    add_force(start.t + 0.5 * phase.length, at, start.v, used);
  } else if (assembled.wants_applied_mean) {
    add_force(start.t, start.q, start.v, 0.5 * used);
    add_force(start.t + used, phase.q_end, phase.v_end, 0.5 * used);
  } else {
    add_force(start.t, start.q, start.v, used);
  }
}

}  // namespace stiction
