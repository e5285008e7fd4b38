// The broad phase against all pairs compared one by one, whatever comes, goes and moves.
#include "stiction/geometry/broad_phase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stiction/base/error.h"
#include "stiction/base/infinity.h"
#include "stiction/base/random.h"
#include "tests/geometry/polyhedra.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

Bounds make_box(const Vector3d& center, const Vector3d& half) {
  return {center - half, center + half};
}

struct Proxy {
  Bounds bounds;
  ProxyOptions options;
};

/// What the broad phase must say, by comparing all with all.
std::vector<IndexPair> compare_all(const std::map<int, Proxy>& proxies,
                                   const std::set<std::pair<int, int>>& exclusions = {}) {
  std::vector<IndexPair> pairs;
  for (auto p = proxies.begin(); p != proxies.end(); ++p) {
    for (auto q = std::next(p); q != proxies.end(); ++q) {
      const ProxyOptions &a = p->second.options, &b = q->second.options;
      if (a.is_static && b.is_static) continue;
      if (a.owner == b.owner || exclusions.contains(std::minmax(a.owner, b.owner))) continue;
      if ((a.group & b.mask) == 0 || (b.group & a.mask) == 0) continue;
      if (p->second.bounds.overlaps(q->second.bounds)) pairs.push_back({p->first, q->first});
    }
  }
  return pairs;
}

std::vector<IndexPair> update(BroadPhase& broad_phase, WorkerPool& pool) {
  const std::span<const IndexPair> pairs = broad_phase.update(pool);
  return {pairs.begin(), pairs.end()};
}

/// A broad phase and, beside it, all that was told to it.
class Trial {
 public:
  void add(int proxy, const Bounds& bounds, const ProxyOptions& options) {
    broad_phase.add(proxy, bounds, options);
    proxies[proxy] = {bounds, options};
  }
  void remove(int proxy) {
    broad_phase.remove(proxy);
    proxies.erase(proxy);
  }
  void move(int proxy, const Bounds& bounds) {
    broad_phase.move(proxy, bounds);
    proxies.at(proxy).bounds = bounds;
  }
  void exclude(const std::set<std::pair<int, int>>& pairs) {
    exclusions = pairs;
    const std::vector<std::pair<int, int>> list(pairs.begin(), pairs.end());
    broad_phase.exclude_owners(list);
  }
  ::testing::AssertionResult agrees(WorkerPool& pool) {
    const std::vector<IndexPair> found = update(broad_phase, pool);
    const std::vector<IndexPair> expected = compare_all(proxies, exclusions);
    num_pairs += static_cast<long>(expected.size());
    if (found == expected) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << found.size() << " pairs found, there are " << expected.size();
  }

  BroadPhase broad_phase;
  std::map<int, Proxy> proxies;
  std::set<std::pair<int, int>> exclusions;
  long num_pairs = 0;
};

/// Boxes that drift at speeds of their own within a cube, some large, some without extent; now and
/// then one comes, goes, jumps, becomes unbounded or bounded.
class Crowd {
 public:
  explicit Crowd(std::uint64_t seed) : random_(seed) {
    for (int proxy = 0; proxy < 40; ++proxy) add(proxy);
  }
  void step() {
    for (auto& [proxy, body] : bodies_) {
      if (body.is_static && !random_.chance(0.002)) continue;
      if (random_.chance(0.002)) body.center = random_vector(random_, -5, 5);
      if (random_.chance(0.02)) body.velocity = random_velocity();
      body.center += body.velocity;
      for (int k = 0; k < 3; ++k)
        if (std::abs(body.center[k]) > 5)
          body.velocity[k] = -std::copysign(body.velocity[k], body.center[k]);
      if (random_.chance(0.001)) body.is_unbounded = !body.is_unbounded;
      trial.move(proxy, bounds_of(body));
    }
    const int proxy = random_.integer(0, 59);
    if (!random_.chance(0.3)) return;
    if (bodies_.contains(proxy)) {
      trial.remove(proxy);
      bodies_.erase(proxy);
      if (random_.chance(0.5)) add(proxy);
    } else {
      add(proxy);
    }
  }
  /// All at once elsewhere.
  void shuffle() {
    for (auto& [proxy, body] : bodies_) {
      body.center = random_vector(random_, -5, 5);
      trial.move(proxy, bounds_of(body));
    }
  }

