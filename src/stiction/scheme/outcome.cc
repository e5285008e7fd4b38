#include "stiction/scheme/outcome.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/known_size.h"
#include "stiction/base/pair.h"
#include "stiction/problem/cone_projection.h"

namespace stiction {
namespace {

/// rows(row_block) · x, for one row of a row block.
double row_times(const StepProblem& problem, const BlockRows& rows, int row_block, int row,
                 const double* x) {
  return rows.times(row_block, row, problem.dof_start.data(), x);
}

/// A slipping contact dissipates all that its friction section allows, −βᵀu_T = μν σ_B(−u_T) (T4);
/// where it sticks, u_T is rounding and β is not at its bound. The share between the two is not
/// critical.
constexpr double kSlipShare = 1 - 1e-6;

/// Slip slower than this share of the speeds at hand is what rounding and a solver's tolerance
/// leave of sticking, whatever its direction says.
constexpr double kSlipRounding = 1e-12;

/// How fast a coordinate changes, or would without impulses.
double coordinate_speed(const StepProblem& problem, const StepSolution& solution, int block,
                        int k) {
  const int dof = problem.dof_start[block] + k;
  const double mass =
      problem.mass_values[problem.mass_start[block] + k * (problem.block_size(block) + 1)];
  return std::abs(solution.w[dof]) + std::abs(problem.p[dof] / mass);
}

/// How fast the bodies of a contact are along its tangents, or would be without it. speed_of(block,
/// k) is that of coordinates.
template <class SpeedOf>
double tangential_speed_at(const StepProblem& problem, int contact, const SpeedOf& speed_of) {
  double speed = 0;
  const BlockRows& rows = problem.contacts;
  for (int e = rows.entry_start(contact); e < rows.entry_start(contact + 1); ++e) {
    const int block = rows.entry_block(e), n = rows.entry_columns(e);
    for (int i = 1; i < rows.num_rows(contact); ++i)
      for (int k = 0; k < n; ++k)
        speed += std::abs(rows.entry_values(e)[i * n + k]) * speed_of(block, k);
  }
  return speed;
}

/// Constraints yield a little so that redundant ones do not lock. One that yields by this share of
/// the velocities at hand is contradicted by others, unless both are rounding beside what other
/// rows have at hand.
constexpr double kLargestYield = 1e-2, kRounding = 1e-9;

/// How fast the bodies of a row are, as far as the row sees it, and its own bias; or a part of it
/// that is `enough`.
double speed_at(const StepProblem& problem, const StepSolution& solution, int row, double enough) {
  double speed = std::abs(problem.bias[row]);
  const BlockRows& rows = problem.bilateral;
  for (int e = rows.entry_start(row); e < rows.entry_start(row + 1) && speed < enough; ++e) {
    const double* w = solution.w.data() + problem.dof_start[rows.entry_block(e)];
    for (int k = 0; k < rows.entry_columns(e); ++k)
      speed += std::abs(rows.entry_values(e)[k] * w[k]);
  }
  return speed;
}

/// What all momentum of the bodies at a row could make of it.
double impact_at(const StepProblem& problem, int row) {
  double momentum = 0, mobility = 0;
  const BlockRows& rows = problem.bilateral;
  for (int e = rows.entry_start(row); e < rows.entry_start(row + 1); ++e) {
    const ConstRowMatrixMap mass = problem.mass_block(rows.entry_block(e));
    const double* p = problem.p.data() + problem.dof_start[rows.entry_block(e)];
    for (int k = 0; k < rows.entry_columns(e); ++k) {
      const double entry = rows.entry_values(e)[k], m = std::abs(mass(k, k));
      momentum += p[k] * p[k] / m;
      mobility += entry * entry / m;
    }
  }
  return std::sqrt(momentum * mobility);
}

void check_yield(const StepProblem& problem, const StepSolution& solution, int row,
                 StepResult& result) {
  const double yield = problem.compliance[row] * std::abs(solution.lambda[row]);
  if (yield == 0) return;
  const double enough = yield / kLargestYield, speed = speed_at(problem, solution, row, enough);
  if (speed >= enough) return;
  if (speed + impact_at(problem, row) >= enough) return;
  constexpr double kAllOfIt = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (int i = 0; i < problem.num_bilateral(); ++i)
    largest = std::max(largest, speed_at(problem, solution, i, kAllOfIt) + impact_at(problem, i));
  if (yield > kRounding * largest) result.failure = "constraints contradict each other";
}

/// The rows of a contact times x; zero where it has fewer than three.
Eigen::Vector3d rows_times(const StepProblem& problem, int contact, const double* x) {
  const int* start = problem.dof_start.data();
  Eigen::Vector3d result = Eigen::Vector3d::Zero();
  switch (problem.contacts.num_rows(contact)) {
    case 1:
      std::ranges::copy(problem.contacts.times_all<1>(contact, start, x), result.data());
      break;
    case 2:
      std::ranges::copy(problem.contacts.times_all<2>(contact, start, x), result.data());
      break;
    default:
      std::ranges::copy(problem.contacts.times_all<3>(contact, start, x), result.data());
  }
  return result;
}

/// The rows of a contact times two vectors at once, whose numbers lie beside each other; the sums
/// of rows_times.
template <int kRows>
std::array<Pair, 3> rows_times_both(const StepProblem& problem, int contact, const double* both) {
  const BlockRows& rows = problem.contacts;
  std::array<Pair, 3> sum{};
  for (int e = rows.entry_start(contact); e < rows.entry_start(contact + 1); ++e) {
    const double* values = rows.entry_values(e);
    const double* part =
        both + 2 * static_cast<std::ptrdiff_t>(problem.dof_start[rows.entry_block(e)]);
    const auto add = [&](int columns) {
      for (int k = 0; k < columns; ++k)
        for (int i = 0; i < kRows; ++i) {
          const double value = values[i * columns + k];
          sum[i] += Pair{value, value} * load_pair(part + 2 * k);
        }
    };
    if (rows.entry_columns(e) == 6)
      add(6);  // a number that is known is a loop that is unrolled
    else
      add(rows.entry_columns(e));
  }
  return sum;
}

std::array<Pair, 3> rows_times_both(const StepProblem& problem, int contact, const double* both) {
  switch (problem.contacts.num_rows(contact)) {
    case 1:
      return rows_times_both<1>(problem, contact, both);
    case 2:
      return rows_times_both<2>(problem, contact, both);
    default:
      return rows_times_both<3>(problem, contact, both);
  }
}

/// Bias and compliance added to the contact's rows times w. Here and below kRows is their number,
/// or 0 where the compiler does not know it.
template <int kRows = 0>
Eigen::Vector3d complete_velocity(const StepProblem& problem, const StepSolution& solution,
                                  int contact, const Eigen::Vector3d& moved) {
  Eigen::Vector3d u = Eigen::Vector3d::Zero();
  const int start = problem.contacts.row_start(contact);
  const int num_rows = known<kRows>(problem.contacts.num_rows(contact));
  for (int i = 0; i < num_rows; ++i)
    u[i] = moved[i] + problem.contact_bias[start + i] +
           problem.contact_compliance[start + i] * solution.r[start + i];
  return u;
}

/// `moved` is the contact's rows times w; `find_speed` says how fast its bodies are along its
/// tangents, or would be without it.
template <int kRows, class FindSpeed>
ContactStatus status_at(const StepProblem& problem, const StepSolution& solution, int contact,
                        const Eigen::Vector3d& moved, const FindSpeed& find_speed) {
  const int start = problem.contacts.row_start(contact);
  const double normal = solution.r[start];
  if (!(normal > 0)) return ContactStatus::kOpen;
  const int num_tangents = known<kRows>(problem.contacts.num_rows(contact)) - 1;
  const FrictionCone cone{num_tangents, problem.mu[contact], problem.section[contact]};
  if (cone.mu == 0) return ContactStatus::kSlip;  // nothing holds it
  const Eigen::Vector3d u = complete_velocity<kRows>(problem, solution, contact, moved);
  double dissipation = 0;
  for (int i = 1; i <= num_tangents; ++i) dissipation -= solution.r[start + i] * u[i];
  const double largest = cone.mu * normal * cone.support_against(u);
  const bool is_directed = largest > 0 && dissipation >= kSlipShare * largest;
  return is_directed && u.tail<2>().norm() > kSlipRounding * find_speed() ? ContactStatus::kSlip
                                                                          : ContactStatus::kStick;
}

}  // namespace

Eigen::Vector3d contact_velocity(const StepProblem& problem, const StepSolution& solution,
                                 int contact) {
  return complete_velocity(problem, solution, contact,
                           rows_times(problem, contact, solution.w.data()));
}

ContactStatus contact_status(const StepProblem& problem, const StepSolution& solution,
                             int contact) {
  const auto speed_of = [&](int block, int k) {
    return coordinate_speed(problem, solution, block, k);
  };
  return status_at<0>(problem, solution, contact, rows_times(problem, contact, solution.w.data()),
                      [&] { return tangential_speed_at(problem, contact, speed_of); });
}

void OutcomeReader::begin(const ContactModel& model, StepResult& result) {
  if (has_outcomes_) std::fill(slot_.begin(), slot_.end(), -1);  // of a step that did not end
  slot_.resize(model.num_contacts(), -1);
  has_outcomes_ = false;
  are_in_order_ = true;
  model_ = &model;
  result.phases.clear();
  result.joint_impulses.assign(model.num_joint_rows(), 0.0);
  result.work = {};
  result.events.clear();
  result.substeps = 1;
  result.rejected_substeps = 0;
  result.iterations = 0;
  result.linear_steps = 0;
  result.failure = {};
}

void OutcomeReader::add(const StepAssembly& assembly, const StepSolution& solution,
                        const Phase& phase, StepResult& result) {
  mean_velocity_.resize(phase.v_start.size());
  mean_velocity_ = 0.5 * (phase.v_start + phase.v_end);
  ends_with_answer_ =
      std::equal(phase.v_end.begin(), phase.v_end.end(), solution.w.begin(), solution.w.end());
  add_joints(assembly, solution, phase, result);
  add_contacts(assembly, solution, phase, result);
  if (result.phases.is_on && phase.start != nullptr) log(assembly, solution, phase, result);
}

/// Rows are evaluated once more here, at the expense of who wants to know.
void OutcomeReader::log(const StepAssembly& assembly, const StepSolution& solution,
                        const Phase& phase, StepResult& result) {
  const StepProblem& problem = assembly.problem();
  StepPhase& entry = result.phases.add(phase.kind, *phase.start);
  entry.start.v = phase.v_start;
  entry.length = problem.h;
  entry.share = phase.share;
  if (phase.iterated_from != nullptr) {
    entry.rows.t = phase.rows_t;
    entry.rows.q = *phase.rows_q;
    entry.rows.v = *phase.iterated_from;
  }
  entry.joint_impulses.assign(model_->num_joint_rows(), 0.0);
  for (int i = 0; i < problem.num_bilateral(); ++i)
    if (const int row = assembly.joint_rows()[i].joint_row; row >= 0)
      entry.joint_impulses[row] = solution.lambda[i];
  for (const StepAssembly::ExplicitSpring& spring : assembly.explicit_springs())
    entry.joint_impulses[spring.joint_row] = spring.impulse;
  if (phase.turning_joints != nullptr) entry.turning = *phase.turning_joints;
  if (problem.num_contacts() == 0) return;
  gaps_.resize(model_->num_contacts());
  if (model_->num_fixed_contacts() > 0)
    model_->evaluate_fixed_gaps(phase.rows_t, *phase.rows_q,
                                gaps_.head(model_->num_fixed_contacts()));
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int index = assembly.contact_indices()[j];
    const TouchingPair pair = model_->locate_touch(phase.rows_t, *phase.rows_q, index);
    PhaseContact contact{.key = model_->contact_key(index), .shape_a = pair.a, .shape_b = pair.b};
    if (pair.a >= 0) {
      Eigen::Map<Eigen::Vector3d>(contact.point.data()) = pair.touch.point;
      Eigen::Map<Eigen::Vector3d>(contact.normal.data()) = pair.touch.normal;
    }
    contact.gap = pair.a >= 0 ? pair.touch.gap : gaps_[index];
    const int start = problem.contacts.row_start(j);
    std::copy_n(solution.r.begin() + start, problem.contacts.num_rows(j), contact.impulse.begin());
    if (phase.turning_contacts != nullptr)
      std::copy_n(phase.turning_contacts->begin() + 3 * static_cast<std::ptrdiff_t>(index), 3,
                  contact.turning.begin());
    entry.contacts.push_back(contact);
  }
}

