#include "stiction/audit/auditor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/error.h"
#include "stiction/model/rigid_body_system.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// As in phase_problem.cc: a few dozen units in the last place.
constexpr double kUlps = 64 * std::numeric_limits<double>::epsilon();
/// A quaternion is made a unit one after every step.
constexpr double kUnit = 1e-13;
/// An iterated phase ends where its end moves by less than a share of the configuration: 1e-11, and
/// a thousand times that where a solver's tolerance is in the way.
constexpr double kIterated = 1e-7;
/// A spare factor for residuals that are compared with recorded ones.
constexpr double kSpare = 1.01;
/// Below this a residual is rounding.
constexpr double kResidualRounding = 1e-12;
/// Residuals are told apart down to this share of the tolerance.
constexpr double kResidualShare = 0.01;

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
enum CertificateColumn { kMomentumResidual, kBilateralResidual, kConeResidual, kGap, kJoint };

/// A share of a slip that is neither all of what friction can do nor far below it tells nothing.
constexpr double kSurelySlip = 1 - 1e-7, kSurelyStick = 1 - 1e-5, kSurelySlipSpeed = 1e-6;

}  // namespace

Auditor::Auditor(const Model& model, const AuditSettings& settings, const RecordingHeader& header)
    : model_(model),
      settings_(settings),
      header_(header),
      problem_(model, settings),
      geometry_(model, settings) {
  const auto check_names = [&](const char* what, const std::vector<std::string>& recorded,
                               const std::vector<std::string>& expected) {
    if (recorded != expected)
      throw InputError(
          fmt::format("recording '{}': the names of its {} are not those of its scene ({} and {})",
                      header.path, what, recorded.size(), expected.size()));
  };
  check_names("coordinates", header.q_names, model.q_names());
  check_names("velocities", header.v_names, model.v_names());
  check_names("joint rows", header.joint_names, model.joint_row_names());
  check_names("contacts", header.contact_names, model.fixed_contact_names());
  for (const std::string& name : header.phase_kinds) {
    const std::optional<PhaseName> kind = try_parse_phase(name);
    if (!kind)
      throw InputError(fmt::format(
          "recording '{}': this program does not know phases of the kind '{}'", header.path, name));
    kinds_.push_back(*kind);
  }
  for (std::size_t i = 0; i + 3 < header.q_names.size(); ++i)
    if (header.q_names[i].ends_with(".qw") && header.q_names[i + 3].ends_with(".qz"))
      quaternion_starts_.push_back(static_cast<int>(i));
}

std::string Auditor::name_of(const AuditedContact& contact) const {
  if (contact.shape_a >= 0) return geometry_.name_of(contact);
  return header_.contact_names[static_cast<std::size_t>(contact.id)];
}

std::string Auditor::name_of_block(int block) const {
  const auto [part, index, offset, n] = model_.blocks()[block];
  const std::string first =
      model_.parts()[part].system->name_of_velocity(offset - model_.parts()[part].v_offset);
  const std::size_t dot = first.rfind('.');
  if (dynamic_cast<const RigidBodySystem*>(model_.parts()[part].system.get()) != nullptr)
    return fmt::format("body {}", first.substr(0, dot));
  return n == 1 ? fmt::format("coordinate {}", first)
                : fmt::format("coordinates from {} on", first);
}

ProblemNames Auditor::names_for(const AuditedPhase& phase) const {
  const std::string kind =
      phase.kind == PhaseName::kStep
          ? std::string()
          : fmt::format(" ({})",
                        header_.phase_kinds[static_cast<std::size_t>(
                            std::find(kinds_.begin(), kinds_.end(), phase.kind) - kinds_.begin())]);
  return {.block = [this, kind](int b) { return name_of_block(b) + kind; },
          .row =
              [this, kind](int i) {
                return fmt::format("joint row {}{}",
                                   header_.joint_names[problem_.rows[i].joint_row], kind);
              },
          .contact =
              [this, kind, &phase](int j) {
                return name_of(phase.contacts[static_cast<std::size_t>(j)]) + kind;
              }};
}

double Auditor::extent_of(const VectorXd& q) const {
  VectorXd sizes;
  model_.measure_coordinates(q, sizes);
  return sizes.size() == 0 ? 0 : sizes.maxCoeff();
}

// -------------------------------------------------------------------------------------------------
// Reading

void Auditor::read_row(const RecordedChunk& chunk, std::int64_t k, Row& row) const {
  row.index = k;
  row.step = chunk.step[k];
  row.state.t = chunk.time[k];
  model_.restore(chunk.q.row(k).transpose(), chunk.v.row(k).transpose(), row.state);
  row.energy = chunk.energy.row(k);
  row.certificate = chunk.certificate.row(k);
  row.follows = has_last_ && row.step == last_.step + 1;
}

