// Why a simulation may not start from where a scene puts it, told at the entries of the scene that
// are to blame, with the ways out.
#pragma once

#include "stiction/model/model.h"
#include "stiction/scene/quantity_reader.h"
#include "stiction/scene/scene.h"

namespace stiction {

/// Reports the faults of a start (find_start_faults) at the entries of the block "generalized",
/// `value`, that cause them; with settings.project_start only those that moving the start cannot
/// repair.
void report_start_faults(const Model& model, const SimulateSettings& settings,
                         const SceneValue& value, Diagnostics& diagnostics);

}  // namespace stiction
