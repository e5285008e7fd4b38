// The scene that a recording contains, and the settings that it was made with.
#pragma once

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

}  // namespace stiction
