// The same study over the ranks of MPI (mpirun -n K stiction sweep …), where the program was built
// with it: rank 0 hands out runs and keeps the journal, the others simulate.
#pragma once

#include <functional>

#include "stiction/app/study_workers.h"

namespace stiction {

/// Whether this process is one of several ranks. False where the program has no MPI.
bool is_one_of_ranks();

class Ranks {
 public:
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  /// Ends MPI; ranks that wait for work are let go.
  ~Ranks();

  bool is_first() const { return rank_ == 0; }
  int size() const { return size_; }
  /// On rank 0: shares out the work. Returns whether all was done.
  bool run(const StudyWork& work) const;
  /// On the others: works until rank 0 has no more.
  void serve(const Study& study) const;

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace stiction
