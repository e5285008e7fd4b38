#include "stiction/scene/start_faults.h"

#include <fmt/format.h>

#include <cmath>

namespace stiction {
namespace {

/// The formula that a force comes from, as far as can be told: that of the coordinate, the
/// potential, or the velocity terms of the mass matrix.
SceneValue find_force(const System& system, const StartFault& fault, const SceneValue& value) {
  const std::string name = system.name_of_velocity(fault.index);
  if (SceneValue force = value["force"][name.c_str()]) return force;
  if (SceneValue potential = value["potential"]) return potential;
  return value["mass"];
}

/// Whether moving the start repairs a fault: a gap or a constraint that is violated, or a velocity
/// that does not fit a constraint, as long as all numbers are finite.
bool can_be_projected(const Model& model, const StartFault& fault) {
  if (fault.is_tolerable) return true;
  if (fault.where != StartFault::Where::kConstraint) return false;
  const Model::Part& part = model.parts()[fault.part];
  const System& system = *part.system;
  const State& start = model.initial_state();
  const VectorXd q = start.q.segment(part.q_offset, system.num_q());
  VectorXd theta(system.num_constraints());
  RowSet rows;
  system.evaluate_constraints(start.t, q, theta);
  system.append_constraint_rows(start.t, q, 0, rows);
  bool is_finite = std::isfinite(theta[fault.index]) && std::isfinite(rows.drift[fault.index]);
  for (int e = rows.rows.entry_start(fault.index); e < rows.rows.entry_start(fault.index + 1); ++e)
    is_finite = is_finite && rows.rows.entry_matrix(fault.index, e).allFinite();
  return is_finite;
}

}  // namespace

SceneValue find_generalized_place(const SceneValue& value, const System& system,
                                  const StartFault& fault) {
  using Where = StartFault::Where;
  switch (fault.where) {
    case Where::kMass:
      return value["mass"];
    case Where::kForce:
      return find_force(system, fault, value);
    case Where::kContact:
      return value["contacts"].item(fault.index)["gap"];
    case Where::kSpring:
      return value["springs"].item(fault.index)["extension"];
    case Where::kConstraint:
      return value["constraints"].item(fault.index)["equation"];
    case Where::kShape:
    case Where::kVelocityRow:
    case Where::kState:
      break;
  }
  return value;
}

void report_start_faults(const Model& model, const SimulateSettings& settings,
                         std::span<const PlaceOfFault> place_of_fault, Diagnostics& diagnostics) {
  for (const StartFault& fault :
       find_start_faults(model, model.initial_state(), settings.penetration_tolerance)) {
    const bool is_repairable = can_be_projected(model, fault);
    if (is_repairable && settings.project_start) continue;
    std::string help;
    if (is_repairable)
      help = fmt::format("change the start{}, or set simulate.project_start to true",
                         fault.is_tolerable ? ", set simulate.penetration_tolerance" : "");
    const SceneValue place = place_of_fault[fault.part](fault);
    diagnostics.error(place.node->position, place.path, fault.message, help);
  }
}

}  // namespace stiction
