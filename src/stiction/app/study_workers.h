// Runs of a study shared out among workers: whoever is free gets the next. In processes of their
// own, so that a run that crashes or takes too long ends itself and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stiction/app/study_run.h"

namespace stiction {

struct StudyWork {
  const Study& study;
  const std::vector<std::int64_t>& runs;           // to do, in this order
  std::function<void(const StudyRow&)> deliver{};  // called for every run that ended
  std::function<bool()> should_stop{};             // asked now and then
};

/// Returns whether all was done. Throws IoError if no process can be started.
bool run_in_processes(const StudyWork& work, int num_workers);

/// How a run ended whose process died: by a signal, or else.
StudyRow explain_death(const Study& study, std::int64_t run, int wait_status);

/// A row as bytes between workers and whoever writes the journal.
std::string pack(const StudyRow& row);
StudyRow unpack(const std::string& bytes);

}  // namespace stiction
