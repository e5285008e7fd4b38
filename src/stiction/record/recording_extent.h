// What can be said about a recording without reading its rows: for those that read it piece by
// piece (RecordingFile).
#pragma once

#include <cstdint>

#include "stiction/base/hdf5_file.h"
#include "stiction/record/recording_reader.h"

namespace stiction {

/// How much of a recording is complete.
struct RecordingExtent {
  std::int64_t rows = 0;      // recorded steps
  std::int64_t contacts = 0;  // rows of /contacts
  std::int64_t events = 0;    // rows of /events
};

/// Both throw as read_recording does.
RecordingExtent read_recording_extent(const Hdf5File& file);
/// A Recording without rows: names, scene, status.
Recording read_recording_description(const Hdf5File& file);

}  // namespace stiction
