// A recording that stays on the disk: rows are read by range, so that a file larger than the memory
// can be looked at. Follows a file that is still being written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stiction/base/hdf5_file.h"
#include "stiction/record/recording_extent.h"
#include "stiction/record/recording_reader.h"

namespace stiction {

class RecordingFile {
 public:
  /// Throws as read_recording does.
  explicit RecordingFile(const std::string& path);

  /// Names, scene and status; no rows.
  const Recording& description() const { return description_; }
  const RecordingExtent& extent() const { return extent_; }
  std::int64_t num_rows() const { return extent_.rows; }
  /// Whether rows may still be added: the writer has not closed the file.
  bool is_growing() const { return !file_ || file_->was_left_open(); }
  /// Looks whether the writer has added rows since; true if there are more or the status changed.
  bool refresh();

  bool has(const std::string& object) const { return file().has(object); }
  /// Columns of a table, 1 of a list.
  std::int64_t num_columns(const std::string& object) const { return file().shape(object).columns; }
  /// Rows from `first` on; throws IoError if they are not there.
  template <class T>
  std::vector<T> read(const std::string& object, std::int64_t first, std::int64_t count) const {
    check_rows(object, first + count);
    return file().read_range<T>(object, first, count);
  }
  std::vector<double> read_column(const std::string& object, std::int64_t column,
                                  std::int64_t first, std::int64_t count) const {
    check_rows(object, first + count);
    return file().read_column(object, column, first, count);
  }

  /// The contacts of row k are [contact_start()[k], contact_start()[k + 1]) of /contacts.
  const std::vector<std::int64_t>& contact_start() const { return contact_start_; }

 private:
  /// Throws IoError where the last refresh() could not open it.
  const Hdf5File& file() const;
  /// Throws InputError where a table is not as wide as its names.
  void check_widths() const;
  void check_rows(const std::string& object, std::int64_t end) const;
  /// Finds the contacts of rows that were not there before.
  void index_contacts(std::int64_t first_row, std::int64_t first_contact);

  std::string path_;
  std::optional<Hdf5File> file_;
  Recording description_;
  RecordingExtent extent_;
  std::vector<std::int64_t> contact_start_{0};
};

}  // namespace stiction
