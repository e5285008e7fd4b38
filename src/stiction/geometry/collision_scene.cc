#include "stiction/geometry/collision_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "stiction/base/error.h"
#include "stiction/base/prefetch.h"

namespace stiction {
namespace {

/// Few enough that threads finish together, many enough that taking one costs nothing.
constexpr int kPairsPerPart = 256;

/// Pairs come in the order of their indices, so that the second of each is anywhere: among some
/// thousand objects it has left the cache since it was met last. So many pairs ahead its pointer
/// and pose are asked for, and half as many ahead the shape that the pointer leads to. Measured and
/// rejected: to sort out pairs whose bounding balls are apart by an array of balls first, which
/// takes a third of the memory off and no time.
constexpr std::size_t kPairsAhead = 16;
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

}  // namespace

int CollisionScene::add(CollisionObject object) {
  if (object.shape == nullptr) throw InputError("a collision object must have a shape");
  int place = num_objects();
  if (free_objects_.empty()) {
    objects_.emplace_back();
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
  objects_[index(object)] = {};
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

void CollisionScene::place(int object, const Pose& pose, double reach) {
  const CollisionObject& it = objects_[index(object)];
  Bounds bounds = it.shape->bounds(pose);
  bounds.widen(reach);
  widen_by_rounding(pose, bounds);
  if (broad_phase_.is_present(object)) {
    broad_phase_.move(object, bounds);
  } else {
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

void CollisionScene::prefetch_later(std::span<const IndexPair> box_pairs,
                                    std::span<const Pose> poses) const {
  if (box_pairs.size() <= kPairsAhead) return;
  const std::size_t far = index(box_pairs[kPairsAhead].second);
  const std::size_t near = index(box_pairs[kPairsAhead / 2].second);
  prefetch(&objects_[far]);
  prefetch(&poses[far], sizeof(Pose));
  prefetch(objects_[near].shape.get(), kShapeBytes);
}

void CollisionScene::collect_part(std::span<const IndexPair> box_pairs, std::span<const Pose> poses,
                                  const DetectionOptions& options, ContactWorkspace& workspace,
                                  Detection& out) const {
  const auto reach_of = [&](int object) {
    return options.reaches.empty() || objects_[index(object)].is_static
               ? 0.0
               : options.reaches[index(object)];
  };
  ContactOptions contact_options{.reach = options.reach,
                                 .reduces = options.reduces,
                                 .wants_alternatives = options.wants_alternatives};
  ContactList& contacts = out.contacts;
  const auto is_still = [&](int object) {
    return objects_[index(object)].is_static || options.still[index(object)] != 0;
  };
  for (std::size_t k = 0; k < box_pairs.size(); ++k) {
    const auto [a, b] = box_pairs[k];
    prefetch_later(box_pairs.subspan(k), poses);
    if (!options.still.empty() && is_still(a) && is_still(b)) continue;
    contact_options.reach = options.reach + reach_of(a) + reach_of(b);
    const int first = static_cast<int>(contacts.candidates.size());
    const int first_patch = static_cast<int>(contacts.patches.size());
    collect_contacts(*objects_[index(a)].shape, poses[index(a)], *objects_[index(b)].shape,
                     poses[index(b)], contact_options, workspace, contacts);
    const int count = static_cast<int>(contacts.candidates.size()) - first;
    const int num_patches = static_cast<int>(contacts.patches.size()) - first_patch;
    if (count > 0) out.pairs.push_back({a, b, first, count, first_patch, num_patches});
  }
}

void CollisionScene::collect(std::span<const IndexPair> box_pairs, std::span<const Pose> poses,
                             const DetectionOptions& options, Detection& out) {
  out.pairs.clear();
  out.contacts.clear();
  out.num_box_pairs = static_cast<int>(box_pairs.size());
  workspaces_.resize(index(pool_->num_threads()));
  const int num_parts = (out.num_box_pairs + kPairsPerPart - 1) / kPairsPerPart;
  if (pool_->num_threads() == 1 || num_parts < 2) {
    collect_part(box_pairs, poses, options, workspaces_[0], out);
    return;
  }
  if (parts_.size() < index(num_parts)) parts_.resize(index(num_parts));
  pool_->run(num_parts, [&](int k, int worker) {
    Detection& part = parts_[index(k)];
    part.pairs.clear();
    part.contacts.clear();
    const std::size_t first = index(k) * kPairsPerPart;
    const std::size_t count = std::min<std::size_t>(kPairsPerPart, box_pairs.size() - first);
    collect_part(box_pairs.subspan(first, count), poses, options, workspaces_[index(worker)], part);
  });
  join_parts(num_parts, out);
}

/// One after the other, as if one thread had written them.
void CollisionScene::join_parts(int num_parts, Detection& out) {
  starts_.resize(index(num_parts) + 1);
  starts_[0] = {};
  for (int k = 0; k < num_parts; ++k) {
    const Detection& part = parts_[index(k)];
    const PartStart& start = starts_[index(k)];
    starts_[index(k) + 1] = {
        start.pair + part.pairs.size(), start.candidate + part.contacts.candidates.size(),
        start.patch + part.contacts.patches.size(), start.group + part.contacts.num_groups};
    out.contacts.num_reduced += part.contacts.num_reduced;
  }
  const PartStart& end = starts_.back();
  out.pairs.resize(end.pair);
  out.contacts.candidates.resize(end.candidate);
  out.contacts.patches.resize(end.patch);
  out.contacts.num_groups = end.group;
  pool_->run(num_parts, [&](int k, int) {
    const Detection& part = parts_[index(k)];
    const PartStart& start = starts_[index(k)];
    std::copy(part.contacts.candidates.begin(), part.contacts.candidates.end(),
              out.contacts.candidates.begin() + static_cast<std::ptrdiff_t>(start.candidate));
    for (std::size_t i = 0; i < part.contacts.patches.size(); ++i) {
      ContactPatch& patch = out.contacts.patches[start.patch + i];
      patch = part.contacts.patches[i];
      patch.first += static_cast<int>(start.candidate);
      patch.group += start.group;
    }
    for (std::size_t i = 0; i < part.pairs.size(); ++i) {
      CollisionPair& pair = out.pairs[start.pair + i];
      pair = part.pairs[i];
      pair.first_candidate += static_cast<int>(start.candidate);
      pair.first_patch += static_cast<int>(start.patch);
    }
  });
}

}  // namespace stiction
