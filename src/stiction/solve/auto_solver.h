// The solver for those who do not want to choose. Per island of the problem (islands.h):
//
//   the start, if it already passes: no iterations
//   of joint systems, block LU factors with guessed statuses (direct_attempt.h), as a whole first
//   the cheapest solver that should do: pivoting for small problems with flat friction sections,
//     Gauss–Seidel sweeps for the others
//   a chain of slower and more robust ones, until the judge (acceptance.h) is content
//
// The judge has the last word on the whole problem, too: islands that hardly move may stay rougher
// than they would have to be alone. If nothing reaches the tolerance the best answer is returned
// with kMaxIterations, or with kInfeasible if rows are found that contradict each other
// (contradiction.h). Deterministic: all choices depend on the problem and the start alone, never on
// threads, nor on time unless a time limit is set. See docs/solvers/auto.md.
#pragma once

#include <memory>
#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/base/worker_pool.h"
#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"
#include "stiction/solve/direct_attempt.h"
#include "stiction/solve/islands.h"
#include "stiction/solve/quick_lcp.h"

namespace stiction {

struct AutoOptions {
  double tolerance = 1e-10;  // [-] of the measure
  StoppingMeasure measure = StoppingMeasure::kCertificate;
  /// What will do, in the same measure, before the slowest methods are tried; 0: the tolerance.
  double acceptable = 0;
  /// Answers are the same for any number of threads.
  int num_threads = 1;
  std::shared_ptr<WorkerPool> workers{};  // these instead, which others use, too

  /// Steps follow each other: errors that a step is forgiven may add up.
  bool is_for_steps() const { return measure == StoppingMeasure::kCertificate && acceptable > 0; }
};

class AutoTeam;

class AutoSolver final : public Solver {
 public:
  explicit AutoSolver(const AutoOptions& options = {});
  ~AutoSolver() override;

  std::string_view name() const override { return "auto"; }
  /// `stage` of the report counts the fallbacks that the most difficult island took.
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;
  void set_time_limit(double seconds) override { max_seconds_ = seconds; }
  bool profits_from_starts() const override { return options_.is_for_steps(); }
  const Certifier* certifier() const override;

 private:
  /// What a thread needs to solve islands.
  struct Desk;
  /// What became of an island at a level.
  struct Outcome {
    bool was_tried = false, is_done = false;
    SolverReport report;
  };
  bool is_solved_at_once(const StepProblem& problem, StepSolution& solution, SolverReport& report);
  static void prepare_start(const StepProblem& problem, StepSolution& solution);
  bool is_start_accepted(const StepProblem& problem, const StepSolution& solution);
  bool is_late(const SolverReport& report) const;
  bool is_worth_splitting() const;
  bool solve_whole(const StepProblem& problem, int level, double best, SolverReport& report,
                   StepSolution& solution);
  bool solve_islands(const StepProblem& problem, SolverReport& report, StepSolution& solution);
  bool run_islands(const StepProblem& problem, std::vector<Desk>& desks, SolverReport& report,
                   StepSolution& solution);
  int run_level(const StepProblem& problem, int level, std::vector<Desk>& desks,
                SolverReport& report, StepSolution& solution);
  void run_island(const StepProblem& problem, int island, int level, Desk& desk, Outcome& outcome,
                  StepSolution& solution);
  void hold_ground(const StepProblem& problem, SolverReport& report, StepSolution& solution);
  bool has_ground() const;
  void return_to_ground(const StepProblem& problem, StepSolution& solution);
  void take_velocities(const StepProblem& problem, StepSolution& solution);
  void gather_velocities(const StepProblem& problem, int island, std::vector<double>& out) const;
  void move_loose_blocks(const StepProblem& problem, StepSolution& solution);
  SolverReport admit_failure(const StepProblem& problem, SolverReport report,
                             StepSolution& solution) const;

  AutoOptions options_;
  std::shared_ptr<WorkerPool> pool_;
  double max_seconds_ = 0;
  Deadline deadline_;
  Acceptance acceptance_;
  std::unique_ptr<QuickLcp> quick_;
  std::unique_ptr<DirectAttempt> direct_;
  std::unique_ptr<AutoTeam> whole_;
  std::vector<Desk> desks_;   // one per thread and one for all of them, made when needed
  std::vector<Desk> strict_;  // for islands whose errors add up to too much
  std::vector<Outcome> outcomes_;
  Islands islands_;
  std::vector<int> pending_;          // islands without an accepted answer
  std::vector<int> shared_, single_;  // places in pending_ of large and of other islands
  std::vector<double> level_of_;      // measure of the best answer of an island
  StepSolution start_;                // what the caller gave
  /// Under a time limit an answer that is held on to, with its measure; infinite: there is none.
  StepSolution ground_;
  double ground_level_ = 0;
  double least_time_ = 0;       // [s] below which no other method is begun
  std::vector<double> before_;  // velocities of the step before; none: not known
  std::vector<double> lu_;      // of a loose block
  std::vector<int> swap_;
};

}  // namespace stiction