std::vector<AuditedPhase> Auditor::read_phases(const RecordedChunk& chunk, const Row& row,
                                               AuditReport& report) const {
  std::vector<AuditedPhase> phases;
  if (!header_.has_phases) return phases;
  const RecordedPhases& from = chunk.phases;
  const auto read_state = [&](std::int64_t place, double t) {
    State state;
    state.t = t;
    model_.restore(from.q.row(place - from.first_state).transpose(),
                   from.v.row(place - from.first_state).transpose(), state);
    return state;
  };
  for (std::int64_t i = from.row_start[row.index]; i < from.row_start[row.index + 1]; ++i) {
    AuditedPhase phase;
    if (from.kind[i] < 0 || from.kind[i] >= static_cast<int>(kinds_.size())) {
      report.check(Law::kTotals, kInfinity, 0,
                   [&] { return fmt::format("kind {} of a phase is unknown", from.kind[i]); });
      return {};
    }
    phase.kind = kinds_[static_cast<std::size_t>(from.kind[i])];
    phase.length = from.length[i];
    phase.share = from.share[i];
    if (from.state[i] >= 0) {
      phase.start = read_state(from.state[i], from.time[i]);
    } else {
      report.check(Law::kTime, row.follows && phases.empty() ? 0 : 1, 0.5, [&] {
        return fmt::format("step {} starts from a row that is not there", row.step);
      });
      if (!row.follows || !phases.empty()) return {};
      phase.start = last_.state;
      phase.start.t = from.time[i];
    }
    if (from.rows[i] >= 0) phase.rows = read_state(from.rows[i], phase.start.t + phase.length);
    const auto nj = static_cast<std::size_t>(from.impulse.cols());
    phase.impulse.assign(from.impulse.data() + i * nj, from.impulse.data() + (i + 1) * nj);
    if (from.turning.cols() > 0)
      phase.turning.assign(from.turning.data() + i * nj, from.turning.data() + (i + 1) * nj);
    for (std::int64_t c = from.contact_start[i]; c < from.contact_start[i + 1]; ++c) {
      AuditedContact contact{.id = from.id[c],
                             .shape_a = from.shape_a[c],
                             .shape_b = from.shape_b[c],
                             .point = from.point.row(c).transpose(),
                             .normal = from.normal.row(c).transpose(),
                             .gap = from.gap[c],
                             .impulse = from.contact_impulse.row(c).transpose()};
      if (from.contact_turning.cols() == 3)
        contact.turning = from.contact_turning.row(c).transpose();
      const bool is_known =
          contact.shape_a >= 0
              ? geometry_.has_shapes() && geometry_.knows(contact)
              : contact.id < static_cast<std::uint64_t>(model_.num_fixed_contacts());
      report.check(Law::kGaps, is_known ? 0 : 1, 0.5, [&] {
        return fmt::format("contact {} of shapes {} and {}: there is no such pair", contact.id,
                           contact.shape_a, contact.shape_b);
      });
      if (!is_known) return {};
      phase.contacts.push_back(contact);
    }
    if (!phases.empty()) {
      phases.back().q_end = phase.start.q;
      phases.back().v_end = phase.start.v;
    }
    phases.push_back(std::move(phase));
  }
  if (!phases.empty()) {
    phases.back().q_end = row.state.q;
    phases.back().v_end = row.state.v;
  }
  return phases;
}

// -------------------------------------------------------------------------------------------------
// Rows

void Auditor::check_rows(const RecordedChunk& chunk, AuditReport& report) {
  for (std::int64_t k = 0; k < chunk.num_rows(); ++k) check_row(chunk, k, report);
}

