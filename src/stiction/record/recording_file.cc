#include "stiction/record/recording_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "stiction/base/error.h"

namespace stiction {

RecordingFile::RecordingFile(const std::string& path)
    : path_(path),
      file_(Hdf5File::open(path)),
      description_(read_recording_description(*file_)),
      extent_(read_recording_extent(*file_)) {
  check_widths();
  index_contacts(0, 0);
}

void RecordingFile::check_widths() const {
  const auto check = [&](const char* object, std::size_t columns) {
    if (has(object) && num_columns(object) != static_cast<std::int64_t>(columns))
      throw InputError(fmt::format("recording '{}': '{}' has {} columns, must have {}", path_,
                                   object, num_columns(object), columns));
  };
  check("q", description_.q_names.size());
  check("v", description_.v_names.size());
  check("joints/impulse", description_.joint_names.size());
  check("joints/reaction", description_.reaction_names.size());
  check("contacts/slip", 2);
  check("contacts/accumulated_slip", 2);
  for (const char* vector : {"contacts/position", "contacts/normal", "contacts/impulse"})
    check(vector, 3);
}

bool RecordingFile::refresh() {
  if (!is_growing()) return false;
  // Closed first: HDF5 answers from what it remembers as long as any handle is open.
  file_.reset();
  file_ = Hdf5File::open(path_);
  const RecordingExtent before = extent_, now = read_recording_extent(*file_);
  const std::string status = read_recording_description(*file_).status;
  // A run started anew under the same name: what is known of the old one is of no use.
  if (now.rows < before.rows || now.contacts < before.contacts)
    throw InputError(fmt::format("recording '{}': it was replaced by another one", path_));
  extent_ = now;
  try {
    index_contacts(before.rows, before.contacts);
  } catch (...) {
    // Rows without their contacts are none.
    extent_ = before;
    contact_start_.resize(static_cast<std::size_t>(before.rows) + 1);
    throw;
  }
  const bool has_changed = now.rows != before.rows || status != description_.status;
  description_.status = status;
  return has_changed;
}

const Hdf5File& RecordingFile::file() const {
  if (!file_) throw IoError(fmt::format("recording '{}': it can no longer be opened", path_));
  return *file_;
}

void RecordingFile::check_rows(const std::string& object, std::int64_t end) const {
  const std::int64_t stored = file().shape(object).rows;
  if (stored < end)
    throw IoError(fmt::format("recording '{}': '{}' has {} rows, {} are asked for", path_, object,
                              stored, end));
}

void RecordingFile::index_contacts(std::int64_t first_row, std::int64_t first_contact) {
  const auto steps = read<std::int64_t>("step", first_row, extent_.rows - first_row);
  const auto of_contacts =
      read<std::int64_t>("contacts/step", first_contact, extent_.contacts - first_contact);
  auto next = of_contacts.begin();
  for (const std::int64_t step : steps) {
    next = std::find_if(next, of_contacts.end(), [&](std::int64_t other) { return other != step; });
    contact_start_.push_back(first_contact + (next - of_contacts.begin()));
  }
  if (next != of_contacts.end())
    throw InputError(
        fmt::format("recording '{}': a row of 'contacts' belongs to step {}, which is "
                    "not there",
                    path_, *next));
}

}  // namespace stiction
