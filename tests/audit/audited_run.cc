#include "tests/audit/audited_run.h"

#include <fmt/format.h>

#include <stdexcept>

#include "stiction/app/simulation_options.h"
#include "stiction/record/recording_observer.h"

namespace stiction::testing {

Scene scene_from_text(const std::string& text) {
  Diagnostics diagnostics("test.json");
  auto scene = read_scene(text, {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  return *scene;
}

SimulationOptions options_of(const Scene& scene) { return to_simulation_options(scene.simulate); }

AuditedRun::AuditedRun(Scene scene, const SimulationOptions& options, int steps, int every)
    : path_(folder_.file("run.h5")), scene_(std::move(scene)) {
  record(options, steps, every, {});
}

AuditedRun::AuditedRun(Scene scene, const SimulationOptions& options, int steps,
                       const Controller& controller)
    : path_(folder_.file("run.h5")), scene_(std::move(scene)) {
  record(options, steps, 1, controller);
}

void AuditedRun::record(const SimulationOptions& options, int steps, int every,
                        const Controller& controller) {
  Simulation simulation(scene_.model, options);
  RecordingObserver recorder(path_, simulation, scene_.name, scene_.text, every);
  simulation.add_observer(recorder);
  std::string status = "complete";
  try {
    for (int i = 0; i < steps; ++i) {
      if (controller) controller(simulation);
      simulation.step();
    }
  } catch (const StepRejected&) {
    status = "rejected";
  }
  recorder.close(simulation, status);
}

AuditReport AuditedRun::audit(const Change& change) const {
  AuditReport report;
  RecordingStream stream(path_, std::int64_t{1} << 40);
  RecordingHeader header = stream.header();
  RecordedChunk chunk;
  if (!stream.next(chunk)) throw std::runtime_error("the recording is empty");
  if (change) change(chunk, header);
  std::vector<std::string> notes;
  Auditor auditor(scene_.model, read_settings(header, {}, notes), header);
  auditor.check_rows(chunk, report);
  auditor.finish({}, report);
  return report;
}

AuditReport AuditedRun::audit_as(const Model& model) const {
  AuditReport report;
  RecordingStream stream(path_);
  std::vector<std::string> notes;
  audit_recording(stream, model, read_settings(stream.header(), {}, notes), report);
  return report;
}

std::string broken_laws(const AuditReport& report) {
  std::string text;
  for (int i = 0; i < kNumLaws; ++i) {
    const LawOutcome& outcome = report[static_cast<Law>(i)];
    if (outcome.broken == 0) continue;
    const Finding& f = outcome.first_broken;
    text += fmt::format("{}: {} of {}, first at step {}, {:.3g} of {:.3g}, {}\n",
                        to_text(static_cast<Law>(i)), outcome.broken, outcome.checks, f.step,
                        f.figure, f.tolerance, f.where);
  }
  return text;
}

}  // namespace stiction::testing