void Auditor::check_row(const RecordedChunk& chunk, std::int64_t k, AuditReport& report) {
  Row row;
  read_row(chunk, k, row);
  report.begin_step(row.step, row.state.t);
  ++report.steps;
  const bool is_finite =
      row.state.q.allFinite() && row.state.v.allFinite() && std::isfinite(row.state.t);
  report.check(Law::kMotion, is_finite ? 0 : kInfinity, 1,
               [] { return std::string("state that is not finite"); });
  check_time(chunk, row, report);
  check_quaternions(row, report);
  if (!is_finite) {
    has_last_ = false;
    geometry_.restart();
    return;
  }
  const int flagged = chunk.flagged.empty() ? 0 : chunk.flagged[k];
  num_flagged_ += flagged;
  // A step that was accepted above tolerance says by how much.
  row.step_tolerance = settings_.tolerance;
  if (flagged > 0)
    row.step_tolerance = std::max({settings_.tolerance, kSpare * row.certificate[kMomentumResidual],
                                   kSpare * row.certificate[kBilateralResidual],
                                   kSpare * row.certificate[kConeResidual]});
  // Solvers answer to the tolerance; what is below the rounding of this re-derivation is not seen.
  row.step_tolerance = std::max(row.step_tolerance, kResidualRounding);

  const bool is_start = !has_last_;
  const std::vector<AuditedPhase> phases = read_phases(chunk, row, report);
  work_ = {};
  bounds_ = {};
  has_bounds_ = false;
  found_.clear();
  for (const AuditedPhase& phase : phases)
    for (const AuditedContact& contact : phase.contacts)
      if (contact.shape_a >= 0) found_.insert(std::minmax(contact.shape_a, contact.shape_b));
  if (!is_start && phases.empty())
    for (const Law law :
         {Law::kMotion, Law::kMomentum, Law::kJointRows, Law::kEffortBounds, Law::kCones,
          Law::kComplementarity, Law::kDissipation, Law::kTotals, Law::kContactsFound})
      report.skip(law, header_.has_phases ? "the phases of the step cannot be read"
                                          : "the recording has no phases (an older version)");
  check_phases(phases, row, report);
  check_shapes(chunk, row, phases, report);
  if (!phases.empty()) check_totals(chunk, row, phases, report);
  check_energy(row, row.follows && !phases.empty() ? &work_ : nullptr, report);
  check_certificate(row, is_start, phases, report);
  if (!chunk.flagged.empty()) {
    const double residual = row.certificate.head<3>().maxCoeff();
    const bool is_above = residual > settings_.tolerance;
    report.check(Law::kStatus, is_above && flagged == 0 ? 1 : 0, 0.5, [&] {
      return fmt::format("residual {:.3g} is above the tolerance {:.3g}, but not flagged", residual,
                         settings_.tolerance);
    });
  }
  check_events(chunk, row, report);
  last_ = std::move(row);
  has_last_ = true;
}

void Auditor::check_time(const RecordedChunk& chunk, const Row& row, AuditReport& report) {
  if (!has_last_) return;
  const double passed = row.state.t - last_.state.t;
  const double rounding = kUlps * (std::abs(row.state.t) + std::abs(last_.state.t));
  report.check(Law::kTime, passed > 0 ? 0 : 1, 0.5, [&] {
    return fmt::format("time {:.17g} does not come after {:.17g}", row.state.t, last_.state.t);
  });
  const std::int64_t every = std::max(1, settings_.every);
  const std::int64_t expected = (last_.step / every + 1) * every;
  const bool is_last = chunk.first_row + row.index + 1 == header_.num_rows;
  const bool is_next =
      row.step == expected || (is_last && row.step > last_.step && row.step < expected);
  report.check(Law::kTime, is_next ? 0 : 1, 0.5, [&] {
    return fmt::format("step {} follows step {}, expected is {}", row.step, last_.step, expected);
  });
  const auto steps = static_cast<double>(row.step - last_.step);
  report.check(Law::kTime, passed - steps * header_.h, rounding + kUlps * steps * header_.h, [&] {
    return fmt::format("{} steps took longer than h = {} allows [s]", steps, header_.h);
  });
  if (!header_.has_phases) return;
  const RecordedPhases& phases = chunk.phases;
  const std::int64_t first = phases.row_start[row.index], end = phases.row_start[row.index + 1];
  report.check(Law::kTime, first < end ? 0 : 1, 0.5,
               [] { return std::string("a step without phases"); });
  if (first == end) return;
  double t = row.follows ? last_.state.t : phases.time[first];
  for (std::int64_t i = first; i < end; ++i) {
    report.check(Law::kTime, std::abs(phases.time[i] - t), rounding, [&] {
      return fmt::format("phase {} of the step does not begin where the one before ends [s]",
                         i - first);
    });
    t = phases.time[i] + phases.share[i] * phases.length[i];
    report.check(Law::kTime, phases.share[i] > 0 && phases.share[i] <= 1 ? 0 : 1, 0.5, [&] {
      return fmt::format("phase {} of the step has the share {}", i - first, phases.share[i]);
    });
  }
  // What is left of a step after its events and below 1e-14 of it is not taken.
  report.check(Law::kTime, std::abs(row.state.t - t), rounding + kUlps * header_.h,
               [] { return std::string("the phases of the step do not end with it [s]"); });
}

void Auditor::check_quaternions(const Row& row, AuditReport& report) const {
  for (const Model::Part& part : model_.parts()) {
    const auto* bodies = dynamic_cast<const RigidBodySystem*>(part.system.get());
    if (bodies == nullptr) continue;
    // Behind seven numbers per moving body come angles.
    int offset = part.q_offset + 3;
    for (const BodyDescription& body : bodies->description().bodies) {
      if (body.motion != BodyDescription::Motion::kDynamic) continue;
      const double error = std::abs(row.state.q.segment<4>(offset).norm() - 1);
      report.check(Law::kQuaternions, error, kUnit,
                   [&] { return fmt::format("body {}: length minus 1", body.name); });
      offset += 7;
    }
  }
}

