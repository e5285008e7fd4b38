// The visit of a pack: what one_contact_visit.h does, in four lanes. Compiled twice on x86, for
// vectors of four numbers and for those of two that every processor has; neither fuses products
// with sums, so the bits are the same.
#include <algorithm>
#include <cmath>

#include "stiction/solve/gauss_seidel_projection.h"
#include "stiction/solve/sweep_packs.h"

// Vectors are passed to functions that are always inlined: how they would be passed does not
// matter.
#pragma GCC diagnostic ignored "-Wpsabi"
#define STICTION_INLINE [[gnu::always_inline]] inline

namespace stiction {
namespace {

constexpr int kLanes = SweepPack::kLanes;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double)), may_alias));
using Mask = long long __attribute__((vector_size(kLanes * sizeof(double))));

/// All addresses are multiples of the size of a vector. Loads and stores as a whole: a load that
/// needs two stores has to wait for both.
STICTION_INLINE Lanes load(const double* from) { return *reinterpret_cast<const Lanes*>(from); }
STICTION_INLINE void store(const Lanes& lanes, double* to) {
  *reinterpret_cast<Lanes*>(to) = lanes;
}
STICTION_INLINE Lanes all(double x) { return Lanes{x, x, x, x}; }
STICTION_INLINE bool any(const Mask& mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }
STICTION_INLINE Lanes root(const Lanes& lanes) {
  alignas(Lanes) double x[kLanes];
  store(lanes, x);
  for (double& value : x) value = std::sqrt(value);
  return load(x);
}
STICTION_INLINE Lanes size_of(const Lanes& lanes) { return lanes < 0 ? -lanes : lanes; }

