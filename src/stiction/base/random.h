// Seeded random numbers with the same sequence on every platform (the standard library's
// distributions differ between implementations). For tests, problem generators and retries.
#pragma once

#include <cstdint>

namespace stiction {

/// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, passes BigCrush, any seed is good.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform in {low, …, high}.
  int integer(int low, int high);
  bool chance(double probability) { return uniform() < probability; }
  /// Standard normal (Box–Muller).
  double normal();

 private:
  std::uint64_t state_;
};

}  // namespace stiction
