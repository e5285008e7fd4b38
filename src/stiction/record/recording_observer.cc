#include "stiction/record/recording_observer.h"

#include <limits>

#include "stiction/base/version.h"

namespace stiction {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> event_kind_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kNumEventKinds; ++i) names.emplace_back(to_text(static_cast<EventKind>(i)));
  return names;
}

RecordingLayout make_layout(const Simulation& simulation, const std::string& name,
                            const std::string& scene_text) {
  const Model& model = simulation.model();
  return {.name = name,
          .scene = scene_text,
          .scheme = simulation.options().scheme,
          .solver = simulation.options().solver,
          .version = std::string(version()),
          .h = simulation.options().h,
          .q_names = model.q_names(),
          .v_names = model.v_names(),
          .joint_names = model.joint_row_names(),
          .contact_names = model.contact_names(),
          .event_kinds = event_kind_names()};
}

std::span<const double> as_span(const VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

/// A contact of a generalised system has no bodies and no place in space.
ContactRow to_row(const ContactOutcome& contact) {
  return {.a = -1,
          .b = -1,
          .id = static_cast<std::uint64_t>(contact.contact),
          .position = {kNone, kNone, kNone},
          .normal = {kNone, kNone, kNone},
          .gap = contact.gap,
          .impulse = contact.impulse,
          .slip = contact.slip,
          .status = contact.status};
}

}  // namespace

RecordingObserver::RecordingObserver(const std::string& path, const Simulation& simulation,
                                     const std::string& name, const std::string& scene_text,
                                     int every)
    : writer_(path, make_layout(simulation, name, scene_text)),
      every_(every),
      tolerance_(simulation.options().tolerance) {}

void RecordingObserver::on_step(const StepRecord& record) {
  if (record.step != last_seen_step_) take_note(record);
  const bool is_first = last_step_ < 0;
  if (is_first || record.step % every_ == 0 || is_closing_) append(record);
}

/// What is kept of every step, recorded or not.
void RecordingObserver::take_note(const StepRecord& record) {
  last_seen_step_ = record.step;
  for (const StepEvent& event : record.events)
    writer_.append_event({.step = record.step,
                          .time = event.time,
                          .kind = static_cast<int>(event.kind),
                          .contact = event.contact,
                          .energy = event.energy_change});
  if (!record.certificate.meets(tolerance_)) ++flagged_;
}

void RecordingObserver::append(const StepRecord& record) {
  if (record.step == last_step_) return;
  last_step_ = record.step;
  contacts_.clear();
  for (const ContactOutcome& contact : record.contacts) contacts_.push_back(to_row(contact));
  const EnergyLedger& e = record.energy;
  const Certificate& c = record.certificate;
  writer_.append({.step = record.step,
                  .time = record.state.t,
                  .q = as_span(record.state.q),
                  .v = as_span(record.state.v),
                  .contacts = contacts_,
                  .joint_impulses = record.joint_impulses,
                  .energy = {e.now.kinetic, e.now.potential, e.now.spring, e.applied, e.motor,
                             e.friction, e.impact, e.numerical},
                  .certificate = {c.momentum, c.bilateral, c.cone, c.gap, c.joint},
                  .iterations = record.solver.iterations,
                  .stage = record.solver.stage,
                  .wall = record.solver_wall,
                  .flagged = flagged_});
  flagged_ = 0;
}

void RecordingObserver::close(const Simulation& simulation, std::string_view status) {
  is_closing_ = true;
  simulation.notify(*this);
  writer_.close(status);
}

}  // namespace stiction
