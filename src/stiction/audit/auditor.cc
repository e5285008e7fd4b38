#include "stiction/audit/auditor.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "stiction/audit/rounding.h"
#include "stiction/base/error.h"
#include "stiction/base/infinity.h"
#include "stiction/model/rigid_body_system.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

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
/// Step numbers are counted with; above this the sum of two would not be exact as a double.
constexpr std::int64_t kMostSteps = std::int64_t{1} << 52;
/// Of the way of a free fall, in any direction: a gap below it counts as none in `moreau`.
constexpr double kTouchingShare = 1e-6;

enum CertificateColumn { kMomentumResidual, kBilateralResidual, kConeResidual, kGap, kJoint };

}  // namespace

Auditor::Auditor(const Model& model, const AuditSettings& settings, const RecordingHeader& header)
    : model_(model),
      settings_(settings),
      header_(header),
      problem_(model, settings),
      geometry_(model, settings),
      reader_(model, header) {
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
      phase.kind == PhaseName::kStep ? std::string() : fmt::format(" ({})", to_text(phase.kind));
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
  if (row.step < 0 || row.step > kMostSteps)
    throw InputError(fmt::format("recording '{}': row {} has the step number {}, expected 0 to {}",
                                 header_.path, chunk.first_row + k, row.step, kMostSteps));
  row.state.t = chunk.time[k];
  model_.restore(chunk.q.row(k).transpose(), chunk.v.row(k).transpose(), row.state);
  row.energy = chunk.energy.row(k);
  row.certificate = chunk.certificate.row(k);
  row.follows = has_last_ && row.step == last_.step + 1;
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
  row.is_flagged = flagged > 0;
  num_flagged_ += row.is_flagged ? 1 : 0;
  // A step that was accepted above tolerance says by how much.
  row.step_tolerance = settings_.tolerance;
  if (flagged > 0)
    row.step_tolerance = std::max({settings_.tolerance, kSpare * row.certificate[kMomentumResidual],
                                   kSpare * row.certificate[kBilateralResidual],
                                   kSpare * row.certificate[kConeResidual]});
  // Solvers answer to the tolerance; what is below the rounding of this re-derivation is not seen.
  row.step_tolerance = std::max(row.step_tolerance, kResidualRounding);

  const bool is_start = !has_last_;
  const std::vector<AuditedPhase> phases =
      reader_.read(chunk, k, row.state, row.follows ? &last_.state : nullptr, report);
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
  read_contacts_at_end(chunk, k, phases);
  check_phases(phases, row, report);
  check_shapes(row, phases, report);
  if (!phases.empty()) check_totals(chunk, row, phases, report);
  check_accumulated_slip(chunk, row, phases, report);
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
  check_events(chunk, row, phases, report);
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
  if (!is_last && row.follows && passed > 0) {
    if (first_step_ < 0) first_step_ = row.step;
    const double halvings = std::log2(header_.h / passed);
    has_whole_step_ = has_whole_step_ || std::abs(header_.h * std::exp2(-std::round(halvings)) -
                                                  passed) <= rounding + kUlps * header_.h;
  }
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

/// (T3): an impulse only where there is no gap. Where gaps are part of the rows, in `spook`, in
/// position-level and iterated phases, complementarity says so already.
void Auditor::check_touching(const AuditedPhase& phase, AuditReport& report) {
  const bool chooses = phase.kind == PhaseName::kStep && (settings_.scheme == SchemeName::kMoreau ||
                                                          settings_.scheme == SchemeName::kSpook);
  const double share = std::max(kTouchingShare, std::sqrt(settings_.tolerance));
  std::vector<double> touches(phase.contacts.size(), 0.0);
  for (std::size_t j = 0; chooses && j < phase.contacts.size(); ++j) {
    const AuditedContact& contact = phase.contacts[j];
    const FreeFall fall = free_fall(phase, static_cast<int>(j));
    touches[j] = share * fall.along;
    if (settings_.scheme == SchemeName::kMoreau)
      touches[j] = std::max(touches[j], kTouchingShare * fall.beside);
    if (contact.shape_a < 0) continue;
    const auto [place, is_new] =
        touching_.emplace(std::minmax(contact.shape_a, contact.shape_b), touches[j]);
    if (!is_new) place->second = std::min(place->second, touches[j]);
  }
  const bool has_gaps_in_rows = phase.kind == PhaseName::kPositionLevel ||
                                phase.kind == PhaseName::kLinearPositionLevel ||
                                phase.kind == PhaseName::kMidpoint;
  const bool is_step = phase.kind == PhaseName::kStep;
  if (is_step && settings_.scheme == SchemeName::kSpook)
    for (const AuditedContact& contact : phase.contacts)
      if (contact.impulse[0] > 0) pressed_[contact.id] = std::max(0.0, contact.gap);
  if (has_gaps_in_rows || (is_step && settings_.scheme == SchemeName::kSpook)) return;
  const bool is_moreau = is_step && settings_.scheme == SchemeName::kMoreau;
  const EventOptions& events = settings_.stepping.events;
  const VectorXd speeds = phase.start.v.cwiseAbs() + phase.v_end.cwiseAbs();
  const double extent = 1 + extent_of(phase.start.q);
  for (std::size_t j = 0; j < phase.contacts.size(); ++j) {
    const AuditedContact& contact = phase.contacts[j];
    if (!(contact.impulse[0] > 0)) continue;
    double most = kUlps * extent;
    if (is_moreau) {
      most += 2 * touches[j];
    } else {
      // What closed is closed up to the tolerance, or to what its speed passes within that of the
      // time; what presses goes on, and its gap changes by what moves within a phase.
      const BlockRows& rows = problem_.problem.contacts;
      double rate = 0, way = 0, projected = 0;
      for (int e = rows.entry_start(static_cast<int>(j));
           e < rows.entry_start(static_cast<int>(j) + 1); ++e)
        for (int k = 0; k < rows.entry_columns(e); ++k) {
          const double speed = speeds[model_.block_starts()[rows.entry_block(e)] + k];
          rate += std::abs(rows.entry_values(e)[k]) * speed;
          projected += std::abs(rows.entry_values(e)[k]) *
                       projected_[model_.block_starts()[rows.entry_block(e)] + k];
          way = std::max(way, phase.length * speed);
        }
      const auto before = pressed_.find(contact.id);
      // How its gap changed in steps that are not recorded is not known.
      if (settings_.every > 1 || (before == pressed_.end() && !knows_pressing_)) {
        report.skip(Law::kComplementarity,
                    "gaps of contacts that may have pressed in a step that is not recorded");
        continue;
      }
      most += std::max(events.contact_tolerance,
                       events.contact_growth * header_.h * header_.h * header_.h) +
              2 * events.time_tolerance * rate + way + 2 * projected;
      if (before != pressed_.end()) most += before->second + 2 * way * way * extent;
      // What pressed in the step before strikes with what its gap has become meanwhile.
      if (before != pressed_.end() && settings_.scheme == SchemeName::kSpook)
        most += header_.h * rate;
    }
    report.check(Law::kComplementarity, std::max(0.0, contact.gap), most, [&] {
      return fmt::format("{}: gap of a contact that presses [m]", name_of(contact));
    });
    pressed_[contact.id] = std::max(0.0, contact.gap);
  }
}

Auditor::FreeFall Auditor::free_fall(const AuditedPhase& phase, int contact) const {
  const StepProblem& problem = problem_.problem;
  const BlockRows& rows = problem.contacts;
  FreeFall fall;
  for (int e = rows.entry_start(contact); e < rows.entry_start(contact + 1); ++e) {
    const int block = rows.entry_block(e), n = rows.entry_columns(e);
    const MatrixXd mass = problem.mass_block(block);
    const ConstVectorMap p(problem.p.data() + problem.dof_start[block], n);
    const VectorXd change = mass.partialPivLu().solve(VectorXd(p)) -
                            phase.start.v.segment(model_.block_starts()[block], n);
    const ConstVectorMap normal(rows.entry_values(e), n);
    fall.along += phase.length * normal.cwiseAbs().dot(change.cwiseAbs());
    fall.beside += phase.length * normal.lpNorm<Eigen::Infinity>() * change.lpNorm<1>();
  }
  return fall;
}

void Auditor::check_phases(const std::vector<AuditedPhase>& phases, Row& row, AuditReport& report) {
  knows_pressing_ = row.follows && (last_has_phases_ || last_.step == 0);
  if (!row.follows) pressed_.clear();
  last_has_phases_ = !phases.empty();
  touching_.clear();
  projected_ = VectorXd::Zero(model_.num_v());
  impact_energy_.clear();
  impact_energy_size_.clear();
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const AuditedPhase& phase = phases[i];
    impact_energy_.push_back(0);
    impact_energy_size_.push_back(0);
    check_motion(phase, report);
    if (phase.kind == PhaseName::kProjection) {
      if (!row.is_flagged) check_projection(phases, i, report);
      continue;
    }
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
    const ResidualBounds bounds =
        check_problem_laws(problem_.problem, problem_.solution, rounding, tolerance, names, report);
    check_touching(phase, report);
    // At its fixed point the problem of an iterated phase is another one than was solved last.
    if (!is_iterated) {
      bounds_.include(bounds);
      has_bounds_ = true;
    }
    const double motor = work_.motor;
    add_work(model_, settings_, phase, problem_, work_);
    if (phase.length > 0) continue;
    for (int b = 0; b < problem_.problem.num_blocks(); ++b) {
      const int start = model_.block_starts()[b], n = problem_.problem.block_size(b);
      const VectorXd after = phase.v_end.segment(start, n),
                     before = phase.start.v.segment(start, n);
      const MatrixXd mass = problem_.problem.mass_block(b);
      impact_energy_.back() += 0.5 * (after + before).dot(mass * (after - before));
      impact_energy_size_.back() +=
          (after.cwiseAbs() + before.cwiseAbs())
              .dot(mass.cwiseAbs() * (after.cwiseAbs() + before.cwiseAbs()));
    }
    impact_energy_.back() -= work_.motor - motor;
    impact_energy_size_.back() += std::abs(work_.motor - motor);
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

// -------------------------------------------------------------------------------------------------
// Shapes

void Auditor::read_contacts_at_end(const RecordedChunk& chunk, std::int64_t row,
                                   const std::vector<AuditedPhase>& phases) {
  std::map<std::uint64_t, const AuditedContact*> by_id;
  for (const AuditedPhase& phase : phases)
    for (const AuditedContact& contact : phase.contacts) by_id[contact.id] = &contact;
  at_end_.clear();
  const RecordedContacts& contacts = chunk.contacts;
  for (std::int64_t c = contacts.row_start[row]; c < contacts.row_start[row + 1]; ++c) {
    const auto found = by_id.find(contacts.id[c]);
    if (found == by_id.end() || found->second->shape_a < 0) continue;
    AuditedContact& contact = at_end_[contacts.id[c]] = *found->second;
    contact.point = contacts.position.row(c).transpose();
    contact.normal = contacts.normal.row(c).transpose();
    contact.gap = contacts.gap[c];
  }
}

void Auditor::check_shapes(const Row& row, const std::vector<AuditedPhase>& phases,
                           AuditReport& report) {
  smallest_gap_ = kInfinity;
  // Gaps that have names are functions of the coordinates.
  VectorXd gaps(model_.num_fixed_contacts());
  if (gaps.size() > 0) {
    model_.evaluate_fixed_gaps(row.state.t, row.state.q, gaps);
    smallest_gap_ = gaps.minCoeff();
  }
  if (!geometry_.has_shapes()) return;
  const State& start = phases.empty() ? row.state : phases.front().start;
  geometry_.begin_step();
  check_places(phases, report);
  geometry_.set_start(start);
  geometry_.set_pose(row.state.t, row.state.q);
  for (const auto& [id, contact] : at_end_) {
    if (contact.gap == kInfinity && settings_.scheme == SchemeName::kStewartTrinkle) {
      report.skip(Law::kGaps, "at the end of the step: another direction separates the shapes");
      continue;
    }
    geometry_.check_contact(contact, GeometryLaws::When::kAtTheEnd, report);
  }
  const bool is_start = phases.empty();
  const double passed = is_start ? 0 : row.state.t - start.t;
  if (is_start || !row.follows) geometry_.restart();
  const bool is_iterated = std::all_of(phases.begin(), phases.end(), [](const AuditedPhase& phase) {
    return phase.kind == PhaseName::kPositionLevel;
  });
  smallest_gap_ = std::min(smallest_gap_, geometry_.check_end(passed, found_, is_iterated, report));
  if (!is_start) geometry_.check_passage(start, row.state, found_, report);
}

/// Contacts where their rows were evaluated.
void Auditor::check_places(const std::vector<AuditedPhase>& phases, AuditReport& report) {
  for (const AuditedPhase& phase : phases) {
    if (phase.kind == PhaseName::kProjection) continue;
    const auto [t, q, unused] = rows_of(model_, settings_, phase);
    // Features are chosen at the start of the step, not of its parts.
    geometry_.set_start(phases.front().start);
    geometry_.set_pose(t, q);
    std::set<GeometryLaws::Pair> here;
    std::map<GeometryLaws::Pair, std::vector<const AuditedContact*>> by_pair;
    for (const AuditedContact& contact : phase.contacts) {
      if (contact.shape_a < 0) continue;
      here.insert(std::minmax(contact.shape_a, contact.shape_b));
      by_pair[std::minmax(contact.shape_a, contact.shape_b)].push_back(&contact);
      report.check(Law::kGaps, geometry_.knows(contact) ? 0 : 1, 0.5,
                   [&] { return fmt::format("{}: these do not touch", name_of(contact)); });
      geometry_.check_contact(contact, GeometryLaws::When::kWhereRowsAre, report);
    }
    // Those that take part are chosen where the rows are.
    const bool chooses =
        phase.kind == PhaseName::kStep &&
        (settings_.scheme == SchemeName::kMoreau || settings_.scheme == SchemeName::kSpook);
    if (chooses) {
      geometry_.check_found(here, report);
      for (const auto& [pair, contacts] : by_pair)
        geometry_.check_covered(pair, contacts, 0.5 * touching_[pair], report);
    }
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
}

// -------------------------------------------------------------------------------------------------
// What the recording says about itself

void Auditor::check_certificate(const Row& row, bool is_start,
                                const std::vector<AuditedPhase>& phases, AuditReport& report) {
  const auto& c = row.certificate;
  // Projections and iterations have problems of their own, whose residuals are in the certificate.
  const bool is_all = std::none_of(phases.begin(), phases.end(), [](const AuditedPhase& phase) {
    return phase.kind == PhaseName::kProjection || phase.kind == PhaseName::kMidpoint;
  });
  const auto check = [&](int column, double low, double high) {
    const double recorded = c[column];
    const double most = is_start ? 0 : is_all ? high : std::max(high, settings_.tolerance);
    if (!is_all && row.is_flagged && recorded > kSpare * most) {
      report.skip(Law::kCertificate,
                  "residuals of a projection or an iteration that was accepted above tolerance");
      return;
    }
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
  const double extent = 1 + extent_of(row.state.q);
  double error = std::min(smallest_gap_, 0.0) - std::min(recorded, 0.0);
  if (std::abs(error) > 1e-9 * extent + geometry_.turned() && geometry_.has_bounds()) {
    VectorXd gaps(model_.num_fixed_contacts());
    if (gaps.size() > 0) model_.evaluate_fixed_gaps(row.state.t, row.state.q, gaps);
    smallest_gap_ =
        std::min(gaps.size() > 0 ? gaps.minCoeff() : kInfinity, geometry_.measure_smallest());
    error = std::min(smallest_gap_, 0.0) - std::min(recorded, 0.0);
  }
  // Faces go on beyond their ends: features may show an overlap, to no more than what they have
  // moved, that shapes do not have, but none that is smaller.
  double moved = 0;
  if (!phases.empty() && error > 0) {
    VectorXd change;
    model_.displacement(phases.front().start.q, row.state.q, change);
    moved = change.size() == 0 ? 0 : change.cwiseAbs().maxCoeff();
  }
  report.check(Law::kCertificate, std::isnan(recorded) ? kInfinity : std::abs(error),
               1e-9 * extent + geometry_.turned() + moved, [&] {
                 return fmt::format("deepest overlap: recorded {:.3g} m, re-derived {:.3g} m",
                                    recorded, smallest_gap_);
               });
}

void Auditor::finish(const std::vector<std::string>& leftovers, AuditReport& report) {
  if (first_step_ >= 0) {
    report.begin_step(first_step_, 0);
    report.check(Law::kTime, has_whole_step_ ? 0 : 1, 0.5, [&] {
      return fmt::format("no step is as long as h = {} says, or as that halved", header_.h);
    });
  }
  report.begin_step(has_last_ ? last_.step : -1, has_last_ ? last_.state.t : 0);
  for (const std::string& text : leftovers)
    report.check(Law::kTotals, 1, 0.5, [&] { return text; });
  if (num_flagged_ > 0)
    report.notes.push_back(
        fmt::format("{} steps above tolerance: they are held against what their certificates say",
                    num_flagged_));
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

}  // namespace stiction
