#include "stiction/sim/simulation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include "stiction/base/flushed_denormals.h"
#include "stiction/model/rigid_body_builder.h"
#include "stiction/model/system_builder.h"
#include "tests/example_scene.h"

namespace stiction {
namespace {

using testing::example_scene;

Model woodpecker() { return example_scene("woodpecker").model; }

class CountingObserver final : public StepObserver {
 public:
  void on_step(const StepRecord& record) override {
    steps.push_back(record.step);
    times.push_back(record.state.t);
  }
  std::vector<std::int64_t> steps;
  std::vector<double> times;
};

TEST(Simulation, TimesAreMultiplesOfTheStepWithoutAccumulatedRounding) {
  Simulation simulation(woodpecker(), {.h = 1e-4});
  simulation.run(1);
  EXPECT_EQ(simulation.state().t, 10000 * 1e-4);
  EXPECT_EQ(simulation.summary().steps, 10000);
}

TEST(Simulation, LastStepIsShorterWhereTheDurationIsNoMultiple) {
  Simulation simulation(woodpecker(), {.h = 1e-3});
  EXPECT_TRUE(simulation.run(0.0105));
  EXPECT_EQ(simulation.summary().steps, 11);
  EXPECT_NEAR(simulation.state().t, 0.0105, 1e-15);
}

TEST(Simulation, StepsOfAMicrosecondLateInTimeNeedNoExtraSteps) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 1});
  system.set_mass(x, x, 1.0);
  Simulation simulation(system.build_model(), {.h = 1e-6});
  simulation.step(1000);
  simulation.run(1e-3);
  EXPECT_EQ(simulation.summary().steps, 1001);
}

TEST(Simulation, ObserversSeeTheStartAndEveryStep) {
  Simulation simulation(woodpecker(), {.h = 1e-3});
  CountingObserver observer;
  simulation.add_observer(observer);
  simulation.run(3e-3);
  EXPECT_EQ(observer.steps, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(observer.times.front(), 0);
}

TEST(Simulation, StopsWhenAsked) {
  Simulation simulation(woodpecker(), {.h = 1e-3});
  int asked = 0;
  EXPECT_FALSE(simulation.run(1, [&] { return ++asked > 5; }));
  EXPECT_EQ(simulation.summary().steps, 5);
}

template <class Function>
std::string input_error(const Function& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Simulation, RefusesBadOptionsWithNameValueAndRange) {
  const Model model = woodpecker();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(input_error([&] { Simulation(model, {.h = -1}); }), "h is -1, must be finite and > 0");
  EXPECT_EQ(input_error([&] { Simulation(model, {.h = nan}); }),
            "h is nan, must be finite and > 0");
  EXPECT_EQ(input_error([&] { Simulation(model, {.tolerance = 0}); }),
            "tolerance is 0, must be > 0");
  EXPECT_EQ(
      input_error([&] { Simulation(model, {.scheme = "euler"}); }),
      "unknown scheme 'euler'; known: stewart-trinkle, anitescu-potra, linearly-implicit-euler, "
      "trapezoidal-1, trapezoidal-2, moreau, spook");
  EXPECT_EQ(input_error([&] { Simulation(Model(), {}); }), "model is empty");
  Simulation simulation(model, {});
  EXPECT_EQ(input_error([&] { simulation.step(-1); }), "h is -1, must be finite and >= 0");
  EXPECT_EQ(input_error([&] { simulation.run(nan); }), "duration is nan, must be finite and >= 0");
  EXPECT_EQ(input_error([&] { simulation.run(1e300); }),
            "duration 1e+300 with h = 0.001 takes more than 1e+15 steps");
}

TEST(Simulation, RefusesToStartInPenetration) {
  const std::string message =
      input_error([] { Simulation(woodpecker(), {.penetration_tolerance = 1e-7}); });
  EXPECT_EQ(
      message,
      "contact 'sleeve, lower edge' penetrates by 8.8e-07 m at the start, 1e-07 m is allowed\n"
      "project_start moves the start to the nearest one that fits");
}

TEST(Simulation, RejectsAStepThatMissesTheToleranceAndKeepsTheState) {
  Simulation simulation(woodpecker(), {.h = 1e-4, .tolerance = 1e-300});
  const State before = simulation.state();
  try {
    simulation.run(1);
    FAIL() << "no rejection";
  } catch (const StepRejected& rejected) {
    EXPECT_GT(rejected.certificate.residual(), 1e-300);
    EXPECT_NE(std::string(rejected.what()).find("misses the tolerance 1e-300"), std::string::npos)
        << rejected.what();
    EXPECT_EQ(rejected.time, simulation.state().t);
  }
  EXPECT_EQ(simulation.state().q, before.q);
  EXPECT_EQ(simulation.summary().steps, 0);
  EXPECT_TRUE(simulation.rejected_problem().is_identical(simulation.last_problem()))
      << "the only one of the step";
}

TEST(Simulation, AcceptsAndCountsStepsAboveToleranceWhenTold) {
  Simulation simulation(woodpecker(),
                        {.h = 1e-3, .tolerance = 1e-300, .on_failure = OnFailure::kAcceptAndFlag});
  simulation.run(0.1);
  EXPECT_EQ(simulation.summary().steps, 100);
  EXPECT_GT(simulation.summary().steps_above_tolerance, 0);
}

/// A force that is not a number beyond x = 1, where the motion leads, however small the steps.
Model blow_up() {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 1});
  system.set_mass(x, x, 1.0);
  system.add_force(x, 1e-3 * log(1.0 - x));
  return system.build_model();
}

