// A solver that leaves out what rests. Islands of bodies without velocity whose step problem has
// the answer w = 0 with the impulses of the step before (rest_finder.h) get that answer, the rest
// of the problem goes to another solver. Every so often islands that hardly move are asked whether
// they could do without: then w = 0 takes the place of the answer that the solver found.
//
// Groups of blocks may sleep: somebody has seen that all that their problem is made of stays as it
// is. Their contacts between shapes are not in the problem any more; what is, momenta and rows of
// joints, is compared to the bit with what it was, and the answer is the old one. A group that has
// changed is reported, and the answer to that problem is of no use.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stiction/problem/solver.h"
#include "stiction/solve/islands.h"
#include "stiction/solve/problem_part.h"
#include "stiction/solve/rest_finder.h"

namespace stiction {

class RestingSolver final : public Solver {
 public:
  struct Options {
    double tolerance = 1e-9;  // [-] of the certificate of a step
    /// Contacts with keys below it remain in the problem while their bodies sleep.
    std::uint64_t first_detected_key = 0;
  };
  RestingSolver(std::unique_ptr<Solver> solver, const Options& options);

  /// Before a step is tried: which blocks have no velocity, and whether to look for more that could
  /// do without.
  void begin_step(std::span<const char> is_still, bool looks_for_rest);

  std::string_view name() const override { return solver_->name(); }
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;
  void set_time_limit(double seconds) override { solver_->set_time_limit(seconds); }
  /// Whether things rest is asked of the impulses of the step before.
  bool profits_from_starts() const override { return true; }
  bool takes_section(const FrictionSection& section) const override {
    return solver_->takes_section(section);
  }
  bool takes_nonsymmetric_masses() const override { return solver_->takes_nonsymmetric_masses(); }
  const Certifier* certifier() const override { return solver_->certifier(); }
  std::span<const SolvedPart> parts() const override { return parts_; }
  bool depends_on_problem_alone() const override { return false; }

  /// Whether a block had no velocity at the start of the step and got none by any of its problems.
  bool rests(int block) const { return rests_[block] != 0; }
  bool has_resting_blocks() const;
  /// Whether its momentum in last_step() is that of the step tried before, to the bit: what a force
  /// changes in every step is not worth being put to sleep.
  bool is_steady(int block) const;
  /// The step problem that was solved last, with h > 0; null if there is none.
  const StepProblem* last_step() const { return last_step_; }
  /// Of the problem solved last: what goes to the other solver.
  const StepProblem& moving_problem(const StepProblem& whole) const {
    return parts_.empty() ? whole : moving_.problem;
  }

  /// Puts blocks to sleep that rest; they must not share a row of last_step() with others. Returns
  /// the number of the group.
  int put_to_sleep(std::span<const int> blocks);
  /// To be called once after groups were put to sleep.
  void keep_new_groups();
  void wake(int group);
  /// The group of a block, −1 if it is awake.
  int group_of(int block) const { return group_of_.empty() ? -1 : group_of_[block]; }
  /// Groups whose part of a problem was not what it had been, since begin_step().
  const std::vector<int>& changed_groups() const { return changed_; }

 private:
  struct Group {
    bool is_in_use = false, is_new = false;
    std::vector<double> signature;  // all numbers of its part of the problem but M̂ and C
    std::vector<double> impulses;   // of its rows
  };
  /// An island at rest.
  struct Resting {
    StepProblem problem;
    StepSolution solution;
    int island = 0;
  };

  template <class Visit>
  void visit_rows_of_groups(const StepProblem& problem, const Visit& visit) const;
  bool is_unchanged(const StepProblem& problem);
  void sign(const StepProblem& problem, std::vector<std::vector<double>>& signatures) const;
  bool has_still_blocks() const;
  void find_resting(const StepProblem& problem, const StepSolution& start, SolverReport& report);
  bool try_rest(const StepProblem& problem, int island, const StepSolution& start,
                SolverReport& report);
  void solve_moving(const StepProblem& problem, StepSolution& solution, SolverReport& report);
  void put_together(const StepProblem& problem, StepSolution& solution);
  void stop_what_may_rest(const StepProblem& problem, StepSolution& solution, SolverReport& report);
  bool nearly_rests(const StepProblem& problem, int island, const StepSolution& solution) const;
  SolverReport solve_whole(const StepProblem& problem, StepSolution& solution);
  Resting& add_resting();

  std::unique_ptr<Solver> solver_;
  Options options_;
  RestFinder finder_;
  Islands islands_;
  ProblemPart moving_;
  std::vector<char> is_still_, rests_, is_moving_;  // per block
  bool looks_for_rest_ = false;
  std::vector<std::unique_ptr<Resting>> resting_;  // the first num_resting_ of them
  int num_resting_ = 0;
  std::vector<SolvedPart> parts_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;  // per block; empty: nobody sleeps
  int num_groups_ = 0;         // in use
  std::vector<int> changed_;
  std::vector<std::vector<double>> signatures_;  // scratch
  std::vector<std::size_t> next_impulse_;        // of every group, scratch
  const StepProblem* last_step_ = nullptr;
  std::vector<double> previous_p_;  // of the step tried before
  StepSolution last_answer_;        // to it, where something rests
};

}  // namespace stiction
