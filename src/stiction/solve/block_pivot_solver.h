// Solves step problems by block principal pivoting (block_pivot_lcp.h) on the rows themselves, as
// bounded variables: joints free, motors and limits between their bounds, normals in [0, ∞),
// tangents between ±μν with ν of the last round of an outer iteration. From the states of every
// round a search with the bounds linked to ν is made; where it ends, the answer is exact.
//
// Without friction and with a positive semidefinite Delassus matrix the method ends with a solution
// (singular matrices are regularised and the rest removed by proximal steps). With friction the
// outer iteration converges for small coupling of normals and tangents and may fail for large; it
// says so. Takes planar contacts and box sections; refuses polygons and discs with two tangents.
#pragma once

#include <memory>

#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"

namespace stiction {

struct BlockPivotSolverOptions {
  int max_outer = 100;       // rounds of the friction bounds
  int block_rounds = 10;     // see BlockPivotOptions
  double tolerance = 1e-10;  // [-] of the measure, which decides about every answer
  StoppingMeasure measure = StoppingMeasure::kCertificate;
};

class BlockPivotSolver : public Solver {
 public:
  explicit BlockPivotSolver(const BlockPivotSolverOptions& options = {});
  ~BlockPivotSolver() override;

  std::string_view name() const override { return "block-pivot"; }
  /// `stage` of the report: 0 as it is; 1, 2 with a regularised matrix and proximal steps, more so
  /// in 2. An answer that misses the tolerance is the best one found, with kMaxIterations or, after
  /// a circle of states or a singular matrix, kNoSolution.
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;
  void set_time_limit(double seconds) override { max_seconds_ = seconds; }
  bool takes_section(const FrictionSection& section) const override {
    return section.kind == FrictionSection::Kind::kBox;
  }

 private:
  struct Workspace;
  void run(const StepProblem& problem, StepSolution& solution, int stage);

  BlockPivotSolverOptions options_;
  double max_seconds_ = 0;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace stiction
