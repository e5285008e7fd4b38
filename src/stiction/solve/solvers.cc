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

std::vector<std::string> published_solver_names() {
  return {"pgs-separate", "pgs-projection", "pgs-tangents", "direct-iterative-once"};
}

std::vector<std::string> all_solver_names() {
  std::vector<std::string> names = solver_names();
  for (std::string& name : published_solver_names()) names.push_back(std::move(name));
  return names;
}

namespace {

/// [SPOOK] §17: fifteen sweeps, from no impulses where there is nothing direct in them.
std::unique_ptr<Solver> make_published_solver(std::string_view name, double tolerance,
                                              StoppingMeasure measure) {
  if (name == "direct-iterative-once")
    return std::make_unique<DirectIterativeSolver>(
        DirectIterativeOptions{.tolerance = tolerance,
                               .measure = measure,
                               .max_rounds = 1,
                               .sweeps_per_round = 15,
                               .acceleration = Acceleration::kNone});
  PgsOptions options{.tolerance = tolerance, .measure = measure, .max_iterations = 15};
  if (name == "pgs-separate")
    options.variant = PgsVariant::kAllSeparate;
  else if (name == "pgs-projection")
    options.variant = PgsVariant::kBlockProjection;
  else if (name == "pgs-tangents")
    options.variant = PgsVariant::kBlockTangents;
  else
    return nullptr;
  return std::make_unique<PgsSolver>(options);
}

}  // namespace

std::unique_ptr<Solver> make_solver(std::string_view name, double tolerance,
                                    StoppingMeasure measure, double acceptable,
                                    std::shared_ptr<WorkerPool> workers) {
  if (name == "auto")
    return std::make_unique<AutoSolver>(AutoOptions{.tolerance = tolerance,
                                                    .measure = measure,
                                                    .acceptable = acceptable,
                                                    .workers = std::move(workers)});
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
  if (auto published = make_published_solver(name, tolerance, measure)) return published;
  const std::vector<std::string> names = all_solver_names();
  throw InputError(fmt::format("solver is '{}', expected one of: {}", name, joined(names)));
}

}  // namespace stiction