TEST(Simulation, NeverContinuesFromAStateThatIsNotFinite) {
  for (const OnFailure policy :
       {OnFailure::kReject, OnFailure::kAcceptAndFlag, OnFailure::kRetrySmaller}) {
    Simulation simulation(blow_up(), {.h = 0.4, .on_failure = policy});
    simulation.step(0.4);
    EXPECT_THROW(simulation.run(1e3), StepRejected);
    EXPECT_TRUE(simulation.state().q.allFinite());
    EXPECT_TRUE(simulation.state().v.allFinite());
  }
}

TEST(Simulation, TellsOfTheLastStepTakenAfterARejection) {
  Simulation simulation(blow_up(), {.h = 0.4});
  EXPECT_THROW(simulation.run(1e3), StepRejected);
  EXPECT_TRUE(simulation.certificate().meets(1e-9));
  EXPECT_EQ(simulation.solver_report().status, SolverStatus::kConverged);
  CountingObserver observer;
  simulation.add_observer(observer);
  EXPECT_EQ(observer.steps, (std::vector<std::int64_t>{simulation.summary().steps}));
}

TEST(Simulation, RetriesWithSmallerStepsAndStaysOnTheGrid) {
  // The midpoint of a full step lies beyond the wall of log, that of a smaller one does not; the
  // force turns the motion before the wall is reached.
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0.9, 1});
  system.set_mass(x, x, 1.0);
  system.add_force(x, -20.0 + 0.001 * log(1.0 - x));
  Simulation simulation(system.build_model(), {.h = 0.25, .on_failure = OnFailure::kRetrySmaller});
  simulation.run(0.25);
  EXPECT_GT(simulation.summary().retries, 0);
  EXPECT_GT(simulation.summary().steps, 1);
  EXPECT_NEAR(simulation.state().t, 0.25, 1e-12);
}

class CheckpointFile : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_ = (std::filesystem::temp_directory_path() /
                       ("stiction_checkpoint_" + std::to_string(getpid()) + ".h5"))
                          .string();
};

