#include "stiction/solve/pack_focus.h"

#include <algorithm>

namespace stiction {
namespace {

/// Below this number of contacts it saves sweeps, too, but no time.
constexpr int kFewestContacts = 5000;

/// Shares of the target above which a contact belongs to the part, and its neighbours do.
constexpr double kWrong = 0.2, kVeryWrong = 0.3;
/// Share of all contacts above which sweeps over everything do better.
constexpr double kLargest = 0.5;
/// Share of the target at which the part is good enough, and sweeps that it gets at most.
constexpr double kEnough = 0.25;
constexpr int kMostSweeps = 5;

}  // namespace

template <class Real>
long PackFocus<Real>::run(const ContactBlocks& blocks, const SweepOrder& order, double target,
                          int depth, const Deadline& deadline, SweepPacks<Real>& packs) {
  if (blocks.num_units() < kFewestContacts || !choose(blocks, order, target, packs)) return 0;
  part_.select(packs, order_);
  const std::span<Real> values = part_.values();
  accelerator_.prepare(Acceleration::kAnderson, depth, part_.weight(),
                       static_cast<int>(values.size()), blocks.workers());
  accelerator_.remember(values);
  int count = 1;
  for (; part_.run() > kEnough * target && count < kMostSweeps && !deadline.has_passed(); ++count) {
    accelerator_.extrapolate(values);
    accelerator_.remember(values);
  }
  part_.return_to(packs);
  return static_cast<long>(count) * part_.num_contacts();
}

/// The part; false if there is none, or it is too large.
template <class Real>
bool PackFocus<Real>::choose(const ContactBlocks& blocks, const SweepOrder& order, double target,
                             const SweepPacks<Real>& packs) {
  const int n = blocks.num_units();
  is_in_.assign(n, 0);
  for (int i = 0; i < n; ++i) {
    const double change = packs.change(i);
    if (change > kWrong * target) is_in_[i] = 1;
    if (!(change > kVeryWrong * target)) continue;
    for (int e = blocks.unit(i).entry_begin; e < blocks.unit(i + 1).entry_begin; ++e)
      for (const ContactBlocks::Meeting& meeting : blocks.meetings(blocks.entry(e).block))
        is_in_[meeting.unit] = 1;
  }
  const auto size = std::count(is_in_.begin(), is_in_.end(), 1);
  if (size == 0 || static_cast<double>(size) > kLargest * n) return false;
  order_.select(order, is_in_);
  return true;
}

template class PackFocus<double>;
template class PackFocus<float>;

}  // namespace stiction
