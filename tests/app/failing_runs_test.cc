// Scripts, starts and motions that cannot be: each is named with its place, nothing is repaired
// unasked, and what was good is recorded.
#include "stiction/record/recording_reader.h"
#include "tests/app/program.h"

namespace stiction {
namespace {

class FailingRun : public ProgramTest {
 protected:
  /// An arm on a motor, with one formula for its speed.
  static std::string arm(const std::string& speed) {
    return R"({"stiction": 1, "name": "arm", "simulate": {"scheme": "spook", "h": 0.01, "duration": 1},
"bodies": [{"name": "arm", "mass": 1, "shapes": [{"type": "box", "size": [1, 0.1, 0.1], "contact": false}]}],
"joints": [{"type": "hinge", "bodies": ["world", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1],
"motor": {"speed": ")" +
           speed + "\"}}]}";
  }
};

TEST_F(FailingRun, ScriptWithAnUndefinedFunctionIsRefusedAtItsPlace) {
  for (const auto& [speed, message] :
       {std::pair<std::string, std::string>{
            "2*ramp(t, 1)", ":4:23: error: joints[0].motor.speed: unknown function 'ramp'"},
        {"sin(t, 2)", ":4:21: error: joints[0].motor.speed: sin takes 1 argument, found 2"},
        {"sin(T)", ":4:25: error: joints[0].motor.speed: unknown symbol 'T'"}}) {
    const auto result = stiction({"run", scene_file(arm(speed))});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_FALSE(has_file("arm.h5"));
  }
}

TEST_F(FailingRun, BodiesInsideEachOtherAreNamedWithTheirDepthAndSeparatedOnRequestOnly) {
  const std::string scene = scene_file(R"({"stiction": 1, "name": "heap", "gravity": [0, 0, -9.81],
"simulate": {"scheme": "spook", "h": 0.01, "duration": 0.1, "friction": "disc"}, "bodies": [
{"name": "floor", "static": true, "shapes": [{"type": "plane"}]},
{"name": "box", "mass": 1, "position": [0, 0, 0.4], "shapes": [{"type": "box", "size": [1, 1, 1]}]},
{"name": "ball", "mass": 1, "position": [0.2, 0.1, 0.9], "shapes": [{"type": "sphere", "radius": 0.3}]},
{"name": "pea", "mass": 1, "position": [0.2, 0.1, 0.5], "shapes": [{"type": "sphere", "radius": 0.1}]}]})");
  const auto refused = stiction({"run", scene});
  EXPECT_EQ(refused.exit_code, 2);
  // The box stands 0.1 m in the floor, the ball's centre is on its lid, the pea is 0.3 m from its
  // nearest side.
  for (const std::string message :
       {":4:64: error: bodies[1].shapes[0]: 'box' penetrates 'floor' by 0.1 m at the start",
        "'box' penetrates 'ball' by 0.3 m at the start",
        "'box' penetrates 'pea' by 0.4 m at the start", "set simulate.project_start to true"})
    EXPECT_NE(refused.err.find(message), std::string::npos) << refused.err;
  EXPECT_FALSE(has_file("heap.h5"));

  const auto separated = stiction({"run", scene, "--project-start"});
  EXPECT_EQ(separated.exit_code, 0) << separated.err;
  const Recording recording = read_recording(file("heap.h5"));
  constexpr int kGap = 3;  // of kCertificateNames
  static_assert(kCertificateNames[kGap] == "gap");
  EXPECT_GE(recording.certificate(0, kGap), -1e-6);  // the penetration that a start may have
}

TEST_F(FailingRun, StopsAtTheFirstStateThatIsNotFiniteAndKeepsTheOnesBefore) {
  // Motors are taken at the start of a step: the one that begins at 0.21 has no answer.
  const std::string scene = scene_file(arm("sqrt(0.205 - t)"));
  for (const std::string policy : {"reject", "retry-smaller", "accept-and-flag"}) {
    SCOPED_TRACE(policy);
    const auto result = stiction({"run", scene, "--on-failure", policy, "--json"});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_NE(result.err.find("not finite"), std::string::npos) << result.err;
    EXPECT_EQ(parse_json(result.out)["status"], "rejected");
    const Recording recording = read_recording(file("arm.h5"));
    EXPECT_EQ(recording.status, "rejected");
    EXPECT_NEAR(recording.time.back(), 0.21, 1e-12);
    EXPECT_TRUE(recording.q.allFinite());
    EXPECT_TRUE(recording.v.allFinite());
  }
}

TEST_F(FailingRun, MotionThatGrowsBeyondAllNumbersStopsToo) {
  const std::string scene = scene_file(R"j({"stiction": 1, "name": "flight",
"simulate": {"h": 0.01, "duration": 10},
"generalized": {"coordinates": {"x": {"position": 1}}, "mass": [[1]], "force": {"x": "exp(50*x)"}}})j");
  for (const std::string scheme : {"moreau", "stewart-trinkle", "trapezoidal-2", "spook"}) {
    SCOPED_TRACE(scheme);
    const auto result = stiction({"run", scene, "--scheme", scheme});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_NE(result.err.find("leads nowhere"), std::string::npos) << result.err;
    const Recording recording = read_recording(file("flight.h5"));
    EXPECT_EQ(recording.status, "rejected");
    EXPECT_GE(recording.num_rows(), 1);
    EXPECT_TRUE(recording.q.allFinite());
  }
}

}  // namespace
}  // namespace stiction
