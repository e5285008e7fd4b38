// Numbers below 2.2e-308 taken for zero. Processors keep them with fewer digits ("denormals"), and
// many take several times as long for them. In a mechanism they are common: what a joint does to
// its neighbours decays from one to the next, and in a long chain ends there after a few hundred
// joints. As impulses, velocities or angles they are nothing.
//
// The mode belongs to a thread. Those of a WorkerPool take over that of the thread that calls it,
// so that results have the same bits for any number of them.
#pragma once

#include <cstdint>

namespace stiction {

/// How a thread treats such numbers.
class DenormalMode {
 public:
  static DenormalMode of_this_thread();
  static DenormalMode flushed();
  /// For this thread; rounding, masks and flags of exceptions stay.
  void apply() const;
  bool operator==(const DenormalMode&) const = default;

 private:
  explicit DenormalMode(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_;  // those of the control register that are about denormals
};

/// Flushes them while it lives. Does nothing on processors that are neither x86-64 nor AArch64.
class FlushedDenormals {
 public:
  FlushedDenormals() : before_(DenormalMode::of_this_thread()) { DenormalMode::flushed().apply(); }
  ~FlushedDenormals() { before_.apply(); }
  FlushedDenormals(const FlushedDenormals&) = delete;
  FlushedDenormals& operator=(const FlushedDenormals&) = delete;

 private:
  DenormalMode before_;
};

}  // namespace stiction
