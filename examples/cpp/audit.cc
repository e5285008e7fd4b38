// Rooms `audit` and `view`: a recording is checked law by law, and becomes an animated glTF scene.
#include <cstdio>
#include <fstream>

#include "stiction/audit/auditor.h"
#include "stiction/stiction.h"
#include "stiction/view/gltf.h"

int main() {
  using namespace stiction;
  const char* text = R"({
    "stiction": 1, "name": "ball",
    "gravity": [0, 0, -9.81],
    "materials": {"rubber": {"mu": 0.5}},
    "bodies": [
      {"name": "ball", "mass": 1, "position": [0, 0, 0.2], "velocity": [1, 0, 0],
       "shapes": [{"type": "sphere", "radius": 0.1, "material": "rubber"}]},
      {"name": "ground", "static": true, "shapes": [{"type": "plane", "material": "rubber"}]}]})";
  Diagnostics diagnostics("text");
  const auto scene = read_scene(text, {}, diagnostics);
  if (!scene) {
    std::printf("%s", diagnostics.to_text().c_str());
    return 1;
  }
  Simulation simulation(scene->model, {.h = 1e-3});
  RecordingObserver recorder("ball.h5", simulation, scene->name, scene->text, 1);
  simulation.add_observer(recorder);
  simulation.run(0.5);
  recorder.close(simulation, "complete");

  // By code that shares nothing with schemes and solvers.
  RecordingStream stream("ball.h5");
  AuditReport report;
  const AuditSettings settings = read_settings(stream.header(), {}, report.notes);
  audit_recording(stream, scene->model, settings, report, {});
  const LawOutcome& cones = report[Law::kCones];
  std::printf("%lld rows, friction cones checked %lld times, worst %.1e of %.1e\n",
              static_cast<long long>(report.steps), static_cast<long long>(cones.checks),
              cones.worst.figure, cones.worst.tolerance);

  const std::string gltf = make_gltf(ViewedRecording("ball.h5"), true);
  std::ofstream("ball.glb", std::ios::binary) << gltf;
  return !report.is_broken() && cones.checks > 0 && gltf.starts_with("glTF") ? 0 : 1;
}