void OutcomeReader::add_applied_work(const ContactModel& model, const EvaluationPoint& point,
                                     const VectorXd& v, double duration, const Phase& phase,
                                     StepResult& result) {
  if (duration == 0) return;
  force_.resize(v.size());
  model.evaluate_applied_force(point.t, point.q, v, force_);
  for (Eigen::Index i = 0; i < v.size(); ++i)
    result.work.applied += duration * force_[i] * (0.5 * (phase.v_start[i] + phase.v_end[i]));
}

void OutcomeReader::add_joints(const StepAssembly& assembly, const StepSolution& solution,
                               const Phase& phase, StepResult& result) {
  using Kind = StepAssembly::JointRow::Kind;
  const StepProblem& problem = assembly.problem();
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    const StepAssembly::JointRow& row = assembly.joint_rows()[i];
    if (row.kind == Kind::kTurning) continue;  // its work is the scheme's own
    const double impulse = phase.share * solution.lambda[i];
    result.joint_impulses[row.joint_row] += impulse;
    if (row.kind == Kind::kMotor || row.kind == Kind::kFriction) {
      // All that a row between its bounds does, or at one of them; of a brake on a driven body the
      // drive does the rest.
      const double rate = row_times(problem, problem.bilateral, i, 0, mean_velocity_.data());
      if (row.kind == Kind::kMotor) {
        result.work.motor += impulse * rate;
      } else {
        result.work.friction += impulse * (rate + row.drift);
        result.work.motor -= impulse * row.drift;
      }
      continue;
    }
    // The drive turns the row's velocity by `drift` against the system: it does the rest of the
    // work.
    result.work.motor -= impulse * row.drift;
    if (row.kind == Kind::kRigid) check_yield(problem, solution, i, result);
    if (row.damping == 0) continue;
    const double mean_rate =
        row_times(problem, problem.bilateral, i, 0, mean_velocity_.data()) + row.drift;
    // The rate that the impulse of the whole problem was made with, of which `share` is used.
    double damped_rate = row_times(problem, problem.bilateral, i, 0, solution.w.data());
    if (row.rule == SpringRule::kMeanByEnd)
      damped_rate =
          0.5 * (damped_rate + row_times(problem, problem.bilateral, i, 0, phase.v_start.data()));
    damped_rate += row.drift;
    result.work.friction -= phase.share * row.damping * damped_rate * mean_rate;
  }
  for (const StepAssembly::ExplicitSpring& spring : assembly.explicit_springs()) {
    const double mean_rate =
        row_times(problem, assembly.explicit_gradients(), spring.row, 0, mean_velocity_.data()) +
        spring.drift;
    result.joint_impulses[spring.joint_row] += phase.share * spring.impulse;
    result.work.motor -= phase.share * spring.impulse * spring.drift;
    result.work.friction += phase.share * spring.damping_impulse * mean_rate;
  }
}

