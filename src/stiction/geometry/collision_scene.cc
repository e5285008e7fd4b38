#include "stiction/geometry/collision_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "stiction/base/error.h"
#include "stiction/base/prefetch.h"
#include "stiction/geometry/ball_contacts.h"

namespace stiction {
namespace {

/// Few enough that threads finish together, many enough that taking one costs nothing.
constexpr int kPairsPerPart = 256;
constexpr int kBoxPairsPerPart = 4096;
constexpr int kBoxPairsAtATime = 512;

/// Faces and overlaps of faces have fewer corners mostly; where they have more, storage grows.
constexpr int kCornersOfAWorkspace = 128;

/// A hull has some kilobytes. So many hulls leave the cache before they are met again, if pairs are
/// looked at in the order of their indices.
constexpr int kManyHulls = 256;

/// Two spheres are looked at in less time than it takes to put together what threads have found:
/// where no more than a hundredth of the pairs is something else, one does all. Every so many are
/// asked.
constexpr double kMostlySpheres = 0.99;
constexpr std::size_t kAskedPairs = 61;

// The second object of a pair is anywhere: among some thousand it has left the cache since it was
// met last. So many pairs ahead it is asked for: its ball; then, of those whose balls are not
// apart, the shape and the pose, and of hulls what these lead to.
constexpr std::size_t kBallsAhead = 16;
constexpr std::size_t kShapesAhead = 8;
constexpr std::size_t kShapeBytes = 112;  // of CollisionShape: what all pairs read

/// Rounding must not part the boxes of shapes that touch.
void widen_by_rounding(const Pose& pose, Bounds& bounds) {
  double magnitude = pose.position.cwiseAbs().maxCoeff();
  for (const Eigen::Vector3d* corner : {&bounds.lower, &bounds.upper})
    for (const double x : *corner)
      if (std::abs(x) <= std::numeric_limits<double>::max())
        magnitude = std::max(magnitude, std::abs(x));
  bounds.widen(8 * std::numeric_limits<double>::epsilon() * magnitude);
}

/// Number by number: a copy would wait until all that was written before is in the cache.
[[gnu::always_inline]] inline void append(const CollisionPair& pair,
                                          std::vector<CollisionPair>& pairs) {
  CollisionPair& place = pairs.emplace_back();
  place.a = pair.a;
  place.b = pair.b;
  place.first_candidate = pair.first_candidate;
  place.num_candidates = pair.num_candidates;
  place.first_patch = pair.first_patch;
  place.num_patches = pair.num_patches;
}

/// Room for half as much again as `count`; if there is not, for twice as much.
template <typename T>
void reserve_more(std::size_t count, std::vector<T>& items) {
  if (items.capacity() < count + count / 2) items.reserve(2 * count);
}

int count_parts(std::size_t count, int per_part) {
  return (static_cast<int>(count) + per_part - 1) / per_part;
}

/// Part `part` of things that are cut into runs of per_part.
template <typename T>
std::span<T> part_of(std::span<T> all, int part, int per_part) {
  const std::size_t first = static_cast<std::size_t>(part) * static_cast<std::size_t>(per_part);
  return all.subspan(first, std::min(static_cast<std::size_t>(per_part), all.size() - first));
}

/// 1 and more than what a distance loses by rounding of positions that are as far from the origin.
constexpr double kWidened = 1 + 256 * std::numeric_limits<double>::epsilon();

/// [m] more than what positions of this magnitude lose by rounding on the way to a distance.
double rounding_of(const Eigen::Vector3d& position, double size) {
  return 32 * std::numeric_limits<double>::epsilon() * (position.cwiseAbs().sum() + size);
}

}  // namespace

int CollisionScene::add(CollisionObject object) {
  if (object.shape == nullptr) throw InputError("a collision object must have a shape");
  int place = num_objects();
  if (free_objects_.empty()) {
    objects_.emplace_back();
    shapes_.emplace_back();
    is_static_.emplace_back();
    is_hull_.emplace_back();
    balls_.emplace_back();
  } else {
    std::pop_heap(free_objects_.begin(), free_objects_.end(), std::greater<>());
    place = free_objects_.back();
    free_objects_.pop_back();
  }
  if (object.is_static) {
    moved_static_.push_back(place);
  } else {
    moving_.insert(std::lower_bound(moving_.begin(), moving_.end(), place), place);
  }
  shapes_[index(place)] = object.shape.get();
  const bool is_sphere = object.shape->kind() == ShapeKind::kSphere;
  balls_[index(place)] = {{0, 0, 0}, is_sphere ? object.shape->core_radius() : -1};
  is_hull_[index(place)] = object.shape->kind() == ShapeKind::kConvex ? 1 : 0;
  num_hulls_ += is_hull_[index(place)];
  is_static_[index(place)] = object.is_static ? 1 : 0;
  objects_[index(place)] = std::move(object);
  return place;
}

void CollisionScene::check_object(int object) const {
  if (object < 0 || object >= num_objects() || objects_[index(object)].shape == nullptr)
    throw InputError(fmt::format("object {} is not in the collision scene", object));
}

void CollisionScene::remove(int object) {
  check_object(object);
  if (!objects_[index(object)].is_static)
    moving_.erase(std::lower_bound(moving_.begin(), moving_.end(), object));
  if (broad_phase_.is_present(object)) broad_phase_.remove(object);
  num_hulls_ -= is_hull_[index(object)];
  objects_[index(object)] = {};
  shapes_[index(object)] = nullptr;
  free_objects_.push_back(object);
  std::push_heap(free_objects_.begin(), free_objects_.end(), std::greater<>());
}

void CollisionScene::mark_moved(int object) {
  check_object(object);
  if (objects_[index(object)].is_static) moved_static_.push_back(object);
}

void CollisionScene::exclude_bodies(std::span<const std::pair<int, int>> pairs) {
  broad_phase_.exclude_owners(pairs);
}

/// Rounding of the sizes and positions of both shapes goes into what is not a sphere: where the two
/// touch, the position of the other is no further than its own and the distance together, of which
/// select_near adds a part.
CollisionScene::Ball CollisionScene::compute_ball(const CollisionShape& shape, const Pose& pose) {
  const Eigen::Vector3d center = pose.position + pose.rotation * shape.center();
  const double radius = shape.bounding_radius();
  const double size = shape.center().cwiseAbs().sum() + radius;
  return {center, -(radius + 2 * rounding_of(pose.position, size))};
}

void CollisionScene::place(int object, const Pose& pose, double reach) {
  Ball& ball = balls_[index(object)];
  Bounds bounds;
  if (ball.is_sphere()) {
    ball.center = pose.position;
    bounds = {ball.center.array() - ball.radius(), ball.center.array() + ball.radius()};
  } else {
    const CollisionShape& shape = *shapes_[index(object)];
    ball = compute_ball(shape, pose);
    bounds = shape.bounds(pose);
  }
  bounds.widen(reach);
  widen_by_rounding(pose, bounds);
  if (broad_phase_.is_present(object)) {
    broad_phase_.move(object, bounds);
  } else {
    const CollisionObject& it = objects_[index(object)];
    broad_phase_.add(
        object, bounds,
        {.owner = it.body, .group = it.group, .mask = it.mask, .is_static = it.is_static});
  }
}

/// Only what moves is grown by its reach, so that the boxes of static objects last.
std::span<const IndexPair> CollisionScene::find_box_pairs(std::span<const Pose> poses,
                                                          const DetectionOptions& options) {
  if (poses.size() < objects_.size())
    throw InputError(fmt::format("{} poses for {} objects", poses.size(), objects_.size()));
  if (!options.reaches.empty() && options.reaches.size() < objects_.size())
    throw InputError(
        fmt::format("{} reaches for {} objects", options.reaches.size(), objects_.size()));
  if (!options.still.empty() && options.still.size() < objects_.size())
    throw InputError(fmt::format("{} marks of still objects for {} objects", options.still.size(),
                                 objects_.size()));
  for (const int object : moved_static_) {
    const CollisionObject& it = objects_[index(object)];
    // It may have been removed since, and its place taken.
    if (it.shape != nullptr && it.is_static) place(object, poses[index(object)], 0);
  }
  moved_static_.clear();
  for (const int object : moving_) {
    if (!options.still.empty() && options.still[index(object)] != 0 &&
        broad_phase_.is_present(object))
      continue;
    const double own = options.reaches.empty() ? 0 : options.reaches[index(object)];
    place(object, poses[index(object)], options.reach + own);
  }
  return broad_phase_.update(*pool_);
}

double CollisionScene::reach_of(int object, const DetectionOptions& options) const {
  return options.reaches.empty() || is_static_[index(object)] != 0 ? 0.0
                                                                   : options.reaches[index(object)];
}

bool CollisionScene::is_still(int object, const DetectionOptions& options) const {
  return is_static_[index(object)] != 0 || options.still[index(object)] != 0;
}

/// Half of the pairs whose boxes overlap are apart as balls: they are sorted out by few numbers,
/// and what is asked for ahead of time is wanted. Returns the number of those left.
int CollisionScene::select_near(std::span<const IndexPair> box_pairs,
                                const DetectionOptions& options, IndexPair* near) const {
  int count = 0;
  for (std::size_t k = 0; k < box_pairs.size(); ++k) {
    const auto [a, b] = box_pairs[k];
    const int later = box_pairs[std::min(k + kBallsAhead, box_pairs.size() - 1)].second;
    prefetch(&balls_[index(later)]);
    if (!options.still.empty() && is_still(a, options) && is_still(b, options)) continue;
    const Ball &ball_a = balls_[index(a)], &ball_b = balls_[index(b)];
    const double limit = kWidened * (ball_a.radius() + ball_b.radius() + options.reach +
                                     reach_of(a, options) + reach_of(b, options));
    near[count] = box_pairs[k];
    // Without a branch, which would be guessed wrongly half of the time.
    count += (ball_a.center - ball_b.center).squaredNorm() > limit * limit ? 0 : 1;
  }
  return count;
}

void CollisionScene::select_near(std::span<const IndexPair> box_pairs,
                                 const DetectionOptions& options) {
  near_.resize(box_pairs.size());
  const int num_parts = count_parts(box_pairs.size(), kBoxPairsPerPart);
  num_near_.resize(index(num_parts));
  pool_->run(num_parts, [&](int part, int) {
    num_near_[index(part)] = select_near(part_of(box_pairs, part, kBoxPairsPerPart), options,
                                         near_.data() + part * kBoxPairsPerPart);
  });
  auto end = near_.begin();
  for (int part = 0; part < num_parts; ++part) {
    const auto from = near_.begin() + part * kBoxPairsPerPart;
    end = std::copy(from, from + num_near_[index(part)], end);
  }
  near_.resize(static_cast<std::size_t>(end - near_.begin()));
}

/// Pairs without hulls first, as they are sorted; then the others by where their hull is in the
/// tree, so that each hull is brought into the cache about once, not once for each of its pairs.
/// It shows in no result.
void CollisionScene::update_order() {
  const int last = broad_phase_.num_places() + 1;
  const auto place_of = [&](int object) {
    return is_hull_[index(object)] != 0 ? broad_phase_.place_in_tree(object) + 1 : last;
  };
  starts_.assign(index(last) + 3, 0);
  keys_.resize(near_.size());
  order_.resize(near_.size());
  for (std::size_t k = 0; k < near_.size(); ++k) {
    const int place = std::min(place_of(near_[k].first), place_of(near_[k].second));
    keys_[k] = place == last ? 0 : place + 1;
    ++starts_[index(keys_[k]) + 1];
  }
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  for (std::size_t k = 0; k < near_.size(); ++k)
    order_[index(starts_[index(keys_[k])]++)] = static_cast<int>(k);
}

/// Appends to `out`. Inlined: what it returns then stays in registers, where most pairs take less
/// time than memory that was just written takes to be read.
[[gnu::always_inline]] inline CollisionScene::Found CollisionScene::collect_pair(
    const IndexPair& pair, std::span<const Pose> poses, const DetectionOptions& options,
    ContactWorkspace& workspace, ContactList& out) const {
  const auto [a, b] = pair;
  const double reach = options.reach + reach_of(a, options) + reach_of(b, options);
  const int first = static_cast<int>(out.candidates.size());
  const int first_patch = static_cast<int>(out.patches.size());
  const int first_group = out.num_groups;
  if (!are_spheres(pair) ||
      !try_collect_spheres({balls_[index(a)].center, balls_[index(a)].radius()},
                           {balls_[index(b)].center, balls_[index(b)].radius()}, reach, out)) {
    const ContactOptions contact_options{.reach = reach,
                                         .reduces = options.reduces,
                                         .wants_alternatives = options.wants_alternatives};
    collect_contacts(*shapes_[index(a)], poses[index(a)], *shapes_[index(b)], poses[index(b)],
                     contact_options, workspace, out);
  }
  return {.part = 0,
          .first_group = first_group,
          .num_groups = out.num_groups - first_group,
          .group_shift = 0,
          .pair = {a, b, first, static_cast<int>(out.candidates.size()) - first, first_patch,
                   static_cast<int>(out.patches.size()) - first_patch}};
}

/// The first of a pair is mostly that of the pair before.
[[gnu::always_inline]] inline void CollisionScene::prefetch_second(
    const IndexPair& later, std::span<const Pose> poses) const {
  if (are_spheres(later)) return;
  prefetch(&poses[index(later.second)], sizeof(Pose));
  prefetch(shapes_[index(later.second)], kShapeBytes);
}

/// As the pairs are sorted, straight to where the contacts belong. Few pairs at a time, so that
/// balls that were compared are still at hand when they are spheres that touch.
void CollisionScene::collect_in_order(std::span<const IndexPair> box_pairs,
                                      std::span<const Pose> poses, const DetectionOptions& options,
                                      Detection& out) {
  out.pairs.clear();
  out.contacts.clear();
  near_.resize(kBoxPairsAtATime);
  const int num_parts = count_parts(box_pairs.size(), kBoxPairsAtATime);
  for (int part = 0; part < num_parts; ++part) {
    const std::size_t count =
        index(select_near(part_of(box_pairs, part, kBoxPairsAtATime), options, near_.data()));
    for (std::size_t k = 0; k < std::min(kShapesAhead, count); ++k)
      prefetch_second(near_[k], poses);
    for (std::size_t k = 0; k < count; ++k) {
      prefetch_second(near_[std::min(k + kShapesAhead, count - 1)], poses);
      const Found found = collect_pair(near_[k], poses, options, workspaces_[0], out.contacts);
      if (found.pair.num_candidates > 0) append(found.pair, out.pairs);
    }
  }
}

[[gnu::always_inline]] inline void CollisionScene::prefetch_shapes(
    const IndexPair& later, std::span<const Pose> poses) const {
  if (are_spheres(later)) return;
  for (const int object : {later.first, later.second}) {
    prefetch(&poses[index(object)], sizeof(Pose));
    prefetch(shapes_[index(object)], sizeof(CollisionShape));
  }
}

/// For pairs whose shapes are at hand: where a hull has its memory, and, nearer to now, all of it,
/// unless the pair `before` has asked for it: pairs of one hull follow each other.
[[gnu::always_inline]] inline void CollisionScene::prefetch_hulls(const IndexPair& later,
                                                                  const IndexPair& soon,
                                                                  const IndexPair& before) const {
  for (const int object : {later.first, later.second})
    if (is_hull_[index(object)] != 0)
      prefetch(shapes_[index(object)]->polytope(), sizeof(Polytope));
  for (const int object : {soon.first, soon.second})
    if (is_hull_[index(object)] != 0 && object != before.first && object != before.second)
      shapes_[index(object)]->polytope()->prefetch_all();
}

/// One thread has one list, which has grown when the contacts of all pairs once fitted.
int CollisionScene::pairs_per_part() const {
  return pool_->num_threads() > 1 ? kPairsPerPart : std::max(static_cast<int>(near_.size()), 1);
}

void CollisionScene::collect_part(int part, std::span<const Pose> poses,
                                  const DetectionOptions& options, ContactWorkspace& workspace) {
  ContactList& list = parts_[index(part)];
  list.clear();
  const std::span<const int> order = part_of(std::span<const int>(order_), part, pairs_per_part());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto pair_after = [&](std::size_t count) {
      return near_[index(order[std::min(i + count, order.size() - 1)])];
    };
    prefetch_shapes(pair_after(2 * kShapesAhead), poses);
    prefetch_hulls(pair_after(kShapesAhead), pair_after(kShapesAhead / 2),
                   pair_after(kShapesAhead / 2 - 1));
    Found& found = found_[index(order[i])];
    found = collect_pair(near_[index(order[i])], poses, options, workspace, list);
    found.part = part;
  }
}

