// The block "generalized" of a scene: formulas to a system with its state at the start.
#pragma once

#include <memory>
#include <optional>

#include "stiction/model/expression_system_description.h"
#include "stiction/model/model.h"
#include "stiction/scene/quantity_reader.h"

namespace stiction {

/// A system as its scene gives it, not yet compiled.
struct GeneralizedSceneSystem {
  ExpressionSystemDescription description;
  VectorXd position, velocity;
};

/// Reads the parameters of `value` (an object of numbers and expressions in the parameters before
/// them) into `symbols`, as constants.
void read_parameters(const SceneValue& value, const std::shared_ptr<ExpressionPool>& pool,
                     SymbolTable& symbols, Diagnostics& diagnostics);

/// Reads the block; faults go to `diagnostics`. `parameters` are those of the whole scene.
GeneralizedSceneSystem read_generalized(const SceneValue& value,
                                        const std::shared_ptr<ExpressionPool>& pool,
                                        const SymbolTable& parameters, Diagnostics& diagnostics);

/// Reports the faults of a start (find_start_faults) at the entries of the block that cause them.
void report_start_faults(const Model& model, double penetration_tolerance, const SceneValue& value,
                         Diagnostics& diagnostics);

}  // namespace stiction