// -------------------------------------------------------------------------------------------------
// Phases

void Auditor::check_phases(const std::vector<AuditedPhase>& phases, Row& row, AuditReport& report) {
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const AuditedPhase& phase = phases[i];
    check_motion(phase, report);
    if (phase.kind == PhaseName::kProjection) continue;
    const AuditedPhase* compression =
        phase.kind == PhaseName::kDecompression && i > 0 ? &phases[i - 1] : nullptr;
    const std::string reason = problem_.assemble(phase, compression);
    if (!reason.empty()) {
      report.check(Law::kTotals, kInfinity, 0, [&] { return reason; });
      continue;
    }
    const ProblemNames names = names_for(phase);
    for (const PhaseProblem::PrescribedSpring& spring : problem_.prescribed)
      report.check(Law::kJointRows, std::abs(spring.recorded - spring.expected), spring.rounding,
                   [&] {
                     return fmt::format("spring {}: impulse of the start of the step [N s]",
                                        header_.joint_names[spring.joint_row]);
                   });
    ProblemRounding rounding{.p = problem_.p_rounding,
                             .w = problem_.w_rounding,
                             .contact_rows = problem_.contact_rounding,
                             .place = extent_of(phase.start.q)};
    for (const PhaseProblem::Row& joint : problem_.rows) rounding.rows.push_back(joint.rounding);
    const bool is_iterated = phase.kind == PhaseName::kMidpoint;
    const double tolerance =
        is_iterated ? std::max(row.step_tolerance, kIterated) : row.step_tolerance;
    bounds_.include(check_problem_laws(problem_.problem, problem_.solution, rounding, tolerance,
                                       names, report));
    // At its fixed point the problem of an iterated phase is another one than was solved last.
    if (!is_iterated) has_bounds_ = true;
    add_work(phase, work_);
  }
}

void Auditor::check_motion(const AuditedPhase& phase, AuditReport& report) const {
  const State& start = phase.start;
  const double used = phase.share * phase.length;
  VectorXd expected = start.q, difference;
  switch (phase.kind) {
    case PhaseName::kProjection: {
      const double error = (phase.v_end - start.v).cwiseAbs().maxCoeff();
      report.check(Law::kMotion, error, kUlps * (start.v.cwiseAbs().maxCoeff() + 1e-300), [] {
        return std::string("a projection of positions changed velocities [m/s]");
      });
      return;
    }
    case PhaseName::kImpact:
    case PhaseName::kDecompression:
    case PhaseName::kInelasticImpact:
    case PhaseName::kVelocityProjection:
      break;
    case PhaseName::kPositionLevel:
    case PhaseName::kLinearPositionLevel:
      model_.displace(start.q, phase.v_end, used, expected);
      break;
    case PhaseName::kMidpoint:
      model_.displace(start.q, 0.5 * (start.v + phase.v_end), used, expected);
      break;
    case PhaseName::kStep:
      if (settings_.scheme == SchemeName::kMoreau) {
        VectorXd mid;
        model_.displace(start.q, start.v, 0.5 * used, mid);
        model_.displace(mid, phase.v_end, 0.5 * used, expected);
      } else if (settings_.scheme == SchemeName::kTrapezoidal1 ||
                 settings_.scheme == SchemeName::kTrapezoidal2) {
        model_.displace(start.q, 0.5 * (start.v + phase.v_end), used, expected);
      } else {
        model_.displace(start.q, phase.v_end, used, expected);
      }
      break;
  }
  model_.displacement(expected, phase.q_end, difference);
  VectorXd sizes;
  model_.measure_coordinates(start.q, sizes);
  const VectorXd speeds = start.v.cwiseAbs() + phase.v_end.cwiseAbs();
  for (int b = 0; b < static_cast<int>(model_.blocks().size()); ++b) {
    const auto [part, index, offset, n] = model_.blocks()[b];
    // An offset of the frame from the centre of mass couples places and turns of a body.
    const double size =
        sizes.segment(offset, n).maxCoeff() + used * speeds.segment(offset, n).maxCoeff();
    report.check(Law::kMotion, difference.segment(offset, n).cwiseAbs().maxCoeff(),
                 kUlps * (size + 1e-300), [&] {
                   return fmt::format("{}: distance from where its velocity leads [m or rad]",
                                      name_of_block(b));
                 });
  }
  for (const Model::Part& part : model_.parts()) {
    const auto* bodies = dynamic_cast<const RigidBodySystem*>(part.system.get());
    if (bodies == nullptr) continue;
    int moving = 0;
    for (const BodyDescription& body : bodies->description().bodies)
      moving += body.motion == BodyDescription::Motion::kDynamic ? 1 : 0;
    for (int i = 7 * moving; i < bodies->num_q(); ++i) {
      const double now = phase.q_end[part.q_offset + i], then = expected[part.q_offset + i];
      // Angles are counted on from the poses, which turn by that much.
      report.check(Law::kMotion, std::abs(now - then), 1e-9 + kUlps * std::abs(then), [&] {
        return fmt::format("angle {} of a joint: distance from that of its bodies [rad]",
                           i - 7 * moving);
      });
    }
  }
}

