// No false alarms: recordings of this program break no law, whatever the scene and the scheme.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "stiction/base/error.h"
#include "stiction/scheme/scheme.h"
#include "tests/audit/audited_run.h"
#include "tests/example_scene.h"

namespace stiction {
namespace {

using testing::AuditedRun;
using testing::broken_laws;
using testing::example_names;
using testing::example_scene;
using testing::options_of;

/// Whether there was a run.
bool check_clean(const std::string& name, const std::string& scheme, int steps,
                 const std::function<void(SimulationOptions&)>& change = {}) {
  SCOPED_TRACE(name + ", " + scheme);
  const Scene scene = example_scene(name);
  SimulationOptions options = options_of(scene);
  options.scheme = scheme;
  if (change) change(options);
  std::optional<AuditedRun> run;
  try {
    run.emplace(scene, options, steps);
  } catch (const InputError&) {
    return false;  // the scheme does not take this scene
  }
  const AuditReport report = run->audit();
  EXPECT_EQ(broken_laws(report), "");
  EXPECT_GT(report.steps, 1);
  return true;
}

TEST(CleanRuns, BreakNoLawUnderAnyScheme) {
  for (const char* name : {"woodpecker", "four-balls-bodies", "robot-arm", "spinning-top"})
    for (const std::string& scheme : scheme_names()) check_clean(name, scheme, 15);
}

TEST(CleanRuns, BreakNoLawWhereEventsAreMany) {
  EXPECT_TRUE(check_clean("double-pendulum-wall", "trapezoidal-2", 60));
  EXPECT_TRUE(check_clean("two-bars", "linearly-implicit-euler", 60));
  EXPECT_TRUE(check_clean("newtons-cradle", "trapezoidal-2", 60));
  EXPECT_TRUE(check_clean("closing-walls", "trapezoidal-1", 40));
}

/// Boxes that fall asleep before a ball arrives, and an arm that hangs at rest.
constexpr const char* kSleepers = R"({
  "stiction": 1, "name": "sleepers",
  "simulate": {"h": 0.01, "tol": 1e-8, "friction": "disc", "sleep": true},
  "gravity": [0, 0, -9.81],
  "materials": {"stone": {"mu": 0.6}},
  "bodies": [
    {"name": "floor", "static": true, "shapes": [{"type": "plane", "material": "stone"}]},
    {"name": "lower", "position": [0, 0, 0.1], "density": 1000,
     "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "material": "stone"}]},
    {"name": "upper", "position": [0.02, 0, 0.3], "density": 1000,
     "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "material": "stone"}]},
    {"name": "ball", "position": [-1.5, 0, 0.4], "velocity": [2, 0, 3], "density": 1000,
     "shapes": [{"type": "sphere", "radius": 0.1, "material": "stone"}]},
    {"name": "arm", "position": [3, 0, 1.5], "mass": 1, "inertia": [0.1, 0.1, 0.1]}],
  "joints": [{"type": "ball", "bodies": ["world", "arm"], "at": [3, 0, 2]}]
})";

TEST(CleanRuns, BreakNoLawWhereThingsSleepAndWake) {
  for (const char* scheme : {"moreau", "spook", "stewart-trinkle"}) {
    SCOPED_TRACE(scheme);
    const Scene scene = testing::scene_from_text(kSleepers);
    SimulationOptions options = options_of(scene);
    options.scheme = scheme;
    int most_asleep = 0;
    std::int64_t wakes = 0;
    const AuditedRun run(scene, options, 110, [&](Simulation& simulation) {
      most_asleep = std::max(most_asleep, simulation.num_asleep());
      wakes = simulation.summary().wakes;
    });
    EXPECT_EQ(broken_laws(run.audit()), "");
    EXPECT_EQ(most_asleep, 3);
    EXPECT_GE(wakes, 1);
  }
}

/// A heavy load on masses between lines and on a beam of bushings: stiffness in rows.
constexpr const char* kTaut = R"({
  "stiction": 1, "name": "taut",
  "simulate": {"scheme": "spook", "h": "1/60"},
  "gravity": [0, 0, -9.81],
  "bodies": [
    {"name": "first", "position": [0.2, 0, 0], "mass": 1, "inertia": [0.01, 0.01, 0.01]},
    {"name": "second", "position": [0.4, 0, 0], "mass": 1, "inertia": [0.01, 0.01, 0.01]},
    {"name": "load", "position": [0.6, 0, 0], "mass": 1000, "inertia": [30, 30, 30]},
    {"name": "link", "position": [0.1, 3, 0], "mass": 1, "inertia": [2e-4, 3e-3, 3e-3]},
    {"name": "tip", "position": [0.2, 3.3, 0], "mass": 1000, "inertia": [30, 30, 30]}],
  "joints": [
    {"type": "distance", "bodies": ["world", "first"], "at": [[0, 0, 0], [0.2, 0, 0]]},
    {"type": "distance", "bodies": ["first", "second"], "at": [[0.2, 0, 0], [0.4, 0, 0]]},
    {"type": "distance", "bodies": ["second", "load"], "at": [[0.4, 0, 0], [0.6, 0, 0]]},
    {"type": "fixed", "bodies": ["link", "tip"], "at": [0.2, 3, 0], "compliance": 1e-7}],
  "springs": [
    {"name": "root", "bushing": {"bodies": ["world", "link"], "at": [0, 3, 0]},
     "stiffness": [1e8, 1e8, 1e8, 1e6, 1e6, 1e6], "damping": [0, 0, 0, 1, 0, 0]}]
})";

