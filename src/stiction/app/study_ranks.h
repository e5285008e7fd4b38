// The same study over the ranks of MPI (mpirun -n K stiction sweep …), where the program was built
// with it: all simulate, rank 0 also hands out runs and keeps the journal. Runs are processes of
// their own here, too: one that crashes or takes too long ends itself and neither its rank nor MPI.
#pragma once

#include <cstdint>

#include "stiction/app/study_workers.h"

namespace stiction {

/// Whether this process is one of several ranks. False where the program has no MPI.
bool is_one_of_ranks();

class Ranks {
 public:
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  /// Ends MPI. On rank 0: rows of runs that are in progress elsewhere are awaited and lost, and
  /// ranks that wait for work are let go.
  ~Ranks();

  bool is_first() const { return rank_ == 0; }
  int size() const { return size_; }

  struct Agreement {
    bool is_good_on_first = false;  // rank 0 has a study
    bool is_same_on_all = false;    // all ranks have that study
  };
  /// Called by all ranks at once, with the fingerprint of their study; 0: a rank has none.
  Agreement agree_on(std::uint64_t fingerprint);

  /// On rank 0, where all have the study: shares out the work. Returns whether all was done.
  bool run(const StudyWork& work);
  /// On the others: works until rank 0 has no more.
  void serve(const Study& study) const;

 private:
  int rank_ = 0, size_ = 1;
  [[maybe_unused]] int num_busy_ = 0;          // of the other ranks
  [[maybe_unused]] bool has_servers_ = false;  // the other ranks wait for work
};

}  // namespace stiction
