// Shapes with poses in, all contact candidates out: broad phase (broad_phase.h), then
// collect_contacts for each pair whose boxes overlap.
//
// The result is sorted by the indices of the objects and has the same bits for any number of
// threads and for any order in which objects came and moved. A body of several shapes is several
// objects with the same `body`; those never meet.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "stiction/base/worker_pool.h"
#include "stiction/geometry/broad_phase.h"
#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/pose.h"

namespace stiction {

/// Two objects meet if each is in a group of the other's mask, if their bodies differ and are not
/// an excluded pair, and if not both are static.
struct CollisionObject {
  std::shared_ptr<const CollisionShape> shape{};
  int body = 0;
  std::uint32_t group = 1;           // bits: the groups it is in
  std::uint32_t mask = 0xffff'ffff;  // bits: the groups it meets
  bool is_static = false;
};

/// Objects a < b that touch or could, and their part of Detection::contacts.
struct CollisionPair {
  int a = 0, b = 0;
  int first_candidate = 0, num_candidates = 0;
  int first_patch = 0, num_patches = 0;
};

struct Detection {
  std::vector<CollisionPair> pairs{};  // those with candidates, sorted by (a, b)
  ContactList contacts{};              // of all pairs, in their order
  int num_box_pairs = 0;               // pairs that the broad phase left to be looked at
};

struct DetectionOptions {
  double reach = 0;  // [m] candidates have a gap ≤ reach + reaches[a] + reaches[b]
  /// [m] ≥ 0, one per object or none: how much further one looks for it, such as the distance that
  /// it can go in a step. Not read for static objects.
  std::span<const double> reaches{};
  /// One per object or none: those marked are where they were at the last detection. Pairs of two
  /// of them, or of one and a static object, are left out.
  std::span<const char> still{};
  bool reduces = true;              // see ContactOptions
  bool wants_alternatives = false;  // see ContactOptions
};

class CollisionScene {
 public:
  /// Throws InputError unless num_threads ≥ 1.
  explicit CollisionScene(int num_threads = 1)
      : CollisionScene(std::make_shared<WorkerPool>(num_threads)) {}
  /// With threads that others use, too.
  explicit CollisionScene(std::shared_ptr<WorkerPool> pool) : pool_(std::move(pool)) {}

  /// The object's index: the smallest one that is free. Throws InputError without a shape.
  int add(CollisionObject object);
  /// Throws InputError if there is no such object.
  void remove(int object);
  /// Says that the pose of a static object is not what it was at the last detection.
  void mark_moved(int object);
  /// Pairs of bodies that never meet, such as those of a joint. Replaces those given before.
  void exclude_bodies(std::span<const std::pair<int, int>> pairs);

  /// All indices are below it; those of removed objects count until they are used again.
  int num_objects() const { return static_cast<int>(objects_.size()); }
  const CollisionObject& object(int object) const { return objects_[index(object)]; }

  /// poses[i] is that of the frame of the shape of object i in the world; those of static objects
  /// are read once, and after mark_moved. Replaces `out`, whose storage is reused: does not
  /// allocate once all storage has grown. Throws InputError for too few poses or reaches.
  void detect(std::span<const Pose> poses, const DetectionOptions& options, Detection& out) {
    collect(find_box_pairs(poses, options), poses, options, out);
  }
  /// The stages of detect: pairs whose boxes, grown by their reach, overlap; and the contacts of
  /// those pairs.
  std::span<const IndexPair> find_box_pairs(std::span<const Pose> poses,
                                            const DetectionOptions& options);
  void collect(std::span<const IndexPair> box_pairs, std::span<const Pose> poses,
               const DetectionOptions& options, Detection& out);

 private:
  /// Holds an object where it was placed last: half a line of the cache. That of a sphere is the
  /// sphere; others are wider than they need be by more than rounding, that of what they meet too.
  struct alignas(32) Ball {
    Eigen::Vector3d center = Eigen::Vector3d::Zero();  // [m] in the world
    double signed_radius = 0;                          // [m] negative where it is no sphere
    double radius() const { return std::abs(signed_radius); }
    bool is_sphere() const { return signed_radius > 0; }
  };
  /// What was found for one pair, in the list of its part.
  struct Found {
    int part = 0;
    int first_group = 0, num_groups = 0;
    int group_shift = 0;  // from numbers of groups in the list to those in the whole
    CollisionPair pair{};
  };
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  void check_object(int object) const;
  static Ball compute_ball(const CollisionShape& shape, const Pose& pose);
  void place(int object, const Pose& pose, double reach);
  double reach_of(int object, const DetectionOptions& options) const;
  bool is_still(int object, const DetectionOptions& options) const;
  void select_near(std::span<const IndexPair> box_pairs, const DetectionOptions& options);
  int select_near(std::span<const IndexPair> box_pairs, const DetectionOptions& options,
                  IndexPair* near) const;
  void update_order();
  Found collect_pair(const IndexPair& pair, std::span<const Pose> poses,
                     const DetectionOptions& options, ContactWorkspace& workspace,
                     ContactList& out) const;
  void collect_in_order(std::span<const IndexPair> box_pairs, std::span<const Pose> poses,
                        const DetectionOptions& options, Detection& out);
  bool are_spheres(const IndexPair& pair) const {
    return balls_[index(pair.first)].is_sphere() && balls_[index(pair.second)].is_sphere();
  }
  void prefetch_second(const IndexPair& later, std::span<const Pose> poses) const;
  void prefetch_shapes(const IndexPair& later, std::span<const Pose> poses) const;
  void prefetch_hulls(const IndexPair& later, const IndexPair& soon, const IndexPair& before) const;
  int pairs_per_part() const;
  void collect_part(int part, std::span<const Pose> poses, const DetectionOptions& options,
                    ContactWorkspace& workspace);
  void reserve_parts(int num_parts);
  bool are_mostly_spheres(std::span<const IndexPair> pairs) const;
  void place_found(Detection& out);
  void join_parts(Detection& out);
  void copy_found(const Found& found, const CollisionPair& place, ContactList& out) const;

  std::shared_ptr<WorkerPool> pool_;
  BroadPhase broad_phase_;
  std::vector<CollisionObject> objects_;  // without shape where none is
  // Of objects_, what pairs of any two objects ask for: in little memory.
  std::vector<const CollisionShape*> shapes_;
  std::vector<char> is_static_, is_hull_;
  std::vector<Ball> balls_;
  std::vector<int> free_objects_;  // a heap, smallest first
  std::vector<int> moving_;        // objects that are not static, sorted
  std::vector<int> moved_static_;  // static ones whose bounds are to be computed
  int num_hulls_ = 0;              // objects that are convex hulls
  // Scratch of collect:
  std::vector<ContactWorkspace> workspaces_;  // one per thread
  std::vector<IndexPair> near_;               // pairs that are not apart as balls, sorted
  std::vector<int> order_;                    // of near_, as they are looked at
  std::vector<int> keys_, starts_, num_near_;
  std::vector<ContactList> parts_;  // of runs of order_
  std::vector<Found> found_;        // for near_
};

}  // namespace stiction
