#include "stiction/solve/sweep_focus.h"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// Below this number of units it saves sweeps, too, but no time: choosing and measuring cost as
/// much.
constexpr int kFewestUnits = 5000;
/// Before, errors are everywhere.
constexpr int kFirstSweeps = 5;

/// Shares of the target above which a unit belongs to the part, and its neighbours do.
constexpr double kWrong = 0.06, kVeryWrong = 0.3;
/// Share of all units above which sweeps over everything do better.
constexpr double kLargest = 0.5;
/// Sweeps over a part before it is chosen anew, and in all.
constexpr int kRound = 3, kMostSweeps = 200;
/// Share of the target that ends it: the whole is measured again afterwards, with other scales.
constexpr double kEnough = 0.9;

}  // namespace

bool SweepFocus::is_for(const ContactBlocks& blocks, int num_sweeps, StoppingMeasure measure) {
  return num_sweeps >= kFirstSweeps && blocks.num_units() >= kFewestUnits &&
         !blocks.has_coupling() && asks_certificate(measure);
}

bool SweepFocus::run(const ContactBlocks& blocks, double target, int depth,
                     const Deadline& deadline, GaussSeidelResidual& residual, NsgsSweep& sweep,
                     SweepState& state) {
  bool has_run = false;
  for (int count = 0; count < kMostSweeps && !deadline.has_passed(); count += kRound) {
    if (!choose(blocks, target, residual, sweep)) break;
    sweep_part(blocks, depth, sweep, state);
    has_run = true;
    if (residual.measure_motion_again(blocks, state, near_) <= kEnough * target) break;
  }
  return has_run;
}

/// The part, and what is around it; false if there is none, or it is too large.
bool SweepFocus::choose(const ContactBlocks& blocks, double target,
                        const GaussSeidelResidual& residual, const NsgsSweep& sweep) {
  const int n = blocks.num_units();
  is_in_.assign(n, 0);
  bodies_.clear();
  is_listed_.assign(blocks.num_blocks(), 0);
  for (int i = 0; i < n; ++i) {
    const double error = residual.motion(i);
    if (error > kWrong * target) is_in_[i] = 1;
    if (error > kVeryWrong * target) list_bodies(blocks, i);
  }
  mark_meetings(blocks, is_in_);
  const auto size = std::count(is_in_.begin(), is_in_.end(), 1);
  if (size == 0 || static_cast<double>(size) > kLargest * n) return false;
  order_.select(sweep.order(), is_in_);
  for (const int i : order_.units()) list_bodies(blocks, i);
  is_near_ = is_in_;
  mark_meetings(blocks, is_near_);
  near_.clear();
  for (int i = 0; i < n; ++i)
    if (is_near_[i]) near_.push_back(i);
  return true;
}

/// Adds those of a unit that are not listed.
void SweepFocus::list_bodies(const ContactBlocks& blocks, int unit) {
  for (int e = blocks.unit(unit).entry_begin; e < blocks.unit(unit + 1).entry_begin; ++e) {
    char& is_listed = is_listed_[blocks.entry(e).block];
    if (!is_listed) bodies_.push_back(e);
    is_listed = 1;
  }
}

/// All units at listed bodies.
void SweepFocus::mark_meetings(const ContactBlocks& blocks, std::vector<char>& units) const {
  for (const int e : bodies_)
    for (const ContactBlocks::Meeting& meeting : blocks.meetings(blocks.entry(e).block))
      units[meeting.unit] = 1;
}

void SweepFocus::sweep_part(const ContactBlocks& blocks, int depth, NsgsSweep& sweep,
                            SweepState& state) {
  weight_.clear();
  for (const int i : order_.units())
    weight_.insert(weight_.end(), blocks.unit(i).dim, std::sqrt(blocks.omega(i)));
  gather(blocks, state);
  accelerator_.prepare(Acceleration::kAnderson, depth, weight_, static_cast<int>(values_.size()),
                       blocks.workers());
  accelerator_.remember(values_);
  for (int k = 1; k < kRound; ++k) {
    sweep.run(blocks, order_, {}, state);
    gather(blocks, state);
    accelerator_.extrapolate(values_);
    accelerator_.remember(values_);
    scatter(blocks, state);
  }
  sweep.run(blocks, order_, {}, state);
}

/// All impulses but those of the part are kept, so that its rows and bodies are affine in them.
void SweepFocus::gather(const ContactBlocks& blocks, const SweepState& state) {
  values_.clear();
  for (const double* from : {state.x(), state.u()})
    for (const int i : order_.units())
      values_.insert(values_.end(), from + blocks.unit(i).row, from + blocks.unit(i + 1).row);
  for (const int e : bodies_) {
    const double* w = state.w() + blocks.entry(e).dof;
    values_.insert(values_.end(), w, w + blocks.entry(e).columns);
  }
}

void SweepFocus::scatter(const ContactBlocks& blocks, SweepState& state) const {
  const double* from = values_.data();
  const auto write = [&](double* to, int count) {
    std::copy_n(from, count, to);
    from += count;
  };
  for (double* to : {state.x(), state.u()})
    for (const int i : order_.units()) write(to + blocks.unit(i).row, blocks.unit(i).dim);
  for (const int e : bodies_) write(state.w() + blocks.entry(e).dof, blocks.entry(e).columns);
}

}  // namespace stiction
