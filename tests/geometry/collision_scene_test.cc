// Detection against collect_contacts called for all pairs, for any number of threads and history.
#include "stiction/geometry/collision_scene.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "tests/geometry/polyhedra.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

std::shared_ptr<const CollisionShape> make_shape(Shape shape) {
  return std::make_shared<const CollisionShape>(std::move(shape));
}

Pose pose_in_block(Random& random, double side) {
  const Vector3d position = random_vector(random, 0, side);
  const double w = random.normal(), x = random.normal(), y = random.normal();
  return {position, Eigen::Quaterniond(w, x, y, random.normal()).normalized().toRotationMatrix()};
}

Pose at(double x, double y = 0, double z = 0) { return {Vector3d(x, y, z)}; }

/// One of each convex kind.
std::vector<std::shared_ptr<const CollisionShape>> make_shapes() {
  Random random(11);
  Convex hull;
  for (int i = 0; i < 20; ++i)
    hull.points.push_back(0.6 * random_vector(random, -1, 1).normalized());
  return {make_shape(Sphere{0.5}), make_shape(Box{{0.7, 0.9, 1.1}}), make_shape(Capsule{0.3, 0.8}),
          make_shape(Cylinder{0.4, 0.9}), make_shape(std::move(hull))};
}

/// Bodies of two shapes each in a cube, some static, on a plane that lies askew.
struct Crowd {
  std::vector<CollisionObject> objects;
  std::vector<Pose> poses;
  std::vector<double> reaches;

  explicit Crowd(int num_objects) {
    Random random(12);
    const auto shapes = make_shapes();
    const double side = 0.9 * std::cbrt(num_objects);
    for (int i = 0; i < num_objects; ++i) {
      objects.push_back({.shape = shapes[static_cast<std::size_t>(i) % shapes.size()],
                         .body = i / 2,
                         .is_static = i / 2 % 5 == 0});
      poses.push_back(pose_in_block(random, side));
      reaches.push_back(random.uniform(0, 0.1));
    }
    objects.push_back({.shape = make_shape(Plane{Vector3d(0.1, 0.2, 1).normalized(), 0.5}),
                       .body = -1,
                       .is_static = true});
    poses.push_back(at(0));
    reaches.push_back(100);  // that of a static object is not read
  }
  void add_to(CollisionScene& scene) const {
    for (const CollisionObject& object : objects) scene.add(object);
  }
  void move(Random& random, double most) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (objects[i].is_static) continue;
      const Eigen::AngleAxisd turn(random.uniform(-most, most), Vector3d::UnitX());
      poses[i].position += random_vector(random, -most, most);
      poses[i].rotation = turn.toRotationMatrix() * poses[i].rotation;
    }
  }
  /// All pairs one by one.
  Detection detect_all(double reach) const {
    Detection out;
    ContactWorkspace workspace;
    for (std::size_t a = 0; a < objects.size(); ++a) {
      for (std::size_t b = a + 1; b < objects.size(); ++b) {
        if (objects[a].body == objects[b].body) continue;
        if (objects[a].is_static && objects[b].is_static) continue;
        const double own_a = objects[a].is_static ? 0 : reaches[a];
        const double own_b = objects[b].is_static ? 0 : reaches[b];
        const int first = static_cast<int>(out.contacts.candidates.size());
        const int first_patch = static_cast<int>(out.contacts.patches.size());
        collect_contacts(*objects[a].shape, poses[a], *objects[b].shape, poses[b],
                         {.reach = reach + own_a + own_b}, workspace, out.contacts);
        const int count = static_cast<int>(out.contacts.candidates.size()) - first;
        if (count == 0) continue;
        out.pairs.push_back({static_cast<int>(a), static_cast<int>(b), first, count, first_patch,
                             static_cast<int>(out.contacts.patches.size()) - first_patch});
      }
    }
    return out;
  }
};

bool is_same(const ContactFeature& a, const ContactFeature& b) {
  return a.kind == b.kind && a.point == b.point && a.direction == b.direction &&
         a.radius == b.radius;
}

bool is_same(const ContactCandidate& a, const ContactCandidate& b) {
  return is_same(a.a, b.a) && is_same(a.b, b.b) && a.side == b.side && a.id == b.id &&
         a.gap == b.gap && a.normal == b.normal && a.point == b.point;
}

bool is_same(const ContactPatch& a, const ContactPatch& b) {
  return a.first == b.first && a.count == b.count && a.separation == b.separation &&
         a.group == b.group;
}

bool is_same(const CollisionPair& a, const CollisionPair& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;  // six ints
}

template <typename T>
void expect_same(const std::vector<T>& found, const std::vector<T>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_TRUE(is_same(found[i], expected[i])) << "entry " << i;
}

