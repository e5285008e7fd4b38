// Reads a recording piece by piece in the order of time, with everything in it, in memory that does
// not grow with its length. For those who look at every step once; read_recording has all steps at
// once. Unlike it this says nothing about what the numbers are: whether steps increase and rows
// belong to steps is for the caller to judge.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stiction/record/recording_reader.h"

namespace stiction {

/// What does not change along a recording.
struct RecordingHeader {
  std::string path;
  std::string name, scene, scheme, solver, version, status;
  double h = 0;  // [s]
  std::vector<std::string> q_names, v_names, joint_names, reaction_names, contact_names;
  std::vector<std::string> event_kinds, phase_kinds;
  std::string friction;                    // empty in older recordings, as the next
  std::map<std::string, double> settings;  // of the run, by name
  bool has_phases = false;                 // older recordings have none
  bool was_left_open = false;              // its writer never closed it
  std::int64_t bytes = 0;                  // size of the file
  std::int64_t bytes_lost = 0;             // at its end, since it was closed
  std::int64_t num_rows = 0;               // recorded steps that are complete
  std::int64_t num_stored = 0;             // rows of /time, complete or not
};

/// The problems that steps were made of; all lists have one entry per phase or per contact.
struct RecordedPhases {
  std::vector<std::int64_t> step;
  std::vector<int> kind;
  std::vector<double> time, length, share;
  std::vector<std::int64_t> state, rows;  // into q and v, minus first_state; −1: none
  RowMatrixXd impulse, turning;           // per joint row; `turning` may have no columns
  std::int64_t first = 0;                 // number of the first phase here
  std::int64_t first_state = 0;           // number of the first row of q and v here
  RowMatrixXd q, v;

  std::vector<std::int64_t> contact_phase;
  std::vector<std::uint64_t> id;
  std::vector<int> shape_a, shape_b;
  RowMatrixXd point, normal, contact_impulse, contact_turning;
  std::vector<double> gap;

  /// Phases of row k are [row_start[k], row_start[k + 1]), contacts of phase i
  /// [contact_start[i], contact_start[i + 1]), all counted from the beginning of the chunk.
  std::vector<std::int64_t> row_start, contact_start;
};

/// Consecutive rows. Contacts, events and phases are those that stand where those of the rows are
/// expected: found by their step numbers, as far as these increase.
struct RecordedChunk {
  std::int64_t first_row = 0;
  std::vector<std::int64_t> step;
  std::vector<double> time;
  RowMatrixXd q, v, joint_impulses, reactions, energy, certificate;
  std::vector<int> iterations, stage, flagged;
  RecordedContacts contacts;
  RecordedEvents events;
  RecordedPhases phases;
  /// Forces that controllers held, of those rows that have any: row k has
  /// held_force.row(control[k]) unless that is −1.
  RowMatrixXd held_force;
  std::vector<std::int64_t> control;
  std::int64_t num_rows() const { return static_cast<std::int64_t>(time.size()); }
};

class RecordingStream {
 public:
  /// Throws like read_recording. `max_bytes` bounds what a chunk holds, but for one row at least.
  explicit RecordingStream(const std::string& path, std::int64_t max_bytes = std::int64_t{1} << 25);
  ~RecordingStream();
  RecordingStream(RecordingStream&&) noexcept;

  const RecordingHeader& header() const;
  /// The next rows; false at the end. Throws IoError where the file has lost its numbers.
  bool next(RecordedChunk& chunk);
  /// Rows of /contacts, /events or /phases that belong to no step, once next() has returned false.
  std::vector<std::string> leftovers() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stiction
