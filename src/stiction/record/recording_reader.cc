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

namespace stiction {
namespace {

/// How much of the file is complete.
struct Extent {
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  std::int64_t contacts = std::numeric_limits<std::int64_t>::max();
  std::int64_t flushes = 0;  // rows of /commit
};

[[noreturn]] void fail(const Hdf5File& file, const std::string& what) {
  throw InputError(fmt::format("recording '{}': {}", file.path(), what));
}

void check_format(const Hdf5File& file) {
  if (!file.has_attribute("/", "format") ||
      file.read_text_attribute("/", "format") != recording_format::kFormat)
    throw InputError(fmt::format("'{}' is not a recording of this program", file.path()));
  const int version = file.read_int_attribute("/", "format_version");
  if (version != recording_format::kVersion)
    fail(file, fmt::format("its format version is {}, this program reads version {}", version,
                           recording_format::kVersion));
}

/// The last flush that is entirely in the file. A file whose writer died may have lost its end when
/// it was copied; one that was closed is complete, and has another size after repacking.
Extent read_commit(const Hdf5File& file) {
  const std::int64_t size = file.was_left_open()
                                ? static_cast<std::int64_t>(std::filesystem::file_size(file.path()))
                                : std::numeric_limits<std::int64_t>::max();
  if (file.shape("commit").columns != recording_format::kCommitColumns)
    fail(file, "'commit' does not have 3 columns");
  const std::vector<std::int64_t> rows = file.read<std::int64_t>("commit");
  Extent extent{0, 0, 0};
  for (std::size_t i = 0; i + 2 < rows.size(); i += recording_format::kCommitColumns) {
    if (rows[i] < extent.steps || rows[i + 1] < extent.contacts)
      fail(file, "the rows of 'commit' decrease");
    if (rows[i + 2] > size) break;
    extent = {rows[i], rows[i + 1], extent.flushes + 1};
  }
  return extent;
}

void check_rows(const Hdf5File& file, const std::string& object, std::int64_t num_rows) {
  const std::int64_t stored = file.shape(object).rows;
  if (stored < num_rows)
    fail(file, fmt::format("'{}' has {} rows, the last flush counts {}", object, stored, num_rows));
}

template <class T>
std::vector<T> read_column(const Hdf5File& file, const std::string& object, std::int64_t num_rows) {
  const Hdf5Shape shape = file.shape(object);
  if (shape.rank != 1) fail(file, fmt::format("'{}' is not a list", object));
  check_rows(file, object, num_rows);
  return file.read_rows<T>(object, num_rows);
}

RowMatrixXd read_matrix(const Hdf5File& file, const std::string& object, std::int64_t num_rows,
                        std::size_t num_columns) {
  const Hdf5Shape shape = file.shape(object);
  const auto columns = static_cast<std::int64_t>(num_columns);
  if (shape.rank != 2 || shape.columns != columns)
    fail(file, fmt::format("'{}' does not have {} columns", object, columns));
  check_rows(file, object, num_rows);
  const std::vector<double> values = file.read_rows<double>(object, num_rows);
  return ConstRowMatrixMap(values.data(), num_rows, columns);
}

template <std::size_t num_columns>
RowMatrixXd read_group(const Hdf5File& file, const std::string& group,
                       const std::array<std::string_view, num_columns>& names,
                       std::int64_t num_rows) {
  RowMatrixXd matrix(num_rows, names.size());
  for (std::size_t i = 0; i < num_columns; ++i) {
    const auto column = read_column<double>(file, group + std::string(names[i]), num_rows);
    for (std::int64_t k = 0; k < num_rows; ++k) matrix(k, static_cast<Eigen::Index>(i)) = column[k];
  }
  return matrix;
}

void read_description(const Hdf5File& file, Recording& recording) {
  recording.path = file.path();
  recording.name = file.read_text_attribute("/", "name");
  recording.scheme = file.read_text_attribute("/", "scheme");
  recording.solver = file.read_text_attribute("/", "solver");
  recording.version = file.read_text_attribute("/", "version");
  recording.h = file.read_double_attribute("/", "h");
  recording.scene = file.read_text("scene");
  const std::vector<std::string> status = file.read_texts("status");
  recording.status = status.empty() ? recording_format::kRunning : status.back();
  recording.q_names = file.read_texts_attribute("q", "names");
  recording.v_names = file.read_texts_attribute("v", "names");
  recording.joint_names = file.read_texts_attribute("joints/impulse", "names");
  if (file.has("joints/reaction"))
    recording.reaction_names = file.read_texts_attribute("joints/reaction", "names");
  recording.contact_names = file.read_texts_attribute("contacts", "names");
}

void read_steps(const Hdf5File& file, std::int64_t n, Recording& recording) {
  recording.time = read_column<double>(file, "time", n);
  recording.step = read_column<std::int64_t>(file, "step", n);
  recording.q = read_matrix(file, "q", n, recording.q_names.size());
  recording.v = read_matrix(file, "v", n, recording.v_names.size());
  recording.joint_impulses = read_matrix(file, "joints/impulse", n, recording.joint_names.size());
  recording.reactions = RowMatrixXd(static_cast<Eigen::Index>(n), 0);
  if (!recording.reaction_names.empty())
    recording.reactions = read_matrix(file, "joints/reaction", n, recording.reaction_names.size());
  recording.energy = read_group(file, "energy/", kEnergyNames, n);
  recording.certificate = read_group(file, "certificate/", kCertificateNames, n);
  recording.iterations = read_column<int>(file, "solver/iterations", n);
  recording.stage = read_column<int>(file, "solver/stage", n);
  recording.wall = read_column<double>(file, "solver/wall", n);
  if (file.has("times/detect")) recording.times = read_group(file, "times/", kTimeNames, n);
  if (file.has("solver/flagged")) recording.flagged = read_column<int>(file, "solver/flagged", n);
  const auto is_not_later = [](std::int64_t a, std::int64_t b) { return b <= a; };
  if (std::adjacent_find(recording.step.begin(), recording.step.end(), is_not_later) !=
      recording.step.end())
    fail(file, "the numbers in 'step' do not increase");
}

void read_contacts(const Hdf5File& file, std::int64_t n, RecordedContacts& contacts) {
  contacts.step = read_column<std::int64_t>(file, "contacts/step", n);
  contacts.a = read_column<int>(file, "contacts/a", n);
  contacts.b = read_column<int>(file, "contacts/b", n);
  contacts.id = read_column<std::uint64_t>(file, "contacts/id", n);
  contacts.position = read_matrix(file, "contacts/position", n, 3);
  contacts.normal = read_matrix(file, "contacts/normal", n, 3);
  contacts.gap = read_column<double>(file, "contacts/gap", n);
  contacts.impulse = read_matrix(file, "contacts/impulse", n, 3);
  contacts.slip = read_matrix(file, "contacts/slip", n, 2);
  for (const int status : read_column<int>(file, "contacts/status", n)) {
    if (status < 0 || status > static_cast<int>(ContactStatus::kSlip))
      fail(file, fmt::format("'contacts/status' contains {}, which is not 0, 1 or 2", status));
    contacts.status.push_back(static_cast<ContactStatus>(status));
  }
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

/// How many events the last complete flush stands for.
std::int64_t count_events(const Hdf5File& file, std::int64_t num_flushes) {
  const auto counts =
      read_column<std::int64_t>(file, recording_format::kEventsComplete, num_flushes);
  if (!std::is_sorted(counts.begin(), counts.end()) || (!counts.empty() && counts.front() < 0))
    fail(file, fmt::format("the rows of '{}' decrease", recording_format::kEventsComplete));
  return counts.empty() ? 0 : counts.back();
}

void read_events(const Hdf5File& file, std::int64_t num_flushes, RecordedEvents& events) {
  if (!file.has("events")) return;
  const std::int64_t n = count_events(file, num_flushes);
  events.kinds = file.read_texts_attribute("events", "kinds");
  events.step = read_column<std::int64_t>(file, "events/step", n);
  events.time = read_column<double>(file, "events/time", n);
  events.kind = read_column<int>(file, "events/kind", n);
  events.contact = read_column<std::int64_t>(file, "events/contact", n);
  events.energy = read_column<double>(file, "events/energy", n);
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
  read_contacts(file, extent.contacts, recording.contacts);
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