/// (T30).
void Auditor::add_work(const AuditedPhase& phase, Work& work) const {
  const StepProblem& problem = problem_.problem;
  const State& start = phase.start;
  const VectorXd mean = 0.5 * (start.v + phase.v_end);
  const auto rate = [&](const BlockRows& rows, int row_block, int row, const double* x) {
    return rows.times(row_block, row, model_.block_starts(), x);
  };
  using Kind = PhaseProblem::Row::Kind;
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    const PhaseProblem::Row& row = problem_.rows[i];
    const double impulse = phase.share * problem_.solution.lambda[i];
    const double mean_rate = rate(problem.bilateral, i, 0, mean.data());
    if (row.kind == Kind::kMotor) {
      work.add(work.motor, impulse * mean_rate);
      continue;
    }
    if (row.kind == Kind::kFriction) work.add(work.friction, impulse * (mean_rate + row.drift));
    work.add(work.motor, -impulse * row.drift);
    if (row.kind != Kind::kSpring || row.damping == 0) continue;
    double damped = rate(problem.bilateral, i, 0, problem_.solution.w.data());
    if (row.damps_mean_of_end)
      damped = 0.5 * (damped + rate(problem.bilateral, i, 0, start.v.data()));
    work.add(work.friction,
             -phase.share * row.damping * (damped + row.drift) * (mean_rate + row.drift));
  }
  for (const PhaseProblem::PrescribedSpring& spring : problem_.prescribed) {
    const double mean_rate =
        rate(problem_.prescribed_rows.rows, spring.gradient, 0, mean.data()) + spring.drift;
    work.add(work.motor, -phase.share * spring.recorded * spring.drift);
    work.add(work.friction, phase.share * spring.damping_impulse * mean_rate);
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int first = problem.contacts.row_start(j);
    for (int i = 0; i < problem.contacts.num_rows(j); ++i) {
      const double impulse = phase.share * phase.contacts[j].impulse[i];
      const double drift = problem_.contact_drift[first + i];
      const double mean_rate = rate(problem.contacts, j, i, mean.data());
      work.add(i == 0 ? work.impact : work.friction, impulse * (mean_rate + drift));
      work.add(work.motor, -impulse * drift);
    }
  }
  const double used = phase.share * phase.length;
  if (used == 0) return;
  VectorXd force(start.v.size()), at;
  const auto add_force = [&](double t, const VectorXd& q, const VectorXd& v, double duration) {
    model_.evaluate_applied_force(t, q, v, force);
    for (Eigen::Index i = 0; i < v.size(); ++i)
      work.add(work.applied, duration * force[i] * mean[i]);
  };
  if (phase.kind == PhaseName::kMidpoint) {
    model_.displace(start.q, mean, 0.5 * used, at);
    add_force(start.t + 0.5 * used, at, mean, used);
  } else if (phase.kind != PhaseName::kStep || settings_.scheme == SchemeName::kMoreau) {
    model_.displace(start.q, start.v, 0.5 * phase.length, at);
    add_force(start.t + 0.5 * phase.length, at, start.v, used);
  } else if (problem_.wants_applied_mean) {
    add_force(start.t, start.q, start.v, 0.5 * used);
    add_force(start.t + used, phase.q_end, phase.v_end, 0.5 * used);
  } else {
    add_force(start.t, start.q, start.v, used);
  }
}

// -------------------------------------------------------------------------------------------------
// Shapes

