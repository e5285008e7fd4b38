// Scenes at the edge of what is sensible: the program finishes them within tolerance.
#include <fmt/format.h>

#include <cmath>

#include "stiction/record/recording_reader.h"
#include "tests/app/program.h"

namespace stiction {
namespace {

class UnusualScene : public ProgramTest {
 protected:
  /// Runs a scene, expects that every step is within tolerance, and gives the recording.
  Recording run(const std::string& text, std::vector<std::string> options = {}) {
    std::vector<std::string> arguments = {"run", scene_file(text), "--out", "r.h5"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto result = stiction(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
    return read_recording(file("r.h5"));
  }
};

std::string ball(double height, double mass, double restitution, double h, double duration) {
  return fmt::format(
      "{{\"stiction\": 1, \"simulate\": {{\"h\": {}, \"duration\": {}}}, \"generalized\": "
      "{{\"coordinates\": {{\"y\": {{\"position\": {}}}}}, \"mass\": [[{}]], \"potential\": "
      "\"9.81*{}*y\", \"contacts\": [{{\"gap\": \"y\", \"restitution\": {}}}]}}}}",
      h, duration, height, mass, mass, restitution);
}

/// A block on the floor, pushed along x; `contacts` are the items of that array.
std::string block(const std::string& contacts, double duration = 0.2) {
  return fmt::format(
      "{{\"stiction\": 1, \"simulate\": {{\"h\": 0.001, \"duration\": {}}}, \"generalized\": "
      "{{\"coordinates\": {{\"x\": {{\"velocity\": 1}}, \"y\": {{}}}}, \"mass\": [[1, 0], [0, 1]], "
      "\"potential\": \"9.81*y\", \"contacts\": [{}]}}}}",
      duration, contacts);
}

std::string rough_floor(const std::string& mu, const std::string& gap = "y") {
  return "{\"gap\": \"" + gap + "\", \"tangent\": [1, 0], \"mu\": " + mu + "}";
}

/// On stderr, also where the result is JSON.
TEST_F(UnusualScene, WhatWasRepairedIsTold) {
  const std::string scene = scene_file(R"({"stiction": 1, "simulate": {"duration": 0.01},
"bodies": [{"density": 1, "shapes": [{"type": "mesh", "repair": true,
  "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
  "triangles": [[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 3, 2]]}]}]})");
  const std::string told =
      ":2:38: warning: bodies[0].shapes[0]: the mesh was repaired: 1 triangle turned\n";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"check", scene}, {"run", scene, "--json"}}) {
    const auto result = stiction(command);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_NE(result.err.find(told), std::string::npos) << result.err;
  }
}

TEST_F(UnusualScene, UnitsDoNotMatter) {
  // Lengths scale with L, times with √L, masses do not show. Powers of four keep √L exact, so that
  // the motion is the same but for rounding, which grows with the number of steps.
  const Recording reference = run(ball(1, 1, 0.5, 1.0 / 1024, 2));
  for (const double length : {std::pow(4, -10), std::pow(4, 5)})  // 1e-6 m, 1 km
    for (const double mass : {1e-6, 1e-3, 1e6}) {                 // milligrams to kilotons
      SCOPED_TRACE(fmt::format("{} m, {} kg", length, mass));
      const double time = std::sqrt(length);
      const Recording scaled = run(ball(length, mass, 0.5, time / 1024, 2 * time));
      ASSERT_EQ(scaled.num_rows(), reference.num_rows());
      EXPECT_LE((scaled.q / length - reference.q).cwiseAbs().maxCoeff(), 2048 * 1e-15);
    }
}

TEST_F(UnusualScene, NoTimeAtAllRecordsTheStart) {
  const Recording recording = run(ball(1, 1, 0, 0.01, 0));
  EXPECT_EQ(recording.num_rows(), 1);
  EXPECT_EQ(recording.status, "complete");
}

TEST_F(UnusualScene, StepLongerThanTheRunIsCut) {
  const Recording recording = run(ball(1, 1, 0, 5, 0.125));
  EXPECT_EQ(recording.time, (std::vector<double>{0, 0.125}));
}

