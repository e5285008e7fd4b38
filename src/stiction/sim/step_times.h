// Where the time of steps goes, and how it is spread. Wall time: nothing that a simulation computes
// depends on it, except under a budget (SimulationOptions::budget).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace stiction {

/// [s] of one step, or of many added up.
struct StepTimes {
  double detect = 0;    // finding contacts
  double assemble = 0;  // the scheme's own work: rows, momenta, reading the answer
  double solve = 0;     // the solver, with the certificates that it asks for
  double certify = 0;   // certificates after it
  double other = 0;  // whether anything moved further than expected, ledger, observers, recording
  // Of `solve`, where the solver is a splitting (SolverReport):
  double solve_direct = 0, solve_sweeps = 0;

  double total() const { return detect + assemble + solve + certify + other; }
  void add(const StepTimes& more) {
    detect += more.detect;
    assemble += more.assemble;
    solve += more.solve;
    certify += more.certify;
    other += more.other;
    solve_direct += more.solve_direct;
    solve_sweeps += more.solve_sweeps;
  }
};

/// Counts durations in bins of 1.1 %, from a tenth of a microsecond to three hours: quantiles
/// without keeping what was counted.
class DurationHistogram {
 public:
  void add(double seconds);
  std::int64_t count() const { return count_; }
  double mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  double max() const { return max_; }
  /// The duration that a share of all do not exceed, to the width of a bin; 0 if there are none.
  double quantile(double share) const;
  /// How many took at least half of `up_to` and less than that, from the shortest to the longest.
  /// The first may have taken less, the last of 37 octaves (three hours) more.
  struct Octave {
    double up_to = 0;  // [s]
    std::int64_t count = 0;
  };
  std::vector<Octave> octaves() const;

 private:
  static constexpr int kBinsPerDoubling = 64;
  static constexpr double kShortest = 1e-7;  // [s]
  static constexpr int kNumBins = 37 * kBinsPerDoubling;
  std::array<std::int64_t, kNumBins> bins_{};
  std::int64_t count_ = 0;
  double sum_ = 0, max_ = 0;
};

}  // namespace stiction
