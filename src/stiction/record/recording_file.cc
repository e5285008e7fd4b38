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
  index_contacts(0, 0);
}

bool RecordingFile::refresh() {
  if (!is_growing()) return false;
  // Closed first: HDF5 answers from what it remembers as long as any handle is open.
  file_.reset();
  file_ = Hdf5File::open(path_);
  const RecordingExtent before = extent_;
  const std::string status = description_.status;
  extent_ = read_recording_extent(*file_);
  description_.status = read_recording_description(*file_).status;
  // A run started anew under the same name: what is known of the old one is of no use.
  if (extent_.rows < before.rows || extent_.contacts < before.contacts)
    throw InputError(fmt::format("recording '{}': it was replaced by another one", path_));
  index_contacts(before.rows, before.contacts);
  return extent_.rows != before.rows || status != description_.status;
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
