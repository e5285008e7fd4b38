// Writes a recording (HDF5) while a simulation runs. The file is readable at every moment, also by
// others while it grows, and stays so when the process is killed or the disk is full: rows are
// appended in HDF5's single-writer mode, and each flush ends with a row of /commit that says how
// many steps are complete. What a reader takes from the file is an exact prefix of what was
// appended. The promise is about processes and disks, not about a power failure: nothing is forced
// to the disk.
//
// Rows are kept back for at most a quarter of a second of run time, which is what a kill can cost.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/record/recording_sink.h"

namespace stiction {

class RecordingWriter final : public RecordingSink {
 public:
  /// Creates the file, complete but for its steps; one of that name is replaced only when the new
  /// one stands. Throws IoError if it cannot be written there.
  RecordingWriter(const std::string& path, const RecordingLayout& layout);
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;
  /// Without close(): keeps all rows, with the status "interrupted". Reports nothing.
  ~RecordingWriter() override;

  /// Throws InputError if the row does not fit the layout or its step does not follow the last one,
  /// IoError if the file cannot be written; all further calls then throw as well. Does not allocate
  /// while the number of contacts per flush stays below its maximum so far.
  void append(const StepRow& row) override;
  /// An event, ahead of the row of its step if that step is recorded. Throws like append.
  void append_event(const EventRow& event) override;
  /// What somebody did to the run; the layout must have commands. It reaches the file with the rows
  /// before it. Throws InputError if the text is longer than recording_format::kMaxCommandSize.
  void append_command(const CommandRow& command);
  /// Rows are kept back for at most this long.
  void set_max_delay(std::chrono::milliseconds delay) { max_delay_ = delay; }
  /// Makes all rows appended so far safe from the death of this process.
  void flush();
  /// Writes the last rows and how the run ended: "complete", "interrupted", "rejected", …
  void close(std::string_view status) override;

 private:
  class File;
  void flush_if_due();

  std::unique_ptr<File> file_;  // none once closed
  std::chrono::milliseconds max_delay_{250};
  std::chrono::steady_clock::time_point next_flush_;
};

}  // namespace stiction
