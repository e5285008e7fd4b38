// The block "view" of a scene.
#pragma once

#include <memory>
#include <string>

#include "stiction/scene/generalized_reader.h"
#include "stiction/scene/quantity_reader.h"
#include "stiction/scene/scene_view.h"

namespace stiction {

/// A colour "#rrggbb", or empty where there is none or after a fault.
std::string read_color(const SceneValue& value, Diagnostics& diagnostics);

/// Reads the block into `view`; faults go to `diagnostics`. `parameters` are those of the whole
/// scene; `system` is null in a scene without "generalized".
void read_view(const SceneValue& value, const std::shared_ptr<ExpressionPool>& pool,
               const SymbolTable& parameters, const GeneralizedSceneSystem* system,
               Diagnostics& diagnostics, SceneView& view);

}  // namespace stiction
