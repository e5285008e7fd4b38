// The solvers of Siconos that suit each kind of problem, with its own defaults but for the
// tolerance, the limit on iterations (ours is a limit on time) and the variants named here.
#include <Friction_cst.h>
#include <MLCP_Solvers.h>
#include <NonSmoothDrivers.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <lcp_cst.h>
#include <mlcp_cst.h>

#include <functional>

#include "bench/solvers/contender.h"
#include "bench/solvers/siconos_problem.h"

namespace stiction::bench {
namespace {

struct OptionsDeleter {
  void operator()(SolverOptions* options) const { solver_options_delete(options); }
};
using OptionsPointer = std::unique_ptr<SolverOptions, OptionsDeleter>;

/// One entry of the list of solvers.
struct Recipe {
  std::string name;
  int id = 0;
  ProblemKind kind = ProblemKind::kLocalFriction;
  int dimension = 0;  // of friction problems
  Storage storage = Storage::kSparse;
  int max_iterations = 0;  // 0 leaves the default
  int max_size = 1 << 30;  // enumerations and dense matrices end somewhere
  std::function<void(SolverOptions&)> adjust;
};

class SiconosSession final : public Session {
 public:
  SiconosSession(const Recipe& recipe, const ProblemFile& file, double tolerance)
      : recipe_(recipe),
        file_(file),
        problem_(file.problem),
        siconos_(std::make_unique<SiconosProblem>(file, recipe.storage)),
        tolerance_(tolerance) {}
  SiconosSession(const SiconosSession&) = delete;
  SiconosSession& operator=(const SiconosSession&) = delete;
  ~SiconosSession() override { release(); }

  void reset() override {
    if (recipe_.kind == ProblemKind::kGlobalFriction || recipe_.kind == ProblemKind::kMlcp)
      release();
    numerics_set_verbose(0);
    // Solvers that reduce a global problem leave it unfit for a second solve.
    if (recipe_.kind == ProblemKind::kGlobalFriction)
      siconos_ = std::make_unique<SiconosProblem>(file_, recipe_.storage);
    // Options stay between solves, as in Siconos' own simulations, and with them its workspace.
    if (!options_) options_.reset(solver_options_create(recipe_.id));
    options_->dparam[SICONOS_DPARAM_TOL] = tolerance_;
    if (recipe_.max_iterations > 0)
      options_->iparam[SICONOS_IPARAM_MAX_ITER] = recipe_.max_iterations;
    if (recipe_.adjust) recipe_.adjust(*options_);
    x_.assign(problem_.num_rows(), 0.0);
    y_.assign(problem_.num_rows(), 0.0);
    v_.assign(problem_.num_dofs(), 0.0);
    if (recipe_.kind == ProblemKind::kMlcp) mlcp_driver_init(&siconos_->mlcp(), options_.get());
  }

  int solve() override {
    switch (recipe_.kind) {
      case ProblemKind::kLocalFriction:
        (recipe_.dimension == 2 ? fc2d_driver : fc3d_driver)(&siconos_->friction(), x_.data(),
                                                             y_.data(), options_.get());
        break;
      case ProblemKind::kGlobalFriction:
        gfc3d_driver(&siconos_->global(), x_.data(), y_.data(), v_.data(), options_.get());
        break;
      case ProblemKind::kLcp:
        linearComplementarity_driver(&siconos_->lcp(), x_.data(), y_.data(), options_.get());
        break;
      case ProblemKind::kMlcp:
        mlcp_driver(&siconos_->mlcp(), x_.data(), y_.data(), options_.get());
        break;
      case ProblemKind::kStepProblem:
        break;
    }
    return options_->iparam[SICONOS_IPARAM_ITER_DONE];
  }

  StepSolution answer() const override {
    StepSolution solution;
    const auto tail = x_.begin() + problem_.num_bilateral();
    solution.lambda.assign(x_.begin(), tail);
    solution.r.assign(tail, x_.end());
    solution.w = v_;
    return solution;
  }

 private:
  void release() {
    if (options_ && recipe_.kind == ProblemKind::kMlcp)
      mlcp_driver_reset(&siconos_->mlcp(), options_.get());
    options_.reset();
  }

