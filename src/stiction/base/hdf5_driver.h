// The way from the HDF5 library to the disk, for files that we write, and for those that lost their
// end, which HDF5's own driver does not open. HDF5 does not survive a
// failed write well: closing the file writes again, and may mark a half-written file as complete.
// This driver therefore reports no failure to the library. It remembers the first one, drops
// everything that comes after it, and leaves the file as a process killed at that moment would have
// left it; whoever owns the DiskState looks there after every operation.
//
// A killed process can leave a write half done where it crosses from one memory page to the next,
// and HDF5 rewrites its metadata in place. The driver therefore places metadata such that no piece
// of up to one page crosses a boundary. Larger pieces that change while a table grows exist only
// beyond 8176 chunks. (Without this placement about one kill in a hundred that hit a flush left a
// file whose checksums fail; with it none in eight hundred.)
#pragma once

#include <cstdint>

namespace stiction {

struct DiskState {
  int error_number = 0;            // errno of the first failed write; 0: all is well
  std::int64_t bytes_on_disk = 0;  // size that the file has reached
  std::int64_t num_divided = 0;    // metadata writes so far that crossed a page boundary
  /// Of a file that is read and has lost its end: the size that it had. What is beyond the end
  /// reads as zero; metadata have checksums, which then fail.
  std::int64_t bytes_once = 0;
};

/// A file access property list (to be closed with H5Pclose) whose files write through `disk`, which
/// must outlive them; negative if HDF5 refuses.
std::int64_t make_file_access(DiskState& disk);

}  // namespace stiction
