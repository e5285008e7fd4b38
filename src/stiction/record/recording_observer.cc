#include "stiction/record/recording_observer.h"

#include "stiction/base/version.h"

namespace stiction {
namespace {

std::vector<std::string> event_kind_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kNumEventKinds; ++i) names.emplace_back(to_text(static_cast<EventKind>(i)));
  return names;
}

std::span<const double> as_span(const VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

ContactRow to_row(const ContactOutcome& contact) {
  return {.a = contact.place.a,
          .b = contact.place.b,
          .id = contact.key,
          .position = contact.place.position,
          .normal = contact.place.normal,
          .gap = contact.gap,
          .impulse = contact.impulse,
          .slip = contact.slip,
          .status = contact.status};
}

}  // namespace

RecordingLayout make_recording_layout(const Simulation& simulation, const std::string& name,
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
          .reaction_names = model.reaction_names(),
          .contact_names = model.fixed_contact_names(),
          .event_kinds = event_kind_names()};
}

RecordingObserver::RecordingObserver(const std::string& path, const Simulation& simulation,
                                     const std::string& name, const std::string& scene_text,
                                     int every)
    : RecordingObserver(std::make_unique<RecordingWriter>(
                            path, make_recording_layout(simulation, name, scene_text)),
                        simulation, every) {}

RecordingObserver::RecordingObserver(std::unique_ptr<RecordingSink> sink,
                                     const Simulation& simulation, int every)
    : sink_(std::move(sink)),
      model_(simulation.model()),
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
    sink_->append_event({.step = record.step,
                         .time = event.time,
                         .kind = static_cast<int>(event.kind),
                         .contact = event.contact < 0 ? -1 : static_cast<std::int64_t>(event.key),
                         .energy = event.energy_change});
  if (!record.certificate.meets(tolerance_)) ++flagged_;
}

void RecordingObserver::append(const StepRecord& record) {
  if (record.step == last_step_) return;
  last_step_ = record.step;
  contacts_.clear();
  for (const ContactOutcome& contact : record.contacts) contacts_.push_back(to_row(contact));
  model_.record(record.state, q_, v_);
  read_reactions(record);
  const EnergyLedger& e = record.energy;
  const Certificate& c = record.certificate;
  sink_->append({.step = record.step,
                 .time = record.state.t,
                 .q = as_span(q_),
                 .v = as_span(v_),
                 .contacts = contacts_,
                 .joint_impulses = record.joint_impulses,
                 .reactions = as_span(reactions_),
                 .energy = {e.now.kinetic, e.now.potential, e.now.spring, e.applied, e.motor,
                            e.friction, e.impact, e.numerical},
                 .certificate = {c.momentum, c.bilateral, c.cone, c.gap, c.joint},
                 .iterations = record.solver.iterations,
                 .stage = record.solver.stage,
                 .wall = record.times.solve,
                 .times = {record.times.detect, record.times.assemble, record.times.certify},
                 .flagged = flagged_});
  flagged_ = 0;
}

/// Mean forces of joints over the step, at its end; zero at a start and in a pure impact.
void RecordingObserver::read_reactions(const StepRecord& record) {
  forces_ = ConstVectorMap(record.joint_impulses.data(),
                           static_cast<Eigen::Index>(record.joint_impulses.size()));
  forces_ *= record.h > 0 ? 1 / record.h : 0;
  model_.evaluate_reactions(record.state, forces_, reactions_);
}

void RecordingObserver::close(const Simulation& simulation, std::string_view status) {
  is_closing_ = true;
  simulation.notify(*this);
  sink_->close(status);
}

}  // namespace stiction
