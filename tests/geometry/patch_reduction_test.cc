#include "stiction/geometry/patch_reduction.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// Points (x, y) with a gap, in a frame turned at will.
ContactList list_of(const std::vector<Vector3d>& places, const Eigen::Matrix3d& turn) {
  ContactList list;
  for (std::size_t k = 0; k < places.size(); ++k) {
    list.candidates.push_back({.id = k,
                               .gap = places[k].z(),
                               .normal = turn.col(2),
                               .point = turn * Vector3d(places[k].x(), places[k].y(), 0)});
  }
  return list;
}

std::set<std::uint64_t> kept_of(const ContactList& list) {
  std::set<std::uint64_t> kept;
  for (const ContactCandidate& candidate : list.candidates) kept.insert(candidate.id);
  return kept;
}

std::set<std::uint64_t> reduce(const std::vector<Vector3d>& places) {
  Random random(7);
  ContactList list = list_of(places, random_rotation(random));
  ContactWorkspace workspace;
  const int num_removed = reduce_flat_patch(list, 0, 1e-12, workspace);
  EXPECT_EQ(num_removed, list.num_reduced);
  EXPECT_EQ(places.size(), list.candidates.size() + num_removed);
  return kept_of(list);
}

std::vector<Vector3d> grid(int n) {
  std::vector<Vector3d> places;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) places.emplace_back(i, j, 0.1 + 0.01 * i - 0.02 * j);
  }
  return places;
}

TEST(ReduceFlatPatch, LeavesTheCornersOfAGridWhoseGapsLieInAPlane) {
  EXPECT_EQ(reduce(grid(10)), (std::set<std::uint64_t>{0, 9, 90, 99}));
}

TEST(ReduceFlatPatch, LeavesTheEndsOfALine) {
  std::vector<Vector3d> places;
  for (const int k : {3, 0, 2, 5, 1, 4}) places.emplace_back(k, 2 * k, 0.5 * k);
  EXPECT_EQ(reduce(places), (std::set<std::uint64_t>{1, 3}));
}

TEST(ReduceFlatPatch, LeavesOneOfManyAtOnePlace) {
  EXPECT_EQ(reduce({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}).size(), 1u);
}

// A lower point in the middle carries what the corners do not.
TEST(ReduceFlatPatch, TouchesNothingIfTheGapIsNotAffine) {
  std::vector<Vector3d> places = grid(3);
  places[4].z() -= 1e-6;
  EXPECT_EQ(reduce(places).size(), places.size());
  EXPECT_EQ(reduce({{1, 2, 3}, {1, 2, 4}}).size(), 2u);
  EXPECT_EQ(reduce({{0, 0, 0}, {1, 0, 1}, {2, 0, 3}}).size(), 3u);
}

TEST(ReduceFlatPatch, TouchesNothingIfNormalsDiffer) {
  ContactList list = list_of(grid(3), Eigen::Matrix3d::Identity());
  list.candidates[4].normal = Vector3d(1e-9, 0, 1);
  ContactWorkspace workspace;
  EXPECT_EQ(reduce_flat_patch(list, 0, 1e-12, workspace), 0);
}

TEST(ReduceFlatPatch, LeavesEarlierCandidatesAndTheOrderAlone) {
  ContactList list = list_of(grid(4), Eigen::Matrix3d::Identity());
  ContactWorkspace workspace;
  EXPECT_EQ(reduce_flat_patch(list, 7, 1e-12, workspace), 5);
  std::vector<std::uint64_t> ids;
  for (const ContactCandidate& candidate : list.candidates) ids.push_back(candidate.id);
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 15}));
}

/// Whether a line through the place has all others strictly on one side: brute force over pairs.
bool is_extreme(const std::vector<Vector3d>& places, std::size_t k) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const double sign : {-1.0, 1.0}) {
      if (i == k) continue;
      const Vector3d along = places[i] - places[k];
      bool all = true;
      for (std::size_t j = 0; j < places.size() && all; ++j) {
        const Vector3d way = places[j] - places[k];
        if (j != k && j != i) all = sign * (along.x() * way.y() - along.y() * way.x()) > 0;
      }
      if (all) return true;
    }
  }
  return false;
}

TEST(ReduceFlatPatch, KeepsThePointsThatNoOthersEnclose) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::vector<Vector3d> places;
    const int count = random.integer(3, 25);
    for (int k = 0; k < count; ++k) {
      const double x = random.normal(), y = random.normal();
      places.emplace_back(x, y, 0.3 * x - 0.2 * y + 1);
    }
    std::set<std::uint64_t> expected;
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (is_extreme(places, k)) expected.insert(k);
    }
    EXPECT_EQ(reduce(places), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace stiction