/// To the last bit.
void expect_same(const Detection& found, const Detection& expected) {
  expect_same(found.pairs, expected.pairs);
  expect_same(found.contacts.candidates, expected.contacts.candidates);
  expect_same(found.contacts.patches, expected.contacts.patches);
  EXPECT_EQ(found.contacts.num_groups, expected.contacts.num_groups);
  EXPECT_EQ(found.contacts.num_reduced, expected.contacts.num_reduced);
}

/// So many hulls that pairs are looked at in an order of space.
TEST(CollisionScene, ManyHullsGiveWhatAllPairsOneByOneGiveInTheirOrder) {
  Crowd crowd(1500);
  for (const int num_threads : {1, 3}) {
    CollisionScene scene(num_threads);
    crowd.add_to(scene);
    Detection detection;
    Random random(14);
    for (int step = 0; step < 3; ++step) {
      scene.detect(crowd.poses, {.reach = 0.02 * step, .reaches = crowd.reaches}, detection);
      const Detection expected = crowd.detect_all(0.02 * step);
      ASSERT_GT(expected.pairs.size(), 1000u);
      expect_same(detection, expected);
      crowd.move(random, 0.05);
    }
  }
}

TEST(CollisionScene, FindsWhatAllPairsOneByOneGive) {
  Crowd crowd(120);
  CollisionScene scene;
  crowd.add_to(scene);
  Detection detection;
  Random random(13);
  for (int step = 0; step < testing::fewer_sanitized(30, 2); ++step) {
    const double reach = step % 3 == 0 ? 0 : 0.02 * step;
    scene.detect(crowd.poses, {.reach = reach, .reaches = crowd.reaches}, detection);
    const Detection expected = crowd.detect_all(reach);
    ASSERT_GT(expected.pairs.size(), 50u);
    expect_same(detection, expected);
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    EXPECT_GE(detection.num_box_pairs, static_cast<int>(detection.pairs.size()));
    crowd.move(random, step % 10 == 9 ? 1 : 0.03);
  }
}

TEST(CollisionScene, HasTheSameBitsForAnyNumberOfThreads) {
  Crowd crowd(3000);
  CollisionScene one(1), two(2), three(3);
  for (CollisionScene* scene : {&one, &two, &three}) crowd.add_to(*scene);
  Random random(14);
  for (int step = 0; step < testing::fewer_sanitized(5, 3); ++step) {
    Detection a, b, c;
    const DetectionOptions options{.reach = 0.01, .wants_alternatives = true};
    one.detect(crowd.poses, options, a);
    two.detect(crowd.poses, options, b);
    ASSERT_GT(a.num_box_pairs, 4096);
    expect_same(b, a);
    if (!testing::kHasSanitizers) {  // runs the same lines
      three.detect(crowd.poses, options, c);
      expect_same(c, a);
    }
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    crowd.move(random, 0.1);
  }
}

TEST(CollisionScene, HasTheSameBitsForAnyHistory) {
  const Crowd crowd(300);
  CollisionScene straight, wandering;
  crowd.add_to(straight);
  // The same objects at the same indices in the end, after others were there.
  Crowd elsewhere = crowd;
  Random random(15);
  elsewhere.move(random, 2);
  const auto ball = make_shape(Sphere{1});
  for (std::size_t i = 0; i < crowd.objects.size(); ++i)
    wandering.add(i % 3 == 0 ? CollisionObject{.shape = ball, .body = -2} : crowd.objects[i]);
  Detection detection, expected;
  wandering.detect(elsewhere.poses, {}, detection);
  for (std::size_t i = 0; i < crowd.objects.size(); i += 3) wandering.remove(static_cast<int>(i));
  wandering.detect(elsewhere.poses, {}, detection);
  for (std::size_t i = 0; i < crowd.objects.size(); i += 3)
    EXPECT_EQ(wandering.add(crowd.objects[i]), static_cast<int>(i));
  wandering.detect(crowd.poses, {.reach = 0.05}, detection);
  straight.detect(crowd.poses, {.reach = 0.05}, expected);
  ASSERT_GT(expected.pairs.size(), 100u);
  expect_same(detection, expected);
}

TEST(CollisionScene, ReachesAddUp) {
  CollisionScene scene;
  const auto ball = make_shape(Sphere{1});
  scene.add({.shape = ball, .body = 0});
  scene.add({.shape = ball, .body = 1});
  const std::vector<Pose> poses = {at(0), at(2.25)};  // gap ¼
  Detection detection;
  const auto count = [&](double reach, std::vector<double> reaches) {
    scene.detect(poses, {.reach = reach, .reaches = reaches}, detection);
    return detection.pairs.size();
  };
  EXPECT_EQ(count(0, {}), 0u);
  EXPECT_EQ(count(0.2, {}), 0u);
  EXPECT_EQ(count(0.26, {}), 1u);
  EXPECT_EQ(count(0, {0.1, 0.1}), 0u);
  EXPECT_EQ(count(0, {0.1, 0.16}), 1u);
  EXPECT_EQ(count(0.1, {0.06, 0.1}), 1u);
  EXPECT_EQ(count(0, {0.26, 0}), 1u);
  EXPECT_DOUBLE_EQ(detection.contacts.candidates.at(0).gap, 0.25);
  EXPECT_EQ(detection.contacts.candidates.at(0).normal, Vector3d(-1, 0, 0));  // from b to a
}

