#include "stiction/geometry/broad_phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/error.h"
#include "stiction/base/prefetch.h"

namespace stiction {
namespace {

// Margins. A margin m (of the size) of boxes that go s (of the size) per step lasts for m/s steps
// and makes the kept pairs more by a part 6m. With R the time to look up all boxes and C that to
// compare the pairs of one step, R s/m + 6 C m is least for m = √(R s/6C); R/6C is about 4.
constexpr double kMarginBalance = 4;
constexpr double kLeastMargin = 0.005;  // of the box's size
constexpr double kMostMargin = 0.25;    // beyond, the growth of the pairs is no longer linear

// When more than one in so many boxes left their margins, all get new ones and a new tree, which
// costs less per box than taking out and putting in, and spares the next steps. Measured: 32 beats
// 8 by up to a quarter.
constexpr int kRebuildFraction = 32;

constexpr int kNodesPerChunk = 4096;
constexpr int kChangedPerChunk = 64;
constexpr int kCandidatesPerChunk = 16384;
constexpr int kCandidatesAhead = 16;  // whose boxes are asked for: the second of a pair is anywhere

bool is_finite(const Bounds& bounds) {
  return bounds.lower.allFinite() && bounds.upper.allFinite();
}

IndexPair make_pair(int a, int b) { return a < b ? IndexPair{a, b} : IndexPair{b, a}; }

int count_chunks(int count, int per_chunk) { return (count + per_chunk - 1) / per_chunk; }

}  // namespace

void BroadPhase::throw_absent(int proxy) {
  throw InputError(fmt::format("proxy {} is not in the broad phase", proxy));
}

void BroadPhase::add(int proxy, const Bounds& bounds, const ProxyOptions& options) {
  if (proxy < 0) throw InputError(fmt::format("proxy is {}, must be at least 0", proxy));
  if (is_present(proxy)) throw InputError(fmt::format("proxy {} is there already", proxy));
  const std::size_t i = index(proxy);
  if (i >= place_.size()) {
    bounds_.resize(i + 1);
    fat_bounds_.resize(i + 1);
    options_.resize(i + 1);
    place_.resize(i + 1, Place::kNone);
    is_changed_.resize(i + 1, 0);
    margin_.resize(i + 1, 0);
    fattened_at_.resize(i + 1, 0);
  }
  bounds_[i] = bounds;
  options_[i] = options;
  place_[i] = Place::kNew;
  ++(options.is_static ? num_static_ : num_moving_);
  mark_changed(proxy);
}

void BroadPhase::remove(int proxy) {
  if (!is_present(proxy)) throw_absent(proxy);
  mark_changed(proxy);
  take_out(proxy);
  place_[index(proxy)] = Place::kNone;
  --(options_[index(proxy)].is_static ? num_static_ : num_moving_);
}

void BroadPhase::exclude_owners(std::span<const std::pair<int, int>> pairs) {
  exclusions_.clear();
  for (const auto& [a, b] : pairs) exclusions_.emplace_back(std::min(a, b), std::max(a, b));
  std::sort(exclusions_.begin(), exclusions_.end());
  is_stale_ = true;
}

void BroadPhase::mark_changed(int proxy) {
  const std::size_t i = index(proxy);
  if (is_changed_[i] != 0) return;
  is_changed_[i] = 1;
  changed_.push_back(proxy);
  if (options_[i].is_static) ++num_changed_static_;
}

bool BroadPhase::is_compared(int a, int b) const {
  const ProxyOptions &p = options_[index(a)], &q = options_[index(b)];
  if (p.owner == q.owner || (p.is_static && q.is_static)) return false;
  if ((p.group & q.mask) == 0 || (q.group & p.mask) == 0) return false;
  return exclusions_.empty() ||
         !std::binary_search(exclusions_.begin(), exclusions_.end(),
                             std::pair(std::min(p.owner, q.owner), std::max(p.owner, q.owner)));
}

// ------------------------------------------------------------------------------------------------
// Trees and margins

void BroadPhase::take_out(int proxy) {
  const std::size_t i = index(proxy);
  if (place_[i] == Place::kTree) {
    (options_[i].is_static ? static_tree_ : moving_tree_).remove(proxy);
  } else if (place_[i] == Place::kUnbounded) {
    unbounded_.erase(std::lower_bound(unbounded_.begin(), unbounded_.end(), proxy));
  }
}

/// Gives the box a margin by how fast its sides moved since it got the last one.
void BroadPhase::fatten(int proxy) {
  const std::size_t i = index(proxy);
  const Bounds& box = bounds_[i];
  double margin = 0;
  if (!options_[i].is_static) {
    double speed = 0;  // [m] per step
    if (place_[i] == Place::kTree) {
      Bounds before = fat_bounds_[i];
      before.widen(-margin_[i]);
      const double moved = std::max((box.lower - before.lower).cwiseAbs().maxCoeff(),
                                    (box.upper - before.upper).cwiseAbs().maxCoeff());
      speed = moved / std::max(step_ - fattened_at_[i], std::uint32_t{1});
    }
    const double size = (box.upper - box.lower).maxCoeff();
    const double least = kLeastMargin * size, most = kMostMargin * size;
    // A margin that does not last for two steps is of no use.
    margin = 2 * speed > most ? least
                              : std::clamp(std::sqrt(kMarginBalance * speed * size), least, most);
  }
  Bounds fat = box;
  fat.widen(margin);
  if (!is_finite(fat)) fat = box, margin = 0;  // at the end of the range of numbers
  fat_bounds_[i] = fat;
  margin_[i] = margin;
  fattened_at_[i] = step_;
}

void BroadPhase::put_in(int proxy) {
  const std::size_t i = index(proxy);
  if (!is_finite(bounds_[i])) {
    fat_bounds_[i] = bounds_[i];
    place_[i] = Place::kUnbounded;
    unbounded_.insert(std::lower_bound(unbounded_.begin(), unbounded_.end(), proxy), proxy);
    return;
  }
  fatten(proxy);
  place_[i] = Place::kTree;
  (options_[i].is_static ? static_tree_ : moving_tree_).insert(proxy, fat_bounds_[i]);
}

bool BroadPhase::needs_rebuild() const {
  const int num_changed = static_cast<int>(changed_.size());
  return is_stale_ || moving_tree_.is_lopsided() || static_tree_.is_lopsided() ||
         num_changed_static_ > num_static_ / kRebuildFraction + 1 ||
         num_changed - num_changed_static_ > num_moving_ / kRebuildFraction ||
         num_changes_since_build_ > num_moving_;
}

// ------------------------------------------------------------------------------------------------
// Candidates

void BroadPhase::reserve_chunks(int count) {
  if (chunks_.size() < index(count)) chunks_.resize(index(count));
  for (int c = 0; c < count; ++c) chunks_[index(c)].pairs.clear();
}

/// Both trees from nothing, margins for all that move, all candidates.
void BroadPhase::rebuild(WorkerPool& pool) {
  was_rebuilt_ = true;
  rebuild_static(pool);
  rebuild_moving(pool);
  const int num_nodes = moving_tree_.num_nodes();
  const int num_chunks = count_chunks(num_nodes, kNodesPerChunk);
  reserve_chunks(num_chunks + 1);
  pool.run(num_chunks + 1, [&](int c, int) {
    Chunk& chunk = chunks_[index(c)];
    if (c == num_chunks) return find_pairs_of_unbounded(chunk);
    moving_tree_.query_later(
        c * kNodesPerChunk, std::min((c + 1) * kNodesPerChunk, num_nodes),
        [&](int proxy, const Bounds& box) {
          static_tree_.query(box, chunk.stack, [&](int other) {
            if (is_compared(proxy, other)) chunk.pairs.push_back(make_pair(proxy, other));
          });
        },
        [&](int proxy, int other) {
          if (is_compared(proxy, other)) chunk.pairs.push_back(make_pair(proxy, other));
        });
  });
  gather_sorted(num_chunks + 1);
  candidates_.swap(gathered_);
  gathered_.reserve(candidates_.capacity());  // now, rather than when the two change places again
}

/// Few static ones that changed are moved within their tree; many are worth a new one.
void BroadPhase::rebuild_static(WorkerPool& pool) {
  const bool rebuilds =
      static_tree_.is_lopsided() || num_changed_static_ > num_static_ / kRebuildFraction + 1;
  for (const int proxy : changed_) {
    if (!options_[index(proxy)].is_static || !is_present(proxy)) continue;
    if (rebuilds && is_finite(bounds_[index(proxy)])) {
      if (place_[index(proxy)] == Place::kUnbounded) take_out(proxy);
      fatten(proxy);
      place_[index(proxy)] = Place::kTree;
    } else {
      take_out(proxy);
      put_in(proxy);
    }
  }
  if (!rebuilds) return;
  members_.clear();
  for (std::size_t i = 0; i < place_.size(); ++i)
    if (options_[i].is_static && place_[i] == Place::kTree) members_.push_back(static_cast<int>(i));
  static_tree_.build(members_, fat_bounds_, pool);
}

void BroadPhase::rebuild_moving(WorkerPool& pool) {
  members_.clear();
  for (std::size_t i = 0; i < place_.size(); ++i) {
    if (options_[i].is_static || place_[i] == Place::kNone) continue;
    const int proxy = static_cast<int>(i);
    if (is_finite(bounds_[i])) {
      if (place_[i] == Place::kUnbounded) take_out(proxy);
      fatten(proxy);
      place_[i] = Place::kTree;
      members_.push_back(proxy);
    } else if (is_changed_[i] != 0) {
      take_out(proxy);
      put_in(proxy);
    }
  }
  moving_tree_.build(members_, fat_bounds_, pool);
  num_changes_since_build_ = 0;
}

void BroadPhase::update_changed(WorkerPool& pool) {
  for (const int proxy : changed_) {
    if (!is_present(proxy)) continue;
    take_out(proxy);
    put_in(proxy);
  }
  num_changes_since_build_ += static_cast<int>(changed_.size());
  const int num_changed = static_cast<int>(changed_.size());
  const int num_chunks = count_chunks(num_changed, kChangedPerChunk);
  reserve_chunks(num_chunks);
  pool.run(num_chunks, [&](int c, int) {
    const int last = std::min((c + 1) * kChangedPerChunk, num_changed);
    for (int k = c * kChangedPerChunk; k < last; ++k)
      find_pairs_of(changed_[index(k)], chunks_[index(c)]);
  });
  gather_sorted(num_chunks);
  merge_gathered();
}

/// Of two that changed, the one of smaller index finds the pair.
void BroadPhase::find_pairs_of(int proxy, Chunk& chunk) const {
  if (!is_present(proxy)) return;
  const Bounds& box = fat_bounds_[index(proxy)];
  const auto add_pair = [&](int other) {
    if (other == proxy || (is_changed_[index(other)] != 0 && other < proxy)) return;
    if (is_compared(proxy, other)) chunk.pairs.push_back(make_pair(proxy, other));
  };
  if (place_[index(proxy)] == Place::kUnbounded) {
    for (std::size_t i = 0; i < place_.size(); ++i)
      if (place_[i] != Place::kNone && boxes_overlap(box, fat_bounds_[i]))
        add_pair(static_cast<int>(i));
    return;
  }
  moving_tree_.query(box, chunk.stack, add_pair);
  if (!options_[index(proxy)].is_static) static_tree_.query(box, chunk.stack, add_pair);
  for (const int other : unbounded_)
    if (boxes_overlap(box, fat_bounds_[index(other)])) add_pair(other);
}

void BroadPhase::find_pairs_of_unbounded(Chunk& chunk) const {
  for (const int proxy : unbounded_) {
    const Bounds& box = fat_bounds_[index(proxy)];
    for (std::size_t i = 0; i < place_.size(); ++i) {
      const int other = static_cast<int>(i);
      if (place_[i] == Place::kNone || (place_[i] == Place::kUnbounded && other <= proxy)) continue;
      if (boxes_overlap(box, fat_bounds_[i]) && is_compared(proxy, other))
        chunk.pairs.push_back(make_pair(proxy, other));
    }
  }
}

/// All pairs of the chunks to gathered_: by counting for the first index, then a sort of each few
/// with the same one; few pairs altogether are sorted as they are.
void BroadPhase::gather_sorted(int num_chunks) {
  std::size_t total = 0;
  for (int c = 0; c < num_chunks; ++c) total += chunks_[index(c)].pairs.size();
  gathered_.resize(total);
  if (total < place_.size() / 8) {
    auto out = gathered_.begin();
    for (int c = 0; c < num_chunks; ++c)
      out = std::copy(chunks_[index(c)].pairs.begin(), chunks_[index(c)].pairs.end(), out);
    std::sort(gathered_.begin(), gathered_.end());
    return;
  }
  starts_.assign(place_.size() + 1, 0);
  for (int c = 0; c < num_chunks; ++c)
    for (const IndexPair& pair : chunks_[index(c)].pairs) ++starts_[index(pair.first) + 1];
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  for (int c = 0; c < num_chunks; ++c)
    for (const IndexPair& pair : chunks_[index(c)].pairs)
      gathered_[index(starts_[index(pair.first)]++)] = pair;
  // Now starts_[i] is the end of the pairs whose first is i.
  int begin = 0;
  for (std::size_t i = 0; i < place_.size(); ++i) {
    std::sort(gathered_.begin() + begin, gathered_.begin() + starts_[i],
              [](const IndexPair& a, const IndexPair& b) { return a.second < b.second; });
    begin = starts_[i];
  }
}

/// Candidates of unchanged proxies and the gathered ones, both sorted, become one list.
void BroadPhase::merge_gathered() {
  next_.resize(candidates_.size() + gathered_.size());
  auto out = next_.begin();
  auto gathered = gathered_.begin();
  for (const IndexPair& pair : candidates_) {
    if ((is_changed_[index(pair.first)] | is_changed_[index(pair.second)]) != 0) continue;
    while (gathered != gathered_.end() && *gathered < pair) *out++ = *gathered++;
    *out++ = pair;
  }
  out = std::copy(gathered, gathered_.end(), out);
  next_.resize(static_cast<std::size_t>(out - next_.begin()));
  candidates_.swap(next_);
}

// ------------------------------------------------------------------------------------------------

/// Candidates whose true boxes overlap. Written without a branch, as half of them do.
void BroadPhase::select_overlapping(WorkerPool& pool) {
  const int num_candidates = static_cast<int>(candidates_.size());
  overlapping_.resize(candidates_.size());
  const auto select = [&](int first, int last, IndexPair* out) {
    int count = 0;
    for (int k = first; k < last; ++k) {
      const IndexPair pair = candidates_[index(k)];
      const IndexPair later = candidates_[index(std::min(k + kCandidatesAhead, last - 1))];
      prefetch(&bounds_[index(later.second)], sizeof(Bounds));
      out[count] = pair;
      count += boxes_overlap(bounds_[index(pair.first)], bounds_[index(pair.second)]) ? 1 : 0;
    }
    return count;
  };
  const int num_chunks = count_chunks(num_candidates, kCandidatesPerChunk);
  int total = 0;
  if (pool.num_threads() == 1 || num_chunks < 2) {
    total = select(0, num_candidates, overlapping_.data());
  } else {
    num_selected_.resize(index(num_chunks));
    pool.run(num_chunks, [&](int c, int) {
      const int first = c * kCandidatesPerChunk;
      const int last = std::min(first + kCandidatesPerChunk, num_candidates);
      num_selected_[index(c)] = select(first, last, overlapping_.data() + first);
    });
    for (int c = 0; c < num_chunks; ++c) {
      const auto from = overlapping_.begin() + c * kCandidatesPerChunk;
      std::copy(from, from + num_selected_[index(c)], overlapping_.begin() + total);
      total += num_selected_[index(c)];
    }
  }
  overlapping_.resize(index(total));
}

std::span<const IndexPair> BroadPhase::update(WorkerPool& pool) {
  ++step_;
  was_rebuilt_ = false;
  if (needs_rebuild()) {
    rebuild(pool);
  } else if (!changed_.empty()) {
    update_changed(pool);
  }
  for (const int proxy : changed_) is_changed_[index(proxy)] = 0;
  changed_.clear();
  num_changed_static_ = 0;
  is_stale_ = false;
  select_overlapping(pool);
  return overlapping_;
}

}  // namespace stiction
