#include "stiction/solve/long_vectors.h"

#define STICTION_INLINE [[gnu::always_inline]] inline

namespace stiction {
namespace {

/// Partial sums: one alone would wait for itself at every term.
template <class Real>
constexpr int kSums = sizeof(Real) == sizeof(float) ? 32 : 4;

template <class Real>
STICTION_INLINE double add_up(const Real* sum) {
  double total = 0;
  for (int k = 0; k < kSums<Real> / 2; ++k)
    total += static_cast<double>(sum[k]) + static_cast<double>(sum[k + kSums<Real> / 2]);
  return total;
}

template <class Real>
STICTION_INLINE double compute_dot(const Real* a, const Real* b, int n) {
  constexpr int kStep = kSums<Real>;
  Real sum[kStep] = {};
  int i = 0;
  for (; i + kStep <= n; i += kStep)
    for (int k = 0; k < kStep; ++k) sum[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return add_up(sum);
}

template <class Real>
STICTION_INLINE void compute_both(const Real* a, const Real* b, const Real* c, int n, double* out) {
  constexpr int kStep = kSums<Real>;
  Real of_a[kStep] = {}, of_b[kStep] = {};
  int i = 0;
  for (; i + kStep <= n; i += kStep)
    for (int k = 0; k < kStep; ++k) {
      of_a[k] += a[i + k] * c[i + k];
      of_b[k] += b[i + k] * c[i + k];
    }
  for (; i < n; ++i) {
    of_a[0] += a[i] * c[i];
    of_b[0] += b[i] * c[i];
  }
  out[0] = add_up(of_a);
  out[1] = add_up(of_b);
}

template <class Real>
STICTION_INLINE void carry(Real factor, int n, Real* __restrict last, Real* __restrict z) {
  for (int i = 0; i < n; ++i) {
    const Real now = z[i];
    z[i] = now + factor * (now - last[i]);
    last[i] = now;
  }
}

template <class Real>
struct Plain {
  static double dot(const Real* a, const Real* b, int n) { return compute_dot(a, b, n); }
  static void dot_both(const Real* a, const Real* b, const Real* c, int n, double* out) {
    compute_both(a, b, c, n, out);
  }
  static void subtract(const Real* a, const Real* b, int n, Real* __restrict out) {
    for (int i = 0; i < n; ++i) out[i] = a[i] - b[i];
  }
  static void subtract_weighted(const Real* weight, const Real* a, const Real* b, int n,
                                Real* __restrict out) {
    for (int i = 0; i < n; ++i) out[i] = weight[i] * (a[i] - b[i]);
  }
  static void take_off(Real factor, const Real* a, int n, Real* __restrict out) {
    for (int i = 0; i < n; ++i) out[i] -= factor * a[i];
  }
  static void carry_on(Real factor, int n, Real* last, Real* z) { carry(factor, n, last, z); }
};

template <class Real>
constexpr LongVectors<Real> kPlain = {Plain<Real>::dot,      Plain<Real>::dot_both,
                                      Plain<Real>::subtract, Plain<Real>::subtract_weighted,
                                      Plain<Real>::take_off, Plain<Real>::carry_on};

#if defined(__x86_64__)
#define STICTION_WIDE [[gnu::target("avx2")]]
template <class Real>
struct Wide {
  STICTION_WIDE static double dot(const Real* a, const Real* b, int n) {
    return compute_dot(a, b, n);
  }
  STICTION_WIDE static void dot_both(const Real* a, const Real* b, const Real* c, int n,
                                     double* out) {
    compute_both(a, b, c, n, out);
  }
  STICTION_WIDE static void subtract(const Real* a, const Real* b, int n, Real* __restrict out) {
    for (int i = 0; i < n; ++i) out[i] = a[i] - b[i];
  }
  STICTION_WIDE static void subtract_weighted(const Real* weight, const Real* a, const Real* b,
                                              int n, Real* __restrict out) {
    for (int i = 0; i < n; ++i) out[i] = weight[i] * (a[i] - b[i]);
  }
  STICTION_WIDE static void take_off(Real factor, const Real* a, int n, Real* __restrict out) {
    for (int i = 0; i < n; ++i) out[i] -= factor * a[i];
  }
  STICTION_WIDE static void carry_on(Real factor, int n, Real* last, Real* z) {
    carry(factor, n, last, z);
  }
};

template <class Real>
constexpr LongVectors<Real> kWide = {Wide<Real>::dot,      Wide<Real>::dot_both,
                                     Wide<Real>::subtract, Wide<Real>::subtract_weighted,
                                     Wide<Real>::take_off, Wide<Real>::carry_on};
#endif

}  // namespace

template <class Real>
const LongVectors<Real>& LongVectors<Real>::plain() {
  return kPlain<Real>;
}

template <class Real>
const LongVectors<Real>& LongVectors<Real>::chosen() {
#if defined(__x86_64__)
  static const bool has_wide = __builtin_cpu_supports("avx2");
  return has_wide ? kWide<Real> : kPlain<Real>;
#else
  return kPlain<Real>;
#endif
}

template struct LongVectors<double>;
template struct LongVectors<float>;

}  // namespace stiction
