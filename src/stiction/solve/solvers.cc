#include "stiction/solve/solvers.h"

#include <fmt/format.h>

#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/solve/admm_solver.h"
#include "stiction/solve/auto_solver.h"
#include "stiction/solve/block_pivot_solver.h"
#include "stiction/solve/direct_iterative_solver.h"
#include "stiction/solve/gauss_seidel_pgs.h"
#include "stiction/solve/interior_point_solver.h"
#include "stiction/solve/lemke_solver.h"
#include "stiction/solve/newton_solver.h"
#include "stiction/solve/nsgs_solver.h"

namespace stiction {

std::vector<std::string> solver_names() {
  return {"auto", "lemke",          "block-pivot",     "pgs", "nsgs", "newton",
          "admm", "interior-point", "direct-iterative"};
}

std::unique_ptr<Solver> make_solver(std::string_view name, double tolerance,
                                    StoppingMeasure measure, double acceptable) {
  if (name == "auto")
    return std::make_unique<AutoSolver>(AutoOptions{tolerance, measure, acceptable});
  if (name == "lemke")
    return std::make_unique<LemkeSolver>(
        LemkeSolverOptions{.tolerance = tolerance, .measure = measure});
  if (name == "block-pivot")
    return std::make_unique<BlockPivotSolver>(
        BlockPivotSolverOptions{.tolerance = tolerance, .measure = measure});
  if (name == "pgs")
    return std::make_unique<PgsSolver>(PgsOptions{.tolerance = tolerance, .measure = measure});
  if (name == "nsgs")
    return std::make_unique<NsgsSolver>(NsgsOptions{.tolerance = tolerance, .measure = measure});
  if (name == "newton")
    return std::make_unique<NewtonSolver>(
        NewtonOptions{.tolerance = tolerance, .measure = measure});
  if (name == "admm")
    return std::make_unique<AdmmSolver>(AdmmOptions{.tolerance = tolerance, .measure = measure});
  if (name == "interior-point")
    return std::make_unique<InteriorPointSolver>(
        InteriorPointOptions{.tolerance = tolerance, .measure = measure});
  if (name == "direct-iterative")
    return std::make_unique<DirectIterativeSolver>(
        DirectIterativeOptions{.tolerance = tolerance, .measure = measure});
  const std::vector<std::string> names = solver_names();
  throw InputError(fmt::format("solver is '{}', expected one of: {}", name, joined(names)));
}

}  // namespace stiction