  Trial trial;

 private:
  struct Body {
    Vector3d center, velocity, half;
    bool is_static = false, is_unbounded = false;
  };
  Vector3d random_velocity() {
    return std::pow(10, random_.uniform(-5, 0)) * random_vector(random_, -1, 1);
  }
  void add(int proxy) {
    Body body{.center = random_vector(random_, -5, 5),
              .velocity = random_velocity(),
              .half = std::pow(10, random_.uniform(-2, 0.3)) * random_vector(random_, 0, 1),
              .is_static = random_.chance(0.3),
              .is_unbounded = random_.chance(0.03)};
    if (random_.chance(0.1)) body.half.setZero();
    const auto bit = [&] { return std::uint32_t{1} << random_.integer(0, 3); };
    const ProxyOptions options{.owner = random_.integer(0, 30),
                               .group = bit() | bit(),
                               .mask = random_.chance(0.5) ? 0xffff'ffff : ~bit(),
                               .is_static = body.is_static};
    trial.add(proxy, bounds_of(body), options);
    bodies_[proxy] = body;
  }
  static Bounds bounds_of(const Body& body) {
    Bounds box = make_box(body.center, body.half);
    if (body.is_unbounded)
      box.lower.setConstant(-kInfinity), box.upper.head<2>().setConstant(kInfinity);
    return box;
  }

  Random random_;
  std::map<int, Body> bodies_;
};

