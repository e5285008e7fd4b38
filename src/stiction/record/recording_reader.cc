#include "stiction/record/recording_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <new>

#include "stiction/base/error.h"
#include "stiction/base/hdf5_file.h"
#include "stiction/record/recording_extent.h"
#include "stiction/record/recording_format.h"
#include "stiction/record/recording_parts.h"

namespace stiction {
namespace {

using namespace recording_parts;

void read_description(const Hdf5File& file, Recording& recording) {
  read_names(file, recording);
  recording.scene = file.read_text("scene");
}

void read_steps(const Hdf5File& file, std::int64_t n, Recording& recording) {
  recording.time = read_column<double>(file, "time", 0, n);
  recording.step = read_column<std::int64_t>(file, "step", 0, n);
  recording.q = read_matrix(file, "q", 0, n, recording.q_names.size());
  recording.v = read_matrix(file, "v", 0, n, recording.v_names.size());
  recording.joint_impulses =
      read_matrix(file, "joints/impulse", 0, n, recording.joint_names.size());
  recording.reactions = RowMatrixXd(static_cast<Eigen::Index>(n), 0);
  if (!recording.reaction_names.empty())
    recording.reactions =
        read_matrix(file, "joints/reaction", 0, n, recording.reaction_names.size());
  recording.energy = read_group(file, "energy/", kEnergyNames, 0, n);
  recording.certificate = read_group(file, "certificate/", kCertificateNames, 0, n);
  recording.iterations = read_column<int>(file, "solver/iterations", 0, n);
  recording.stage = read_column<int>(file, "solver/stage", 0, n);
  recording.wall = read_column<double>(file, "solver/wall", 0, n);
  if (file.has("times/detect")) recording.times = read_group(file, "times/", kTimeNames, 0, n);
  if (file.has("solver/flagged"))
    recording.flagged = read_column<int>(file, "solver/flagged", 0, n);
  const auto is_not_later = [](std::int64_t a, std::int64_t b) { return b <= a; };
  if (std::adjacent_find(recording.step.begin(), recording.step.end(), is_not_later) !=
      recording.step.end())
    fail(file, "the numbers in 'step' do not increase");
}

/// Finds the contacts of every row; both lists of step numbers increase.
void index_contacts(const Hdf5File& file, Recording& recording) {
  RecordedContacts& contacts = recording.contacts;
  std::int64_t next = 0;
  for (const std::int64_t step : recording.step) {
    while (next < contacts.size() && contacts.step[next] == step) ++next;
    contacts.row_start.push_back(next);
  }
  if (next != contacts.size())
    fail(file, fmt::format("row {} of 'contacts' belongs to step {}, which is not there", next,
                           contacts.step[next]));
}

void read_events(const Hdf5File& file, std::int64_t num_flushes, RecordedEvents& events) {
  if (!file.has("events")) return;
  const std::int64_t n = count_events(file, num_flushes);
  events.kinds = file.read_texts_attribute("events", "kinds");
  read_event_rows(file, 0, n, events);
  if (!std::is_sorted(events.step.begin(), events.step.end()))
    fail(file, "the numbers in 'events/step' decrease");
  for (const int kind : events.kind)
    if (kind < 0 || static_cast<std::size_t>(kind) >= events.kinds.size())
      fail(file, fmt::format("'events/kind' contains {}, but 'kinds' has {} names", kind,
                             events.kinds.size()));
}

Recording read_file(const Hdf5File& file) {
  check_format(file);
  const Extent extent = read_commit(file);
  Recording recording;
  read_description(file, recording);
  read_steps(file, extent.steps, recording);
  read_contact_rows(file, 0, extent.contacts, recording.contacts);
  index_contacts(file, recording);
  read_events(file, extent.flushes, recording.events);
  return recording;
}

}  // namespace

RecordingExtent read_recording_extent(const Hdf5File& file) {
  check_format(file);
  const Extent extent = read_commit(file);
  return {extent.steps, extent.contacts,
          file.has("events") ? count_events(file, extent.flushes) : 0};
}

Recording read_recording_description(const Hdf5File& file) {
  check_format(file);
  Recording recording;
  read_description(file, recording);
  if (file.has("events")) recording.events.kinds = file.read_texts_attribute("events", "kinds");
  return recording;
}

Recording read_recording(const std::string& path) {
  try {
    return read_file(Hdf5File::open(path));
  } catch (const std::bad_alloc&) {
    throw IoError(fmt::format("cannot read '{}': it does not fit into memory", path));
  }
}

}  // namespace stiction
