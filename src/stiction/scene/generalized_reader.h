// The block "generalized" of a scene: formulas to a system with its state at the start.
#pragma once

#include <memory>
#include <optional>

#include "stiction/base/linear_algebra.h"
#include "stiction/model/expression_system_description.h"
#include "stiction/scene/quantity_reader.h"

namespace stiction {

/// A system as its scene gives it, not yet compiled.
struct GeneralizedSceneSystem {
  ExpressionSystemDescription description;
  VectorXd position, velocity;
  SymbolTable constants;   // parameters of the scene and of the block
  SymbolTable in_q_and_t;  // and coordinates and t
};

/// Reads the parameters of `value` (an object of numbers and expressions in the parameters before
/// them) into `symbols`, as constants.
void read_parameters(const SceneValue& value, const std::shared_ptr<ExpressionPool>& pool,
                     SymbolTable& symbols, Diagnostics& diagnostics);

/// Reads the block; faults go to `diagnostics`. `parameters` are those of the whole scene.
GeneralizedSceneSystem read_generalized(const SceneValue& value,
                                        const std::shared_ptr<ExpressionPool>& pool,
                                        const SymbolTable& parameters, Diagnostics& diagnostics);

}  // namespace stiction
