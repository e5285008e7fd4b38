// One solver on one problem at one tolerance, in a process of its own: solvers cannot be
// interrupted between iterations, some never return and some crash.
#pragma once

#include "bench/solvers/contender.h"

namespace stiction::bench {

struct TrialResult {
  enum class Status { kSolved = 0, kInaccurate = 1, kTimeout = 2, kCrashed = 3 };

  Status status = Status::kCrashed;
  double seconds = 0;   // least time of a solve
  double error = 0;     // published measure of the answer; infinite if there is none
  double residual = 0;  // of the certificate, free of units
  int iterations = 0;
};

const char* to_text(TrialResult::Status status);

/// Solves from a cold start. A short solve is repeated until its time is known well, and the least
/// time counts. A solver that stops close above the tolerance is asked for a tenth and then a
/// hundredth of it, since libraries measure their errors in different ways; every contender has
/// this grace.
TrialResult run_trial(const Contender& contender, const ProblemFile& file, double tolerance,
                      double time_limit);

}  // namespace stiction::bench
