// Errors against a reference, and the orders read from them.
#include "stiction/sim/comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stiction/scheme/scheme.h"
#include "tests/example_scene.h"

namespace stiction::testing {
namespace {

Scene scene_from(const std::string& text) {
  Diagnostics diagnostics("scene");
  auto scene = read_scene(text, {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  return *scene;
}

/// A pendulum: nothing touches, nothing is linear.
Model pendulum() {
  return scene_from(R"json({"stiction": 1, "generalized": {
      "parameters": {"m": 1, "l": 0.5, "g": 9.81},
      "coordinates": {"phi": {"position": 1, "velocity": 0}},
      "mass": [["m*l^2"]], "potential": "-m*g*l*cos(phi)"}})json")
      .model;
}

ComparisonPlan plan_with(std::vector<double> steps, double duration) {
  ComparisonPlan plan;
  plan.schemes = {"moreau"};
  plan.solvers = {"lemke"};
  plan.steps = std::move(steps);
  plan.duration = duration;
  plan.reference_scheme = "moreau";
  plan.reference_solver = "lemke";
  plan.reference_h = plan.steps.back() / 16;
  return plan;
}

std::vector<double> halvings(double h, int count) {
  std::vector<double> steps;
  for (int i = 0; i < count; ++i) steps.push_back(std::ldexp(h, -i));
  return steps;
}

State state_at(double t, double q, double v) {
  return {t, VectorXd::Constant(1, q), VectorXd::Constant(1, v)};
}

/// Hands states to an observer as if a simulation had stepped there.
void tell(StepObserver& observer, std::int64_t step, double h, const State& state,
          const std::vector<StepEvent>& events = {}) {
  const std::vector<ContactOutcome> contacts;
  const std::vector<double> impulses;
  const EnergyLedger energy;
  const Certificate certificate;
  const SolverReport report{};
  observer.on_step({.step = step,
                    .h = h,
                    .state = state,
                    .contacts = contacts,
                    .joint_impulses = impulses,
                    .events = events,
                    .energy = energy,
                    .certificate = certificate,
                    .solver = report});
}

/// q = t³ − t and its derivative: what a cubic between two states reproduces.
State cubic_at(double t) { return state_at(t, t * t * t - t, 3 * t * t - 1); }

TEST(ReferenceTrajectory, ReproducesACubicBetweenItsStates) {
  ReferenceTrajectory reference(1);
  for (int i = 0; i <= 3; ++i) tell(reference, i, 0.7, cubic_at(0.7 * i));
  std::size_t cursor = 0;
  State found;
  for (const double t : {0.0, 0.1, 0.7, 0.9, 2.0, 0.3, 2.1}) {  // 0.3: also backwards
    reference.interpolate(t, cursor, found);
    EXPECT_NEAR(found.q[0], t * t * t - t, 1e-14 * 8) << t;
  }
  reference.interpolate(0.35, cursor, found);
  EXPECT_NEAR(found.v[0], (cubic_at(0).v[0] + cubic_at(0.7).v[0]) / 2, 1e-15);
}

TEST(ReferenceTrajectory, EndsAtItsEnds) {
  ReferenceTrajectory reference(1);
  tell(reference, 0, 0, cubic_at(0));
  std::size_t cursor = 0;
  State found;
  reference.interpolate(0.5, cursor, found);  // one state is a constant
  EXPECT_EQ(found.q[0], 0);
  tell(reference, 1, 1, cubic_at(1));
  reference.interpolate(-1, cursor, found);
  EXPECT_EQ(found.q[0], cubic_at(0).q[0]);
  reference.interpolate(1 + 1e-15, cursor, found);
  EXPECT_EQ(found.v[0], cubic_at(1).v[0]);
}

TEST(ReferenceTrajectory, KeepsOneStepInSoManyAndTheLast) {
  ReferenceTrajectory reference(3);
  for (int i = 0; i <= 10; ++i) tell(reference, i, 0.1, cubic_at(0.1 * i));
  reference.finish(cubic_at(1.0));
  reference.finish(cubic_at(1.0));
  EXPECT_EQ(reference.size(), 5u);  // 0, 3, 6, 9 and 10
  std::size_t cursor = 0;
  State found;
  reference.interpolate(0.95, cursor, found);
  EXPECT_NEAR(found.q[0], cubic_at(0.95).q[0], 1e-15);
  EXPECT_EQ(reference.largest_velocity(), 2);
  EXPECT_EQ(ReferenceTrajectory::stride_for(pendulum(), 100, 300), 1);
  EXPECT_EQ(ReferenceTrajectory::stride_for(pendulum(), 100, 299), 2);
}

/// A ball that leaves the floor with speed 1 at t = 0 under gravity 1 lands at t = 2 with speed 1
/// and leaves with speed e until 2 + 2 e.
State ball_at(double t, double e) {
  return t < 2 ? state_at(t, t - t * t / 2, 1 - t)
               : state_at(t, e * (t - 2) - (t - 2) * (t - 2) / 2, e - (t - 2));
}

TEST(ReferenceTrajectory, GoesOnFromEitherSideUpToACollision) {
  ReferenceTrajectory reference(1);
  const double h = 0.3;  // the collision falls within the seventh step
  for (int i = 0; i <= 8; ++i)
    tell(reference, i, h, ball_at(h * i, 0.5),
         i == 7 ? std::vector{StepEvent{.kind = EventKind::kCollision, .time = 2}}
                : std::vector<StepEvent>{});
  std::size_t cursor = 0;
  State found;
  for (const double t : {1.79, 1.81, 1.95, 1.999, 2.0, 2.05, 2.11}) {  // the step is 1.8 to 2.1
    reference.interpolate(t, cursor, found);
    EXPECT_NEAR(found.q[0], ball_at(t, 0.5).q[0], 1e-15) << t;
    EXPECT_NEAR(found.v[0], ball_at(t, 0.5).v[0], 4e-15) << t;
  }
}

TEST(ReferenceTrajectory, BridgesWhatLiesBetweenTheCollisionsOfAStep) {
  ReferenceTrajectory reference(1);
  tell(reference, 0, 0, state_at(0, 0, 1));
  tell(reference, 1, 1, state_at(1, 5, -1),
       {{.kind = EventKind::kCollision, .time = 0.25},
        {.kind = EventKind::kSlip, .time = 0.9},
        {.kind = EventKind::kCollision, .time = 0.75}});
  std::size_t cursor = 0;
  State found;
  // From 0.25 at t = 0.25 to 5.25 at t = 0.75, and no acceleration known on either side.
  reference.interpolate(0.5, cursor, found);
  EXPECT_DOUBLE_EQ(found.q[0], (0.25 + 5.25) / 2);
  EXPECT_DOUBLE_EQ(found.v[0], 0);
  reference.interpolate(0.1, cursor, found);
  EXPECT_DOUBLE_EQ(found.q[0], 0.1);
  reference.interpolate(0.8, cursor, found);
  EXPECT_DOUBLE_EQ(found.q[0], 5.2);

  tell(reference, 2, 1, state_at(2, 5, 3), {{.kind = EventKind::kFloor, .time = 1.5}});
  reference.interpolate(1.75, cursor, found);  // anything may happen from 1.5 to the end
  EXPECT_DOUBLE_EQ(found.q[0], (5 - 0.5 + 5) / 2);
  EXPECT_DOUBLE_EQ(found.v[0], (-1 + 3) / 2);
}

TEST(ErrorMeter, WeighsStepsByTheirLength) {
  ReferenceTrajectory zero(1);
  tell(zero, 0, 0, state_at(0, 0, 0));
  tell(zero, 1, 4, state_at(4, 0, 0));
  ErrorMeter meter(zero);
  tell(meter, 0, 0, state_at(0, 7, 7));  // a start has no length
  tell(meter, 1, 3, state_at(3, 2, -1));
  tell(meter, 2, 1, state_at(4, -6, 5));
  EXPECT_DOUBLE_EQ(meter.error().q_mean, (3 * 2 + 1 * 6) / 4.0);
  EXPECT_DOUBLE_EQ(meter.error().v_mean, (3 * 1 + 1 * 5) / 4.0);
  EXPECT_DOUBLE_EQ(meter.error().q_end, 6);
}

/// A line with the given errors at h = 1, 1/2, 1/4, …; negative ones stand for failed runs.
ComparisonLine line_with(const std::vector<double>& errors) {
  ComparisonLine line;
  for (const double error : errors) {
    ComparisonRun& run = line.runs.emplace_back();
    run.h = std::ldexp(1.0, 1 - static_cast<int>(line.runs.size()));
    run.error.q_mean = error;
    if (error < 0) run.failure = "rejected";
  }
  update_orders(line, ErrorKind::kQMean, 1e-12);
  return line;
}

TEST(Orders, AreSlopesBetweenNeighboursAndOverAll) {
  const ComparisonLine line = line_with({16, 4, 1});
  EXPECT_FALSE(line.runs[0].order.has_value());
  EXPECT_DOUBLE_EQ(line.runs[1].order.value(), 2);
  EXPECT_DOUBLE_EQ(line.runs[2].order.value(), 2);
  EXPECT_NEAR(line.fitted_order.value(), 2, 1e-14);
}

TEST(Orders, LeaveOutFailuresAndRounding) {
  const ComparisonLine line = line_with({8, -1, 2, 1, 1e-13});
  for (const int without : {0, 1, 2, 4}) EXPECT_FALSE(line.runs[without].order) << without;
  EXPECT_DOUBLE_EQ(line.runs[3].order.value(), 1);
  EXPECT_NEAR(line.fitted_order.value(), 1, 1e-14);  // through 8, 2 and 1 at 1, 1/4 and 1/8
  EXPECT_FALSE(line_with({1}).fitted_order.has_value());
  EXPECT_FALSE(line_with({0, 0}).fitted_order.has_value());
}

TEST(Compare, FreeFallIsExactAndHasNoOrder) {
  // The ball first touches after 0.45 s, and 0.03 s does not divide 0.4 s.
  ComparisonPlan plan = plan_with({0.03, 0.01}, 0.4);
  const Comparison comparison = compare(example_scene("bouncing-ball").model, plan);
  ASSERT_EQ(comparison.lines.size(), 1u);
  EXPECT_EQ(comparison.lines[0].runs[0].steps, 14);
  EXPECT_EQ(comparison.reference_steps, 640);
  for (const ComparisonRun& run : comparison.lines[0].runs) {
    EXPECT_LE(run.error.q_mean, 640 * 2e-16);  // a rounding per step of the reference
    EXPECT_LE(run.error.q_end, 640 * 2e-16);
    EXPECT_FALSE(run.order.has_value());
    EXPECT_GT(run.wall, 0);
    EXPECT_GT(run.steps_per_second(), 0);
  }
  EXPECT_FALSE(comparison.has_failures());
}

TEST(Compare, FindsOrderTwoOnASmoothMotion) {
  // The reference's own error, (1/16)² of the smallest, shifts the last order by 1 % of 2.
  for (const ErrorKind kind : {ErrorKind::kQMean, ErrorKind::kQEnd, ErrorKind::kVMean}) {
    ComparisonPlan plan = plan_with(halvings(1.0 / 64, 6), 2);
    plan.error = kind;
    const Comparison comparison = compare(pendulum(), plan);
    EXPECT_NEAR(comparison.lines[0].fitted_order.value(), 2, 0.05) << to_text(kind);
    for (std::size_t i = 1; i < 6; ++i)
      EXPECT_NEAR(comparison.lines[0].runs[i].order.value(), 2, 0.1) << to_text(kind) << i;
  }
}

TEST(Compare, FindsTheOrderOfEveryScheme) {
  ComparisonPlan plan = plan_with(halvings(1.0 / 128, 6), 2);
  plan.schemes = {"stewart-trinkle", "anitescu-potra", "linearly-implicit-euler",
                  "trapezoidal-1",   "trapezoidal-2",  "moreau"};
  plan.reference_h = plan.steps.back() / 4;  // of order two, against errors of order one
  const Comparison comparison = compare(pendulum(), plan);
  const std::vector<double> orders = {1, 1, 1, 2, 2, 2};
  for (std::size_t i = 0; i < orders.size(); ++i)
    EXPECT_NEAR(comparison.lines[i].fitted_order.value(), orders[i], 0.1) << plan.schemes[i];
}

TEST(Compare, ShowsNoErrorWhereASchemeHasNone) {
  // Free flight is exact and impacts are located, so that all that is left is the measure's own.
  // Steps of the phases end within steps of the reference, those with impacts included.
  ComparisonPlan plan = plan_with({0.016, 0.008}, 1.2);
  plan.schemes = {"trapezoidal-2"};
  plan.reference_scheme = "trapezoidal-2";
  plan.phases = 32;
  const Comparison comparison = compare(example_scene("bouncing-ball").model, plan);
  for (const ComparisonRun& run : comparison.lines[0].runs) {
    EXPECT_LE(run.error.q_mean, 1e-12);
    EXPECT_LE(run.error.v_mean, 1e-11);
    EXPECT_EQ(run.events, 3);
    EXPECT_EQ(run.events_by_kind[static_cast<std::size_t>(EventKind::kCollision)], 3);
  }
}

TEST(Compare, FindsOrderOneOnImpactsAveragedOverPhases) {
  ComparisonPlan plan = plan_with(halvings(0.008, 6), 1.2);
  plan.phases = 8;
  plan.reference_h = 4e-6;  // its own phase is noise that no averaging removes
  const Comparison comparison = compare(example_scene("bouncing-ball").model, plan);
  EXPECT_NEAR(comparison.lines[0].fitted_order.value(), 1, 0.1);
}

TEST(Compare, MeasuresTheErrorThatAClosedFormGives) {
  // A harmonic oscillator with frequency 1, q = cos t: the midpoint rule advances its phase by
  // 2 asin(h/2) = h + h³/24 + … per step, so that q is wrong by t h²/24 |sin t| (1 + O(h²)).
  const Model oscillator = scene_from(R"json({"stiction": 1, "generalized": {
      "coordinates": {"x": {"position": 1}}, "mass": [[1]], "potential": "x^2/2"}})json")
                               .model;
  ComparisonPlan plan = plan_with({0.01}, 1);
  const Comparison comparison = compare(oscillator, plan);
  const double reference_error = 1.0 / 256;  // share of the error that the reference shares
  const ComparisonRun& run = comparison.lines[0].runs[0];
  const double expected = 1e-4 / 24 * (1 - reference_error);
  EXPECT_NEAR(run.error.q_end, expected * std::sin(1.0), 0.01 * expected);
  // ∫ t sin t dt from 0 to 1, by the rectangle rule at the ends of the steps: h/2 sin 1 more.
  const double mean = std::sin(1.0) - std::cos(1.0) + 0.005 * std::sin(1.0);
  EXPECT_NEAR(run.error.q_mean, expected * mean, 0.01 * expected);
}

