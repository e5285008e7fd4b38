// Reads a recording: all complete steps of it, also while it is being written and after its writer
// was killed or ran out of disk. Reading changes nothing in the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stiction/base/linear_algebra.h"
#include "stiction/record/step_row.h"

namespace stiction {

/// Contacts of all steps, one after the other; all arrays have the same number of rows.
struct RecordedContacts {
  std::vector<std::int64_t> step;  // the step number, as in Recording::step
  std::vector<int> a, b;
  std::vector<std::uint64_t> id;
  RowMatrixXd position, normal;  // [m], [-], 3 columns, world frame
  std::vector<double> gap;       // [m]
  RowMatrixXd impulse;           // [N s] normal, tangent 1, tangent 2
  RowMatrixXd slip;              // [m/s] tangent 1, tangent 2
  std::vector<ContactStatus> status;
  RowMatrixXd accumulated_slip;  // [m] tangent 1, tangent 2; NaN in files of earlier programs

  /// The contacts of row k of the recording are [row_start[k], row_start[k + 1]).
  std::vector<std::int64_t> row_start{0};
  std::int64_t size() const { return static_cast<std::int64_t>(step.size()); }
};

/// Events of all steps, recorded ones or not, one after the other; all arrays have the same number
/// of rows.
struct RecordedEvents {
  std::vector<std::string> kinds;     // names
  std::vector<std::int64_t> step;     // within which the event happened; never decreases
  std::vector<double> time;           // [s]
  std::vector<int> kind;              // index into `kinds`
  std::vector<std::int64_t> contact;  // id, or −1 for none
  std::vector<double> energy;         // [J] change of energy
  std::int64_t size() const { return static_cast<std::int64_t>(step.size()); }
};

struct Recording {
  std::string path;
  std::string name, scene, scheme, solver, version;
  double h = 0;        // [s]
  std::string status;  // "complete", …; "running" if it is being written or was never closed

  std::vector<std::string> q_names, v_names, joint_names, reaction_names, contact_names;

  std::vector<std::int64_t> step;
  std::vector<double> time;    // [s]
  RowMatrixXd q, v;            // num_rows × names
  RowMatrixXd joint_impulses;  // [N s]
  RowMatrixXd reactions;       // [N, N m]; without columns in recordings of systems without bodies
  RowMatrixXd energy;          // [J], columns as in kEnergyNames
  RowMatrixXd certificate;     // columns as in kCertificateNames
  std::vector<int> iterations, stage;
  std::vector<double> wall;  // [s]
  RowMatrixXd times;         // [s], columns as in kTimeNames; empty in older recordings
  std::vector<int> flagged;  // steps accepted above tolerance since the row before
  RecordedContacts contacts;
  RecordedEvents events;
  // Recordings made before there were events have none of them, and `flagged` is empty.

  std::int64_t num_rows() const { return static_cast<std::int64_t>(time.size()); }
};

/// Throws IoError if the file cannot be read, is not HDF5 or lacks a dataset, InputError if it is
/// not a recording, has an unknown format version or contradicts itself.
Recording read_recording(const std::string& path);

}  // namespace stiction
