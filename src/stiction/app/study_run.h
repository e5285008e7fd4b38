// One run of a study, and the row of the table that it makes. Rows are text from the start: what a
// worker says, what the journal keeps and what the table holds are the same characters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stiction/app/study.h"

namespace stiction {

struct StudyRow {
  std::int64_t run = 0;
  bool is_done = false;  // else it failed, and the row is one of the list of failures
  double wall = 0;       // [s]
  std::string text;      // comma-separated
};

/// Columns of the table of runs that came to an end.
std::vector<std::string> result_columns(const Study& study);
/// Columns of the list of those that did not.
std::vector<std::string> failure_columns(const Study& study);

/// Simulates; never throws: what goes wrong is the row.
StudyRow execute_run(const Study& study, std::int64_t run) noexcept;

/// The row of a run that could not tell by itself.
StudyRow make_failure(const Study& study, std::int64_t run, const std::string& kind,
                      const std::string& message);

/// Comma-separated, quoted where that is needed; and back.
std::string to_csv_row(const std::vector<std::string>& fields);
std::vector<std::string> split_csv_row(const std::string& row);

}  // namespace stiction
