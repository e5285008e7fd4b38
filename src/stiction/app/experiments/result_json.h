// Results as JSON and back: what programs read, and what a later run of `reproduce` keeps.
#pragma once

#include <nlohmann/json.hpp>

#include "stiction/app/experiments/experiment.h"

namespace stiction::experiments {

/// Without the text of figures, which are files of their own. Numbers that do not exist are null.
nlohmann::ordered_json to_json(const Experiment& experiment, const Result& result);

/// Figures come without their text. Throws nlohmann::json::exception if something is missing.
Result result_from_json(const nlohmann::ordered_json& object);

nlohmann::ordered_json to_json(const Tally& tally);

}  // namespace stiction::experiments
