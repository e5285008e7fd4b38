// What goes into packs before sweeps and comes out after them.
#include <algorithm>
#include <cmath>

#include "stiction/solve/sweep_packs.h"

namespace stiction {
namespace {

/// Packs and bodies whose state one task takes.
constexpr int kStateGrain = 128;

}  // namespace

template <class Real>
void SweepPacks<Real>::load(const SweepState& state) {
  std::fill(lines_.begin(), lines_.end(), Line{});  // also where numbers of no contact overflowed
  run_numbers(blocks_->workers(), num_packs(), kStateGrain, [&](int begin, int end) {
    for (int p = begin; p < end; ++p)
      for (int lane = 0; lane < count_[p]; ++lane) {
        const int contact = packs_[p].contact[lane];
        const double* x = state.x() + blocks_->unit(contact).row;
        const double unit = contact_unit(contact) * unit_;
        for (int a = 0; a < 3; ++a) impulses(p)[a * kLanes + lane] = static_cast<Real>(x[a] / unit);
      }
  });
  run_numbers(blocks_->workers(), num_bodies_, kStateGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      double w[kBodySize];
      scale_velocity(bodies_[i], state.w() + bodies_[i].dof, w);
      for (int k = 0; k < kBodySize; ++k)
        velocities()[kLineSize * i + k] = static_cast<Real>(w[k] / unit_);
    }
  });
}

/// Lᵀw.
template <class Real>
void SweepPacks<Real>::scale_velocity(const Body& body, const double* w, double* out) const {
  for (int k = 0; k < kBodySize; ++k) {
    out[k] = body.root[k] * w[k];
    if (body.factor >= 0)
      for (int j = k + 1; j < kBodySize; ++j)
        out[k] += factors_[body.factor + j * kBodySize + k] * w[j];
  }
}

template <class Real>
void SweepPacks<Real>::store_impulses(SweepState& state) const {
  run_numbers(blocks_->workers(), num_packs(), kStateGrain, [&](int begin, int end) {
    for (int p = begin; p < end; ++p)
      for (int lane = 0; lane < count_[p]; ++lane) {
        const int contact = packs_[p].contact[lane];
        const double unit = contact_unit(contact) * unit_;
        double* x = state.x() + blocks_->unit(contact).row;
        for (int a = 0; a < 3; ++a) x[a] = impulses(p)[a * kLanes + lane] * unit;
      }
  });
}

template <class Real>
void SweepPacks<Real>::store(SweepState& state) const {
  store_impulses(state);
  for (int row = 0; row < blocks_->num_rows(); ++row)
    state.u()[row] = blocks_->bias(row) + blocks_->compliance(row) * state.x()[row];
  run_numbers(blocks_->workers(), num_bodies_, kStateGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i)
      restore_velocity(bodies_[i], lines_[first_body_line_ + i].value, state.w() + bodies_[i].dof);
  });
}

/// L⁻ᵀw', from the last number to the first.
template <class Real>
void SweepPacks<Real>::restore_velocity(const Body& body, const Real* from, double* w) const {
  for (int k = kBodySize - 1; k >= 0; --k) {
    double sum = from[k] * unit_;
    if (body.factor >= 0)
      for (int j = k + 1; j < kBodySize; ++j)
        sum -= factors_[body.factor + j * kBodySize + k] * w[j];
    w[k] = sum * body.reciprocal[k];
  }
}

template <class Real>
void SweepPacks<Real>::set_scales(std::span<const double> scale) {
  run_numbers(blocks_->workers(), num_packs(), kStateGrain, [&](int begin, int end) {
    for (int p = begin; p < end; ++p)
      for (int lane = 0; lane < count_[p]; ++lane) {
        const int contact = packs_[p].contact[lane];
        const double ratio = unit_ / scale[contact];
        const Real rate = static_cast<Real>(packs_[p].size[lane] * ratio * ratio);
        packs_[p].rate[lane] = std::isfinite(rate) ? rate : 0;
      }
  });
}

template void SweepPacks<double>::load(const SweepState&);
template void SweepPacks<float>::load(const SweepState&);
template void SweepPacks<double>::scale_velocity(const Body&, const double*, double*) const;
template void SweepPacks<float>::scale_velocity(const Body&, const double*, double*) const;
template void SweepPacks<double>::store_impulses(SweepState&) const;
template void SweepPacks<float>::store_impulses(SweepState&) const;
template void SweepPacks<double>::store(SweepState&) const;
template void SweepPacks<float>::store(SweepState&) const;
template void SweepPacks<double>::set_scales(std::span<const double>);
template void SweepPacks<float>::set_scales(std::span<const double>);

}  // namespace stiction