  const Recipe& recipe_;
  const ProblemFile& file_;
  const StepProblem& problem_;
  std::unique_ptr<SiconosProblem> siconos_;
  double tolerance_;
  OptionsPointer options_;
  std::vector<double> x_, y_, v_;
};

class SiconosContender final : public Contender {
 public:
  explicit SiconosContender(Recipe recipe) : recipe_(std::move(recipe)) {}

  std::string library() const override { return kSiconos; }
  std::string name() const override { return recipe_.name; }
  bool takes(const ProblemFile& file) const override {
    return file.kind == recipe_.kind && file.space_dimension == recipe_.dimension &&
           file.problem.num_contacts() > 0 && file.problem.num_bilateral() <= recipe_.max_size &&
           file.problem.num_rows() <= recipe_.max_size &&
           (file.kind != ProblemKind::kGlobalFriction || file.problem.num_bilateral() == 0);
  }
  std::unique_ptr<Session> prepare(const ProblemFile& file, double tolerance) const override {
    return std::make_unique<SiconosSession>(recipe_, file, tolerance);
  }

 private:
  Recipe recipe_;
};

constexpr int kManySweeps = 100'000'000;
constexpr int kManyPivots = 100'000;
constexpr int kManyNewtonSteps = 2000;

void use_local_solver(SolverOptions& options, int id) {
  solver_options_update_internal(&options, 0, id);
}

/// Sets an integer parameter.
std::function<void(SolverOptions&)> with(int index, int value) {
  return [=](SolverOptions& options) { options.iparam[index] = value; };
}

void add_spatial_sweeps(std::vector<Recipe>& list) {
  const auto add = [&](const char* name, int id, Storage storage,
                       std::function<void(SolverOptions&)> adjust = {}) {
    list.push_back({name, id, ProblemKind::kLocalFriction, 3, storage, kManySweeps, 1 << 30,
                    std::move(adjust)});
  };
  constexpr int kNsgs = SICONOS_FRICTION_3D_NSGS;
  add("NSGS", kNsgs, Storage::kBlocks);
  add("NSGS_FULL", kNsgs, Storage::kBlocks,
      with(SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION,
           SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL));
  add("NSGS_QUARTIC", kNsgs, Storage::kBlocks, [](SolverOptions& options) {
    use_local_solver(options, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC);
  });
  add("NSGS_PLI", kNsgs, Storage::kBlocks, [](SolverOptions& options) {
    use_local_solver(options, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration);
  });
  add("NSGS_HYBRID", kNsgs, Storage::kBlocks, [](SolverOptions& options) {
    use_local_solver(options, SICONOS_FRICTION_3D_ONECONTACT_NSN_GP_HYBRID);
  });
  add("NSGS_SHUFFLE", kNsgs, Storage::kBlocks,
      with(SICONOS_FRICTION_3D_NSGS_SHUFFLE, SICONOS_FRICTION_3D_NSGS_SHUFFLE_TRUE_EACH_LOOP));
  add("DSFP", SICONOS_FRICTION_3D_DSFP, Storage::kBlocks);
  add("FPP", SICONOS_FRICTION_3D_FPP, Storage::kBlocks);
  add("EG", SICONOS_FRICTION_3D_EG, Storage::kBlocks);
  add("VI_FPP", SICONOS_FRICTION_3D_VI_FPP, Storage::kBlocks);
  add("VI_EG", SICONOS_FRICTION_3D_VI_EG, Storage::kBlocks);
  add("TFP", SICONOS_FRICTION_3D_TFP, Storage::kBlocks);
  add("ACLMFP", SICONOS_FRICTION_3D_ACLMFP, Storage::kBlocks);
  add("SOCLCP", SICONOS_FRICTION_3D_SOCLCP, Storage::kBlocks);
}

void add_spatial_factoring(std::vector<Recipe>& list) {
  const auto add = [&](const char* name, int id, int max_iterations,
                       std::function<void(SolverOptions&)> adjust = {}) {
    list.push_back({name, id, ProblemKind::kLocalFriction, 3, Storage::kSparse, max_iterations,
                    1 << 30, std::move(adjust)});
  };
  constexpr int kNewton = SICONOS_FRICTION_3D_NSN_AC;
  add("NSN_AC", kNewton, kManyNewtonSteps);
  add("NSN_AC_JM", kNewton, kManyNewtonSteps,
      with(SICONOS_FRICTION_3D_NSN_FORMULATION,
           SICONOS_FRICTION_3D_NSN_FORMULATION_JEANMOREAU_STD));
  add("NSN_AC_VIEG", kNewton, kManyNewtonSteps,
      with(SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY,
           SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_VI_EG_NSN));
  add("NSN_FB", SICONOS_FRICTION_3D_NSN_FB, kManyNewtonSteps);
  add("NSN_NM", SICONOS_FRICTION_3D_NSN_NM, kManyNewtonSteps);
  add("PROX", SICONOS_FRICTION_3D_PROX, 0);
  add("ADMM", SICONOS_FRICTION_3D_ADMM, kManySweeps);
  add("ADMM_BAL", SICONOS_FRICTION_3D_ADMM, kManySweeps,
      with(SICONOS_FRICTION_3D_ADMM_IPARAM_RHO_STRATEGY,
           SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_RESIDUAL_BALANCING));
}

/// What factors matrices does so faster with small dense ones.
void add_dense_variants(std::vector<Recipe>& list) {
  const std::size_t count = list.size();
  for (std::size_t i = 0; i < count; ++i) {
    Recipe recipe = list[i];
    if (recipe.storage != Storage::kSparse) continue;
    recipe.name += "_DENSE";
    recipe.storage = Storage::kDense;
    recipe.max_size = 200;
    list.push_back(std::move(recipe));
  }
}

void add_planar(std::vector<Recipe>& list) {
  const auto add = [&](const char* name, int id, Storage storage, int max_iterations,
                       int max_size) {
    list.push_back(
        {name, id, ProblemKind::kLocalFriction, 2, storage, max_iterations, max_size, {}});
  };
  constexpr int kDenseSize = 1600;
  add("NSGS", SICONOS_FRICTION_2D_NSGS, Storage::kBlocks, kManySweeps, 1 << 30);
  add("NSGS_DENSE", SICONOS_FRICTION_2D_NSGS, Storage::kDense, kManySweeps, kDenseSize);
  add("CPG", SICONOS_FRICTION_2D_CPG, Storage::kDense, kManySweeps, kDenseSize);
  add("LEMKE", SICONOS_FRICTION_2D_LEMKE, Storage::kDense, kManyPivots, kDenseSize);
  add("ENUM", SICONOS_FRICTION_2D_ENUM, Storage::kDense, 0, 12);
}

void add_global(std::vector<Recipe>& list) {
  const auto add = [&](const char* name, int id, int max_iterations) {
    list.push_back(
        {name, id, ProblemKind::kGlobalFriction, 3, Storage::kSparse, max_iterations, 1 << 30, {}});
  };
  add("NSGS_WR", SICONOS_GLOBAL_FRICTION_3D_NSGS_WR, kManySweeps);
  add("PROX_WR", SICONOS_GLOBAL_FRICTION_3D_PROX_WR, 0);
  add("DSFP_WR", SICONOS_GLOBAL_FRICTION_3D_DSFP_WR, kManySweeps);
  add("TFP_WR", SICONOS_GLOBAL_FRICTION_3D_TFP_WR, kManySweeps);
  add("NSN_AC_WR", SICONOS_GLOBAL_FRICTION_3D_NSN_AC_WR, kManyNewtonSteps);
  add("ADMM_WR", SICONOS_GLOBAL_FRICTION_3D_ADMM_WR, kManySweeps);
  add("NSGS", SICONOS_GLOBAL_FRICTION_3D_NSGS, kManySweeps);
  add("NSN_AC", SICONOS_GLOBAL_FRICTION_3D_NSN_AC, kManyNewtonSteps);
  add("VI_FPP", SICONOS_GLOBAL_FRICTION_3D_VI_FPP, kManySweeps);
  add("VI_EG", SICONOS_GLOBAL_FRICTION_3D_VI_EG, kManySweeps);
  add("ACLMFP", SICONOS_GLOBAL_FRICTION_3D_ACLMFP, kManySweeps);
  add("ADMM", SICONOS_GLOBAL_FRICTION_3D_ADMM, kManySweeps);
  add("IPM", SICONOS_GLOBAL_FRICTION_3D_IPM, 0);
}

void add_lcp(std::vector<Recipe>& list) {
  const auto add = [&](const char* name, int id, int max_iterations, int max_size = 1 << 30) {
    list.push_back({name, id, ProblemKind::kLcp, 0, Storage::kDense, max_iterations, max_size, {}});
  };
  add("LEMKE", SICONOS_LCP_LEMKE, kManyPivots);
  add("PIVOT", SICONOS_LCP_PIVOT, kManyPivots);
  add("PIVOT_LUMOD", SICONOS_LCP_PIVOT_LUMOD, kManyPivots);
  add("BARD", SICONOS_LCP_BARD, kManyPivots);
  add("MURTY", SICONOS_LCP_MURTY, kManyPivots);
  add("PATHSEARCH", SICONOS_LCP_PATHSEARCH, 0);
  add("ENUM", SICONOS_LCP_ENUM, 0, 24);
  add("PGS", SICONOS_LCP_PGS, kManySweeps);
  add("RPGS", SICONOS_LCP_RPGS, kManySweeps);
  add("PSOR", SICONOS_LCP_PSOR, kManySweeps);
  add("CPG", SICONOS_LCP_CPG, kManySweeps);
  add("LATIN", SICONOS_LCP_LATIN, kManySweeps);
  add("LATIN_W", SICONOS_LCP_LATIN_W, kManySweeps);
  add("NEWTONMIN", SICONOS_LCP_NEWTONMIN, kManyNewtonSteps);
  add("NEWTON_FB", SICONOS_LCP_NEWTON_FB_FBLSA, kManyNewtonSteps);
  add("NEWTON_MIN", SICONOS_LCP_NEWTON_MIN_FBLSA, kManyNewtonSteps);
  add("AVI", SICONOS_LCP_AVI_CAOFERRIS, kManyPivots);
}

void add_mlcp(std::vector<Recipe>& list) {
  const auto add = [&](const char* name, int id, int max_iterations, int max_size = 1 << 30) {
    list.push_back(
        {name, id, ProblemKind::kMlcp, 0, Storage::kDense, max_iterations, max_size, {}});
  };
  add("LCP_LEMKE", SICONOS_MLCP_LCP_LEMKE, kManyPivots);
  add("PGS", SICONOS_MLCP_PGS, kManySweeps);
  add("RPGS", SICONOS_MLCP_RPGS, kManySweeps);
  add("PSOR", SICONOS_MLCP_PSOR, kManySweeps);
  add("RPSOR", SICONOS_MLCP_RPSOR, kManySweeps);
  add("ENUM", SICONOS_MLCP_ENUM, 0, 60);
  add("DIRECT_ENUM", SICONOS_MLCP_DIRECT_ENUM, 0, 60);
  add("SIMPLEX", SICONOS_MLCP_SIMPLEX, 0);
  add("DIRECT_SIMPLEX", SICONOS_MLCP_DIRECT_SIMPLEX, 0);
  add("FB", SICONOS_MLCP_FB, kManyNewtonSteps);
  add("DIRECT_FB", SICONOS_MLCP_DIRECT_FB, kManyNewtonSteps);
}

}  // namespace

Contenders make_siconos_contenders() {
  std::vector<Recipe> list;
  add_spatial_sweeps(list);
  add_spatial_factoring(list);
  add_dense_variants(list);
  add_planar(list);
  add_global(list);
  add_lcp(list);
  add_mlcp(list);
  Contenders contenders;
  for (Recipe& recipe : list)
    contenders.push_back(std::make_unique<SiconosContender>(std::move(recipe)));
  return contenders;
}

}  // namespace stiction::bench