/// Changes no result.
bool CollisionScene::are_mostly_spheres(std::span<const IndexPair> pairs) const {
  int num_asked = 0, num_spheres = 0;
  for (std::size_t k = 0; k < pairs.size(); k += kAskedPairs, ++num_asked)
    num_spheres += are_spheres(pairs[k]) ? 1 : 0;
  return num_spheres >= kMostlySpheres * num_asked;
}

void CollisionScene::collect(std::span<const IndexPair> box_pairs, std::span<const Pose> poses,
                             const DetectionOptions& options, Detection& out) {
  out.num_box_pairs = static_cast<int>(box_pairs.size());
  if (workspaces_.empty()) {
    workspaces_.resize(index(pool_->num_threads()));
    for (ContactWorkspace& workspace : workspaces_) workspace.reserve(kCornersOfAWorkspace);
  }
  const bool is_reordered = num_hulls_ >= kManyHulls;
  const bool is_small = box_pairs.size() <= 2 * kPairsPerPart;  // of which half are apart
  if (!is_reordered && (pool_->num_threads() == 1 || is_small || are_mostly_spheres(box_pairs)))
    return collect_in_order(box_pairs, poses, options, out);
  select_near(box_pairs, options);
  const int num_parts = count_parts(near_.size(), pairs_per_part());
  if (is_reordered) {
    update_order();
  } else {
    order_.resize(near_.size());
    std::iota(order_.begin(), order_.end(), 0);
  }
  found_.resize(near_.size());
  if (parts_.size() < index(num_parts)) parts_.resize(index(num_parts) + index(num_parts) / 8 + 1);
  pool_->run(num_parts, [&](int part, int worker) {
    collect_part(part, poses, options, workspaces_[index(worker)]);
  });
  out.contacts.num_reduced = 0;
  for (int part = 0; part < num_parts; ++part)
    out.contacts.num_reduced += parts_[index(part)].num_reduced;
  join_parts(out);
  reserve_parts(num_parts);
}