TEST_F(CheckpointFile, ContinuesWithTheSameBits) {
  // The force depends on the time, so that the clock counts too.
  for (const char* name : {"woodpecker", "cosine-block"}) {
    SCOPED_TRACE(name);
    const Model model = example_scene(name).model;
    Simulation whole(model, {.h = 1.7e-4});
    whole.run(0.51);
    whole.run(0.51);
    Simulation first(model, {.h = 1.7e-4});
    first.run(0.51);
    first.save(path_);
    Simulation second(model, {.h = 1.7e-4});
    second.restore(path_);
    EXPECT_EQ(second.state().t, first.state().t);
    second.run(0.51);
    EXPECT_EQ(whole.state().t, second.state().t);
    EXPECT_EQ(whole.state().q, second.state().q);
    EXPECT_EQ(whole.state().v, second.state().v);
    EXPECT_EQ(whole.energy().friction, second.energy().friction);
    EXPECT_EQ(whole.energy().numerical, second.energy().numerical);
    EXPECT_EQ(whole.summary().steps, second.summary().steps);
    EXPECT_EQ(whole.summary().residual_max, second.summary().residual_max);
    EXPECT_EQ(whole.summary().gap_min, second.summary().gap_min);
  }
}

TEST_F(CheckpointFile, TellsTheGapsOfContactsThatTheStartDidNotHave) {
  const Scene jacks = example_scene("jacks");
  const SimulationOptions options{
      .h = jacks.simulate.h, .tolerance = 1e-8, .friction = jacks.simulate.friction};
  Simulation first(jacks.model, options), second(jacks.model, options);
  while (first.contacts().empty()) first.step();
  ASSERT_LT(first.certificate().gap, 0);  // moreau meets the table a step late
  first.save(path_);
  second.restore(path_);
  EXPECT_NEAR(second.certificate().gap, first.certificate().gap, 1e-4);
}

TEST_F(CheckpointFile, IsRefusedByAnotherModel) {
  Simulation woodpecker_run(woodpecker(), {});
  woodpecker_run.save(path_);
  Simulation other(example_scene("incline").model, {});
  EXPECT_EQ(
      input_error([&] { other.restore(path_); }),
      path_ +
          ": checkpoint was made with the coordinates 'y,phi_M,phi_S', this simulation has 's,n'");
  Simulation other_solver(woodpecker(), {.solver = "lemke"});
  EXPECT_EQ(input_error([&] { other_solver.restore(path_); }),
            path_ + ": checkpoint was made with the solver 'auto', this simulation has 'lemke'");
  EXPECT_THROW(other.restore("/nowhere/state.h5"), IoError);
  // The same coordinates, but rougher.
  const auto block = [](double mu) {
    SystemBuilder system;
    const Expression s = system.add_coordinate("s"), n = system.add_coordinate("n");
    system.set_mass(s, s, 1.0);
    system.set_mass(n, n, 1.0);
    system.add_contact({.name = "plane", .gap = n, .tangents = {{1.0, 0.0}}, .mu = mu});
    return system.build_model();
  };
  Simulation(block(0.5), {}).save(path_);
  Simulation(block(0.5), {}).restore(path_);
  EXPECT_EQ(input_error([&] { Simulation(block(0.6), {}).restore(path_); }),
            path_ + ": checkpoint was made with another model of the same coordinates");
}

TEST(Simulation, SameInputGivesTheSameBits) {
  Simulation a(woodpecker(), {.h = 1e-4}), b(woodpecker(), {.h = 1e-4});
  a.run(0.5);
  b.run(0.5);
  EXPECT_EQ(a.state().q, b.state().q);
  EXPECT_EQ(a.state().v, b.state().v);
}

/// Links of 1 kg and 0.2 m along x, hung up at one end.
Model make_chain(int num_links) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -9.81});
  for (int i = 0; i < num_links; ++i) {
    BodyDescription link;
    link.name = "link " + std::to_string(i);
    link.mass = 1;
    link.position = {0.2 * i + 0.1, 0, 0};
    link.inertia = Eigen::Vector3d(2e-4, 4e-3, 4e-3).asDiagonal();
    world.add_body(link);
    JointDescription joint;
    joint.name = "joint " + std::to_string(i);
    joint.bodies = {i == 0 ? kWorld : i - 1, i};
    world.add_joint(joint, {.at = {0.2 * i, 0, 0}});
  }
  return world.build_model();
}

