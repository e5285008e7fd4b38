// What a row says about its whole step: sums of impulses, the energy ledger.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/audit/auditor.h"
#include "stiction/audit/rounding.h"
#include "stiction/model/rigid_body_system.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

enum EnergyColumn {
  kKinetic,
  kPotential,
  kSpring,
  kApplied,
  kMotor,
  kFriction,
  kImpact,
  kNumerical
};

/// A share of a slip that is neither all of what friction can do nor far below it tells nothing.
constexpr double kSurelySlip = 1 - 1e-7, kSurelyStick = 1 - 1e-5, kSurelySlipSpeed = 1e-6;

}  // namespace

// -------------------------------------------------------------------------------------------------
// Sums

void Auditor::check_totals(const RecordedChunk& chunk, const Row& row,
                           const std::vector<AuditedPhase>& phases, AuditReport& report) {
  for (int i = 0; i < static_cast<int>(header_.joint_names.size()); ++i) {
    double sum = 0, size = 0;
    for (const AuditedPhase& phase : phases) {
      sum += phase.share * phase.impulse[i];
      size += std::abs(phase.share * phase.impulse[i]);
    }
    const double recorded = chunk.joint_impulses(row.index, i);
    report.check(Law::kTotals, std::abs(recorded - sum), kUlps * (size + 1e-300), [&] {
      return fmt::format("joint row {}: impulse of the step [N s]", header_.joint_names[i]);
    });
  }
  check_contact_totals(chunk, row, phases, report);
  if (header_.reaction_names.empty()) return;
  const double h = row.state.t - phases.front().start.t;
  if (!(h > 0)) return;
  VectorXd forces = chunk.joint_impulses.row(row.index).transpose() / h, reactions;
  model_.evaluate_reactions(row.state, forces, reactions);
  const double size = forces.size() == 0 ? 0 : forces.cwiseAbs().sum();
  for (int i = 0; i < static_cast<int>(header_.reaction_names.size()); ++i)
    report.check(Law::kTotals, std::abs(reactions[i] - chunk.reactions(row.index, i)),
                 // The length of a step is a difference of times.
                 (kUlps * (1 + extent_of(row.state.q)) + kUlps * std::abs(row.state.t) / h) *
                     (size + 1e-300),
                 [&] { return fmt::format("reaction {} [N or N m]", header_.reaction_names[i]); });
}

Auditor::PhaseScales Auditor::measure_scales(const AuditedPhase& phase,
                                             const AuditedPhase* compression) {
  PhaseScales scales{.at = rows_of(model_, settings_, phase)};
  scales.speed = phase.v_end.cwiseAbs().maxCoeff() * (1 + extent_of(scales.at.q));
  scales.free_speed = scales.speed;
  scales.is_assembled = problem_.assemble(phase, compression).empty();
  const StepProblem& problem = problem_.problem;
  for (int b = 0; scales.is_assembled && b < problem.num_blocks(); ++b)
    for (int i = 0; i < problem.block_size(b); ++i)
      scales.free_speed = std::max(scales.free_speed, std::abs(problem.p[problem.dof_start[b] + i] /
                                                               problem.mass_block(b)(i, i)));
  return scales;
}

