// What a study has done so far, in a file that only grows: one line per run that ended, written
// when it ended. Killed at any moment it holds whole lines and at most one that was cut short,
// which is taken away when the study goes on.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "stiction/app/study_run.h"

namespace stiction {

class StudyJournal {
 public:
  /// Opens or begins the journal of a study. Throws InputError if the file is that of another
  /// study, IoError if it cannot be read or written, or is in use by another process.
  StudyJournal(const std::string& path, const Study& study);
  StudyJournal(const StudyJournal&) = delete;
  StudyJournal& operator=(const StudyJournal&) = delete;
  ~StudyJournal();

  /// Rows of all runs that ended, by their number.
  const std::map<std::int64_t, StudyRow>& rows() const { return rows_; }
  /// Keeps a row; it is in the file afterwards.
  void append(const StudyRow& row);
  /// Failed runs count as not run, until they are run again.
  void forget_failures();

 private:
  void write(const std::string& line);
  void read(const std::string& text, const std::string& header, std::int64_t num_runs);

  std::string path_;
  int file_ = -1;
  std::map<std::int64_t, StudyRow> rows_;
};

}  // namespace stiction