TEST(CollisionScene, ObjectsOfOneBodyAndExcludedBodiesDoNotMeet) {
  CollisionScene scene;
  const auto ball = make_shape(Sphere{1});
  for (const int body : {0, 0, 1, 2}) scene.add({.shape = ball, .body = body});
  scene.add({.shape = ball, .body = 3, .group = 2, .mask = 2});
  const std::vector<Pose> poses(5, at(0.5));
  std::vector<std::pair<int, int>> joints = {{2, 0}};
  Detection detection;
  scene.detect(poses, {}, detection);
  EXPECT_EQ(detection.pairs.size(), 5u);  // 02 03 12 13 23
  scene.exclude_bodies(joints);
  scene.detect(poses, {}, detection);
  ASSERT_EQ(detection.pairs.size(), 3u);
  const std::vector<std::pair<int, int>> expected = {{0, 2}, {1, 2}, {2, 3}};
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_EQ(std::pair(detection.pairs[k].a, detection.pairs[k].b), expected[k]);
}

TEST(CollisionScene, StaticObjectsStayUntilTheyAreSaidToHaveMoved) {
  CollisionScene scene;
  const auto ball = make_shape(Sphere{1});
  scene.add({.shape = ball, .body = 0});
  const int ground = scene.add({.shape = make_shape(Box{{1, 1, 1}}), .body = 1, .is_static = true});
  std::vector<Pose> poses = {at(0), at(1.4)};
  Detection detection;
  scene.detect(poses, {}, detection);
  EXPECT_EQ(detection.pairs.size(), 1u);
  poses[0] = at(10);
  poses[1] = at(11.4);
  scene.detect(poses, {}, detection);
  EXPECT_EQ(detection.pairs.size(), 0u);
  scene.mark_moved(ground);
  scene.detect(poses, {}, detection);
  EXPECT_EQ(detection.pairs.size(), 1u);
}

TEST(CollisionScene, TouchingIsNotLostToRounding) {
  // Gap 0 up to rounding, far from the origin: whatever boxes say, collect_contacts is asked.
  Random random(16);
  const auto box = make_shape(Box{{0.1, 0.1, 0.1}});
  for (int trial = 0; trial < 200; ++trial) {
    const Vector3d origin = random_vector(random, -1e3, 1e3);
    CollisionScene scene;
    scene.add({.shape = box, .body = 0});
    scene.add({.shape = box, .body = 1, .is_static = trial % 2 == 0});
    const std::vector<Pose> poses = {{origin}, {origin + Vector3d(0.1, 0, 0)}};
    Detection detection;
    scene.detect(poses, {}, detection);
    EXPECT_EQ(detection.num_box_pairs, 1);
  }
}

TEST(CollisionScene, PosesThatAreNotNumbersGiveNoContacts) {
  CollisionScene scene;
  for (const auto& shape : make_shapes()) scene.add({.shape = shape, .body = scene.num_objects()});
  std::vector<Pose> poses(5, at(0));
  Detection detection;
  scene.detect(poses, {}, detection);
  EXPECT_EQ(detection.pairs.size(), 10u);
  poses[2].position.setConstant(std::numeric_limits<double>::quiet_NaN());
  scene.detect(poses, {}, detection);
  EXPECT_EQ(detection.pairs.size(), 6u);
}

TEST(CollisionScene, RefusesWhatIsNotThere) {
  CollisionScene scene;
  EXPECT_THROW(scene.add({}), InputError);
  EXPECT_THROW(scene.remove(0), InputError);
  const int ball = scene.add({.shape = make_shape(Sphere{1})});
  EXPECT_THROW(scene.remove(ball + 1), InputError);
  EXPECT_THROW(scene.mark_moved(-1), InputError);
  Detection detection;
  EXPECT_THROW(scene.detect({}, {}, detection), InputError);
  scene.remove(ball);
  EXPECT_THROW(scene.remove(ball), InputError);
  EXPECT_THROW(CollisionScene(0), InputError);
}

TEST(CollisionScene, AnEmptySceneHasNoContacts) {
  CollisionScene scene(2);
  Detection detection;
  scene.detect({}, {.reach = 1}, detection);
  EXPECT_TRUE(detection.pairs.empty());
}

}  // namespace
}  // namespace stiction
