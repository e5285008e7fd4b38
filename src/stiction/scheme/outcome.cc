#include "stiction/scheme/outcome.h"

#include "stiction/problem/cone_projection.h"

namespace stiction {
namespace {

/// rows(row_block) · x, for one row of a row block.
double row_times(const StepProblem& problem, const BlockRows& rows, int row_block, int row,
                 const VectorXd& x) {
  double sum = 0;
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
    const int columns = rows.entry_columns(e);
    const double* value = rows.entry_values(e) + static_cast<std::ptrdiff_t>(row) * columns;
    const double* part = x.data() + problem.dof_start[rows.entry_block(e)];
    for (int k = 0; k < columns; ++k) sum += value[k] * part[k];
  }
  return sum;
}

/// A slipping contact dissipates all that its friction section allows, −βᵀu_T = μν σ_B(−u_T) (T4);
/// where it sticks, u_T is rounding and β is not at its bound. The share between the two is not
/// critical.
constexpr double kSlipShare = 1 - 1e-6;

ContactStatus status_of(const FrictionCone& cone, const std::array<double, 3>& impulse,
                        const Eigen::Vector3d& u) {
  if (!(impulse[0] > 0)) return ContactStatus::kOpen;
  if (cone.mu == 0) return ContactStatus::kSlip;  // nothing holds it
  const double dissipation = -(impulse[1] * u[1] + impulse[2] * u[2]);
  const double largest = cone.mu * impulse[0] * cone.support_against(u);
  return largest > 0 && dissipation >= kSlipShare * largest ? ContactStatus::kSlip
                                                            : ContactStatus::kStick;
}

}  // namespace

void OutcomeReader::read(const Model& model, const State& start, const EvaluationPoint& point,
                         const StepAssembly& assembly, const StepSolution& solution,
                         StepResult& result) {
  mean_velocity_.resize(start.v.size());
  mean_velocity_ = 0.5 * (start.v + result.end.v);
  result.work = {};
  add_applied_work(model, start, point, assembly.problem().h, result);
  read_joints(model, assembly, solution, result);
  read_contacts(model, assembly, solution, result);
}

void OutcomeReader::add_applied_work(const Model& model, const State& start,
                                     const EvaluationPoint& point, double h, StepResult& result) {
  if (h == 0) return;
  for (const Model::Part& part : model.parts()) {
    const int n = part.system->num_coordinates();
    values_.resize(n);
    VectorMap force(values_.data(), n);
    part.system->evaluate_applied_force(point.t, point.q.segment(part.offset, n),
                                        start.v.segment(part.offset, n), force);
    for (int i = 0; i < n; ++i)
      result.work.applied += h * force[i] * mean_velocity_[part.offset + i];
  }
}

void OutcomeReader::read_joints(const Model& model, const StepAssembly& assembly,
                                const StepSolution& solution, StepResult& result) {
  const StepProblem& problem = assembly.problem();
  result.joint_impulses.assign(model.num_joint_rows(), 0.0);
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    const StepAssembly::JointRow& row = assembly.joint_rows()[i];
    const double impulse = solution.lambda[i];
    result.joint_impulses[row.joint_row] = impulse;
    // The drive turns the row's velocity by `drift` against the system: it does the rest of the
    // work.
    result.work.motor -= impulse * row.drift;
    if (row.damping > 0) {
      const double end_rate = row_times(problem, problem.bilateral, i, 0, result.end.v) + row.drift;
      const double mean_rate =
          row_times(problem, problem.bilateral, i, 0, mean_velocity_) + row.drift;
      result.work.friction -= row.damping * end_rate * mean_rate;
    }
  }
}

void OutcomeReader::read_contacts(const Model& model, const StepAssembly& assembly,
                                  const StepSolution& solution, StepResult& result) {
  const StepProblem& problem = assembly.problem();
  result.contacts.resize(problem.num_contacts());
  for (int j = 0; j < problem.num_contacts(); ++j) {
    ContactOutcome& outcome = result.contacts[j];
    outcome = {};
    outcome.contact = assembly.contact_indices()[j];
    const int start = problem.contacts.row_start(j);
    Eigen::Vector3d law_velocity = Eigen::Vector3d::Zero();  // u of (T3) and (T4)
    for (int i = 0; i < problem.contacts.num_rows(j); ++i) {
      const double impulse = solution.r[start + i], drift = assembly.contact_drifts()[start + i];
      const double end_rate = row_times(problem, problem.contacts, j, i, result.end.v);
      const double mean_rate = row_times(problem, problem.contacts, j, i, mean_velocity_);
      outcome.impulse[i] = impulse;
      (i == 0 ? result.work.impact : result.work.friction) += impulse * (mean_rate + drift);
      result.work.motor -= impulse * drift;
      if (i > 0) outcome.slip[i - 1] = end_rate + drift;
      law_velocity[i] = end_rate + problem.contact_bias[start + i] +
                        problem.contact_compliance[start + i] * impulse;
    }
    const FrictionCone cone{problem.contacts.num_rows(j) - 1, problem.mu[j], problem.section[j]};
    outcome.status = status_of(cone, outcome.impulse, law_velocity);
  }
  // Gaps at the end of the step, for the parts that have an active contact.
  std::size_t next = 0;
  for (const Model::Part& part : model.parts()) {
    const int n = part.system->num_contacts(), last = part.contact_offset + n;
    if (next == result.contacts.size() || result.contacts[next].contact >= last) continue;
    values_.resize(n);
    VectorMap gaps(values_.data(), n);
    part.system->evaluate_gaps(
        result.end.t, result.end.q.segment(part.offset, part.system->num_coordinates()), gaps);
    for (; next < result.contacts.size() && result.contacts[next].contact < last; ++next)
      result.contacts[next].gap = gaps[result.contacts[next].contact - part.contact_offset];
  }
}

}  // namespace stiction
