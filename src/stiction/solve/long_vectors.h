// Loops over long arrays of numbers, with vectors of 32 bytes where the processor has them. What is
// added up is added up in so many partial sums that results have the same bits with narrower ones.
#pragma once

namespace stiction {

/// `Real` is double or float.
template <class Real>
struct LongVectors {
  /// Σ a b.
  double (*dot)(const Real* a, const Real* b, int n);
  /// Σ a c and Σ b c.
  void (*dot_both)(const Real* a, const Real* b, const Real* c, int n, double* out);
  /// out = a − b.
  void (*subtract)(const Real* a, const Real* b, int n, Real* out);
  /// out = weight (a − b).
  void (*subtract_weighted)(const Real* weight, const Real* a, const Real* b, int n, Real* out);
  /// out −= factor a.
  void (*take_off)(Real factor, const Real* a, int n, Real* out);
  /// z += factor (z − last), and last becomes what z was.
  void (*carry_on)(Real factor, int n, Real* last, Real* z);

  /// Those for this processor.
  static const LongVectors& chosen();
  /// Those for every processor of its kind.
  static const LongVectors& plain();
};

}  // namespace stiction