TEST(Compare, GivesTheSameNumbersAgainButForTimes) {
  ComparisonPlan plan = plan_with({0.004, 0.002}, 1);
  plan.solvers = {"lemke", "auto"};
  plan.phases = 2;
  const Model model = example_scene("bouncing-ball").model;
  const Comparison a = compare(model, plan), b = compare(model, plan);
  ASSERT_EQ(a.lines.size(), 2u);
  for (std::size_t i = 0; i < a.lines.size(); ++i)
    for (std::size_t k = 0; k < a.lines[i].runs.size(); ++k) {
      EXPECT_EQ(a.lines[i].runs[k].error.q_mean, b.lines[i].runs[k].error.q_mean);
      EXPECT_EQ(a.lines[i].runs[k].error.v_mean, b.lines[i].runs[k].error.v_mean);
      EXPECT_EQ(a.lines[i].runs[k].order, b.lines[i].runs[k].order);
      EXPECT_EQ(a.lines[i].runs[k].residual_max, b.lines[i].runs[k].residual_max);
    }
}

TEST(Compare, AnnouncesEveryRun) {
  std::vector<std::string> told;
  const auto progress = [&](int done, int all, const std::string& next) {
    EXPECT_EQ(done, static_cast<int>(told.size()));
    EXPECT_EQ(all, 3);
    told.push_back(next);
  };
  (void)compare(pendulum(), plan_with({0.1, 0.05}, 1), progress);
  EXPECT_EQ(told, (std::vector<std::string>{"moreau with lemke, h = 0.003125 s",
                                            "moreau with lemke, h = 0.1 s",
                                            "moreau with lemke, h = 0.05 s"}));
}

