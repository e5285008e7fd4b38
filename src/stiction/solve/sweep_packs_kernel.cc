// The visit of a pack: what one_contact_visit.h does, in all lanes. Compiled twice on x86, for
// vectors of 32 bytes and for those of 16 that every processor has; neither fuses products with
// sums, so the bits are the same.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stiction/solve/gauss_seidel_projection.h"
#include "stiction/solve/sweep_packs.h"

// Vectors are passed to functions that are always inlined: how they would be passed does not
// matter.
#pragma GCC diagnostic ignored "-Wpsabi"
#define STICTION_INLINE [[gnu::always_inline]] inline

namespace stiction {
namespace {

constexpr int kBytes = 32;  // of a vector
constexpr int kLine = 8;    // numbers of a body

template <class Real>
struct VectorOf;
template <>
struct VectorOf<double> {
  using Lanes = double __attribute__((vector_size(kBytes)));
  using Mask = long long __attribute__((vector_size(kBytes)));
  using Memory = double __attribute__((vector_size(kBytes), may_alias));
};
template <>
struct VectorOf<float> {
  using Lanes = float __attribute__((vector_size(kBytes)));
  using Mask = int __attribute__((vector_size(kBytes)));
  using Memory = float __attribute__((vector_size(kBytes), may_alias));
};
template <class Real>
using LanesOf = typename VectorOf<Real>::Lanes;
template <class Real>
using MaskOf = typename VectorOf<Real>::Mask;

/// All addresses are multiples of the size of a vector. Loads and stores as a whole: a load that
/// needs two stores has to wait for both.
template <class Real>
STICTION_INLINE LanesOf<Real> load(const Real* from) {
  return *reinterpret_cast<const typename VectorOf<Real>::Memory*>(from);
}
template <class Real>
STICTION_INLINE void store(const LanesOf<Real>& lanes, Real* to) {
  *reinterpret_cast<typename VectorOf<Real>::Memory*>(to) = lanes;
}
template <class Real>
STICTION_INLINE LanesOf<Real> all(Real x) {
  return LanesOf<Real>{} + x;
}
template <class Mask>
STICTION_INLINE bool any(const Mask& mask) {
  using Words = std::int64_t __attribute__((vector_size(kBytes)));
  const Words words = reinterpret_cast<Words>(mask);
  return ((words[0] | words[2]) | (words[1] | words[3])) != 0;
}
template <class Real>
STICTION_INLINE LanesOf<Real> root(const LanesOf<Real>& lanes) {
  constexpr int kLanes = kBytes / sizeof(Real);
  alignas(kBytes) Real x[kLanes];
  store<Real>(lanes, x);
  for (Real& value : x) value = std::sqrt(value);
  return load(x);
}
template <class Lanes>
STICTION_INLINE Lanes size_of(const Lanes& lanes) {
  return lanes < 0 ? -lanes : lanes;
}

/// Rows become columns.
STICTION_INLINE void transpose(LanesOf<double>* rows) {
  const LanesOf<double> a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 2, 6);
  const LanesOf<double> b = __builtin_shufflevector(rows[0], rows[1], 1, 5, 3, 7);
  const LanesOf<double> c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 2, 6);
  const LanesOf<double> d = __builtin_shufflevector(rows[2], rows[3], 1, 5, 3, 7);
  rows[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  rows[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  rows[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  rows[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

STICTION_INLINE void transpose(LanesOf<float>* rows) {
  LanesOf<float> pairs[8], quads[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[i + 1] = __builtin_shufflevector(rows[i], rows[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int k = 0; k < 2; ++k) {
      const LanesOf<float>&a = pairs[i + k], &b = pairs[i + k + 2];
      quads[i + 2 * k] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      quads[i + 2 * k + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int i = 0; i < 4; ++i) {
    rows[i] = __builtin_shufflevector(quads[i], quads[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    rows[i + 4] = __builtin_shufflevector(quads[i], quads[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// Velocities of the bodies, coordinate by coordinate, and two rows of zeros.
template <class Real>
STICTION_INLINE void gather(const Real* w, const std::ptrdiff_t* place, LanesOf<Real>* out) {
  constexpr int kLanes = kBytes / sizeof(Real);
  for (int part = 0; part < kLine; part += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) out[part + lane] = load(w + place[lane] + part);
    transpose(out + part);
  }
}

template <class Real>
STICTION_INLINE void scatter(LanesOf<Real>* rows, const std::ptrdiff_t* place, Real* w) {
  constexpr int kLanes = kBytes / sizeof(Real);
  for (int part = 0; part < kLine; part += kLanes) transpose(rows + part);
  // Halves of a line one after the other, since that is how they are read.
  for (int lane = 0; lane < kLanes; ++lane)
    for (int part = 0; part < kLine; part += kLanes)
      store<Real>(rows[part + lane], w + place[lane] + part);
}

template <class Real>
struct Law {
  LanesOf<Real> W00, W01, W02, W11, W12, W22, mu;
};

/// Newton's method for the angle of friction, as OneContact::try_slide_from, from directions of any
/// length. Mostly one turn does: its error is as the square of the turn, and the next visit goes on
/// from there. How many there are must be easy to foresee, since the work on the next pack begins
/// before that of this one ends. Returns the lanes in which it got on; what it writes into the
/// others is worth nothing.
///
/// A pack waits for one number after the other, for divisions longest. Velocities and the slope are
/// therefore those of OneContact times `across`, and a turned direction keeps its length until
/// something divides by that anyway.
template <class Real>
STICTION_INLINE MaskOf<Real> slide(const Law<Real>& law, const LanesOf<Real>* q,
                                   const LanesOf<Real>* direction, const MaskOf<Real>& asked,
                                   LanesOf<Real>* r) {
  using Lanes = LanesOf<Real>;
  using Mask = MaskOf<Real>;
  constexpr int kMaxTurns = 6;
  constexpr Real kSmallTurn = Real(0.1), kLargeTurn = Real(0.5), kHalf = Real(0.5);
  const Lanes norm = root<Real>(direction[0] * direction[0] + direction[1] * direction[1]);
  Lanes d0 = direction[0] / norm, d1 = direction[1] / norm, length;
  Mask gets_on = asked & (norm > 0);
  for (int i = 0;; ++i) {
    const Lanes mu_d0 = law.mu * d0, mu_d1 = law.mu * d1;
    const Lanes across = law.W00 + (law.W01 * mu_d0 + law.W02 * mu_d1);
    const Lanes k0 = law.W01 + (law.W11 * mu_d0 + law.W12 * mu_d1);
    const Lanes k1 = law.W02 + (law.W12 * mu_d0 + law.W22 * mu_d1);
    const Lanes u0 = q[1] * across - q[0] * k0, u1 = q[2] * across - q[0] * k1;
    const Lanes along = d0 * u0 + d1 * u1, wrong = d0 * u1 - d1 * u0;
    // The slope of `wrong` over the angle, with ν' = −ν g and k' that of k.
    const Lanes g = law.W02 * mu_d0 - law.W01 * mu_d1;
    const Lanes turned =
        d0 * (law.W22 * mu_d0 - law.W12 * mu_d1) - d1 * (law.W12 * mu_d0 - law.W11 * mu_d1);
    const Lanes slope = q[0] * (g * (d0 * k1 - d1 * k0) - turned * across) - along * across;
    const Lanes turn = -(wrong * across) / slope;
    const Mask is_small = size_of(turn) < kSmallTurn;
    gets_on &= (across > 0) & (along < 0) & (slope > 0) & (size_of(turn) < kLargeTurn);
    // A rotation by 2 arctan(turn/2), times `length`.
    const Lanes half = kHalf * turn, cosine = 1 - half * half, old = d0;
    length = 1 + half * half;
    d0 = cosine * d0 - turn * d1;
    d1 = cosine * d1 + turn * old;
    if (!any(gets_on & ~is_small)) break;
    if (i + 1 == kMaxTurns) {
      gets_on &= is_small;
      break;
    }
    d0 /= length;
    d1 /= length;
  }
  const Lanes across = law.W00 * length + law.mu * (law.W01 * d0 + law.W02 * d1);
  const Lanes nu = -q[0] / across;
  r[0] = nu * length;
  r[1] = law.mu * nu * d0;
  r[2] = law.mu * nu * d1;
  return gets_on & (across > 0);
}

/// A lane by itself, where steps from the last answer are not safe. W is row by row.
[[gnu::noinline]] void solve_lane(const double* W, double mu, const double* u, const double* q,
                                  const double* old, double* r) {
  OneContact law;
  law.prepare(W, 3, mu, nullptr);
  double hint = 0;
  if (!law.solve(q, r, hint)) step_by_projection(law, law.size(), u, old, r);
}

template <class Real>
STICTION_INLINE void solve_lanes(const SweepPack<Real>& pack, const MaskOf<Real>& asked,
                                 const LanesOf<Real>* u, const LanesOf<Real>* q,
                                 const LanesOf<Real>* old, LanesOf<Real>* r) {
  constexpr int kPlace[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  for (int lane = 0; lane < SweepPack<Real>::kLanes; ++lane) {
    // Numbers of no contact may overflow, too.
    if (!asked[lane] || pack.contact[lane] < 0) continue;
    double W[9], u_lane[3], q_lane[3], old_lane[3], r_lane[3] = {};
    for (int k = 0; k < 9; ++k) W[k] = pack.W[kPlace[k]][lane];
    for (int a = 0; a < 3; ++a) {
      u_lane[a] = u[a][lane];
      q_lane[a] = q[a][lane];
      old_lane[a] = old[a][lane];
    }
    solve_lane(W, pack.mu[lane], u_lane, q_lane, old_lane, r_lane);
    for (int a = 0; a < 3; ++a) r[a][lane] = static_cast<Real>(r_lane[a]);
  }
}

/// OneContact::visit: r becomes the answer to the velocities u.
template <class Real>
STICTION_INLINE void answer(const SweepPack<Real>& pack, const PackState<Real>& state,
                            const LanesOf<Real>* u, const LanesOf<Real>* old, LanesOf<Real>* r) {
  using Lanes = LanesOf<Real>;
  using Mask = MaskOf<Real>;
  constexpr Real kNearly = Real(0.99);
  const Law<Real> law = {load(pack.W[0]), load(pack.W[1]), load(pack.W[2]), load(pack.W[3]),
                         load(pack.W[4]), load(pack.W[5]), load(pack.mu)};
  const Lanes q[3] = {u[0] - law.W00 * old[0] - law.W01 * old[1] - law.W02 * old[2],
                      u[1] - law.W01 * old[0] - law.W11 * old[1] - law.W12 * old[2],
                      u[2] - law.W02 * old[0] - law.W12 * old[1] - law.W22 * old[2]};
  const Lanes v01 = load(pack.inverse[1]), v02 = load(pack.inverse[2]), v12 = load(pack.inverse[4]);
  r[0] = old[0] - (load(pack.inverse[0]) * u[0] + v01 * u[1] + v02 * u[2]);
  r[1] = old[1] - (v01 * u[0] + load(pack.inverse[3]) * u[1] + v12 * u[2]);
  r[2] = old[2] - (v02 * u[0] + v12 * u[1] + load(pack.inverse[5]) * u[2]);
  const Lanes square = law.mu * law.mu;
  const Mask is_open = q[0] >= 0;
  const Mask sticks = (r[0] >= 0) & (r[1] * r[1] + r[2] * r[2] <= square * r[0] * r[0]);
  // All lanes slide, also if none has to: a branch that goes either way costs more.
  const Mask slides = ~is_open & ~sticks;
  const Mask has_slid = old[1] * old[1] + old[2] * old[2] > kNearly * square * old[0] * old[0];
  const Lanes direction[2] = {has_slid ? old[1] : r[1], has_slid ? old[2] : r[2]};
  Lanes slid[3];
  const Mask is_lost = slides & ~slide<Real>(law, q, direction, slides, slid);
  for (int a = 0; a < 3; ++a) {
    // What momentum has made negative does not pull.
    const Lanes from = a == 0 && state.hold > 0 ? (old[0] > 0 ? old[0] : Lanes{}) : old[a];
    slid[a] -= state.hold * (slid[a] - from);
    r[a] = is_open ? Lanes{} : sticks ? r[a] : slid[a];
  }
  if (any(is_lost)) solve_lanes<Real>(pack, is_lost, u, q, old, r);
}

/// Returns the changes.
template <class Real>
STICTION_INLINE LanesOf<Real> visit(const SweepPack<Real>& pack, const PackState<Real>& state,
                                    Real* x) {
  using Lanes = LanesOf<Real>;
  constexpr int kLanes = SweepPack<Real>::kLanes;
  Lanes first[kLine], second[kLine], u[3], old[3], r[3], change[3];
  Real* w = state.w;
  gather(w, pack.place[0], first);
  gather(w, pack.place[1], second);
  for (int a = 0; a < 3; ++a) {
    old[a] = load(x + a * kLanes);
    Lanes of_first = load(pack.bias[a]) + load(pack.compliance[a]) * old[a], of_second = {};
    for (int k = 0; k < 6; ++k) {
      of_first += load(pack.J[a][k]) * first[k];
      of_second += load(pack.J[a][6 + k]) * second[k];
    }
    u[a] = of_first + of_second;
  }
  answer<Real>(pack, state, u, old, r);
  for (int a = 0; a < 3; ++a) change[a] = r[a] - old[a];
  if (!any((change[0] != 0) | (change[1] != 0) | (change[2] != 0))) return Lanes{};
  for (int a = 0; a < 3; ++a) store<Real>(r[a], x + a * kLanes);
  for (int k = 0; k < 6; ++k)
    for (int a = 0; a < 3; ++a) {
      first[k] += load(pack.J[a][k]) * change[a];
      second[k] += load(pack.J[a][6 + k]) * change[a];
    }
  scatter(first, pack.place[0], w);
  scatter(second, pack.place[1], w);
  return load(pack.rate) * (change[0] * change[0] + change[1] * change[1] + change[2] * change[2]);
}

template <class Real>
STICTION_INLINE double visit_all(std::span<const SweepPack<Real>> packs,
                                 const PackState<Real>& state) {
  constexpr int kLanes = SweepPack<Real>::kLanes;
  LanesOf<Real> worst = {};
  Real* x = state.x;
  for (const SweepPack<Real>& pack : packs) {
    const LanesOf<Real> moved = visit(pack, state, x);
    worst = moved > worst ? moved : worst;
    x += 3L * kLanes;
  }
  Real largest = worst[0];
  for (int lane = 1; lane < kLanes; ++lane) largest = std::max(largest, worst[lane]);
  return largest;
}

template <class Real>
using Visit = double (*)(std::span<const SweepPack<Real>>, const PackState<Real>&);

#if defined(__x86_64__)
template <class Real>
[[gnu::target("avx2")]] double visit_packs_at_once(std::span<const SweepPack<Real>> packs,
                                                   const PackState<Real>& state) {
  return visit_all(packs, state);
}

template <class Real>
Visit<Real> choose_visit() {
  return __builtin_cpu_supports("avx2") ? visit_packs_at_once<Real> : visit_packs_by_halves<Real>;
}
#else
template <class Real>
Visit<Real> choose_visit() {
  return visit_packs_by_halves<Real>;
}
#endif

}  // namespace

template <class Real>
double visit_packs_by_halves(std::span<const SweepPack<Real>> packs, const PackState<Real>& state) {
  return visit_all(packs, state);
}

template <class Real>
double visit_packs(std::span<const SweepPack<Real>> packs, const PackState<Real>& state) {
  static const Visit<Real> chosen = choose_visit<Real>();
  return chosen(packs, state);
}

template double visit_packs(std::span<const SweepPack<double>>, const PackState<double>&);
template double visit_packs(std::span<const SweepPack<float>>, const PackState<float>&);
template double visit_packs_by_halves(std::span<const SweepPack<double>>, const PackState<double>&);
template double visit_packs_by_halves(std::span<const SweepPack<float>>, const PackState<float>&);

}  // namespace stiction