void Auditor::check_shapes(const RecordedChunk& chunk, const Row& row,
                           const std::vector<AuditedPhase>& phases, AuditReport& report) {
  smallest_gap_ = kInfinity;
  // Gaps that have names are functions of the coordinates.
  VectorXd gaps(model_.num_fixed_contacts());
  if (gaps.size() > 0) {
    model_.evaluate_fixed_gaps(row.state.t, row.state.q, gaps);
    smallest_gap_ = gaps.minCoeff();
  }
  if (!geometry_.has_shapes()) return;
  const State& start = phases.empty() ? row.state : phases.front().start;
  check_places(phases, row, report);
  // Contacts as the row shows them, at its end.
  std::map<std::uint64_t, const AuditedContact*> by_id;
  for (const AuditedPhase& phase : phases)
    for (const AuditedContact& contact : phase.contacts) by_id[contact.id] = &contact;
  geometry_.set_start(start);
  geometry_.set_pose(row.state.t, row.state.q);
  const RecordedContacts& contacts = chunk.contacts;
  for (std::int64_t c = contacts.row_start[row.index]; c < contacts.row_start[row.index + 1]; ++c) {
    const auto found = by_id.find(contacts.id[c]);
    if (found == by_id.end() || found->second->shape_a < 0) continue;
    AuditedContact contact = *found->second;
    contact.point = contacts.position.row(c).transpose();
    contact.normal = contacts.normal.row(c).transpose();
    contact.gap = contacts.gap[c];
    if (contact.gap == kInfinity && settings_.scheme == SchemeName::kStewartTrinkle) {
      report.skip(Law::kGaps, "at the end of the step: another direction separates the shapes");
      continue;
    }
    geometry_.check_contact(contact, report);
  }
  const bool is_start = phases.empty();
  const double passed = is_start ? 0 : row.state.t - start.t;
  if (is_start) geometry_.restart();
  smallest_gap_ = std::min(smallest_gap_, geometry_.check_end(passed, found_, report));
  if (!is_start) geometry_.check_passage(start, row.state, found_, report);
}