/// A block that slides on a plane with a round friction section, which lemke does not take.
Model spatial_block() {
  return scene_from(R"json({"stiction": 1, "generalized": {
      "coordinates": {"x": {"velocity": 1}, "y": {"velocity": 0.5}, "z": {}},
      "mass": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "potential": "9.81*z",
      "contacts": [{"gap": "z", "tangent": [[1, 0, 0], [0, 1, 0]], "mu": 0.3}]}})json")
      .model;
}

TEST(Compare, ARejectedRunHasAReasonAndNoTime) {
  ComparisonPlan plan = plan_with({0.01, 0.005}, 0.1);
  plan.solvers = {"nsgs", "pgs-separate"};  // whose friction is that of a box
  plan.reference_solver = "nsgs";
  plan.base.friction = {FrictionSection::Kind::kDisc, 0};
  const Comparison comparison = compare(spatial_block(), plan);
  EXPECT_TRUE(comparison.has_failures());
  ASSERT_EQ(comparison.lines.size(), 2u);
  for (const ComparisonRun& run : comparison.lines[0].runs) EXPECT_TRUE(run.is_good());
  for (const ComparisonRun& run : comparison.lines[1].runs) {
    EXPECT_NE(run.failure.find("step from t = 0"), std::string::npos) << run.failure;
    EXPECT_EQ(run.wall, 0);
    EXPECT_EQ(run.steps, 0);
    EXPECT_FALSE(run.order.has_value());
  }
  EXPECT_FALSE(comparison.lines[1].fitted_order.has_value());
}