/// A place for the outcome of every contact of a problem. Those of the first problem of a step are
/// as many as it has, and still what the step before left there.
void OutcomeReader::open_outcomes(const std::vector<int>& contacts, StepResult& result) {
  if (!has_outcomes_) {
    has_outcomes_ = true;
    are_in_order_ = std::is_sorted(contacts.begin(), contacts.end());
    result.contacts.resize(contacts.size());
    return;
  }
  for (const int contact : contacts) {
    int& slot = slot_[contact];
    if (slot >= 0) continue;
    slot = static_cast<int>(result.contacts.size());
    result.contacts.push_back({.contact = contact});
    are_in_order_ = false;
  }
}

OutcomeReader::Motion OutcomeReader::read_motion(const StepProblem& problem,
                                                 const StepSolution& solution, int contact) const {
  Motion motion;
  const std::array<Pair, 3> rates = rows_times_both(problem, contact, mean_and_end_.data());
  motion.mean_rate = {rates[0][0], rates[1][0], rates[2][0]};
  motion.slip = {0, rates[1][1], rates[2][1]};
  Eigen::Vector3d moved(rates[0][1], rates[1][1], rates[2][1]);
  if (!ends_with_answer_) moved = rows_times(problem, contact, solution.w.data());
  motion.status = with_known_size<3>(problem.contacts.num_rows(contact), [&]<int kRows>() {
    return status_at<kRows>(problem, solution, contact, moved,
                            [&] { return find_tangential_speed(problem, contact); });
  });
  return motion;
}

