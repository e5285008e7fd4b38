#include "stiction/sim/mechanism.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/scheme/assembly.h"
#include "stiction/solve/saddle_ldlt.h"

namespace stiction {
namespace {

/// More names than this say no more.
constexpr std::size_t kMaxNames = 8;

}  // namespace

std::vector<int> find_redundant_rows(const Model& model, const State& state) {
  std::vector<int> rows;
  if (model.num_constraints() + model.num_velocity_rows() == 0) return rows;
  const EvaluationPoint here{state.t, state.q};
  StepAssembly assembly({});
  assembly.add_mass_and_momentum(model, here, here, state.v, 0);
  assembly.add_constraint_rows(model, here, state, 0, {.compliance = 0});
  const std::vector<char> all(assembly.problem().num_rows(), 1);
  SaddleLdlt factors;
  factors.analyse(assembly.problem(), all);
  if (factors.factor(assembly.problem(), all) != SaddleLdlt::Status::kFactored) return rows;
  for (const int row : factors.redundant_rows())
    rows.push_back(assembly.joint_rows()[row].joint_row);
  return rows;
}

std::string describe_violations(const Model& model, const State& state, double tolerance) {
  VectorXd theta(model.num_constraints());
  model.evaluate_constraints(state.t, state.q, theta);
  std::vector<int> violated;
  for (int i = 0; i < model.num_constraints(); ++i)
    if (model.constraint(i).is_rigid() && !(std::abs(theta[i]) <= tolerance)) violated.push_back(i);
  std::stable_sort(violated.begin(), violated.end(),
                   [&](int a, int b) { return std::abs(theta[a]) > std::abs(theta[b]); });
  std::string text;
  for (std::size_t k = 0; k < violated.size(); ++k) {
    if (k == kMaxNames) return text + ", …";
    text += fmt::format("{}'{}' by {:.3g}", text.empty() ? "" : ", ",
                        model.constraint(violated[k]).name, std::abs(theta[violated[k]]));
  }
  return text;
}

}  // namespace stiction