/// What turns the first link turns the others less and less, by a tenth every few links.
TEST(Simulation, MotionThatFadesAlongAChainEndsInZerosAndNotInDenormals) {
  const DenormalMode mode = DenormalMode::of_this_thread();
  if (DenormalMode::flushed() == mode) GTEST_SKIP();  // does not know this processor
  Simulation simulation(make_chain(3000), {.scheme = "spook", .h = 1.0 / 60});
  for (int i = 0; i < 3; ++i) simulation.step();
  double smallest = 1;
  for (const double v : simulation.state().v)
    if (v != 0) smallest = std::min(smallest, std::abs(v));
  EXPECT_LT(smallest, 1e-290);  // it did fade that far
  EXPECT_GE(smallest, std::numeric_limits<double>::min());
  EXPECT_EQ(DenormalMode::of_this_thread(), mode);
}

TEST(EnergyLedger, BooksEveryCauseOfAStep) {
  EnergyLedger ledger;
  ledger.begin({.kinetic = 2, .potential = 3, .spring = 1});
  ledger.add_step({.applied = 0.5, .motor = 0.25, .friction = -1, .impact = -2},
                  {.kinetic = 1, .potential = 2, .spring = 0.5});
  // 6 J at the start, 3.5 J now; the causes explain −2.25 J.
  EXPECT_EQ(ledger.start, 6);
  EXPECT_EQ(ledger.numerical, -0.25);
  ledger.add_step({.applied = 1}, {.kinetic = 2, .potential = 2, .spring = 0.5});
  EXPECT_EQ(ledger.applied, 1.5);
  EXPECT_EQ(ledger.numerical, -0.25);
}

TEST(Simulation, RejectsGapsEnergiesAndMassesThatCannotBe) {
  const auto rejection = [](SystemBuilder& system) -> std::string {
    Simulation simulation(system.build_model(),
                          {.h = 1e-2, .on_failure = OnFailure::kAcceptAndFlag});
    try {
      simulation.run(2);
    } catch (const StepRejected& rejected) {
      EXPECT_TRUE(std::isfinite(simulation.energy().now.total()));
      return rejected.what();
    }
    return "not rejected";
  };
  const std::string expected = "leads nowhere: a number is not finite, or the mass matrix is not";
  // The gap is a number only for x > 0, the potential too, the mass is positive only for x > 0.
  for (int kind = 0; kind < 3; ++kind) {
    SystemBuilder system;
    const Expression x = system.add_coordinate("x", {1, -1});
    system.set_mass(x, x, kind == 2 ? x : Expression(1.0));
    if (kind == 0) system.add_contact({.name = "wall", .gap = log(x) + 50.0});
    if (kind == 1) system.set_potential(1e-3 * log(x));
    if (kind == 2) system.add_force(x, -10.0);
    const std::string text = rejection(system);
    EXPECT_NE(text.find(expected), std::string::npos) << kind << ": " << text;
  }
}

TEST(Simulation, DoesNotAcceptAStepWithoutAnAnswer) {
  // Two walls close in on x from both sides: no velocity satisfies both. y is not concerned.
  SystemBuilder system;
  const Expression x = system.add_coordinate("x"), y = system.add_coordinate("y", {0, 3});
  system.set_mass(x, x, 1.0);
  system.set_mass(y, y, 1.0);
  system.add_contact({.name = "left", .gap = x - system.time()});
  system.add_contact({.name = "right", .gap = -x - system.time()});
  Simulation simulation(system.build_model(),
                        {.solver = "lemke", .h = 1e-2, .on_failure = OnFailure::kAcceptAndFlag});
  EXPECT_THROW(simulation.run(1), StepRejected);
  EXPECT_EQ(simulation.state().v[1], 3);
}

}  // namespace
}  // namespace stiction
