#include "stiction/scheme/moreau.h"

#include <numbers>

namespace stiction {
namespace {

/// Share of the constraint error that one step takes back. With G w = −αΘ/h and the trapezoidal
/// position update the error obeys x⁺ = (1 − α/2) x − α/2 x⁻; α = 6 − 4√2 is its critically damped
/// case, a factor √2 − 1 per step.                                                            (T15)
constexpr double kStabilization = 6 - 4 * std::numbers::sqrt2;

}  // namespace

void MoreauScheme::step(const Model& model, const State& start, double h, SolveStage& solve,
                        StepResult& result) {
  q_mid_.resize(start.q.size());
  q_mid_ = start.q + 0.5 * h * start.v;
  const EvaluationPoint mid{start.t + 0.5 * h, q_mid_};

  assembly_.clear();
  assembly_.add_mass_and_momentum(model, mid, start.v, h);
  assembly_.add_constraint_rows(model, mid, start, h, kStabilization);
  assembly_.add_spring_rows(model, mid, start, h);
  assembly_.add_touching_contacts(model, mid, start.v);

  const StepSolution& solution = solve.solve(assembly_.problem());

  result.end.t = start.t + h;
  result.end.v = solution.w_vector();
  result.end.q.resize(q_mid_.size());
  result.end.q = q_mid_ + 0.5 * h * result.end.v;
  reader_.read(model, start, mid, assembly_, solution, result);
  solve.certify_state(model, result.end);
}

}  // namespace stiction
