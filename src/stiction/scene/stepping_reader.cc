#include "stiction/scene/stepping_reader.h"

#include <algorithm>

namespace stiction {
namespace {

/// Reads numbers of one block, each into its field, which holds the default.
class NumberReader {
 public:
  NumberReader(SceneValue block, const SymbolTable& parameters, const QuantityReader& quantities)
      : block_(std::move(block)), parameters_(parameters), quantities_(quantities) {}

  void operator()(const char* key, double& field, const Limits& limits) const {
    field = quantities_.read_number(block_[key], parameters_, field, limits);
  }

 private:
  SceneValue block_;
  const SymbolTable& parameters_;
  const QuantityReader& quantities_;
};

constexpr Limits kPositive{.above = 0};
constexpr Limits kNotNegative{.at_least = 0};
constexpr Limits kShareOfStep{.above = 0, .below = 1};

}  // namespace

std::vector<std::string> force_jacobians_names() {
  return {"exact", "differences", "springs-only"};
}

std::optional<ForceJacobians> try_parse_force_jacobians(std::string_view name) {
  const std::vector<std::string> names = force_jacobians_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<ForceJacobians>(found - names.begin());
}

SteppingOptions read_stepping(const SceneValue& simulate, const SymbolTable& parameters,
                              const QuantityReader& quantities) {
  SteppingOptions options;
  options.nonlinear = simulate["nonlinear"].boolean_or(options.nonlinear);
  if (const SceneValue projection = simulate["projection"]; projection.is_boolean())
    options.projection = projection.node->boolean;
  if (const SceneValue jacobians = simulate["jacobians"]; jacobians.is_string())
    options.jacobians =
        try_parse_force_jacobians(jacobians.node->string).value_or(options.jacobians);

  EventOptions& events = options.events;
  const SceneValue event_block = simulate["events"];
  events.collisions = event_block["collisions"].boolean_or(events.collisions);
  events.transitions = event_block["transitions"].boolean_or(events.transitions);
  const NumberReader event_number(event_block, parameters, quantities);
  event_number("contact_tolerance", events.contact_tolerance, kPositive);
  event_number("contact_growth", events.contact_growth, kNotNegative);
  event_number("min_step", events.min_step, kShareOfStep);
  event_number("time_tolerance", events.time_tolerance, kShareOfStep);
  event_number("restitution_threshold", events.restitution_threshold, kNotNegative);

  if (const SceneValue gyroscopic = simulate["gyroscopic"]; gyroscopic.is_string())
    options.gyroscopic = gyroscopic.node->string == "implicit" ? GyroscopicTerm::kImplicit
                                                               : GyroscopicTerm::kExplicit;
  SpookOptions& spook = options.spook;
  const SceneValue spook_block = simulate["spook"];
  spook.geometric_stiffness =
      spook_block["geometric_stiffness"].boolean_or(spook.geometric_stiffness);
  spook.position_iteration = spook_block["position_iteration"].boolean_or(spook.position_iteration);
  const NumberReader spook_number(spook_block, parameters, quantities);
  spook_number("relaxation", spook.relaxation, kPositive);
  spook_number("compliance", spook.compliance, kPositive);
  spook_number("stiffness_return", spook.stiffness_return, {.at_least = 0, .below = 1});

  const NumberReader error_number(simulate["error_control"], parameters, quantities);
  error_number("tolerance", options.error_control.tolerance, kNotNegative);
  error_number("min_step", options.error_control.min_step, kShareOfStep);
  return options;
}

}  // namespace stiction
