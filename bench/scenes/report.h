// Tables, JSON and pictures of trials.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/scenes/trial.h"

namespace stiction::bench {

struct SceneReport {
  SceneDescription scene;
  std::vector<std::string> error_names{};
  std::vector<TrialResult> trials{};
};

nlohmann::json to_json(const TrialResult& trial);
TrialResult trial_from_json(const nlohmann::json& json);
nlohmann::json to_json(const SceneReport& report);

/// One row per contender, as Markdown.
std::string to_table(const SceneReport& report);
/// Error of the scene (its first, or the settled overlap) over time per step, a dot per contender.
std::string to_work_precision_svg(const SceneReport& report);

/// Spheres by their number: one report each, the same contenders in the same order.
/// Time per step over the number, and the exponent of its growth beyond 1,000.
std::string to_scaling_table(const std::vector<SceneReport>& reports);
std::string to_scaling_svg(const std::vector<SceneReport>& reports);

}  // namespace stiction::bench
