// Why a simulation may not start from where a scene puts it, told at the entries of the scene that
// are to blame, with the ways out.
#pragma once

#include <functional>
#include <span>

#include "stiction/model/model.h"
#include "stiction/scene/quantity_reader.h"
#include "stiction/scene/scene.h"

namespace stiction {

/// The entry of a scene that a fault of the start comes from.
using PlaceOfFault = std::function<SceneValue(const StartFault&)>;

/// For faults of a system that the block "generalized", `value`, describes.
SceneValue find_generalized_place(const SceneValue& value, const System& system,
                                  const StartFault& fault);

/// Reports the faults of a start (find_start_faults) at the entries that cause them, which
/// `place_of_fault` knows for each part of the model; with settings.project_start only those that
/// moving the start cannot repair.
void report_start_faults(const Model& model, const SimulateSettings& settings,
                         std::span<const PlaceOfFault> place_of_fault, Diagnostics& diagnostics);

}  // namespace stiction