TEST(Compare, WithoutAReferenceThereIsNothingToCompare) {
  ComparisonPlan plan = plan_with({0.01}, 1);
  plan.base.tolerance = 1e-300;  // rounding alone is above
  Comparison comparison = compare(example_scene("cosine-block").model, plan);
  EXPECT_NE(comparison.reference_failure.find("misses the tolerance"), std::string::npos)
      << comparison.reference_failure;
  EXPECT_TRUE(comparison.lines.empty());
  EXPECT_TRUE(comparison.has_failures());
  plan.base.on_failure = OnFailure::kAcceptAndFlag;  // taken, but no better
  comparison = compare(example_scene("cosine-block").model, plan);
  EXPECT_NE(comparison.reference_failure.find("above the tolerance"), std::string::npos)
      << comparison.reference_failure;
}

TEST(Compare, RefusesPlansThatCannotBeRun) {
  const Model model = pendulum();
  const auto message = [&](auto change) -> std::string {
    ComparisonPlan plan = plan_with({0.1, 0.05}, 1);
    change(plan);
    try {
      (void)compare(model, plan);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  const double nan = std::nan("");
  using Plan = ComparisonPlan;
  EXPECT_EQ(message([](Plan& p) { p.steps.clear(); }),
            "nothing to compare: schemes, solvers and steps must not be empty");
  EXPECT_EQ(message([](Plan& p) { p.duration = 0; }), "duration is 0, must be finite and > 0");
  EXPECT_EQ(message([](Plan& p) { p.steps = {0.1, -1}; }), "h is -1, must be finite and > 0");
  EXPECT_EQ(message([&](Plan& p) { p.steps = {nan}; }), "h is nan, must be finite and > 0");
  EXPECT_EQ(message([](Plan& p) {
              p.steps = {2, 1};
            }),
            "h is 2 s, must not be longer than the duration, 1 s");
  EXPECT_EQ(message([](Plan& p) { p.reference_h = 0.05; }),
            "h of the reference is 0.05 s, must be > 0 and shorter than all compared steps, here "
            "0.05 s");
  EXPECT_EQ(message([](Plan& p) { p.phases = 0; }), "phases is 0, must be 1 to 32");
  EXPECT_NE(message([](Plan& p) { p.schemes = {"moru"}; }).find("moru with lemke: "),
            std::string::npos);
  EXPECT_NE(message([](Plan& p) { p.solvers = {"lempke"}; }).find("moreau with lempke: "),
            std::string::npos);
  EXPECT_NE(message([](Plan& p) { p.reference_h = 1e-300; }).find("takes more than"),
            std::string::npos);
}

}  // namespace
}  // namespace stiction::testing
