#include "stiction/record/recording_memory.h"

#include <span>

namespace stiction {
namespace {

void append_all(std::span<const double> values, std::vector<double>& all) {
  all.insert(all.end(), values.begin(), values.end());
}

/// The rows as a matrix; their storage is given back.
RowMatrixXd take_matrix(std::vector<double>& values, std::size_t num_rows,
                        std::size_t num_columns) {
  const std::vector<double> taken = std::move(values);
  values.clear();
  return ConstRowMatrixMap(taken.data(), static_cast<Eigen::Index>(num_rows),
                           static_cast<Eigen::Index>(num_columns));
}

}  // namespace

RecordingMemory::RecordingMemory(const RecordingLayout& layout, Recording& recording)
    : recording_(recording) {
  recording_ = {};
  recording_.name = layout.name;
  recording_.scene = layout.scene;
  recording_.scheme = layout.scheme;
  recording_.solver = layout.solver;
  recording_.version = layout.version;
  recording_.h = layout.h;
  recording_.q_names = layout.q_names;
  recording_.v_names = layout.v_names;
  recording_.joint_names = layout.joint_names;
  recording_.reaction_names = layout.reaction_names;
  recording_.contact_names = layout.contact_names;
  recording_.events.kinds = layout.event_kinds;
}

void RecordingMemory::append(const StepRow& row) {
  recording_.step.push_back(row.step);
  recording_.time.push_back(row.time);
  append_all(row.q, q_);
  append_all(row.v, v_);
  append_all(row.joint_impulses, joint_impulses_);
  append_all(row.reactions, reactions_);
  append_all(row.energy, energy_);
  append_all(row.certificate, certificate_);
  append_all(row.times, times_);
  recording_.iterations.push_back(row.iterations);
  recording_.stage.push_back(row.stage);
  recording_.wall.push_back(row.wall);
  recording_.flagged.push_back(row.flagged);
  RecordedContacts& contacts = recording_.contacts;
  for (const ContactRow& contact : row.contacts) {
    contacts.step.push_back(row.step);
    contacts.a.push_back(contact.a);
    contacts.b.push_back(contact.b);
    contacts.id.push_back(contact.id);
    append_all(contact.position, position_);
    append_all(contact.normal, normal_);
    contacts.gap.push_back(contact.gap);
    append_all(contact.impulse, impulse_);
    append_all(contact.slip, slip_);
    contacts.status.push_back(contact.status);
    append_all(contact.accumulated_slip, accumulated_slip_);
  }
  contacts.row_start.push_back(contacts.size());
}

void RecordingMemory::append_event(const EventRow& event) {
  RecordedEvents& events = recording_.events;
  events.step.push_back(event.step);
  events.time.push_back(event.time);
  events.kind.push_back(event.kind);
  events.contact.push_back(event.contact);
  events.energy.push_back(event.energy);
}

void RecordingMemory::close(std::string_view status) {
  recording_.status = status;
  const std::size_t rows = recording_.time.size();
  recording_.q = take_matrix(q_, rows, recording_.q_names.size());
  recording_.v = take_matrix(v_, rows, recording_.v_names.size());
  recording_.joint_impulses = take_matrix(joint_impulses_, rows, recording_.joint_names.size());
  recording_.reactions = take_matrix(reactions_, rows, recording_.reaction_names.size());
  recording_.energy = take_matrix(energy_, rows, kEnergyNames.size());
  recording_.certificate = take_matrix(certificate_, rows, kCertificateNames.size());
  recording_.times = take_matrix(times_, rows, kTimeNames.size());
  RecordedContacts& contacts = recording_.contacts;
  const auto num_contacts = static_cast<std::size_t>(contacts.size());
  contacts.position = take_matrix(position_, num_contacts, 3);
  contacts.normal = take_matrix(normal_, num_contacts, 3);
  contacts.impulse = take_matrix(impulse_, num_contacts, 3);
  contacts.slip = take_matrix(slip_, num_contacts, 2);
  contacts.accumulated_slip = take_matrix(accumulated_slip_, num_contacts, 2);
}

}  // namespace stiction
