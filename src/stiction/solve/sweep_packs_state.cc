// What goes into packs before sweeps and comes out after them.
#include <algorithm>
#include <cmath>

#include "stiction/solve/sweep_packs.h"

namespace stiction {
namespace {

constexpr int kLanes = SweepPack::kLanes;

/// Packs and bodies whose state one task takes.
constexpr int kStateGrain = 128;

}  // namespace

void SweepPacks::load(const SweepState& state) {
  std::fill(lines_.begin(), lines_.end(), Line{});  // also where numbers of no contact overflowed
  run_numbers(blocks_->workers(), num_packs(), kStateGrain, [&](int begin, int end) {
    for (int p = begin; p < end; ++p)
      for (int lane = 0; lane < count_[p]; ++lane) {
        const double* x = state.x() + blocks_->unit(packs_[p].contact[lane]).row;
        for (int a = 0; a < 3; ++a) impulses(p)[a * kLanes + lane] = x[a];
      }
  });
  run_numbers(blocks_->workers(), num_bodies_, kStateGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i)
      scale_velocity(bodies_[i], state.w() + bodies_[i].dof, velocities() + kLineSize * i);
  });
}

/// Lᵀw.
void SweepPacks::scale_velocity(const Body& body, const double* w, double* out) const {
  for (int k = 0; k < kBodySize; ++k) {
    out[k] = body.root[k] * w[k];
    if (body.factor >= 0)
      for (int j = k + 1; j < kBodySize; ++j)
        out[k] += factors_[body.factor + j * kBodySize + k] * w[j];
  }
}

void SweepPacks::store(SweepState& state) const {
  run_numbers(blocks_->workers(), num_packs(), kStateGrain, [&](int begin, int end) {
    for (int p = begin; p < end; ++p)
      for (int lane = 0; lane < count_[p]; ++lane) {
        const int row = blocks_->unit(packs_[p].contact[lane]).row;
        for (int a = 0; a < 3; ++a) {
          const double x = impulses(p)[a * kLanes + lane];
          state.x()[row + a] = x;
          state.u()[row + a] = blocks_->bias(row + a) + blocks_->compliance(row + a) * x;
        }
      }
  });
  run_numbers(blocks_->workers(), num_bodies_, kStateGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i)
      restore_velocity(bodies_[i], lines_[first_body_line_ + i].value, state.w() + bodies_[i].dof);
  });
}

/// L⁻ᵀw', from the last number to the first.
void SweepPacks::restore_velocity(const Body& body, const double* from, double* w) const {
  for (int k = kBodySize - 1; k >= 0; --k) {
    double sum = from[k];
    if (body.factor >= 0)
      for (int j = k + 1; j < kBodySize; ++j)
        sum -= factors_[body.factor + j * kBodySize + k] * w[j];
    w[k] = sum * body.reciprocal[k];
  }
}

void SweepPacks::set_scales(std::span<const double> scale) {
  for (SweepPack& pack : std::span(packs_).first(num_packs_))
    for (int lane = 0; lane < kLanes && pack.contact[lane] >= 0; ++lane) {
      const double ratio =
          std::sqrt(blocks_->omega(pack.contact[lane])) / scale[pack.contact[lane]];
      pack.rate[lane] = std::isfinite(ratio * ratio) ? ratio * ratio : 0;
    }
}

}  // namespace stiction
