// The keys of "simulate" that choose among variants of the schemes: projection, Jacobians, events,
// error control.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/base/stepping_options.h"
#include "stiction/scene/quantity_reader.h"

namespace stiction {

/// Names of ForceJacobians in scenes and on the command line, in the order of the enumerators.
std::vector<std::string> force_jacobians_names();
/// Nothing if there is no such name.
std::optional<ForceJacobians> try_parse_force_jacobians(std::string_view name);

/// Reads the block "simulate" as far as it concerns the steps; faults go to the diagnostics of
/// `quantities`. `parameters` are those of the whole scene.
SteppingOptions read_stepping(const SceneValue& simulate, const SymbolTable& parameters,
                              const QuantityReader& quantities);

}  // namespace stiction