TEST(CleanRuns, BreakNoLawWhereRowsHoldAgainstTurning) {
  const Scene scene = testing::scene_from_text(kTaut);
  const AuditedRun run(scene, options_of(scene), 40);
  EXPECT_EQ(broken_laws(run.audit()), "");
}

TEST(CleanRuns, BreakNoLawWithOtherOptions) {
  EXPECT_TRUE(check_clean("heavy-chain", "spook", 4, [](SimulationOptions& options) {
    options.stepping.spook.position_iteration = true;
  }));
  EXPECT_TRUE(check_clean("four-balls-bodies", "stewart-trinkle", 20, [](SimulationOptions& o) {
    o.stepping.nonlinear = false;
    o.friction = FrictionSection::disc();
    o.solver = "auto";
  }));
  EXPECT_TRUE(check_clean("double-pendulum-wall", "trapezoidal-1", 20,
                          [](SimulationOptions& o) { o.stepping.error_control.tolerance = 1e-5; }));
  EXPECT_TRUE(check_clean("incline", "moreau", 20, [](SimulationOptions& o) {
    o.friction = FrictionSection::box();
    o.stepping.gyroscopic = GyroscopicTerm::kImplicit;
  }));
}

/// A contact that parts has no impulse, and the apex of its cone is nearest.
TEST(CleanRuns, BreakNoLawWhereABallBouncesOnAPolygonOfFriction) {
  const Scene scene = testing::scene_from_text(R"({"stiction": 1, "name": "ball",
    "simulate": {"scheme": "moreau", "h": 1e-3, "friction": "polygon:8"}, "gravity": [0, 0, -9.81],
    "materials": {"rubber": {"mu": 0.5, "restitution": 0.5}},
    "bodies": [
      {"name": "ball", "mass": 1, "position": [0, 0, 0.11], "velocity": [1, 0, -1],
       "shapes": [{"type": "sphere", "radius": 0.1, "material": "rubber"}]},
      {"name": "ground", "static": true, "shapes": [{"type": "plane", "material": "rubber"}]}]})");
  const AuditReport report = testing::AuditedRun(scene, testing::options_of(scene), 40).audit();
  EXPECT_EQ(testing::broken_laws(report), "");
}

/// The corner of the box is longer than the friction coefficient.
TEST(CleanRuns, BreakNoLawWhereABoxOfFrictionSlipsDiagonally) {
  const Scene scene = testing::scene_from_text(R"({"stiction": 1, "name": "diagonal",
      "simulate": {"scheme": "moreau", "h": 1e-3, "friction": "box"}, "gravity": [0, 0, -9.81],
      "materials": {"wood": {"mu": 0.5}},
      "bodies": [
        {"name": "ground", "static": true,
         "shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "wood"}]},
        {"name": "ball", "mass": 1, "inertia": [1, 1, 1], "position": [0, 0, 0.1],
         "velocity": [2, 1.9, 0],
         "shapes": [{"type": "sphere", "radius": 0.1, "material": "wood"}]}]})");
  const AuditedRun run(scene, options_of(scene), 20);
  EXPECT_EQ(broken_laws(run.audit()), "");
}

/// Scenes whose steps take long, and how many steps are enough to see all that happens in them.
int num_steps_of(const std::string& name) {
  if (name == "wheel-loader" || name == "brick-wall-long") return 4;
  return 12;
}

class SlowCleanRuns : public ::testing::TestWithParam<std::string> {
 public:
  static int runs;  // that were made
};
int SlowCleanRuns::runs = 0;

TEST_P(SlowCleanRuns, OfAnExampleWithAllSchemesBreakNoLaw) {
  for (const std::string& scheme : scheme_names())
    runs += check_clean(GetParam(), scheme, num_steps_of(GetParam())) ? 1 : 0;
  RecordProperty("runs", runs);
  std::printf("%d runs so far\n", runs);
}

INSTANTIATE_TEST_SUITE_P(Examples, SlowCleanRuns, ::testing::ValuesIn(example_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace stiction
