// Packs of some contacts of a problem, taken from those of all of them.
#include "stiction/solve/sweep_packs.h"

namespace stiction {
namespace {

/// Packs that one task takes to fill.
constexpr int kPackGrain = 16;

}  // namespace

template <class Real>
void SweepPacks<Real>::select(const SweepPacks& whole, const SweepOrder& order) {
  blocks_ = whole.blocks_;
  unit_ = whole.unit_;
  ends_.resize(whole.ends_.size());
  local_of_.assign(whole.num_bodies_, kNone);
  origin_.clear();
  for (const int contact : order.units())
    for (int side = 0; side < 2; ++side) {
      const int body = whole.ends_[contact].body[side];
      if (body != kNone && local_of_[body] == kNone) {
        local_of_[body] = static_cast<int>(origin_.size());
        origin_.push_back(body);
      }
      ends_[contact].body[side] = body == kNone ? kNone : local_of_[body];
    }
  num_bodies_ = static_cast<int>(origin_.size());
  form_packs(order);
  weight_.assign(static_cast<std::size_t>(kImpulses) * num_packs(), Real{0});
  run_numbers(blocks_->workers(), num_packs(), kPackGrain, [&](int begin, int end) {
    for (int p = begin; p < end; ++p)
      for (int lane = 0; lane < kLanes; ++lane)
        if (lane < count_[p])
          copy_lane(whole, p, lane);
        else
          clear_lane(packs_[p], lane, nobody(p));
  });
  for (int i = 0; i < num_bodies_; ++i)
    lines_[first_body_line_ + i] = whole.lines_[whole.first_body_line_ + origin_[i]];
}

template <class Real>
void SweepPacks<Real>::copy_lane(const SweepPacks& whole, int p, int lane) {
  Pack& pack = packs_[p];
  const int contact = pack.contact[lane];
  const int number = whole.lane_of_[contact], other = number % kLanes, q = number / kLanes;
  const Pack& from = whole.packs_[q];
  for (int row = 0; row < 3; ++row)
    for (int k = 0; k < 2 * kBodySize; ++k) pack.J[row][k][lane] = from.J[row][k][other];
  for (int k = 0; k < 6; ++k) {
    pack.W[k][lane] = from.W[k][other];
    pack.inverse[k][lane] = from.inverse[k][other];
  }
  pack.mu[lane] = from.mu[other];
  pack.rate[lane] = from.rate[other];
  for (int side = 0; side < 2; ++side) {
    const int body = ends_[contact].body[side];
    pack.place[side][lane] =
        body == kNone ? nobody(p) : static_cast<std::ptrdiff_t>(kLineSize) * body;
  }
  for (int a = 0; a < 3; ++a) {
    pack.bias[a][lane] = from.bias[a][other];
    pack.compliance[a][lane] = from.compliance[a][other];
    impulses(p)[a * kLanes + lane] = whole.impulses(q)[a * kLanes + other];
    weight_[(3 * p + a) * kLanes + lane] = whole.weight_[(3 * q + a) * kLanes + other];
  }
}

template <class Real>
void SweepPacks<Real>::return_to(SweepPacks& whole) const {
  for (int p = 0; p < num_packs(); ++p)
    for (int lane = 0; lane < count_[p]; ++lane) {
      const int number = whole.lane_of_[packs_[p].contact[lane]];
      for (int a = 0; a < 3; ++a)
        whole.impulses(number / kLanes)[a * kLanes + number % kLanes] =
            impulses(p)[a * kLanes + lane];
      whole.changes_[number / kLanes].value[number % kLanes] = changes_[p].value[lane];
    }
  for (int i = 0; i < num_bodies_; ++i)
    whole.lines_[whole.first_body_line_ + origin_[i]] = lines_[first_body_line_ + i];
}

template void SweepPacks<double>::select(const SweepPacks&, const SweepOrder&);
template void SweepPacks<float>::select(const SweepPacks&, const SweepOrder&);
template void SweepPacks<double>::return_to(SweepPacks&) const;
template void SweepPacks<float>::return_to(SweepPacks&) const;

}  // namespace stiction
