// Broad phase and detection allocate nothing once warm.
#include "tests/solve/allocation_counter.h"

#if ST_COUNTS_ALLOCATIONS

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/geometry/collision_scene.h"
#include "tests/geometry/polyhedra.h"

namespace {
std::atomic<long> num_mallocs = 0;
}  // namespace

// operator new and Eigen both end here.
extern "C" {
void* __libc_malloc(std::size_t size);  // NOLINT(bugprone-reserved-identifier)
void* malloc(std::size_t size) {
  ++num_mallocs;
  return __libc_malloc(size);
}
}

namespace stiction {

long testing::num_allocations() { return num_mallocs; }

namespace {

using Eigen::Vector3d;

/// Swings with a period of 40 steps, so that the second period asks for nothing new.
struct Swing {
  Vector3d center, shift;
  Vector3d at(double step) const { return center + std::sin(step * M_PI / 20) * shift; }
};

std::vector<Swing> make_swings(int count, double most) {
  Random random(21);
  const double side = std::cbrt(count);
  std::vector<Swing> swings;
  for (int i = 0; i < count; ++i) {
    const Vector3d center = random_vector(random, 0, side);
    swings.push_back({center, random_vector(random, -most, most)});
  }
  return swings;
}

TEST(BroadPhaseAllocation, NoneOnceWarm) {
  for (const int num_threads : {1, 2}) {
    // Slow boxes that stay within their margins, some that leave them, fast ones.
    for (const double most : {0.01, 0.3, 5.0}) {
      WorkerPool pool(num_threads);
      BroadPhase broad_phase;
      const std::vector<Swing> swings = make_swings(3000, most);
      const auto bounds_of = [&](int i, int step) {
        const Vector3d center = swings[static_cast<std::size_t>(i)].at(i % 2 == 0 ? step : 0);
        return Bounds{center.array() - 0.5, center.array() + 0.5};
      };
      for (int i = 0; i < 3000; ++i) broad_phase.add(i, bounds_of(i, 0), {.owner = i});
      const auto run = [&](int first, int last) {
        for (int step = first; step < last; ++step) {
          for (int i = 0; i < 3000; ++i) broad_phase.move(i, bounds_of(i, step));
          (void)broad_phase.update(pool);
        }
      };
      run(0, 400);
      const long before = testing::num_allocations();
      run(400, 480);
      EXPECT_EQ(testing::num_allocations(), before) << num_threads << " threads, " << most;
    }
  }
}

using Shapes = std::vector<std::shared_ptr<const CollisionShape>>;

/// 800 objects that have these shapes in turn.
void expect_no_allocation(const Shapes& shapes, int num_threads) {
  CollisionScene scene(num_threads);
  const std::vector<Swing> swings = make_swings(800, 0.2);
  for (int i = 0; i < 800; ++i)
    scene.add({.shape = shapes[static_cast<std::size_t>(i) % shapes.size()], .body = i});
  std::vector<Pose> poses(800);
  Detection detection;
  const auto run = [&](int first, int last) {
    for (int step = first; step < last; ++step) {
      for (std::size_t i = 0; i < 800; ++i) poses[i].position = swings[i].at(step);
      scene.detect(poses, {.reach = 0.02}, detection);
    }
    ASSERT_GT(detection.pairs.size(), 800u);
  };
  run(0, 120);
  const long before = testing::num_allocations();
  run(120, 160);
  EXPECT_EQ(testing::num_allocations(), before) << num_threads << " threads";
}

TEST(CollisionSceneAllocation, NoneOnceWarm) {
  const Shapes shapes = {std::make_shared<const CollisionShape>(Sphere{0.5}),
                         std::make_shared<const CollisionShape>(Box{{0.8, 0.7, 0.9}}),
                         std::make_shared<const CollisionShape>(Capsule{0.3, 0.8}),
                         std::make_shared<const CollisionShape>(Cylinder{0.4, 0.9})};
  for (const int num_threads : {1, 2}) expect_no_allocation(shapes, num_threads);
}

/// Whose pairs are looked at in an order of space.
TEST(CollisionSceneAllocation, NoneOnceWarmWithManyHulls) {
  Random random(22);
  Convex hull;
  for (int i = 0; i < 20; ++i)
    hull.points.push_back(0.5 * random_vector(random, -1, 1).normalized());
  const Shapes shapes = {std::make_shared<const CollisionShape>(std::move(hull)),
                         std::make_shared<const CollisionShape>(Sphere{0.5})};
  for (const int num_threads : {1, 2}) expect_no_allocation(shapes, num_threads);
}

/// Objects that swing out of step never lie again as they lay: the pairs that one part of the work
/// gets, and their contacts, are others in each step.
TEST(CollisionSceneAllocation, NoneOnceWarmWhereNothingRepeats) {
  Random random(23);
  Convex hull;
  for (int i = 0; i < 20; ++i)
    hull.points.push_back(0.5 * random_vector(random, -1, 1).normalized());
  const Shapes shapes = {std::make_shared<const CollisionShape>(std::move(hull)),
                         std::make_shared<const CollisionShape>(Sphere{0.5}),
                         std::make_shared<const CollisionShape>(Box{{0.8, 0.7, 0.9}})};
  CollisionScene scene(2);
  const std::vector<Swing> swings = make_swings(1200, 0.3);
  std::vector<double> speeds;
  for (int i = 0; i < 1200; ++i) {
    scene.add({.shape = shapes[static_cast<std::size_t>(i) % shapes.size()], .body = i});
    speeds.push_back(random.uniform(0.5, 2));
  }
  std::vector<Pose> poses(1200);
  Detection detection;
  long before = 0;
  for (int step = 0; step < 600; ++step) {
    if (step == 200) before = testing::num_allocations();
    for (std::size_t i = 0; i < 1200; ++i) poses[i].position = swings[i].at(step * speeds[i]);
    scene.detect(poses, {.reach = 0.02}, detection);
  }
  EXPECT_EQ(testing::num_allocations(), before);
}

}  // namespace
}  // namespace stiction

#endif
