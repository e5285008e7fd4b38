#include "stiction/record/recording_observer.h"

#include "stiction/base/version.h"

namespace stiction {
namespace {

std::vector<std::string> event_kind_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kNumEventKinds; ++i) names.emplace_back(to_text(static_cast<EventKind>(i)));
  return names;
}

std::vector<std::string> phase_kind_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kNumPhaseKinds; ++i) names.emplace_back(to_text(static_cast<PhaseKind>(i)));
  return names;
}

/// All that the equations of a step depend on beside the scene, as it was when the run began: the
/// command line may have overruled the scene.
std::vector<std::pair<std::string, double>> settings_of(const SimulationOptions& options,
                                                        int every) {
  const SteppingOptions& s = options.stepping;
  return {{"tolerance", options.tolerance},
          {"every", every},
          {"projection", s.projection ? (*s.projection ? 1 : 0) : -1},
          {"jacobians", static_cast<double>(s.jacobians)},
          {"nonlinear", s.nonlinear ? 1 : 0},
          {"gyroscopic", static_cast<double>(s.gyroscopic)},
          {"events.collisions", s.events.collisions ? 1 : 0},
          {"events.transitions", s.events.transitions ? 1 : 0},
          {"events.contact_tolerance", s.events.contact_tolerance},
          {"events.contact_growth", s.events.contact_growth},
          {"events.min_step", s.events.min_step},
          {"events.time_tolerance", s.events.time_tolerance},
          {"events.restitution_threshold", s.events.restitution_threshold},
          {"error_control.tolerance", s.error_control.tolerance},
          {"error_control.min_step", s.error_control.min_step},
          {"spook.relaxation", s.spook.relaxation},
          {"spook.compliance", s.spook.compliance},
          {"spook.geometric_stiffness", s.spook.geometric_stiffness ? 1 : 0},
          {"spook.stiffness_return", s.spook.stiffness_return},
          {"spook.position_iteration", s.spook.position_iteration ? 1 : 0}};
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
          .status = contact.status,
          .accumulated_slip = contact.accumulated_slip};
}

}  // namespace

RecordingLayout make_recording_layout(const Simulation& simulation, const std::string& name,
                                      const std::string& scene_text, int every) {
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
          .event_kinds = event_kind_names(),
          .phase_kinds = phase_kind_names(),
          .has_turning = simulation.options().scheme == "spook",
          .friction = to_text(simulation.options().friction),
          .settings = settings_of(simulation.options(), every)};
}

RecordingObserver::RecordingObserver(const std::string& path, const Simulation& simulation,
                                     const std::string& name, const std::string& scene_text,
                                     int every)
    : RecordingObserver(std::make_unique<RecordingWriter>(
                            path, make_recording_layout(simulation, name, scene_text, every)),
                        simulation, every) {}

RecordingObserver::RecordingObserver(std::unique_ptr<RecordingSink> sink,
                                     const Simulation& simulation, int every)
    : sink_(std::move(sink)), model_(simulation.model()), every_(every) {}

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
  if (record.is_flagged) ++flagged_;
}

void RecordingObserver::append(const StepRecord& record) {
  if (record.step == last_step_) return;
  read_phases(record, last_step_ >= 0 && record.step == last_step_ + 1);
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
                 .flagged = flagged_,
                 .phases = phases_,
                 .held_force = record.held_force == nullptr ? std::span<const double>()
                                                            : as_span(*record.held_force)});
  flagged_ = 0;
}

/// States as rows show them; that of the first phase is the row before, if there is one.
void RecordingObserver::read_phases(const StepRecord& record, bool follows_a_row) {
  phases_.clear();
  if (record.phases == nullptr) return;
  const PhaseLog& log = *record.phases;
  // Rows refer to the storage of these, which must not move: all get their size first.
  if (phase_states_.size() < 2 * static_cast<std::size_t>(log.size()))
    phase_states_.resize(2 * static_cast<std::size_t>(log.size()));
  std::size_t num_contacts = 0;
  for (int i = 0; i < log.size(); ++i) num_contacts += log[i].contacts.size();
  phase_contacts_.resize(num_contacts);
  no_forces_.assign(static_cast<std::size_t>(model_.num_joint_rows()), 0.0);
  std::size_t next_contact = 0;
  for (int i = 0; i < log.size(); ++i) {
    const StepPhase& phase = log[i];
    PhaseRow row{.kind = static_cast<int>(phase.kind),
                 .time = phase.start.t,
                 .length = phase.length,
                 .share = phase.share,
                 .joint_impulses = phase.joint_impulses.empty() ? no_forces_ : phase.joint_impulses,
                 .turning = phase.turning.empty() ? no_forces_ : phase.turning};
    if (i > 0 || !follows_a_row) {
      RecordedState& state = phase_states_[2 * static_cast<std::size_t>(i)];
      model_.record(phase.start, state.q, state.v);
      row.q = as_span(state.q);
      row.v = as_span(state.v);
    }
    if (phase.rows.q.size() > 0) {
      RecordedState& state = phase_states_[2 * static_cast<std::size_t>(i) + 1];
      model_.record(phase.rows, state.q, state.v);
      row.rows_q = as_span(state.q);
      row.rows_v = as_span(state.v);
    }
    const std::size_t first = next_contact;
    for (const PhaseContact& contact : phase.contacts)
      phase_contacts_[next_contact++] = {.id = contact.key,
                                         .shape_a = contact.shape_a,
                                         .shape_b = contact.shape_b,
                                         .point = contact.point,
                                         .normal = contact.normal,
                                         .gap = contact.gap,
                                         .impulse = contact.impulse,
                                         .turning = contact.turning};
    row.contacts = std::span(phase_contacts_).subspan(first, phase.contacts.size());
    phases_.push_back(row);
  }
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