double OutcomeReader::find_tangential_speed(const StepProblem& problem, int contact) const {
  const BlockRows& rows = problem.contacts;
  const int first = rows.entry_start(contact), end = rows.entry_start(contact + 1);
  const bool is_of_bodies = rows.num_rows(contact) == 3 && end > first && end <= first + 2 &&
                            rows.entry_columns(first) == 6 && rows.entry_columns(end - 1) == 6;
  if (!is_of_bodies)
    return tangential_speed_at(
        problem, contact, [&](int block, int k) { return speeds_[problem.dof_start[block] + k]; });
  Pair speed{};
  for (int e = first; e < end; ++e) {
    const double* tangents = rows.entry_values(e) + 6;
    const double* speeds = speeds_.data() + problem.dof_start[rows.entry_block(e)];
    for (int k = 0; k < 6; ++k)
      speed += Pair{std::abs(tangents[k]), std::abs(tangents[6 + k])} * speeds[k];
  }
  return sum_of(speed);
}

void OutcomeReader::add_contacts(const StepAssembly& assembly, const StepSolution& solution,
                                 const Phase& phase, StepResult& result) {
  const StepProblem& problem = assembly.problem();
  WorkerPool* const workers = model_->workers().get();
  mean_and_end_.resize(2 * mean_velocity_.size());
  speeds_.resize(problem.num_dofs());
  run_numbers(workers, problem.num_blocks(), kContactGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b)
      with_known_size<6>(problem.block_size(b), [&]<int kSize>() {
        for (int k = 0; k < known<kSize>(problem.block_size(b)); ++k) {
          const int dof = problem.dof_start[b] + k;
          store_pair(Pair{mean_velocity_[dof], phase.v_end[dof]},
                     mean_and_end_.data() + std::ptrdiff_t{2} * dof);
          speeds_[dof] = coordinate_speed(problem, solution, b, k);
        }
      });
  });
  const std::vector<int>& indices = assembly.contact_indices();
  const bool are_first = !has_outcomes_;
  open_outcomes(indices, result);
  work_.resize(problem.num_contacts());
  run_numbers(workers, problem.num_contacts(), kContactGrain, [&](int begin, int end) {
    for (int j = begin; j < end; ++j) {
      if (are_first) {
        result.contacts[j] = {.contact = indices[j]};
        slot_[indices[j]] = j;
      }
      work_[j] =
          add_contact(assembly, solution, phase.share, j, result.contacts[slot_[indices[j]]]);
    }
  });
  sum_up_work(problem, result);
}

