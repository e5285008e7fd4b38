#include "stiction/record/recording_parts.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "stiction/record/recording_format.h"

namespace stiction::recording_parts {

void fail(const Hdf5File& file, const std::string& what) {
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

/// The last flush that is entirely in the file. A file may have lost its end when it was copied;
/// one that has not is complete if it was closed, and has another size after repacking.
Extent read_commit(const Hdf5File& file) {
  const std::int64_t size = file.was_left_open() || file.bytes_lost() > 0
                                ? static_cast<std::int64_t>(std::filesystem::file_size(file.path()))
                                : std::numeric_limits<std::int64_t>::max();
  if (file.shape("commit").columns != recording_format::kCommitColumns)
    fail(file, "'commit' does not have 3 columns");
  const std::vector<std::int64_t> rows = file.read<std::int64_t>("commit");
  Extent extent{0, 0, 0};
  for (std::size_t i = 0; i + 2 < rows.size(); i += recording_format::kCommitColumns) {
    if (file.bytes_lost() > 0 && rows[i + 2] == 0) break;  // where the file has ended
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

ContactStatus to_status(const Hdf5File& file, int number) {
  if (number < 0 || number > static_cast<int>(ContactStatus::kSlip))
    fail(file, fmt::format("'contacts/status' contains {}, which is not 0, 1 or 2", number));
  return static_cast<ContactStatus>(number);
}

RowMatrixXd read_matrix(const Hdf5File& file, const std::string& object, std::int64_t first,
                        std::int64_t num_rows, std::size_t num_columns) {
  const Hdf5Shape shape = file.shape(object);
  const auto columns = static_cast<std::int64_t>(num_columns);
  if (shape.rank != 2 || shape.columns != columns)
    fail(file, fmt::format("'{}' does not have {} columns", object, columns));
  check_rows(file, object, first + num_rows);
  const std::vector<double> values = file.read_range<double>(object, first, num_rows);
  return ConstRowMatrixMap(values.data(), num_rows, columns);
}

void read_contact_rows(const Hdf5File& file, std::int64_t first, std::int64_t num_rows,
                       RecordedContacts& contacts) {
  contacts.step = read_column<std::int64_t>(file, "contacts/step", first, num_rows);
  contacts.a = read_column<int>(file, "contacts/a", first, num_rows);
  contacts.b = read_column<int>(file, "contacts/b", first, num_rows);
  contacts.id = read_column<std::uint64_t>(file, "contacts/id", first, num_rows);
  contacts.position = read_matrix(file, "contacts/position", first, num_rows, 3);
  contacts.normal = read_matrix(file, "contacts/normal", first, num_rows, 3);
  contacts.gap = read_column<double>(file, "contacts/gap", first, num_rows);
  contacts.impulse = read_matrix(file, "contacts/impulse", first, num_rows, 3);
  contacts.slip = read_matrix(file, "contacts/slip", first, num_rows, 2);
  contacts.status.clear();
  for (const int status : read_column<int>(file, "contacts/status", first, num_rows))
    contacts.status.push_back(to_status(file, status));
  const std::string slips = "contacts/accumulated_slip";
  contacts.accumulated_slip =
      file.has(slips)
          ? read_matrix(file, slips, first, num_rows, 2)
          : RowMatrixXd::Constant(num_rows, 2, std::numeric_limits<double>::quiet_NaN());
}

void read_event_rows(const Hdf5File& file, std::int64_t first, std::int64_t num_rows,
                     RecordedEvents& events) {
  events.step = read_column<std::int64_t>(file, "events/step", first, num_rows);
  events.time = read_column<double>(file, "events/time", first, num_rows);
  events.kind = read_column<int>(file, "events/kind", first, num_rows);
  events.contact = read_column<std::int64_t>(file, "events/contact", first, num_rows);
  events.energy = read_column<double>(file, "events/energy", first, num_rows);
}

/// How many events the last complete flush stands for.
std::int64_t count_events(const Hdf5File& file, std::int64_t num_flushes) {
  if (!file.has("events")) return 0;
  const auto counts =
      read_column<std::int64_t>(file, recording_format::kEventsComplete, 0, num_flushes);
  if (!std::is_sorted(counts.begin(), counts.end()) || (!counts.empty() && counts.front() < 0))
    fail(file, fmt::format("the rows of '{}' decrease", recording_format::kEventsComplete));
  return counts.empty() ? 0 : counts.back();
}

std::array<std::int64_t, 3> count_phases(const Hdf5File& file, std::int64_t num_flushes) {
  std::array<std::int64_t, 3> counts{};
  if (!file.has("phases") || num_flushes == 0) return counts;
  if (file.shape(recording_format::kPhasesComplete).columns != recording_format::kPhaseCounts)
    fail(file, fmt::format("'{}' does not have {} columns", recording_format::kPhasesComplete,
                           recording_format::kPhaseCounts));
  check_rows(file, recording_format::kPhasesComplete, num_flushes);
  const auto row =
      file.read_range<std::int64_t>(recording_format::kPhasesComplete, num_flushes - 1, 1);
  std::copy(row.begin(), row.end(), counts.begin());
  return counts;
}

}  // namespace stiction::recording_parts
