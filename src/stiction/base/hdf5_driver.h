// The way from the HDF5 library to the disk, for files that we write. HDF5 does not survive a
// failed write well: closing the file writes again, and may mark a half-written file as complete.
// This driver therefore reports no failure to the library. It remembers the first one, drops
// everything that comes after it, and leaves the file as a process killed at that moment would have
// left it; whoever owns the DiskState looks there after every operation.
#pragma once

#include <cstdint>

namespace stiction {

struct DiskState {
  int error_number = 0;            // errno of the first failed write; 0: all is well
  std::int64_t bytes_on_disk = 0;  // size that the file has reached
};

/// A file access property list (to be closed with H5Pclose) whose files write through `disk`, which
/// must outlive them; negative if HDF5 refuses.
std::int64_t make_file_access(DiskState& disk);

}  // namespace stiction
