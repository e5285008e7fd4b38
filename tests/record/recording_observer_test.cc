// What is kept of steps that are not recorded: their events, and how many were above tolerance.
#include "stiction/record/recording_observer.h"

#include <gtest/gtest.h>

#include <numeric>

#include "stiction/model/system_builder.h"
#include "stiction/record/recording_reader.h"
#include "tests/base/temporary_folder.h"

namespace stiction {
namespace {

Model ball() {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {.position = 0.01});
  system.set_mass(y, y, 1.0);
  system.set_potential(9.81 * y);
  system.add_contact({.name = "floor", .gap = y, .restitution = 0.5});
  return system.build_model();
}

/// A step as a scheme with events would report it.
class MadeUpStep {
 public:
  MadeUpStep(const Simulation& simulation, std::int64_t step) : simulation_(simulation) {
    step_ = step;
  }
  MadeUpStep& with_event(const StepEvent& event) {
    events_.push_back(event);
    return *this;
  }
  MadeUpStep& with_flag(bool is_flagged) {
    is_flagged_ = is_flagged;
    return *this;
  }
  void tell(StepObserver& observer) const {
    const std::vector<ContactOutcome> contacts;
    observer.on_step({.step = step_,
                      .h = 1e-3,
                      .state = simulation_.state(),
                      .contacts = contacts,
                      .joint_impulses = simulation_.joint_impulses(),
                      .events = events_,
                      .energy = simulation_.energy(),
                      .certificate = certificate_,
                      .solver = simulation_.solver_report(),
                      .times = {},
                      .is_flagged = is_flagged_});
  }

 private:
  const Simulation& simulation_;
  std::int64_t step_;
  std::vector<StepEvent> events_;
  Certificate certificate_;
  bool is_flagged_ = false;
};

TEST(RecordingObserver, KeepsEventsOfStepsThatAreNotRecorded) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  const Simulation simulation(ball(), {});
  {
    RecordingObserver observer(path, simulation, "ball", "{}", 10);
    for (int step = 0; step <= 25; ++step) {
      MadeUpStep made(simulation, step);
      if (step == 3)
        made.with_event({EventKind::kCollision, 0.25, 0, 0, -2.5})
            .with_event({EventKind::kStick, 0.375, 0, 0, 0});
      if (step == 10) made.with_event({EventKind::kTakeOff, 0.5, 0, 0, 0});
      if (step == 24) made.with_event({EventKind::kFloor, 0.75, -1, 0, 0});
      made.tell(observer);
      made.tell(observer);  // as Simulation::notify may: counts once
    }
  }
  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.step, (std::vector<std::int64_t>{0, 10, 20}));
  const RecordedEvents& events = recording.events;
  EXPECT_EQ(events.kinds,
            (std::vector<std::string>{"collision", "stick", "slip", "take-off", "floor"}));
  EXPECT_EQ(events.step, (std::vector<std::int64_t>{3, 3, 10, 24}));
  EXPECT_EQ(events.time, (std::vector<double>{0.25, 0.375, 0.5, 0.75}));
  EXPECT_EQ(events.kind, (std::vector<int>{0, 1, 3, 4}));
  EXPECT_EQ(events.contact, (std::vector<std::int64_t>{0, 0, 0, -1}));
  EXPECT_EQ(events.energy, (std::vector<double>{-2.5, 0, 0, 0}));
}

TEST(RecordingObserver, CountsStepsAboveToleranceSinceTheRowBefore) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  const Simulation simulation(ball(), {.tolerance = 1e-9});
  {
    RecordingObserver observer(path, simulation, "ball", "{}", 5);
    for (int step = 0; step <= 15; ++step)
      MadeUpStep(simulation, step).with_flag(step == 1 || step == 5 || step == 12).tell(observer);
  }
  EXPECT_EQ(read_recording(path).flagged, (std::vector<int>{0, 2, 0, 1}));
}

TEST(RecordingObserver, FlagsStepsWhoseProblemsAreSolvedButWhoseSchemeFailed) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y");
  system.set_mass(y, y, 1.0);
  system.add_constraint("fixed", y);
  system.add_constraint("driven", y - system.time() * system.time());
  Simulation simulation(
      system.build_model(),
      {.scheme = "anitescu-potra", .h = 0.1, .on_failure = OnFailure::kAcceptAndFlag});
  const TemporaryFolder folder;
  RecordingObserver observer(folder.file("r.h5"), simulation, "torn", "{}", 1);
  simulation.add_observer(observer);
  simulation.run(0.3);
  observer.close(simulation, "above tolerance");
  const auto flagged = simulation.summary().steps_above_tolerance;
  EXPECT_GT(flagged, 0);
  const Recording recording = read_recording(folder.file("r.h5"));
  EXPECT_EQ(std::accumulate(recording.flagged.begin(), recording.flagged.end(), 0), flagged);
}

/// A block that slides on a rough floor, with numbers that leave rounding in every step.
Model sliding_block() {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {.velocity = 1.1});
  const Expression y = system.add_coordinate("y");
  system.set_mass(x, x, 0.7);
  system.set_mass(x, y, 0.1);
  system.set_mass(y, y, 1.3);
  system.set_potential(9.81 * y);
  system.add_contact({.name = "floor", .gap = y, .tangents = {{1.0, 0.0}}, .mu = 0.3});
  return system.build_model();
}

TEST(RecordingObserver, FlagsEveryAcceptedStepOfARun) {
  const TemporaryFolder folder;
  Simulation simulation(
      sliding_block(),
      {.solver = "lemke", .tolerance = 1e-300, .on_failure = OnFailure::kAcceptAndFlag});
  RecordingObserver every(folder.file("1.h5"), simulation, "ball", "{}", 1);
  RecordingObserver some(folder.file("7.h5"), simulation, "ball", "{}", 7);
  simulation.add_observer(every);
  simulation.add_observer(some);
  simulation.run(0.1);
  every.close(simulation, "above tolerance");
  some.close(simulation, "above tolerance");
  const auto expected = simulation.summary().steps_above_tolerance;
  EXPECT_GT(expected, 0);
  for (const char* name : {"1.h5", "7.h5"}) {
    const Recording recording = read_recording(folder.file(name));
    EXPECT_EQ(std::accumulate(recording.flagged.begin(), recording.flagged.end(), 0), expected)
        << name;
  }
}

}  // namespace
}  // namespace stiction
