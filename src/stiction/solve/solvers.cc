#include "stiction/solve/solvers.h"

#include <fmt/format.h>

#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/solve/lemke_solver.h"

namespace stiction {

std::vector<std::string> solver_names() { return {"auto", "lemke"}; }

std::unique_ptr<Solver> make_solver(std::string_view name) {
  if (name == "auto" || name == "lemke") return std::make_unique<LemkeSolver>();
  const std::vector<std::string> names = solver_names();
  throw InputError(fmt::format("solver is '{}', expected one of: {}", name, joined(names)));
}

}  // namespace stiction