/// A part gets other pairs in the next step, mostly some of those next to its own: it gets room for
/// what they have and half as much again, and parts that were not needed for what the last one has.
/// Otherwise a list here or there would have to grow for ever.
void CollisionScene::reserve_parts(int num_parts) {
  if (num_parts == 0 || pool_->num_threads() == 1) return;
  const auto size_of = [&](int part) {
    const ContactList& list = parts_[index(std::clamp(part, 0, num_parts - 1))];
    return std::pair(list.candidates.size(), list.patches.size());
  };
  for (int part = 0; part < static_cast<int>(parts_.size()); ++part) {
    std::size_t num_candidates = 0, num_patches = 0;
    for (const int near : {part - 1, part, part + 1}) {
      num_candidates = std::max(num_candidates, size_of(near).first);
      num_patches = std::max(num_patches, size_of(near).second);
    }
    reserve_more(num_candidates, parts_[index(part)].candidates);
    reserve_more(num_patches, parts_[index(part)].patches);
  }
}

/// Gives what was found its place, as if the pairs had been looked at as they are sorted; found_
/// keeps those of out.pairs.
void CollisionScene::place_found(Detection& out) {
  CollisionPair end;
  int num_groups = 0;
  std::size_t num_pairs = 0;
  out.pairs.resize(near_.size());
  for (std::size_t k = 0; k < near_.size(); ++k) {
    Found found = found_[k];
    const auto& [a, b, first, num_candidates, first_patch, num_patches] = found.pair;
    found.group_shift = num_groups - found.first_group;
    num_groups += found.num_groups;
    if (num_candidates == 0) continue;
    found_[num_pairs] = found;
    out.pairs[num_pairs++] = {a,          b, end.first_candidate, num_candidates, end.first_patch,
                              num_patches};
    end.first_candidate += num_candidates;
    end.first_patch += num_patches;
  }
  out.pairs.resize(num_pairs);
  out.contacts.candidates.resize(index(end.first_candidate));
  out.contacts.patches.resize(index(end.first_patch));
  out.contacts.num_groups = num_groups;
}

