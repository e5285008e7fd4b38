// The scene that a recording contains, and the settings that it was made with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "stiction/audit/auditor.h"
#include "stiction/scene/scene.h"

namespace stiction {

/// The scene, or nothing after its faults were printed. Its start need not fit: states are in the
/// recording. `meshes` is the folder of the files that the scene names; empty: that of the
/// recording. Throws InputError if there is no scene.
std::optional<Scene> read_recorded_scene(const RecordingHeader& header, const std::string& meshes);

/// What the scene says where the recording does not.
AuditSettings fallback_settings(const SimulateSettings& scene);

/// What verify finds in a recording. `tolerance` replaces that of the run. Nothing, after the
/// faults of its scene were printed, if that cannot be read. Throws InputError if there is nothing
/// to verify.
struct VerifiedRecording {
  RecordingHeader header;
  AuditSettings settings;
  AuditReport report;
};
struct VerifyRequest {
  std::string file;
  std::string meshes{};  // folder of files that the scene names
  std::optional<double> tolerance{};
  std::function<void(std::int64_t done, std::int64_t all)> progress{};
};
std::optional<VerifiedRecording> verify_recording(const VerifyRequest& request);

}  // namespace stiction
