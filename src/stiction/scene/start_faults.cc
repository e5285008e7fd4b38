#include "stiction/scene/start_faults.h"

#include <fmt/format.h>

#include <cmath>

namespace stiction {
namespace {

/// The formula that a force comes from, as far as can be told: that of the coordinate, the
/// potential, or the velocity terms of the mass matrix.
SceneValue find_force(const Model& model, const StartFault& fault, const SceneValue& value) {
  const auto& names = model.parts()[fault.part].system->layout().coordinates;
  if (SceneValue force = value["force"][names[fault.index].c_str()]) return force;
  if (SceneValue potential = value["potential"]) return potential;
  return value["mass"];
}

/// The entry of the block that a fault of the start comes from.
SceneValue find_place(const Model& model, const StartFault& fault, const SceneValue& value) {
  using Where = StartFault::Where;
  switch (fault.where) {
    case Where::kMass:
      return value["mass"];
    case Where::kForce:
      return find_force(model, fault, value);
    case Where::kContact:
      return value["contacts"].item(fault.index)["gap"];
    case Where::kSpring:
      return value["springs"].item(fault.index)["extension"];
    case Where::kConstraint:
      return value["constraints"].item(fault.index)["equation"];
    case Where::kState:
      break;
  }
  return value;
}

/// Whether moving the start repairs a fault: a gap or a constraint that is violated, or a velocity
/// that does not fit a constraint, as long as all numbers are finite.
bool can_be_projected(const Model& model, const StartFault& fault) {
  if (fault.is_tolerable) return true;
  if (fault.where != StartFault::Where::kConstraint) return false;
  const Model::Part& part = model.parts()[fault.part];
  const GeneralizedSystem& system = *part.system;
  const State& start = model.initial_state();
  const VectorXd q = start.q.segment(part.offset, system.num_coordinates());
  VectorXd theta(system.num_constraints()), drift(system.num_constraints());
  RowMatrixXd rows(system.num_constraints(), q.size());
  system.evaluate_constraints(start.t, q, theta);
  system.evaluate_constraint_rows(start.t, q, rows, drift);
  return std::isfinite(theta[fault.index]) && rows.row(fault.index).allFinite() &&
         std::isfinite(drift[fault.index]);
}

}  // namespace

void report_start_faults(const Model& model, const SimulateSettings& settings,
                         const SceneValue& value, Diagnostics& diagnostics) {
  for (const StartFault& fault :
       find_start_faults(model, model.initial_state(), settings.penetration_tolerance)) {
    const bool is_repairable = can_be_projected(model, fault);
    if (is_repairable && settings.project_start) continue;
    std::string help;
    if (is_repairable)
      help = fmt::format("change the start{}, or set simulate.project_start to true",
                         fault.is_tolerable ? ", set simulate.penetration_tolerance" : "");
    const SceneValue place = find_place(model, fault, value);
    diagnostics.error(place.node->position, place.path, fault.message, help);
  }
}

}  // namespace stiction