void CollisionScene::join_parts(Detection& out) {
  place_found(out);
  const std::size_t num_pairs = out.pairs.size();
  pool_->run(count_parts(num_pairs, kPairsPerPart), [&](int part, int) {
    const std::size_t first = index(part) * kPairsPerPart;
    const std::size_t last = std::min(first + kPairsPerPart, num_pairs);
    for (std::size_t k = first; k < last; ++k) {
      const Found& later = found_[std::min(k + kShapesAhead, last - 1)];
      prefetch(parts_[index(later.part)].candidates.data() + later.pair.first_candidate,
               sizeof(ContactCandidate));
      copy_found(found_[k], out.pairs[k], out.contacts);
    }
  });
}

void CollisionScene::copy_found(const Found& found, const CollisionPair& place,
                                ContactList& out) const {
  const ContactList& list = parts_[index(found.part)];
  std::copy_n(list.candidates.begin() + found.pair.first_candidate, place.num_candidates,
              out.candidates.begin() + place.first_candidate);
  for (int p = 0; p < place.num_patches; ++p) {
    ContactPatch& patch = out.patches[index(place.first_patch + p)];
    patch = list.patches[index(found.pair.first_patch + p)];
    patch.first += place.first_candidate - found.pair.first_candidate;
    patch.group += found.group_shift;
  }
}

}  // namespace stiction
