// Runs of a study shared out among workers: whoever is free gets the next. In processes of their
// own, so that a run that crashes or takes too long ends itself and nothing else.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
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

/// A process that executes runs, one after the other. A run that crashes or takes too long ends
/// that process and becomes a row like any other; the next run gets a new one.
class RunProcess {
 public:
  /// `study` must outlive this.
  explicit RunProcess(const Study& study) : study_(study) {}
  RunProcess(const RunProcess&) = delete;
  RunProcess& operator=(const RunProcess&) = delete;
  /// A run in progress is ended.
  ~RunProcess() { end(is_busy()); }

  bool is_busy() const { return run_ >= 0; }
  /// Can be read, or is at its end, when finish() need not wait; −1 without a process.
  int socket() const { return socket_; }
  /// Throws IoError if no process can be started. No run may be in progress.
  void start(std::int64_t run);
  /// The row of the run in progress; waits for it.
  StudyRow finish();

 private:
  void spawn();
  std::optional<StudyRow> try_take();
  int end(bool by_force);

  const Study& study_;
  pid_t process_ = -1;
  int socket_ = -1;
  std::int64_t run_ = -1;  // in progress
};

/// How a run ended whose process died: by a signal, or else.
StudyRow explain_death(const Study& study, std::int64_t run, int wait_status);

/// A row as bytes between workers and whoever writes the journal.
std::string pack(const StudyRow& row);
StudyRow unpack(const std::string& bytes);

}  // namespace stiction
