// Broad phase: all pairs of boxes along the axes that overlap, found without looking at all pairs.
//
// Two trees (box_tree.h), of static and of moving boxes. Moving boxes enter their tree with a
// margin that follows their speed, and all pairs of boxes with margin are kept, sorted, as
// candidates: while a box stays within its margin, a step only compares the candidates' true boxes.
// Those that left are looked up anew; when many did, the tree of the moving ones is built anew. The
// result is exactly the set of overlapping true boxes, sorted: it depends on the boxes alone, not
// on margins, trees, threads, or on the order in which proxies came and moved.
//
// Measured and rejected, all boxes looked up anew: a hashed hierarchical grid (1.5 to 5 times the
// time of the tree, most with sizes that vary), sort-and-sweep along one axis (faster up to some
// hundred boxes, 2 to 7 times the time at 100,000).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "stiction/base/worker_pool.h"
#include "stiction/geometry/bounds.h"
#include "stiction/geometry/box_tree.h"

namespace stiction {

/// Two indices, the smaller first; ordered by the first, then the second.
struct IndexPair {
  int first = 0, second = 0;
  auto operator<=>(const IndexPair&) const = default;
};

/// Two proxies are compared if each is in a group of the other's mask, if their owners differ and
/// are not an excluded pair, and if not both are static.
struct ProxyOptions {
  int owner = 0;                     // the body that a proxy belongs to; any number
  std::uint32_t group = 1;           // bits: the groups it is in
  std::uint32_t mask = 0xffff'ffff;  // bits: the groups it meets
  bool is_static = false;
};

/// Proxies are named by dense indices ≥ 0 which the caller chooses. Bounds may be infinite or have
/// no extent; those that are not finite are kept outside the trees and cost O(n) each.
class BroadPhase {
 public:
  /// Throws InputError if the index is negative or taken.
  void add(int proxy, const Bounds& bounds, const ProxyOptions& options);
  /// Throws InputError if there is no such proxy, as all below do.
  void remove(int proxy);
  /// New bounds, of a static proxy too: those are expected to change rarely.
  void move(int proxy, const Bounds& bounds) {
    if (!is_present(proxy)) throw_absent(proxy);
    const std::size_t i = index(proxy);
    bounds_[i] = bounds;
    if (!fat_bounds_[i].contains(bounds)) mark_changed(proxy);
  }
  bool is_present(int proxy) const {
    return proxy >= 0 && index(proxy) < place_.size() && place_[index(proxy)] != Place::kNone;
  }
  const Bounds& bounds(int proxy) const { return bounds_[index(proxy)]; }
  const ProxyOptions& options(int proxy) const { return options_[index(proxy)]; }

  /// Pairs of owners that never meet, such as bodies joined by a joint. In any order.
  void exclude_owners(std::span<const std::pair<int, int>> pairs);

  /// All pairs to be compared whose boxes overlap (touching counts), sorted. Valid until the next
  /// call. Allocates nothing once its storage has grown.
  std::span<const IndexPair> update(WorkerPool& pool);

  /// Where a proxy is in the tree of its kind: neighbours in space are mostly near each other, so
  /// that memory is read in a good order. −1 for one that is in no tree. Depends on the history.
  int place_in_tree(int proxy) const {
    return (options_[index(proxy)].is_static ? static_tree_ : moving_tree_).place_of(proxy);
  }
  /// All places are less.
  int num_places() const { return std::max(static_tree_.num_nodes(), moving_tree_.num_nodes()); }

  /// Of the last update, for measurements.
  int num_candidates() const { return static_cast<int>(candidates_.size()); }
  bool was_rebuilt() const { return was_rebuilt_; }

 private:
  /// Where a proxy is to be found.
  enum class Place : std::uint8_t {
    kNone,       // not in use
    kNew,        // nowhere yet
    kTree,       // in the tree of its kind
    kUnbounded,  // in unbounded_
  };
  /// What a chunk of work found, and its scratch.
  struct Chunk {
    std::vector<IndexPair> pairs;
    std::vector<int> stack;
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  [[noreturn]] static void throw_absent(int proxy);
  void mark_changed(int proxy);
  void take_out(int proxy);
  void put_in(int proxy);
  void fatten(int proxy);
  bool is_compared(int a, int b) const;
  bool needs_rebuild() const;
  void rebuild(WorkerPool& pool);
  void rebuild_static(WorkerPool& pool);
  void rebuild_moving(WorkerPool& pool);
  void update_changed(WorkerPool& pool);
  void find_pairs_of(int proxy, Chunk& chunk) const;
  void find_pairs_of_unbounded(Chunk& chunk) const;
  void gather_sorted(int num_chunks);
  void merge_gathered();
  void select_overlapping(WorkerPool& pool);
  void reserve_chunks(int count);

  // By proxy:
  std::vector<Bounds> bounds_;      // [m] true boxes
  std::vector<Bounds> fat_bounds_;  // [m] with margin; those of the trees
  std::vector<ProxyOptions> options_;
  std::vector<Place> place_;
  std::vector<std::uint8_t> is_changed_;
  std::vector<double> margin_;              // [m]
  std::vector<std::uint32_t> fattened_at_;  // step

  BoxTree static_tree_, moving_tree_;
  std::vector<int> unbounded_;                   // proxies whose bounds are not finite, sorted
  std::vector<int> changed_;                     // proxies to be looked up anew
  std::vector<std::pair<int, int>> exclusions_;  // of owners, smaller first, sorted
  int num_static_ = 0, num_moving_ = 0;          // present
  int num_changed_static_ = 0;
  int num_changes_since_build_ = 0;  // of the moving tree, one by one
  std::uint32_t step_ = 0;
  bool is_stale_ = false;  // filters changed
  bool was_rebuilt_ = false;

  std::vector<IndexPair> candidates_;       // overlap with margins and pass the filters; sorted
  std::vector<IndexPair> gathered_;         // scratch: new candidates, sorted
  std::vector<IndexPair> next_;             // scratch: merged candidates
  std::vector<IndexPair> overlapping_;      // the result
  std::vector<Chunk> chunks_;               // scratch
  std::vector<int> starts_, num_selected_;  // scratch
  std::vector<int> members_;                // scratch: proxies of a tree to be built
};

}  // namespace stiction
