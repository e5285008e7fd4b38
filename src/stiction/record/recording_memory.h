// A recording that is kept in memory, for programs that look at a run at once.
#pragma once

#include <vector>

#include "stiction/record/recording_reader.h"
#include "stiction/record/recording_sink.h"

namespace stiction {

/// Fills a Recording, which the caller keeps: it is complete, sizes and all, after close().
class RecordingMemory final : public RecordingSink {
 public:
  /// `recording` is overwritten and must outlive this.
  RecordingMemory(const RecordingLayout& layout, Recording& recording);

  void append(const StepRow& row) override;
  void append_event(const EventRow& event) override;
  void close(std::string_view status) override;

 private:
  Recording& recording_;
  // Matrices of the recording, row after row, while they grow.
  std::vector<double> q_, v_, joint_impulses_, reactions_, energy_, certificate_, times_;
  std::vector<double> position_, normal_, impulse_, slip_, accumulated_slip_;
};

}  // namespace stiction