TEST_F(UnusualScene, BallAtRestOnTheFloorStays) {
  const Recording recording = run(ball(0, 1, 1, 0.01, 1));
  EXPECT_LE(recording.q.cwiseAbs().maxCoeff(), 1e-15);
}

TEST_F(UnusualScene, FullRestitutionKeepsTheEnergy) {
  const Recording recording = run(ball(1, 1, 1, 1e-4, 5));
  const double start = recording.energy.row(0).head(2).sum();
  const double end = recording.energy.bottomRows(1).leftCols(2).sum();
  // The midpoint rule is exact in free flight and the impact law reverses the velocity exactly.
  EXPECT_NEAR(end, start, 1e-9 * start);
}

TEST_F(UnusualScene, NoFrictionAndBoundlessFriction) {
  const Recording smooth = run(block(rough_floor("0")));
  EXPECT_NEAR(smooth.v(smooth.num_rows() - 1, 0), 1, 1e-12);
  const Recording rough = run(block(rough_floor("1e6")));
  EXPECT_NEAR(rough.v(rough.num_rows() - 1, 0), 0, 1e-12);
  EXPECT_LE(rough.q.col(0).maxCoeff(), 1e-3);  // stops within the first step
}

TEST_F(UnusualScene, TheSameContactTenTimesIsOneContact) {
  std::string contacts = rough_floor("0.3");
  const Recording once = run(block(contacts));
  for (int i = 0; i < 9; ++i) contacts += ", " + rough_floor("0.3");
  const Recording tenfold = run(block(contacts));
  EXPECT_LE((tenfold.q - once.q).cwiseAbs().maxCoeff(), 1e-9);
}

TEST_F(UnusualScene, ContactThatCannotOpenIsHarmless) {
  const Recording recording = run(block("{\"gap\": \"0*y\"}, {\"gap\": \"y\"}"));
  EXPECT_NEAR(recording.v(recording.num_rows() - 1, 0), 1, 1e-12);
}

TEST_F(UnusualScene, ThirtyCoordinatesAndFortyContacts) {
  // Beads on a line under their weight, each above the next, with walls on a few of them.
  constexpr int kNumBeads = 30;
  std::string coordinates, mass, potential = "0", contacts = "{\"gap\": \"q0\"}";
  for (int i = 0; i < kNumBeads; ++i) {
    coordinates += fmt::format("{}\"q{}\": {{\"position\": {}}}", i ? ", " : "", i, 0.01 * (i + 1));
    mass += i ? ", [" : "[";
    for (int j = 0; j < kNumBeads; ++j) mass += fmt::format("{}{}", j ? ", " : "", i == j ? 1 : 0);
    mass += "]";
    potential += fmt::format(" + 9.81*q{}", i);
    if (i > 0) contacts += fmt::format(", {{\"gap\": \"q{} - q{}\"}}", i, i - 1);
    if (i % 3 == 0) contacts += fmt::format(", {{\"gap\": \"q{} + 0.001\"}}", i);
  }
  const Recording recording =
      run("{\"stiction\": 1, \"simulate\": {\"h\": 0.005, \"duration\": 0.5}, \"generalized\": "
          "{\"coordinates\": {" +
          coordinates + "}, \"mass\": [" + mass + "], \"potential\": \"" + potential +
          "\", \"contacts\": [" + contacts + "]}}");
  EXPECT_EQ(recording.contact_names.size(), 40u);
  EXPECT_LE(recording.v.bottomRows(1).cwiseAbs().maxCoeff(), 1e-9);  // a heap at rest
}

TEST_F(UnusualScene, FormulasOfAMegabyteRun) {
  std::string sum = "y";
  while (sum.size() < (1u << 20)) sum += " + 0*x*y";
  EXPECT_EQ(run(block("{\"gap\": \"" + sum + "\"}", 0.01)).num_rows(), 11);
}

}  // namespace
}  // namespace stiction
