#include "stiction/solve/sweep_order.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "stiction/base/worker_pool.h"

namespace stiction {
namespace {

/// Units of a slab at least, and how many slabs there are at most: the more there are, the less a
/// sweep gets on. On 1,000 spheres that fall onto each other steps take 5 % more work with four of
/// them than without, and 45 % more with sixteen.
constexpr int kUnitsPerSlab = 300;
constexpr int kMaxSlabs = 4;

/// Units that one task takes: some ten microseconds.
constexpr int kUnitGrain = 1024;

/// What fills less than this share of its packs is put into groups.
constexpr double kLeastFill = 2.0 / 3;

/// And of whose units at least this share is between the same bodies as the one before.
constexpr double kLeastFurther = 1.0 / 3;

/// By how many groups a unit may get ahead of the last one of its bodies. Logs at 1e-3 take 56
/// packs in the order of the units, 37 with four and 31 with eight, as with sixteen, and as many
/// sweeps within a tenth.
constexpr int kGroupsAhead = 8;

}  // namespace

void SweepOrder::find(const ContactBlocks& blocks) {
  const int num_slabs = std::min(blocks.num_units() / kUnitsPerSlab, kMaxSlabs);
  num_slabs_ = 0;
  if (num_slabs > 1 && !blocks.has_coupling()) {
    find_layers(blocks);
    form_slabs(blocks, num_slabs);
  }
  if (num_slabs_ > 1)
    place_units(blocks);
  else
    form_one_task(blocks);
}

double SweepOrder::estimate_elimination(const ContactBlocks& blocks) const {
  if (num_slabs_ == 0) return 0;
  // What lies on one body has it in common, but is eliminated one by one.
  constexpr std::size_t kLargeShare = 4;
  for (const int body : queue_)
    if (kLargeShare * blocks.meetings(body).size() > static_cast<std::size_t>(blocks.num_units()))
      return 0;
  double sum = 0, size = 0;
  int layer = -1;
  for (const int body : queue_) {  // by layers
    if (layer_[body] != layer) size = 0;
    layer = layer_[body];
    const double before = size;
    size += blocks.entry(blocks.meetings(body).front().entry).columns;
    sum += size * size * size - before * before * before;
  }
  return sum;
}

void SweepOrder::select(const SweepOrder& whole, const std::vector<char>& is_in) {
  phase_start_ = whole.phase_start_;
  task_start_.assign(1, 0);
  units_.clear();
  for (std::size_t task = 0; task + 1 < whole.task_start_.size(); ++task) {
    for (int k = whole.task_start_[task]; k < whole.task_start_[task + 1]; ++k)
      if (is_in[whole.units_[k]]) units_.push_back(whole.units_[k]);
    task_start_.push_back(static_cast<int>(units_.size()));
  }
}

void SweepOrder::form_one_task(const ContactBlocks& blocks) {
  task_start_.assign({0, blocks.num_units()});
  phase_start_.assign({0, 1});
  const bool is_packable = blocks.num_bilateral() == 0 && !blocks.has_coupling();
  if (is_packable && count_steps(blocks) * kGroupSize * kLeastFill > blocks.num_units()) {
    form_groups(blocks);
    return;
  }
  units_.resize(blocks.num_units());
  std::iota(units_.begin(), units_.end(), 0);
}

/// How many packs there are at least in the order of the units; 0 where a unit touches several
/// bodies, or most pairs of bodies touch in one place.
int SweepOrder::count_steps(const ContactBlocks& blocks) {
  int num_steps = 0, num_further = 0;
  std::array<int, 2> last{-1, -1};
  stay_.assign(blocks.num_blocks(), {});
  for (int i = 0; i < blocks.num_units(); ++i) {
    const int begin = blocks.unit(i).entry_begin, end = blocks.unit(i + 1).entry_begin;
    if (begin == end) continue;
    if (end - begin > 2) return 0;
    const std::array<int, 2> bodies{blocks.entry(begin).block, blocks.entry(end - 1).block};
    num_further += bodies == last ? 1 : 0;
    last = bodies;
    Stay &a = stay_[bodies[0]], &b = stay_[bodies[1]];
    a.end = b.end = std::max(a.end, b.end) + 1;
    num_steps = std::max(num_steps, a.end);
  }
  return kLeastFurther * blocks.num_units() > num_further ? 0 : num_steps;
}

/// Who looks at the mask begins at kGroupsAhead before `end`, or later.
void SweepOrder::Stay::add(int group) {
  if (group - base >= kMaskSize) {
    const int next = group - kMaskSize / 2;
    mask = from(next);
    base = next;
  }
  mask |= std::uint64_t{1} << (group - base);
  end = std::max(end, group + 1);
}

/// The first group from `group` on that is not full; paths are halved on the way.
int SweepOrder::find_room(int group) {
  const auto num_groups = static_cast<int>(room_.size());
  while (group < num_groups && room_[group] != group) {
    const int next = room_[group];
    if (next < num_groups) room_[group] = room_[next];
    group = next;
  }
  return group;
}

/// Units one after the other, each into the first group that has room for it and none of its
/// bodies.
void SweepOrder::form_groups(const ContactBlocks& blocks) {
  group_size_.clear();
  room_.clear();
  group_.resize(blocks.num_units());
  stay_.assign(blocks.num_blocks(), {});
  for (int i = 0; i < blocks.num_units(); ++i) {
    const int begin = blocks.unit(i).entry_begin, end = blocks.unit(i + 1).entry_begin;
    Stay nobody;
    Stay& a = begin < end ? stay_[blocks.entry(begin).block] : nobody;
    Stay& b = begin < end ? stay_[blocks.entry(end - 1).block] : nobody;
    const int first = std::max(0, std::max(a.end, b.end) - kGroupsAhead);
    const std::uint64_t busy = a.from(first) | b.from(first);
    int group = find_room(first);
    while (group - first < kMaskSize && (busy >> (group - first) & 1) != 0)
      group = find_room(group + std::countr_one(busy >> (group - first)));
    if (group == static_cast<int>(room_.size())) {
      room_.push_back(group);
      group_size_.push_back(0);
    }
    if (++group_size_[group] == kGroupSize) room_[group] = group + 1;
    group_[i] = group;
    a.add(group);
    b.add(group);
  }
  place_by_groups();
}

void SweepOrder::place_by_groups() {
  int first = 0;
  for (int& size : group_size_) first += std::exchange(size, first);
  units_.resize(group_.size());
  for (std::size_t i = 0; i < group_.size(); ++i)
    units_[group_size_[group_[i]]++] = static_cast<int>(i);
}

/// Breadth first from a body: appends its component to queue_. Returns where the last layer begins.
int SweepOrder::number_layers(const ContactBlocks& blocks, int first) {
  auto begin = static_cast<int>(queue_.size());
  int last_layer = begin;
  queue_.push_back(first);
  layer_[first] = num_layers_;
  const auto visit = [this](int body, int layer) {
    if (layer_[body] >= 0) return;
    layer_[body] = layer;
    queue_.push_back(body);
  };
  for (int k = begin; k < static_cast<int>(queue_.size()); ++k) {
    const int body = queue_[k], layer = layer_[body];
    if (layer != layer_[queue_[last_layer]]) last_layer = k;
    for (const ContactBlocks::Meeting& meeting : blocks.meetings(body)) {
      if (meeting.other == ContactBlocks::kNobody) continue;
      if (meeting.other != ContactBlocks::kSeveral) {
        visit(meeting.other, layer + 1);
        continue;
      }
      const int end = blocks.unit(meeting.unit + 1).entry_begin;
      for (int e = blocks.unit(meeting.unit).entry_begin; e < end; ++e) {
        visit(blocks.entry(e).block, layer + 1);
      }
    }
  }
  return last_layer;
}

/// Each component twice: the second time from a body far away from where the first one began, so
/// that layers are many and small.
void SweepOrder::find_layers(const ContactBlocks& blocks) {
  layer_.assign(blocks.num_blocks(), -1);
  queue_.clear();
  num_layers_ = 0;
  for (int body = 0; body < blocks.num_blocks(); ++body) {
    if (layer_[body] >= 0 || blocks.meetings(body).empty()) continue;
    const auto begin = static_cast<int>(queue_.size());
    const int last = number_layers(blocks, body);
    int far = queue_[last];
    for (int k = last; k < static_cast<int>(queue_.size()); ++k)
      if (blocks.meetings(queue_[k]).size() < blocks.meetings(far).size()) far = queue_[k];
    for (int k = begin; k < static_cast<int>(queue_.size()); ++k) layer_[queue_[k]] = -1;
    queue_.resize(begin);
    (void)number_layers(blocks, far);
    num_layers_ = layer_[queue_.back()] + 1;
  }
}

/// The lowest and the highest one.
std::pair<int, int> SweepOrder::find_layers_of(const ContactBlocks& blocks, int unit) const {
  int lowest = num_layers_, highest = 0;
  for (int e = blocks.unit(unit).entry_begin; e < blocks.unit(unit + 1).entry_begin; ++e) {
    const int layer = layer_[blocks.entry(e).block];
    lowest = std::min(lowest, layer);
    highest = std::max(highest, layer);
  }
  return {lowest, highest};
}

void SweepOrder::form_slabs(const ContactBlocks& blocks, int num_slabs) {
  layers_of_.resize(blocks.num_units());
  run_numbers(blocks.workers(), blocks.num_units(), kUnitGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) layers_of_[i] = find_layers_of(blocks, i);
  });
  weight_.assign(num_layers_ + 1, 0);
  for (const auto& [lowest, highest] : layers_of_) ++weight_[lowest];
  slab_.resize(num_layers_);
  int sum = weight_[num_layers_];  // of units without bodies
  for (int layer = 0; layer < num_layers_; ++layer) {
    slab_[layer] = num_slabs_;
    sum += weight_[layer];
    if (static_cast<double>(sum) * num_slabs >=
        static_cast<double>(blocks.num_units()) * (num_slabs_ + 1))
      ++num_slabs_;
  }
  if (num_layers_ > 0) num_slabs_ = slab_.back() + 1;
}

/// Tasks in the order of the phases.
void SweepOrder::place_units(const ContactBlocks& blocks) {
  const int num_odd = num_odd_borders(), num_tasks = 2 * num_slabs_ - 1;
  phase_start_.assign(1, 0);
  if (num_odd > 0) phase_start_.push_back(num_odd);
  phase_start_.push_back(num_odd + num_slabs_);
  phase_start_.push_back(num_tasks);
  task_.resize(blocks.num_units());
  task_start_.assign(num_tasks + 1, 0);
  for (int i = 0; i < blocks.num_units(); ++i) {
    const auto [lowest, highest] = layers_of_[i];
    const int slab = lowest < num_layers_ ? slab_[lowest] : 0;
    task_[i] = lowest < highest && slab < slab_[highest] ? border_task(slab) : slab_task(slab);
    ++task_start_[task_[i] + 1];
  }
  for (int k = 0; k < num_tasks; ++k) task_start_[k + 1] += task_start_[k];
  units_.resize(blocks.num_units());
  for (int i = 0; i < blocks.num_units(); ++i) units_[task_start_[task_[i]]++] = i;
  for (int k = num_tasks; k > 0; --k) task_start_[k] = task_start_[k - 1];
  task_start_[0] = 0;
}

}  // namespace stiction