void Auditor::check_contact_totals(const RecordedChunk& chunk, const Row& row,
                                   const std::vector<AuditedPhase>& phases, AuditReport& report) {
  struct Total {
    Vector3d sum = Vector3d::Zero(), size = Vector3d::Zero();
    const AuditedContact* last = nullptr;
    const AuditedPhase* phase = nullptr;
    bool is_seen = false;
  };
  std::map<std::uint64_t, Total> totals;
  for (const AuditedPhase& phase : phases)
    for (const AuditedContact& contact : phase.contacts) {
      Total& total = totals[contact.id];
      total.sum += phase.share * contact.impulse;
      total.size += (phase.share * contact.impulse).cwiseAbs();
      total.last = &contact;
      total.phase = &phase;
    }
  const RecordedContacts& contacts = chunk.contacts;
  const double extent = extent_of(row.state.q);
  VectorXd gaps(model_.num_fixed_contacts());
  if (gaps.size() > 0) model_.evaluate_fixed_gaps(row.state.t, row.state.q, gaps);
  PhaseScales scales;
  const AuditedPhase* at_hand = nullptr;  // that `scales` and problem_ are about
  for (std::int64_t c = contacts.row_start[row.index]; c < contacts.row_start[row.index + 1]; ++c) {
    const auto found = totals.find(contacts.id[c]);
    const bool is_known = contacts.step[c] == row.step && found != totals.end();
    report.check(Law::kTotals, is_known ? 0 : 1, 0.5, [&] {
      return fmt::format("contact {} of the step is in none of its phases", contacts.id[c]);
    });
    if (!is_known) continue;
    Total& total = found->second;
    report.check(Law::kTotals, total.is_seen ? 1 : 0, 0.5,
                 [&] { return fmt::format("{} is there twice", name_of(*total.last)); });
    total.is_seen = true;
    const auto where = [&] {
      return fmt::format("{}: impulse of the step [N s]", name_of(*total.last));
    };
    const Vector3d error = contacts.impulse.row(c).transpose() - total.sum;
    report.check(Law::kTotals, error.cwiseAbs().maxCoeff(),
                 kUlps * (total.size.maxCoeff() + 1e-300), where);
    // Bodies as the scene counts them.
    const AuditedContact& last = *total.last;
    if (last.shape_a >= 0) {
      const auto& objects = problem_.surfaces()->objects();
      const bool is_right = contacts.a[c] == objects[last.shape_a].body &&
                            contacts.b[c] == objects[last.shape_b].body;
      report.check(Law::kTotals, is_right ? 0 : 1, 0.5, [&] {
        return fmt::format("{}: bodies {} and {} are not those of its shapes", name_of(last),
                           contacts.a[c], contacts.b[c]);
      });
    } else {
      const double gap = gaps[static_cast<Eigen::Index>(last.id)];
      report.check(Law::kGaps, std::abs(gap - contacts.gap[c]),
                   kUlps * (1 + extent + std::abs(gap)),
                   [&] { return fmt::format("{}: gap at the end [m]", name_of(last)); });
    }
    // Slip and status are those of the last phase that the contact took part in.
    const std::size_t place = static_cast<std::size_t>(total.phase - phases.data());
    const AuditedPhase* compression =
        total.phase->kind == PhaseName::kDecompression && place > 0 ? &phases[place - 1] : nullptr;
    const AuditedPhase& phase = *total.phase;
    const ContactInfo& law = problem_.law_of(last);
    if (at_hand != &phase) {
      at_hand = &phase;
      scales = measure_scales(phase, compression);
    }
    RowSet rows;
    problem_.append_contact(scales.at.t, scales.at.q, last, rows);
    const double speed = scales.speed;
    for (int i = 0; i < law.num_tangents; ++i) {
      const double slip =
          rows.rows.times(0, 1 + i, model_.block_starts(), phase.v_end.data()) + rows.drift[1 + i];
      report.check(Law::kTotals, std::abs(slip - contacts.slip(c, i)),
                   kUlps * (speed + std::abs(slip) + 1e-300),
                   [&] { return fmt::format("{}: slip [m/s]", name_of(last)); });
    }
    const ContactStatus status = contacts.status[c];
    const bool presses = last.impulse[0] > 0;
    bool is_right = (status != ContactStatus::kOpen) == presses;
    if (presses && law.num_tangents > 0 && law.mu > 0 && scales.is_assembled) {
      const auto j = static_cast<int>(&last - phase.contacts.data());
      const int first = problem_.problem.contacts.row_start(j);
      Eigen::Vector2d slip = Eigen::Vector2d::Zero();
      for (int i = 0; i < law.num_tangents; ++i)
        slip[i] = problem_.problem.contacts.times(j, 1 + i, model_.block_starts(),
                                                  problem_.solution.w.data()) +
                  problem_.problem.contact_bias[first + 1 + i] +
                  problem_.problem.contact_compliance[first + 1 + i] * last.impulse[1 + i];
      const double most =
          law.mu * last.impulse[0] * section_support(settings_.friction, law.num_tangents, -slip);
      const double does = -last.impulse.tail<2>().dot(slip);
      const double free_speed = scales.free_speed;
      if (does >= kSurelySlip * most && slip.norm() > kSurelySlipSpeed * free_speed)
        is_right = is_right && status == ContactStatus::kSlip;
      if (does < kSurelyStick * most && slip.norm() > kSurelySlipSpeed * free_speed)
        is_right = is_right && status == ContactStatus::kStick;
    }
    report.check(Law::kTotals, is_right ? 0 : 1, 0.5, [&] {
      return fmt::format("{}: status {} with the normal impulse {:.3g} N s", name_of(last),
                         static_cast<int>(status), last.impulse[0]);
    });
  }
  for (const auto& entry : totals)
    report.check(Law::kTotals, entry.second.is_seen ? 0 : 1, 0.5, [&] {
      return fmt::format("{} took part in the step, but is not in its row",
                         name_of(*entry.second.last));
    });
}

// -------------------------------------------------------------------------------------------------
// Energy

