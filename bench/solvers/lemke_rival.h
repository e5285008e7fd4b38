// Lemke's method of another library, on the same dense problem as ours: matrix and vector are given
// to it in its own form before the clock starts.
#pragma once

#include <memory>
#include <vector>

#include "bench/solvers/lemke_problems.h"

namespace stiction::bench {

class LemkeRival {
 public:
  virtual ~LemkeRival() = default;
  /// Timed; from a cold start.
  virtual void solve() = 0;
  virtual const std::vector<double>& z() const = 0;
};

/// Which function of Siconos is called: linearComplementarity_driver, the public entry, which looks
/// for a trivial solution and checks the answer, or lcp_lexicolemke itself, which does not.
enum class SiconosEntry { kDriver, kBare };

/// Null if this program was built without Siconos. `lcp` must outlive the rival.
std::unique_ptr<LemkeRival> make_siconos_lemke(const DenseLcp& lcp, SiconosEntry entry);

}  // namespace stiction::bench
