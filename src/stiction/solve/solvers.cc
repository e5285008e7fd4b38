#include "stiction/solve/solvers.h"

#include <fmt/format.h>

#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/solve/admm_solver.h"
#include "stiction/solve/auto_solver.h"
#include "stiction/solve/gauss_seidel_pgs.h"
#include "stiction/solve/lemke_solver.h"
#include "stiction/solve/newton_solver.h"
#include "stiction/solve/nsgs_solver.h"

namespace stiction {

std::vector<std::string> solver_names() {
  return {"auto", "lemke", "pgs", "nsgs", "newton", "admm"};
}

std::unique_ptr<Solver> make_solver(std::string_view name, double tolerance) {
  if (name == "auto") return std::make_unique<AutoSolver>(tolerance);
  if (name == "lemke") return std::make_unique<LemkeSolver>();
  if (name == "pgs") return std::make_unique<PgsSolver>(PgsOptions{.tolerance = tolerance});
  if (name == "nsgs") return std::make_unique<NsgsSolver>(NsgsOptions{.tolerance = tolerance});
  if (name == "newton")
    return std::make_unique<NewtonSolver>(NewtonOptions{.tolerance = tolerance});
  if (name == "admm") return std::make_unique<AdmmSolver>(AdmmOptions{.tolerance = tolerance});
  const std::vector<std::string> names = solver_names();
  throw InputError(fmt::format("solver is '{}', expected one of: {}", name, joined(names)));
}

}  // namespace stiction