TEST(BroadPhase, FindsWhatComparingAllWithAllFinds) {
  WorkerPool pool;
  Crowd crowd(1);
  for (int step = 0; step < 10'000; ++step) {
    if (step % 1000 == 500) crowd.trial.exclude({{0, 1}, {2, 5}, {3, step / 1000 + 4}});
    if (step % 500 == 250) crowd.shuffle();
    crowd.step();
    ASSERT_TRUE(crowd.trial.agrees(pool)) << "step " << step;
  }
  EXPECT_GT(crowd.trial.num_pairs, 10'000);
}

TEST(BroadPhase, FindsTheSameWhenThingsChangeOftenBetweenUpdates) {
  WorkerPool pool(3);
  Crowd crowd(2);
  for (int step = 0; step < 3000; ++step) {
    crowd.step();
    if (step % 7 == 0) {
      ASSERT_TRUE(crowd.trial.agrees(pool)) << "step " << step;
    }
  }
}

// ------------------------------------------------------------------------------------------------

/// Many boxes in a cube that gives each about `neighbours` others.
std::vector<Bounds> scatter(int count, std::uint64_t seed, double scale = 1,
                            const Vector3d& origin = Vector3d::Zero()) {
  Random random(seed);
  const double side = std::cbrt(count);
  std::vector<Bounds> boxes;
  for (int i = 0; i < count; ++i) {
    const Vector3d center = random_vector(random, 0, side);
    boxes.push_back(make_box(origin + scale * center, scale * random_vector(random, 0.2, 0.7)));
  }
  return boxes;
}

void add_all(BroadPhase& broad_phase, const std::vector<Bounds>& boxes,
             const std::vector<int>& order) {
  for (const int i : order)
    broad_phase.add(i, boxes[static_cast<std::size_t>(i)], {.owner = i, .is_static = i % 4 == 0});
}

std::vector<int> count_up(int count) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void shift_all(std::vector<Bounds>& boxes, Random& random, double most) {
  for (Bounds& box : boxes) {
    const Vector3d shift = random_vector(random, -most, most);
    box.lower += shift;
    box.upper += shift;
  }
}

TEST(BroadPhase, SaysTheSameForAnyNumberOfThreads) {
  WorkerPool one(1), two(2), three(3);
  BroadPhase a, b, c;
  std::vector<Bounds> boxes = scatter(20'000, 3);
  for (BroadPhase* broad_phase : {&a, &b, &c}) add_all(*broad_phase, boxes, count_up(20'000));
  Random random(4);
  for (int step = 0; step < testing::fewer_sanitized(12, 2); ++step) {
    const std::vector<IndexPair> pairs = update(a, one);
    ASSERT_GT(pairs.size(), 20'000u);
    ASSERT_EQ(update(b, two), pairs);
    ASSERT_EQ(update(c, three), pairs);
    shift_all(boxes, random, step % 4 == 3 ? 1 : 0.02);
    for (int i = 0; i < 20'000; ++i)
      for (BroadPhase* broad_phase : {&a, &b, &c})
        broad_phase->move(i, boxes[static_cast<std::size_t>(i)]);
  }
}

TEST(BroadPhase, SaysTheSameForAnyHistory) {
  WorkerPool pool;
  const std::vector<Bounds> boxes = scatter(2000, 5);
  BroadPhase straight, backwards, wandering;
  std::vector<int> order = count_up(2000);
  add_all(straight, boxes, order);
  std::reverse(order.begin(), order.end());
  add_all(backwards, boxes, order);

  std::vector<Bounds> elsewhere = boxes;
  Random random(6);
  shift_all(elsewhere, random, 3);
  add_all(wandering, elsewhere, order);
  (void)wandering.update(pool);
  for (int i = 0; i < 2000; i += 3) wandering.remove(i);
  (void)wandering.update(pool);
  for (int i = 0; i < 2000; ++i) {
    const auto& box = boxes[static_cast<std::size_t>(i)];
    if (i % 3 != 0) {
      wandering.move(i, box);
    } else {
      wandering.add(i, box, {.owner = i, .is_static = i % 4 == 0});
    }
    if (i % 50 == 0) (void)wandering.update(pool);
  }
  const std::vector<IndexPair> pairs = update(straight, pool);
  ASSERT_GT(pairs.size(), 2000u);
  EXPECT_EQ(update(backwards, pool), pairs);
  EXPECT_EQ(update(wandering, pool), pairs);
}

TEST(BroadPhase, WorksAtAllScalesAndFarFromTheOrigin) {
  WorkerPool pool;
  // At scale 2^k all coordinates scale without rounding, and so must the answer stay.
  BroadPhase unit;
  add_all(unit, scatter(500, 7), count_up(500));
  const std::vector<IndexPair> pairs = update(unit, pool);
  for (const int exponent : {-1000, -300, -20, 20, 300, 1000}) {
    BroadPhase scaled;
    add_all(scaled, scatter(500, 7, std::ldexp(1, exponent)), count_up(500));
    EXPECT_EQ(update(scaled, pool), pairs) << "2^" << exponent;
  }
  for (const double far : {1e6, 1e12, 1e15}) {
    const std::vector<Bounds> boxes = scatter(300, 8, 1, {far, -far, far});
    Trial trial;
    for (int i = 0; i < 300; ++i) trial.add(i, boxes[static_cast<std::size_t>(i)], {.owner = i});
    EXPECT_TRUE(trial.agrees(pool)) << far;
  }
}

TEST(BroadPhase, BoxesAtTheEndOfTheRangeOfNumbersAreFound) {
  WorkerPool pool;
  const double huge = std::numeric_limits<double>::max();
  Trial trial;
  trial.add(0, {Vector3d::Constant(-huge), Vector3d::Constant(huge)}, {.owner = 0});
  trial.add(1, make_box(Vector3d::Constant(huge), Vector3d::Zero()), {.owner = 1});
  trial.add(2, make_box(Vector3d::Constant(-huge), Vector3d::Zero()), {.owner = 2});
  trial.add(3, make_box(Vector3d::Zero(), Vector3d::Constant(5e-324)), {.owner = 3});
  trial.add(4, {Vector3d::Constant(-kInfinity), Vector3d::Constant(-huge)}, {.owner = 4});
  for (int i = 5; i < 40; ++i)
    trial.add(i, make_box(Vector3d::Constant(0.05 * i * huge / 2), Vector3d::Constant(huge / 100)),
              {.owner = i});
  for (int step = 0; step < 3; ++step) {
    EXPECT_TRUE(trial.agrees(pool));
    trial.move(3, make_box(Vector3d::Constant(step * huge / 3), Vector3d::Zero()));
    trial.move(1, make_box(Vector3d::Constant(huge / (step + 2)), Vector3d::Zero()));
  }
}

TEST(BroadPhase, PointsOverlapWhereTheyCoincideAndTouchingCounts) {
  WorkerPool pool;
  Trial trial;
  for (int i = 0; i < 50; ++i)
    trial.add(i, make_box(Vector3d(i / 2, 0, 0), Vector3d::Zero()), {.owner = i});
  // From 3 to 4: touches the two points at each end.
  trial.add(50, {Vector3d(3, 0, 0), Vector3d(4, 1, 1)}, {.owner = 50});
  EXPECT_TRUE(trial.agrees(pool));
  EXPECT_EQ(update(trial.broad_phase, pool).size(), 25u + 4u);
}

TEST(BroadPhase, AllInOnePlaceIsFine) {
  WorkerPool pool;
  Trial trial;
  for (int i = 0; i < 200; ++i)
    trial.add(i, make_box(Vector3d::Ones(), Vector3d::Ones()), {.owner = i});
  for (int step = 0; step < 3; ++step) {
    EXPECT_TRUE(trial.agrees(pool));
    for (int i = 0; i < 200; ++i)
      trial.move(i, make_box(Vector3d::Constant(step), Vector3d::Ones()));
  }
  EXPECT_EQ(trial.num_pairs, 3 * 199 * 100);
}

TEST(BroadPhase, AProxyThatIsNotANumberMeetsNothingAndDoesNoHarm) {
  WorkerPool pool;
  Trial trial;
  for (int i = 0; i < 30; ++i)
    trial.add(i, make_box(Vector3d(0.5 * i, 0, 0), Vector3d::Constant(0.4)), {.owner = i});
  EXPECT_TRUE(trial.agrees(pool));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  trial.move(7, make_box(Vector3d(nan, 0, 0), Vector3d::Ones()));
  for (int step = 0; step < 3; ++step) {
    EXPECT_TRUE(trial.agrees(pool));
    trial.move(7, make_box(Vector3d(nan, nan, nan), Vector3d::Ones()));
  }
  trial.move(7, make_box(Vector3d::Zero(), Vector3d::Ones()));
  EXPECT_TRUE(trial.agrees(pool));
}

TEST(BroadPhase, BoxesAddedInARowDoNotMakeTheTreeDeep) {
  // Each lies beyond all before it, the worst order for a tree that grows one by one.
  WorkerPool pool;
  Trial trial;
  for (int i = 0; i < 1000; ++i)
    trial.add(
        i,
        make_box(Vector3d(std::pow(1.02, i), 0, 0), Vector3d::Constant(0.011 * std::pow(1.02, i))),
        {.owner = i, .is_static = i % 2 == 0});
  EXPECT_TRUE(trial.agrees(pool));
  for (int i = 1000; i < 2000; ++i) {
    trial.add(
        i,
        make_box(Vector3d(std::pow(1.02, i), 0, 0), Vector3d::Constant(0.011 * std::pow(1.02, i))),
        {.owner = i, .is_static = i % 2 == 0});
    const std::vector<IndexPair> pairs = update(trial.broad_phase, pool);
    ASSERT_EQ(pairs.size(), static_cast<std::size_t>(i));
  }
  EXPECT_TRUE(trial.agrees(pool));
}

// ------------------------------------------------------------------------------------------------

TEST(BroadPhase, FiltersByGroupMaskOwnerAndExclusion) {
  WorkerPool pool;
  BroadPhase broad_phase;
  const Bounds box = make_box(Vector3d::Zero(), Vector3d::Ones());
  broad_phase.add(0, box, {.owner = 10, .group = 1, .mask = 3});
  broad_phase.add(1, box, {.owner = 10, .group = 1, .mask = 3});  // same owner as 0
  broad_phase.add(2, box, {.owner = 11, .group = 2, .mask = 1});
  broad_phase.add(3, box, {.owner = 12, .group = 4, .mask = 7});  // no one's mask but 3's
  broad_phase.add(4, box, {.owner = -1, .group = 1, .mask = 1, .is_static = true});
  broad_phase.add(5, box, {.owner = -2, .group = 1, .mask = 1, .is_static = true});
  using Pairs = std::vector<IndexPair>;
  EXPECT_EQ(update(broad_phase, pool), (Pairs{{0, 2}, {0, 4}, {0, 5}, {1, 2}, {1, 4}, {1, 5}}));
  const std::vector<std::pair<int, int>> joined = {{11, 10}, {10, -2}};
  broad_phase.exclude_owners(joined);
  EXPECT_EQ(update(broad_phase, pool), (Pairs{{0, 4}, {1, 4}}));
  broad_phase.exclude_owners({});
  EXPECT_EQ(update(broad_phase, pool).size(), 6u);
}

TEST(BroadPhase, RefusesIndicesThatAreTakenNegativeOrUnknown) {
  BroadPhase broad_phase;
  const Bounds box = make_box(Vector3d::Zero(), Vector3d::Ones());
  broad_phase.add(3, box, {});
  EXPECT_THROW(broad_phase.add(3, box, {}), InputError);
  EXPECT_THROW(broad_phase.add(-1, box, {}), InputError);
  EXPECT_THROW(broad_phase.move(2, box), InputError);
  EXPECT_THROW(broad_phase.remove(4), InputError);
  EXPECT_THROW(broad_phase.remove(-1), InputError);
  broad_phase.remove(3);
  EXPECT_THROW(broad_phase.move(3, box), InputError);
  EXPECT_THROW(WorkerPool(0), InputError);
}

TEST(BroadPhase, NothingAndOneGiveNoPairs) {
  WorkerPool pool(2);
  BroadPhase broad_phase;
  EXPECT_TRUE(broad_phase.update(pool).empty());
  broad_phase.add(0, make_box(Vector3d::Zero(), Vector3d::Ones()), {});
  EXPECT_TRUE(broad_phase.update(pool).empty());
  broad_phase.remove(0);
  EXPECT_TRUE(broad_phase.update(pool).empty());
}

// ------------------------------------------------------------------------------------------------

TEST(BroadPhase, KeepsCandidatesWhileBoxesStayWithinTheirMargins) {
  WorkerPool pool;
  BroadPhase broad_phase;
  std::vector<Bounds> boxes = scatter(1000, 9);
  for (int i = 0; i < 1000; ++i)
    broad_phase.add(i, boxes[static_cast<std::size_t>(i)], {.owner = i});
  int num_rebuilt = 0;
  for (int step = 0; step < 100; ++step) {
    for (std::size_t i = 0; i < 1000; ++i) {
      const double drift = 1e-3 * (static_cast<double>(i % 7) - 3);
      boxes[i].lower.array() += drift;
      boxes[i].upper.array() += drift;
      broad_phase.move(static_cast<int>(i), boxes[i]);
    }
    (void)broad_phase.update(pool);
    num_rebuilt += broad_phase.was_rebuilt() ? 1 : 0;
  }
  // Margins last for ten steps of the speed seen.
  EXPECT_LE(num_rebuilt, 25);
}

TEST(SlowBroadPhase, AMillionStaticBoxesAndAHundredThousandMovingOnes) {
  WorkerPool pool(2);
  constexpr int kNumStatic = 1'000'000, kNumMoving = 100'000;
  BroadPhase broad_phase;
  // A floor of unit tiles that only touch, and small boxes, each above the middle of one tile.
  for (int i = 0; i < kNumStatic; ++i)
    broad_phase.add(i, make_box(Vector3d(i % 1000, i / 1000, 0), Vector3d(0.5, 0.5, 0.1)),
                    {.owner = -1, .is_static = true});
  const auto box_of = [](int i, double height) {
    return make_box(Vector3d((3 * i) % 1000, (3 * i) / 1000, height), Vector3d::Constant(0.2));
  };
  for (int i = 0; i < kNumMoving; ++i)
    broad_phase.add(kNumStatic + i, box_of(i, 0.2), {.owner = i});
  for (int step = 0; step < 20; ++step) {
    const std::vector<IndexPair> pairs = update(broad_phase, pool);
    ASSERT_EQ(pairs.size(), static_cast<std::size_t>(kNumMoving));
    for (const IndexPair& pair : pairs) ASSERT_EQ(pair.first, 3 * (pair.second - kNumStatic));
    for (int i = 0; i < kNumMoving; ++i)
      broad_phase.move(kNumStatic + i, box_of(i, 0.2 + 0.001 * ((step * i) % 50)));
  }
}

}  // namespace
}  // namespace stiction