/// Rows of four numbers become columns.
STICTION_INLINE void transpose(Lanes* rows) {
  const Lanes a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 2, 6);
  const Lanes b = __builtin_shufflevector(rows[0], rows[1], 1, 5, 3, 7);
  const Lanes c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 2, 6);
  const Lanes d = __builtin_shufflevector(rows[2], rows[3], 1, 5, 3, 7);
  rows[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  rows[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  rows[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  rows[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// Velocities of four bodies, coordinate by coordinate, and two rows of zeros.
STICTION_INLINE void gather(const double* w, const std::ptrdiff_t* place, Lanes* out) {
  for (int lane = 0; lane < kLanes; ++lane) {
    out[lane] = load(w + place[lane]);
    out[kLanes + lane] = load(w + place[lane] + kLanes);
  }
  transpose(out);
  transpose(out + kLanes);
}

STICTION_INLINE void scatter(Lanes* rows, const std::ptrdiff_t* place, double* w) {
  transpose(rows);
  transpose(rows + kLanes);
  for (int lane = 0; lane < kLanes; ++lane) {
    store(rows[lane], w + place[lane]);
    store(rows[kLanes + lane], w + place[lane] + kLanes);
  }
}

struct Law {
  Lanes W00, W01, W02, W11, W12, W22, mu;
};

/// Newton's method for the angle of friction, as OneContact::try_slide_from, from directions of any
/// length. Mostly one turn does: its error is as the square of the turn, and the next visit goes on
/// from there. How many there are must be easy to foresee, since the work on the next pack begins
/// before that of this one ends. Returns the lanes in which it got on; what it writes into the
/// others is worth nothing.
STICTION_INLINE Mask slide(const Law& law, const Lanes* q, const Lanes* direction,
                           const Mask& asked, Lanes* r) {
  constexpr int kMaxTurns = 6;
  constexpr double kSmallTurn = 0.1, kLargeTurn = 0.5;
  const Lanes norm = root(direction[0] * direction[0] + direction[1] * direction[1]);
  Lanes d0 = direction[0] / norm, d1 = direction[1] / norm;
  Mask gets_on = asked & (norm > 0);
  for (int i = 0; i < kMaxTurns; ++i) {
    const Lanes mu_d0 = law.mu * d0, mu_d1 = law.mu * d1;
    const Lanes across = law.W00 + (law.W01 * mu_d0 + law.W02 * mu_d1);
    const Lanes k0 = law.W01 + (law.W11 * mu_d0 + law.W12 * mu_d1);
    const Lanes k1 = law.W02 + (law.W12 * mu_d0 + law.W22 * mu_d1);
    const Lanes share = 1 / across, nu = -q[0] * share;
    const Lanes u0 = q[1] + nu * k0, u1 = q[2] + nu * k1;
    const Lanes along = d0 * u0 + d1 * u1, wrong = d0 * u1 - d1 * u0;
    // The slope of `wrong` over the angle, with ν' = −ν g and k' that of k.
    const Lanes g = (law.W02 * mu_d0 - law.W01 * mu_d1) * share;
    const Lanes turned =
        d0 * (law.W22 * mu_d0 - law.W12 * mu_d1) - d1 * (law.W12 * mu_d0 - law.W11 * mu_d1);
    const Lanes slope = nu * (turned - g * (d0 * k1 - d1 * k0)) - along;
    const Lanes turn = -wrong / slope;
    const Mask is_small = size_of(turn) < kSmallTurn;
    gets_on &= (across > 0) & (along < 0) & (slope > 0) & (size_of(turn) < kLargeTurn);
    // A rotation by 2 arctan(turn/2), which keeps the length.
    const Lanes half = 0.5 * turn, scale = 1 / (1 + half * half);
    const Lanes cosine = (1 - half * half) * scale, sine = turn * scale, old = d0;
    d0 = cosine * d0 - sine * d1;
    d1 = cosine * d1 + sine * old;
    if (!any(gets_on & ~is_small)) break;
    if (i + 1 == kMaxTurns) gets_on &= is_small;
  }
  const Lanes across = law.W00 + law.mu * (law.W01 * d0 + law.W02 * d1);
  r[0] = -q[0] / across;
  r[1] = law.mu * r[0] * d0;
  r[2] = law.mu * r[0] * d1;
  return gets_on & (across > 0);
}

/// A lane by itself, where steps from the last answer are not safe.
[[gnu::noinline]] void solve_lane(const ContactBlocks& blocks, int contact, const double* u,
                                  const double* q, const double* old, double* r) {
  const OneContact& law = blocks.contact(contact);
  double hint = 0;
  if (!law.solve(q, r, hint)) step_by_projection(law, blocks.omega(contact), u, old, r);
}

STICTION_INLINE void solve_lanes(const ContactBlocks& blocks, const SweepPack& pack,
                                 const Mask& asked, const Lanes* u, const Lanes* q,
                                 const Lanes* old, Lanes* r) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!asked[lane] || pack.contact[lane] < 0)
      continue;  // numbers of no contact may overflow, too
    const double u_lane[3] = {u[0][lane], u[1][lane], u[2][lane]};
    const double q_lane[3] = {q[0][lane], q[1][lane], q[2][lane]};
    const double old_lane[3] = {old[0][lane], old[1][lane], old[2][lane]};
    double r_lane[3] = {};
    solve_lane(blocks, pack.contact[lane], u_lane, q_lane, old_lane, r_lane);
    for (int a = 0; a < 3; ++a) r[a][lane] = r_lane[a];
  }
}

/// OneContact::visit: r becomes the answer to the velocities u.
STICTION_INLINE void answer(const ContactBlocks& blocks, const SweepPack& pack, const Lanes* u,
                            const Lanes* old, Lanes* r) {
  const Law law = {load(pack.W[0]), load(pack.W[1]), load(pack.W[2]), load(pack.W[3]),
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
  const Mask has_slid = old[1] * old[1] + old[2] * old[2] > 0.99 * square * old[0] * old[0];
  const Lanes direction[2] = {has_slid ? old[1] : r[1], has_slid ? old[2] : r[2]};
  Lanes slid[3];
  const Mask is_lost = slides & ~slide(law, q, direction, slides, slid);
  for (int a = 0; a < 3; ++a) r[a] = is_open ? all(0) : sticks ? r[a] : slid[a];
  if (any(is_lost)) solve_lanes(blocks, pack, is_lost, u, q, old, r);
}

/// Returns the changes.
STICTION_INLINE Lanes visit(const ContactBlocks& blocks, const SweepPack& pack, double* x,
                            double* w) {
  Lanes first[2 * kLanes], second[2 * kLanes], u[3], old[3], r[3], change[3];
  gather(w, pack.place[0], first);
  gather(w, pack.place[1], second);
  for (int a = 0; a < 3; ++a) {
    old[a] = load(x + a * kLanes);
    Lanes of_first = load(pack.bias[a]) + load(pack.compliance[a]) * old[a], of_second = all(0);
    for (int k = 0; k < 6; ++k) {
      of_first += load(pack.J[a][k]) * first[k];
      of_second += load(pack.J[a][6 + k]) * second[k];
    }
    u[a] = of_first + of_second;
  }
  answer(blocks, pack, u, old, r);
  for (int a = 0; a < 3; ++a) change[a] = r[a] - old[a];
  if (!any((change[0] != 0) | (change[1] != 0) | (change[2] != 0))) return all(0);
  for (int a = 0; a < 3; ++a) store(r[a], x + a * kLanes);
  for (int k = 0; k < 6; ++k)
    for (int a = 0; a < 3; ++a) {
      first[k] += load(pack.J[a][k]) * change[a];
      second[k] += load(pack.J[a][6 + k]) * change[a];
    }
  scatter(first, pack.place[0], w);
  scatter(second, pack.place[1], w);
  return load(pack.rate) * (change[0] * change[0] + change[1] * change[1] + change[2] * change[2]);
}

STICTION_INLINE double visit_all(const ContactBlocks& blocks, std::span<const SweepPack> packs,
                                 const PackState& state) {
  Lanes worst = all(0);
  double *x = state.x, *change = state.change;
  for (const SweepPack& pack : packs) {
    const Lanes moved = visit(blocks, pack, x, state.w);
    store(moved, change);
    worst = moved > worst ? moved : worst;
    x += 3L * kLanes;
    change += kLanes;
  }
  return std::max({worst[0], worst[1], worst[2], worst[3]});
}

using Visit = double (*)(const ContactBlocks&, std::span<const SweepPack>, const PackState&);

#if defined(__x86_64__)
[[gnu::target("avx2")]] double visit_by_four(const ContactBlocks& blocks,
                                             std::span<const SweepPack> packs,
                                             const PackState& state) {
  return visit_all(blocks, packs, state);
}

Visit choose_visit() { return __builtin_cpu_supports("avx2") ? visit_by_four : visit_packs_by_two; }
#else
Visit choose_visit() { return visit_packs_by_two; }
#endif

}  // namespace

double visit_packs_by_two(const ContactBlocks& blocks, std::span<const SweepPack> packs,
                          const PackState& state) {
  return visit_all(blocks, packs, state);
}

double visit_packs(const ContactBlocks& blocks, std::span<const SweepPack> packs,
                   const PackState& state) {
  static const Visit chosen = choose_visit();
  return chosen(blocks, packs, state);
}

}  // namespace stiction
