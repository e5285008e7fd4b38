// A recording whose every number follows from its step number, so that any prefix can be checked.
#pragma once

#include <array>
#include <vector>

#include "stiction/record/recording_reader.h"
#include "stiction/record/recording_writer.h"

namespace stiction {

RecordingLayout example_layout();

/// Event i of a step. Every third step has two.
EventRow example_event(std::int64_t step, int i);

inline int num_example_events(std::int64_t step) { return step % 3 == 1 ? 2 : 0; }

/// Owns what the spans of a StepRow point to. Row k has k % 3 contacts.
class ExampleRow {
 public:
  explicit ExampleRow(std::int64_t step);
  ExampleRow(const ExampleRow&) = delete;
  ExampleRow& operator=(const ExampleRow&) = delete;

  const StepRow& row() const;

 private:
  std::array<double, 3> q_, v_;
  std::array<double, 2> joints_;
  std::vector<ContactRow> contacts_;
  StepRow row_;
};

/// Row k of the recording is the example of step k, bit by bit, for all rows that it has.
void expect_example_prefix(const Recording& recording);

void append_examples(RecordingWriter& writer, std::int64_t first, std::int64_t last);

}  // namespace stiction