/// Contacts where their rows were evaluated.
void Auditor::check_places(const std::vector<AuditedPhase>& phases, const Row& row,
                           AuditReport& report) {
  for (const AuditedPhase& phase : phases) {
    if (phase.kind == PhaseName::kProjection) continue;
    double ahead = 0;
    if (phase.kind == PhaseName::kLinearPositionLevel) ahead = 1;
    if (phase.kind == PhaseName::kStep) {
      if (settings_.scheme == SchemeName::kTrapezoidal1) ahead = 1;
      if (settings_.scheme == SchemeName::kTrapezoidal2 || settings_.scheme == SchemeName::kMoreau)
        ahead = 0.5;
    }
    VectorXd q = phase.start.q;
    double t = phase.start.t;
    if (phase.rows) {
      q = phase.rows->q;
      t += phase.length;
    } else if (ahead > 0) {
      model_.displace(phase.start.q, phase.start.v, ahead * phase.length, q);
      t += ahead * phase.length;
    }
    // Features are chosen at the start of the step, not of its parts.
    geometry_.set_start(phases.front().start);
    geometry_.set_pose(t, q);
    std::set<GeometryLaws::Pair> here;
    for (const AuditedContact& contact : phase.contacts) {
      if (contact.shape_a < 0) continue;
      here.insert(std::minmax(contact.shape_a, contact.shape_b));
      geometry_.check_contact(contact, report);
    }
    // Those that take part are chosen where the rows are.
    const bool chooses =
        phase.kind == PhaseName::kStep &&
        (settings_.scheme == SchemeName::kMoreau || settings_.scheme == SchemeName::kSpook);
    if (chooses) geometry_.check_found(here, report);
    VectorXd gaps(model_.num_fixed_contacts());
    if (gaps.size() == 0) continue;
    model_.evaluate_fixed_gaps(t, q, gaps);
    for (const AuditedContact& contact : phase.contacts) {
      if (contact.shape_a >= 0) continue;
      const double gap = gaps[static_cast<Eigen::Index>(contact.id)];
      report.check(Law::kGaps, std::abs(gap - contact.gap),
                   kUlps * (1 + extent_of(q) + std::abs(gap)),
                   [&] { return fmt::format("{}: recorded gap [m]", name_of(contact)); });
    }
  }
  (void)row;
}

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
      VectorXd gaps(model_.num_fixed_contacts());
      model_.evaluate_fixed_gaps(row.state.t, row.state.q, gaps);
      const double gap = gaps[static_cast<Eigen::Index>(last.id)];
      report.check(Law::kGaps, std::abs(gap - contacts.gap[c]),
                   kUlps * (1 + extent_of(row.state.q) + std::abs(gap)),
                   [&] { return fmt::format("{}: gap at the end [m]", name_of(last)); });
    }
    // Slip and status are those of the last phase that the contact took part in.
    const std::size_t place = static_cast<std::size_t>(total.phase - phases.data());
    const AuditedPhase* compression =
        total.phase->kind == PhaseName::kDecompression && place > 0 ? &phases[place - 1] : nullptr;
    const AuditedPhase& phase = *total.phase;
    const ContactInfo& law = problem_.law_of(last);
    double t = phase.start.t;
    VectorXd q = phase.start.q;
    const bool is_step = phase.kind == PhaseName::kStep;
    double ahead = phase.kind == PhaseName::kLinearPositionLevel ? 1 : 0;
    if (is_step && settings_.scheme == SchemeName::kTrapezoidal1) ahead = 1;
    if (is_step &&
        (settings_.scheme == SchemeName::kTrapezoidal2 || settings_.scheme == SchemeName::kMoreau))
      ahead = 0.5;
    if (phase.rows) {
      q = phase.rows->q;
      t += phase.length;
    } else if (ahead > 0) {
      model_.displace(phase.start.q, phase.start.v, ahead * phase.length, q);
      t += ahead * phase.length;
    }
    RowSet rows;
    problem_.append_contact(t, q, last, rows);
    const double speed = phase.v_end.cwiseAbs().maxCoeff() * (1 + extent_of(q));
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
    if (presses && law.num_tangents > 0 && law.mu > 0 &&
        problem_.assemble(phase, compression).empty()) {
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
      if (does >= kSurelySlip * most && slip.norm() > kSurelySlipSpeed * speed)
        is_right = is_right && status == ContactStatus::kSlip;
      if (does < kSurelyStick * most) is_right = is_right && status == ContactStatus::kStick;
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

void Auditor::check_energy(const Row& row, const Work* work, AuditReport& report) {
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

// -------------------------------------------------------------------------------------------------
// What the recording says about itself

void Auditor::check_certificate(const Row& row, bool is_start,
                                const std::vector<AuditedPhase>& phases,
                                AuditReport& report) const {
  const auto& c = row.certificate;
  // Projections and iterations have problems of their own, whose residuals are in the certificate.
  const bool is_all = std::none_of(phases.begin(), phases.end(), [](const AuditedPhase& phase) {
    return phase.kind == PhaseName::kProjection || phase.kind == PhaseName::kMidpoint;
  });
  const auto check = [&](int column, double low, double high) {
    const double recorded = c[column];
    const double most = is_start ? 0 : is_all ? high : std::max(high, row.step_tolerance);
    const double error = std::max(low / kSpare - recorded, recorded - kSpare * most);
    report.check(Law::kCertificate, std::isfinite(recorded) ? std::max(0.0, error) : kInfinity,
                 std::max(kResidualRounding, kResidualShare * settings_.tolerance), [&] {
                   return fmt::format("residual {}: recorded {:.3g}, re-derived {:.3g} to {:.3g}",
                                      kCertificateNames[column], recorded, low, most);
                 });
  };
  if (has_bounds_ || is_start) {
    check(kMomentumResidual, bounds_.momentum_low, bounds_.momentum_high);
    check(kBilateralResidual, bounds_.bilateral_low, bounds_.bilateral_high);
    check(kConeResidual, bounds_.cone_low, bounds_.cone_high);
  } else {
    report.skip(Law::kCertificate, "residuals: the phases of the step are not there or iterated");
  }
  VectorXd theta(model_.num_constraints());
  double joint = 0;
  if (theta.size() > 0) model_.evaluate_constraints(row.state.t, row.state.q, theta);
  for (int i = 0; i < model_.num_constraints(); ++i)
    if (model_.constraint(i).is_rigid()) joint = std::max(joint, std::abs(theta[i]));
  report.check(Law::kCertificate, std::abs(joint - c[kJoint]),
               kUlps * (1 + extent_of(row.state.q) + joint),
               [] { return std::string("joint error at the end of the step"); });
  // Features of the step's start may show a gap that is a little off, and shapes out of reach none.
  const double recorded = c[kGap];
  if (!geometry_.has_shapes()) {
    const double error = recorded == smallest_gap_ ? 0 : std::abs(recorded - smallest_gap_);
    report.check(Law::kCertificate, error, kUlps * (1 + extent_of(row.state.q)),
                 [] { return std::string("smallest gap at the end of the step [m]"); });
    return;
  }
  // The recorded figure is the smallest of all contacts in reach, also of those that did not act.
  double turned = 0;
  if (!phases.empty()) {
    VectorXd change;
    model_.displacement(phases.front().start.q, row.state.q, change);
    turned = change.size() == 0 ? 0 : change.cwiseAbs().maxCoeff();
  }
  const double extent = 1 + extent_of(row.state.q);
  const double error = std::min(smallest_gap_, 0.0) - std::min(recorded, 0.0);
  report.check(Law::kCertificate, std::isnan(recorded) ? kInfinity : std::abs(error),
               1e-9 * extent + turned * extent, [&] {
                 return fmt::format("deepest overlap: recorded {:.3g} m, re-derived {:.3g} m",
                                    recorded, smallest_gap_);
               });
}

void Auditor::check_events(const RecordedChunk& chunk, const Row& row, AuditReport& report) const {
  if (!row.follows) return;
  const RecordedEvents& events = chunk.events;
  const auto first = std::lower_bound(events.step.begin(), events.step.end(), row.step);
  double last = last_.state.t;
  const double rounding = kUlps * std::abs(row.state.t);
  for (auto i = first - events.step.begin(); i < events.size() && events.step[i] == row.step; ++i) {
    const double t = events.time[i];
    report.check(Law::kTime, std::max(last - t, t - row.state.t), rounding, [&] {
      return fmt::format("event {} of the step at {:.17g} s is not within it, in order",
                         i - (first - events.step.begin()), t);
    });
    last = std::max(last, t);
  }
}

void Auditor::finish(const std::vector<std::string>& leftovers, AuditReport& report) {
  report.begin_step(has_last_ ? last_.step : -1, has_last_ ? last_.state.t : 0);
  for (const std::string& text : leftovers)
    report.check(Law::kTotals, 1, 0.5, [&] { return text; });
  const bool says_above = header_.status == "above tolerance";
  const bool is_right =
      (header_.status != "complete" || num_flagged_ == 0) && (!says_above || num_flagged_ > 0);
  report.check(Law::kStatus, is_right ? 0 : 1, 0.5, [&] {
    return fmt::format("the run ended '{}', {} steps are flagged", header_.status, num_flagged_);
  });
  const std::set<std::string> known = {"complete", "above tolerance", "rejected", "interrupted",
                                       "running"};
  report.check(Law::kStatus, known.contains(header_.status) ? 0 : 1, 0.5,
               [&] { return fmt::format("unknown status '{}'", header_.status); });
}

void audit_recording(RecordingStream& stream, const Model& model, const AuditSettings& settings,
                     AuditReport& report,
                     const std::function<void(std::int64_t, std::int64_t)>& progress) {
  Auditor auditor(model, settings, stream.header());
  RecordedChunk chunk;
  while (stream.next(chunk)) {
    auditor.check_rows(chunk, report);
    if (progress) progress(chunk.first_row + chunk.num_rows(), stream.header().num_rows);
  }
  auditor.finish(stream.leftovers(), report);
}

AuditSettings read_settings(const RecordingHeader& header, const AuditSettings& fallback,
                            std::vector<std::string>& notes) {
  AuditSettings settings = fallback;
  const std::optional<SchemeName> scheme = try_parse_scheme(header.scheme);
  if (!scheme)
    throw InputError(
        fmt::format("recording '{}': its scheme is '{}', which this program does not know",
                    header.path, header.scheme));
  settings.scheme = *scheme;
  settings.h = header.h;
  if (header.settings.empty()) {
    notes.emplace_back(
        "the recording does not say with which settings it was made (an older version): those of "
        "its scene are taken");
    return settings;
  }
  if (const auto section = try_parse_friction_section(header.friction))
    settings.friction = *section;
  const auto get = [&](const char* name, double otherwise) {
    const auto found = header.settings.find(name);
    return found == header.settings.end() ? otherwise : found->second;
  };
  SteppingOptions& s = settings.stepping;
  settings.tolerance = get("tolerance", settings.tolerance);
  settings.every = static_cast<int>(get("every", settings.every));
  const double projection = get("projection", -1);
  s.projection = projection < 0 ? std::nullopt : std::optional<bool>(projection > 0);
  s.jacobians = static_cast<ForceJacobians>(
      static_cast<int>(get("jacobians", static_cast<double>(s.jacobians))));
  s.nonlinear = get("nonlinear", s.nonlinear ? 1 : 0) != 0;
  s.gyroscopic = static_cast<GyroscopicTerm>(
      static_cast<int>(get("gyroscopic", static_cast<double>(s.gyroscopic))));
  s.events.collisions = get("events.collisions", s.events.collisions ? 1 : 0) != 0;
  s.events.transitions = get("events.transitions", s.events.transitions ? 1 : 0) != 0;
  s.events.contact_tolerance = get("events.contact_tolerance", s.events.contact_tolerance);
  s.events.contact_growth = get("events.contact_growth", s.events.contact_growth);
  s.events.min_step = get("events.min_step", s.events.min_step);
  s.events.time_tolerance = get("events.time_tolerance", s.events.time_tolerance);
  s.events.restitution_threshold =
      get("events.restitution_threshold", s.events.restitution_threshold);
  s.error_control.tolerance = get("error_control.tolerance", s.error_control.tolerance);
  s.error_control.min_step = get("error_control.min_step", s.error_control.min_step);
  s.spook.relaxation = get("spook.relaxation", s.spook.relaxation);
  s.spook.compliance = get("spook.compliance", s.spook.compliance);
  s.spook.geometric_stiffness =
      get("spook.geometric_stiffness", s.spook.geometric_stiffness ? 1 : 0) != 0;
  s.spook.stiffness_return = get("spook.stiffness_return", s.spook.stiffness_return);
  s.spook.position_iteration =
      get("spook.position_iteration", s.spook.position_iteration ? 1 : 0) != 0;
  return settings;
}

}  // namespace stiction
