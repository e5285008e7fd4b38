// Records a short run of a scene and audits the recording, as it is or with something changed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "stiction/audit/auditor.h"
#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"
#include "tests/base/temporary_folder.h"

namespace stiction::testing {

Scene scene_from_text(const std::string& text);

/// What a scene says, for a number of steps.
SimulationOptions options_of(const Scene& scene);

class AuditedRun {
 public:
  /// Runs `steps` steps, fewer if one is rejected. Throws InputError if the scheme refuses the
  /// scene.
  AuditedRun(Scene scene, const SimulationOptions& options, int steps, int every = 1);
  /// With a controller that is asked before every step.
  using Controller = std::function<void(Simulation&)>;
  AuditedRun(Scene scene, const SimulationOptions& options, int steps,
             const Controller& controller);

  const std::string& path() const { return path_; }
  const Scene& scene() const { return scene_; }
  /// All rows as one chunk, the header, and what may be changed in them.
  using Change = std::function<void(RecordedChunk&, RecordingHeader&)>;
  AuditReport audit(const Change& change = {}) const;
  /// With another model than that of the run.
  AuditReport audit_as(const Model& model) const;

 private:
  void record(const SimulationOptions& options, int steps, int every, const Controller& controller);

  TemporaryFolder folder_;
  std::string path_;
  Scene scene_;
};

/// Laws that are broken with their first places, for messages; empty if none is.
std::string broken_laws(const AuditReport& report);

}  // namespace stiction::testing
