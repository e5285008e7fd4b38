// Heaps of jacks, whose bars meet at corners and along edges: several directions part two bars at
// once. Where they press, the bars are.
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "stiction/base/random.h"
#include "stiction/record/recording_reader.h"
#include "tests/audit/audited_run.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using testing::AuditedRun;
using testing::broken_laws;
using testing::options_of;
using Json = nlohmann::ordered_json;

constexpr double kLength = 0.1, kWidth = 0.02;  // [m] of bars

Json make_jack(int k, Random& random) {
  const auto shift = [&] { return random.uniform(-0.01, 0.01); };
  Json jack{{"name", "jack " + std::to_string(k)}, {"density", 2700}};
  const double x = 0.125 * (k % 2 - 0.5) + shift(), y = 0.125 * (k / 2 % 2 - 0.5) + shift();
  jack["position"] = {x, y, 0.1 + 0.11 * (k / 4)};
  for (int i = 0; i < 4; ++i) jack["orientation"].push_back(random.normal());
  for (int axis = 0; axis < 3; ++axis) {
    Json bar{{"type", "box"}, {"size", {kWidth, kWidth, kWidth}}, {"material", "tin"}};
    bar["size"][axis] = kLength;
    jack["shapes"].push_back(bar);
  }
  return jack;
}

/// Twelve that fall on each other.
Scene heap_of_jacks(unsigned seed) {
  Random random(seed);
  Json document{{"stiction", 1}, {"gravity", {0, 0, -9.81}}};
  document["materials"]["tin"]["mu"] = 0.5;
  document["bodies"] = {{{"name", "table"},
                         {"static", true},
                         {"shapes", {{{"type", "plane"}, {"material", "tin"}}}}}};
  for (int k = 0; k < 12; ++k) document["bodies"].push_back(make_jack(k, random));
  document["simulate"] = {
      {"scheme", "stewart-trinkle"}, {"h", 1e-3}, {"friction", "disc"}, {"tol", 1e-8}};
  return testing::scene_from_text(document.dump());
}

AuditedRun run_of_heap(unsigned seed, int steps) {
  const Scene scene = heap_of_jacks(seed);
  SimulationOptions options = options_of(scene);
  options.on_failure = OnFailure::kAcceptAndFlag;
  return AuditedRun(scene, options, steps);
}

/// [m] How far a place is outside of the bars of a jack.
double distance_from_bars(const Vector3d& in_jack) {
  double nearest = 1;
  for (int axis = 0; axis < 3; ++axis) {
    Vector3d half = Vector3d::Constant(kWidth / 2);
    half[axis] = kLength / 2;
    nearest = std::min(nearest, (in_jack.cwiseAbs() - half).cwiseMax(0).norm());
  }
  return nearest;
}

/// [m] Of all contacts that press by more than rounding, the one that is furthest off either jack.
double furthest_off(const Recording& run) {
  double furthest = 0;
  for (Eigen::Index row = 1; row < run.num_rows(); ++row)
    for (auto k = run.contacts.row_start[row]; k < run.contacts.row_start[row + 1]; ++k) {
      if (!(run.contacts.impulse(k, 0) > 1e-9)) continue;
      for (const int body : {run.contacts.a[k], run.contacts.b[k]}) {
        if (body <= 0) continue;  // the table
        const VectorXd q = run.q.row(row).segment(7 * (body - 1), 7);
        const Eigen::Quaterniond turn(q[3], q[4], q[5], q[6]);
        const Vector3d place = run.contacts.position.row(k).transpose() - q.head<3>();
        furthest = std::max(furthest, distance_from_bars(turn.conjugate() * place));
      }
    }
  return furthest;
}

TEST(HeapOfJacks, BreaksNoLaw) {
  const AuditReport report = run_of_heap(1, 300).audit();
  EXPECT_EQ(broken_laws(report), "");
  EXPECT_GE(report.steps, 300);
}

// Features go on beyond their ends while a step lasts, in which jacks move by some millimetres.
TEST(SlowHeapOfJacks, PressesWhereItsBarsAre) {
  for (unsigned seed = 1; seed <= 3; ++seed)
    EXPECT_LT(furthest_off(read_recording(run_of_heap(seed, 1000).path())), 5e-3) << seed;
}

}  // namespace
}  // namespace stiction