void Auditor::check_energy(const Row& row, const PhaseWork* work, AuditReport& report) {
  const State& state = row.state;
  double kinetic = 0, potential = 0, spring = 0, potential_size = 0, kinetic_size = 0;
  for (const Model::Part& part : model_.parts()) {
    const auto q = state.q.segment(part.q_offset, part.system->num_q());
    const auto v = state.v.segment(part.v_offset, part.system->num_v());
    const auto* bodies = dynamic_cast<const RigidBodySystem*>(part.system.get());
    if (bodies == nullptr) {
      for (int b = 0; b < part.system->num_blocks(); ++b) {
        const Model::Block& block = model_.blocks()[part.first_block + b];
        RowMatrixXd mass(block.size, block.size);
        part.system->evaluate_block_mass(state.t, q, b, mass);
        const auto u = state.v.segment(block.v_offset, block.size);
        kinetic += 0.5 * u.dot(mass * u);
        kinetic_size += 0.5 * u.cwiseAbs().dot(mass.cwiseAbs() * u.cwiseAbs());
      }
      const double value = part.system->evaluate_potential(state.t, q);
      potential += value;
      potential_size += std::abs(value);
      continue;
    }
    // ½ m v² + ½ ω·Iω and −m g·x, body by body.
    const RigidBodyDescription& scene = bodies->description();
    for (int b = 0; b < static_cast<int>(scene.bodies.size()); ++b) {
      const BodyDescription& body = scene.bodies[b];
      if (body.motion != BodyDescription::Motion::kDynamic) continue;
      const auto velocity = bodies->velocity_of(state.t, v, b);
      const Vector3d linear = velocity.head<3>(), angular = velocity.tail<3>();
      const double own =
          0.5 * body.mass * linear.squaredNorm() + 0.5 * angular.dot(body.inertia * angular);
      kinetic += own;
      const Vector3d place = bodies->pose_of(state.t, q, b).position;
      potential -= body.mass * scene.gravity.dot(place);
      potential_size += body.mass * scene.gravity.norm() * place.norm();
      // The velocity of the centre comes from that of the frame and the turning of the arm.
      const double arm = body.center_of_mass.norm() * angular.norm();
      kinetic_size += own + body.mass * (linear.norm() + arm) * arm;
    }
  }
  VectorXd values(model_.num_springs());
  if (values.size() > 0) model_.evaluate_springs(state.t, state.q, values);
  double spring_size = 0;
  const double extent = extent_of(state.q);
  for (int i = 0; i < model_.num_springs(); ++i) {
    const double stiffness = model_.spring(i).stiffness;
    spring += 0.5 * stiffness * values[i] * values[i];
    spring_size += stiffness * std::abs(values[i]) * (std::abs(values[i]) + extent);
  }
  values.resize(model_.num_constraints());
  if (values.size() > 0) model_.evaluate_constraints(state.t, state.q, values);
  for (int i = 0; i < model_.num_constraints(); ++i) {
    if (!model_.constraint(i).is_compliant()) continue;
    const double stiffness = 1 / model_.constraint(i).compliance;
    spring += 0.5 * stiffness * values[i] * values[i];
    spring_size += stiffness * std::abs(values[i]) * (std::abs(values[i]) + extent);
  }
  const auto& e = row.energy;
  const auto check_entry = [&](int column, double expected, double size) {
    report.check(Law::kEnergy, std::abs(e[column] - expected),
                 kUlps * (size + std::abs(expected)) + 1e-300,
                 [&] { return fmt::format("{} energy [J]", kEnergyNames[column]); });
  };
  check_entry(kKinetic, kinetic, kinetic_size);
  check_entry(kPotential, potential, potential_size);
  check_entry(kSpring, spring, spring_size);

  const double held = e[kKinetic] + e[kPotential] + e[kSpring];
  const double booked = e[kApplied] + e[kMotor] + e[kFriction] + e[kImpact] + e[kNumerical];
  if (!has_last_) start_energy_ = held - booked;
  if (row.step == 0)
    for (int i = kApplied; i <= kNumerical; ++i)
      report.check(Law::kEnergy, std::abs(e[i]), 1e-300, [&] {
        return fmt::format("{} work before the first step [J]", kEnergyNames[i]);
      });
  double size = e.cwiseAbs().sum() + std::abs(start_energy_);
  report.check(Law::kEnergy, std::abs(held - start_energy_ - booked), kUlps * size, [] {
    return std::string("closure: kinetic + potential + spring − start − all work [J]");
  });
  if (!has_last_) return;
  if (work == nullptr) {
    report.skip(Law::kEnergy,
                "work of single entries: the row before or the phases of the step are not there");
    return;
  }
  const auto& before = last_.energy;
  const auto check_work = [&](int column, double expected) {
    const double done = e[column] - before[column];
    report.check(Law::kEnergy, std::abs(done - expected),
                 kUlps * (4 * work->size + kinetic_size + std::abs(e[column])) + 1e-300,
                 [&] { return fmt::format("{} work of the step [J]", kEnergyNames[column]); });
  };
  check_work(kApplied, work->applied);
  check_work(kMotor, work->motor);
  check_work(kFriction, work->friction);
  check_work(kImpact, work->impact);
}

}  // namespace stiction
