// What read_recording and RecordingStream share. Internal to this room.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/base/error.h"
#include "stiction/base/hdf5_file.h"
#include "stiction/base/linear_algebra.h"
#include "stiction/problem/contact_status.h"
#include "stiction/record/recording_format.h"
#include "stiction/record/recording_reader.h"

namespace stiction::recording_parts {

/// How much of the file is complete.
struct Extent {
  std::int64_t steps = 0;
  std::int64_t contacts = 0;
  std::int64_t flushes = 0;  // rows of /commit
};

[[noreturn]] void fail(const Hdf5File& file, const std::string& what);
/// Throws InputError unless the file is a recording of a version that this program reads.
void check_format(const Hdf5File& file);
/// The last flush that is entirely in the file.
Extent read_commit(const Hdf5File& file);
/// How many events the last complete flush stands for; 0 in recordings without.
std::int64_t count_events(const Hdf5File& file, std::int64_t num_flushes);
/// Rows of /phases, /phases/contacts and /phases/states; 0 in recordings without.
std::array<std::int64_t, 3> count_phases(const Hdf5File& file, std::int64_t num_flushes);
/// Throws InputError if there are fewer rows.
void check_rows(const Hdf5File& file, const std::string& object, std::int64_t num_rows);

template <class T>
std::vector<T> read_column(const Hdf5File& file, const std::string& object, std::int64_t first,
                           std::int64_t num_rows) {
  const Hdf5Shape shape = file.shape(object);
  if (shape.rank != 1) fail(file, fmt::format("'{}' is not a list", object));
  check_rows(file, object, first + num_rows);
  return file.read_range<T>(object, first, num_rows);
}

/// Throws InputError if there is no such status.
ContactStatus to_status(const Hdf5File& file, int number);

RowMatrixXd read_matrix(const Hdf5File& file, const std::string& object, std::int64_t first,
                        std::int64_t num_rows, std::size_t num_columns);

/// Rows of /contacts and /events; everything but where those of a step begin.
void read_contact_rows(const Hdf5File& file, std::int64_t first, std::int64_t num_rows,
                       RecordedContacts& contacts);
void read_event_rows(const Hdf5File& file, std::int64_t first, std::int64_t num_rows,
                     RecordedEvents& events);

/// What Recording and RecordingHeader have in common, but for the scene.
template <class Description>
void read_names(const Hdf5File& file, Description& out) {
  out.path = file.path();
  out.name = file.read_text_attribute("/", "name");
  out.scheme = file.read_text_attribute("/", "scheme");
  out.solver = file.read_text_attribute("/", "solver");
  out.version = file.read_text_attribute("/", "version");
  out.h = file.read_double_attribute("/", "h");
  const std::vector<std::string> status = file.read_texts("status");
  out.status = status.empty() ? recording_format::kRunning : status.back();
  out.q_names = file.read_texts_attribute("q", "names");
  out.v_names = file.read_texts_attribute("v", "names");
  out.joint_names = file.read_texts_attribute("joints/impulse", "names");
  if (file.has("joints/reaction"))
    out.reaction_names = file.read_texts_attribute("joints/reaction", "names");
  out.contact_names = file.read_texts_attribute("contacts", "names");
}

template <std::size_t num_columns>
RowMatrixXd read_group(const Hdf5File& file, const std::string& group,
                       const std::array<std::string_view, num_columns>& names, std::int64_t first,
                       std::int64_t num_rows) {
  RowMatrixXd matrix(num_rows, names.size());
  for (std::size_t i = 0; i < num_columns; ++i) {
    const auto column = read_column<double>(file, group + std::string(names[i]), first, num_rows);
    for (std::int64_t k = 0; k < num_rows; ++k) matrix(k, static_cast<Eigen::Index>(i)) = column[k];
  }
  return matrix;
}

}  // namespace stiction::recording_parts