/// In registers: a sum in memory would wait for itself at every contact.
void OutcomeReader::sum_up_work(const StepProblem& problem, StepResult& result) const {
  double impact = result.work.impact, friction = result.work.friction, motor = result.work.motor;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    impact += work_[j].spent[0];
    motor -= work_[j].driven[0];
    for (int i = 1; i < problem.contacts.num_rows(j); ++i) {
      friction += work_[j].spent[i];
      motor -= work_[j].driven[i];
    }
  }
  result.work.impact = impact;
  result.work.friction = friction;
  result.work.motor = motor;
}

/// Contacts of a problem are different ones of the model: each has an outcome of its own.
OutcomeReader::Work OutcomeReader::add_contact(const StepAssembly& assembly,
                                               const StepSolution& solution, double share,
                                               int contact, ContactOutcome& outcome) const {
  const StepProblem& problem = assembly.problem();
  const Motion motion = read_motion(problem, solution, contact);
  const int start = problem.contacts.row_start(contact);
  const double* r = solution.r.data() + start;
  const double* drifts = assembly.contact_drifts().data() + start;
  const std::array<Eigen::Vector3d, 2>& tangents = assembly.contact_tangents()[contact];
  const double duration = share * problem.h;
  Work work;
  with_known_size<3>(problem.contacts.num_rows(contact), [&]<int kRows>() {
    for (int i = 0; i < known<kRows>(problem.contacts.num_rows(contact)); ++i) {
      const double impulse = share * r[i];
      outcome.impulse[i] += impulse;
      work.spent[i] = impulse * (motion.mean_rate[i] + drifts[i]);
      work.driven[i] = impulse * drifts[i];
      if (i == 0) continue;
      outcome.slip[i - 1] = motion.slip[i] + drifts[i];
      outcome.slid += duration * (motion.mean_rate[i] + drifts[i]) * tangents[i - 1];
    }
  });
  outcome.status = motion.status;
  return work;
}

const KeptVector& OutcomeReader::finish(const ContactModel& model, StepResult& result) {
  for (StepEvent& event : result.events)
    if (event.contact >= 0) event.key = model.contact_key(event.contact);
  ContactEvaluator::compute_gaps(model, result.end.t, result.end.q, gaps_, touches_);
  const auto is_earlier = [](const ContactOutcome& a, const ContactOutcome& b) {
    return a.contact < b.contact;
  };
  if (!has_outcomes_) result.contacts.clear();
  if (!are_in_order_) std::sort(result.contacts.begin(), result.contacts.end(), is_earlier);
  has_outcomes_ = false;
  const int count = static_cast<int>(result.contacts.size());
  run_numbers(model.workers().get(), count, kContactGrain, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) {
      ContactOutcome& outcome = result.contacts[k];
      outcome.key = model.contact_key(outcome.contact);
      // What has pressed touches, though another direction may part the shapes by now.
      const bool has_pressed =
          outcome.impulse[0] > 0 && outcome.contact >= model.num_fixed_contacts();
      outcome.gap = has_pressed ? touches_.touches[outcome.contact].gap : gaps_[outcome.contact];
      model.locate_contact(result.end, outcome.contact, touches_.touches[outcome.contact],
                           outcome.place);
      slot_[outcome.contact] = -1;
    }
  });
  return gaps_;
}

}  // namespace stiction
