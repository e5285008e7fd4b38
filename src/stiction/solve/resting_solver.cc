#include "stiction/solve/resting_solver.h"

#include <algorithm>
#include <cmath>

#include "stiction/base/same_bits.h"

namespace stiction {
namespace {

/// To what the certificate of things at rest has to come: a few thousand times rounding, and far
/// below any tolerance of a step. (T37)
constexpr double kRestPrecision = 1e-12;

/// Islands with more than this share of the energy that forces alone would give them, or twice
/// what a solver is forgiven, are not asked whether they could rest: they move.
constexpr double kStillness = 1e-8, kForgiven = 2;

bool has_impulses(const StepProblem& problem, const StepSolution& solution) {
  return static_cast<int>(solution.lambda.size()) == problem.num_bilateral() &&
         static_cast<int>(solution.r.size()) == problem.num_contact_rows();
}

bool is_zero(const StepProblem& problem, int block) {
  const double* p = problem.p.data() + problem.dof_start[block];
  return std::all_of(p, p + problem.block_size(block), [](double x) { return x == 0; });
}

}  // namespace

RestingSolver::RestingSolver(std::unique_ptr<Solver> solver, const Options& options)
    : solver_(std::move(solver)),
      options_(options),
      finder_(std::min(kRestPrecision, options.tolerance)) {}

void RestingSolver::begin_step(std::span<const char> is_still, bool looks_for_rest) {
  is_still_.assign(is_still.begin(), is_still.end());
  rests_ = is_still_;
  looks_for_rest_ = looks_for_rest;
  changed_.clear();
  if (last_step_ != nullptr) previous_p_ = last_step_->p;
  last_step_ = nullptr;
}

bool RestingSolver::is_steady(int block) const {
  const int first = last_step_->dof_start[block], size = last_step_->block_size(block);
  return previous_p_.size() == last_step_->p.size() &&
         std::equal(previous_p_.begin() + first, previous_p_.begin() + first + size,
                    last_step_->p.begin() + first);
}

bool RestingSolver::has_resting_blocks() const {
  return std::find(rests_.begin(), rests_.end(), 1) != rests_.end();
}

bool RestingSolver::has_still_blocks() const {
  return std::find(is_still_.begin(), is_still_.end(), 1) != is_still_.end();
}

SolverReport RestingSolver::solve(const StepProblem& problem, StepSolution& solution) {
  parts_.clear();
  num_resting_ = 0;
  const bool is_step = problem.h > 0;
  if (is_step) last_step_ = &problem;
  const bool looks = looks_for_rest_ && is_step;
  const bool fits = static_cast<int>(is_still_.size()) == problem.num_blocks();
  if (!fits || !problem.coupling.is_empty() || (!has_still_blocks() && !looks)) {
    std::fill(rests_.begin(), rests_.end(), 0);
    return solve_whole(problem, solution);
  }
  if (num_groups_ > 0 && is_step && !is_unchanged(problem)) {
    solution.set_zero(problem);
    is_moving_.assign(problem.num_blocks(), 0);
    moving_.extract(problem, is_moving_);
    moving_.gather(problem, solution);
    parts_.push_back({&moving_.problem, &moving_.solution});
    return {};
  }
  if (has_impulses(problem, solution))
    solution.w.assign(problem.num_dofs(), 0.0);
  else
    solution.set_zero(problem);
  SolverReport report;
  islands_.find(problem);
  find_resting(problem, solution, report);
  if (num_resting_ == 0 && num_groups_ == 0) {
    report = solve_whole(problem, solution);
  } else {
    solve_moving(problem, solution, report);
  }
  if (looks) stop_what_may_rest(problem, solution, report);
  if (is_step && has_resting_blocks()) last_answer_ = solution;
  return report;
}

SolverReport RestingSolver::solve_whole(const StepProblem& problem, StepSolution& solution) {
  solution.w.clear();
  if (!solver_->profits_from_starts() || !has_impulses(problem, solution)) {
    solution.lambda.clear();
    solution.r.clear();
  }
  return solver_->solve(problem, solution);
}

// -------------------------------------------------------------------------------------------------
// What rests

/// Marks what is left to the solver in is_moving_, and in rests_ what does not rest any more.
void RestingSolver::find_resting(const StepProblem& problem, const StepSolution& start,
                                 SolverReport& report) {
  is_moving_.assign(problem.num_blocks(), 1);
  for (int island = 0; island < islands_.num_islands(); ++island) {
    const std::span<const int> blocks = islands_.blocks(island);
    if (blocks.empty()) continue;
    const bool is_asleep = group_of(blocks.front()) >= 0;
    const bool is_still =
        std::all_of(blocks.begin(), blocks.end(), [&](int b) { return is_still_[b] != 0; });
    if (!is_asleep && !(is_still && try_rest(problem, island, start, report))) continue;
    for (const int b : blocks) is_moving_[b] = 0;
  }
  for (const int b : islands_.loose_blocks())
    if (group_of(b) >= 0 || (is_still_[b] != 0 && is_zero(problem, b))) is_moving_[b] = 0;
  for (int b = 0; b < problem.num_blocks(); ++b)
    if (is_moving_[b] != 0) rests_[b] = 0;
}

RestingSolver::Resting& RestingSolver::add_resting() {
  if (num_resting_ == static_cast<int>(resting_.size()))
    resting_.push_back(std::make_unique<Resting>());
  return *resting_[num_resting_++];
}

/// An island that has the answer w = 0 is among resting_ afterwards.
bool RestingSolver::try_rest(const StepProblem& problem, int island, const StepSolution& start,
                             SolverReport& report) {
  Resting& resting = add_resting();
  resting.island = island;
  islands_.extract(problem, island, resting.problem);
  islands_.gather(problem, island, start, resting.solution);
  const int iterations = finder_.find(resting.problem, resting.solution);
  if (iterations < 0) {
    --num_resting_;
    return false;
  }
  report.iterations += iterations;
  return true;
}

void RestingSolver::solve_moving(const StepProblem& problem, StepSolution& solution,
                                 SolverReport& report) {
  moving_.extract(problem, is_moving_);
  moving_.gather(problem, solution);
  const int iterations = report.iterations;
  if (moving_.problem.num_blocks() > 0 || moving_.problem.num_rows() > 0) {
    report = solve_whole(moving_.problem, moving_.solution);
    report.iterations += iterations;
  }
  put_together(problem, solution);
  parts_.push_back({&moving_.problem, &moving_.solution});
  for (int k = 0; k < num_resting_; ++k)
    parts_.push_back({&resting_[k]->problem, &resting_[k]->solution,
                      islands_.blocks(resting_[k]->island).front()});
}

/// The whole answer from those of its parts.
void RestingSolver::put_together(const StepProblem& problem, StepSolution& solution) {
  solution.set_zero(problem);
  moving_.scatter(problem, solution);
  for (int k = 0; k < num_resting_; ++k)
    islands_.scatter(problem, resting_[k]->island, resting_[k]->solution, solution);
  if (num_groups_ == 0 || !(problem.h > 0)) return;
  next_impulse_.assign(groups_.size(), 0);
  visit_rows_of_groups(problem, [&](int group, const BlockRows& rows, int row_block) {
    double* to = &rows == &problem.bilateral ? &solution.lambda[row_block]
                                             : &solution.r[rows.row_start(row_block)];
    for (int i = 0; i < rows.num_rows(row_block); ++i)
      to[i] = groups_[group].impulses[next_impulse_[group]++];
  });
}

// -------------------------------------------------------------------------------------------------
// What nearly rests

bool RestingSolver::nearly_rests(const StepProblem& problem, int island,
                                 const StepSolution& solution) const {
  double energy = 0, free_energy = 0;
  for (const int b : islands_.blocks(island)) {
    const int first = problem.dof_start[b], n = problem.block_size(b);
    const ConstRowMatrixMap mass = problem.mass_block(b);
    for (int k = 0; k < n; ++k) {
      energy += std::abs(mass(k, k)) * solution.w[first + k] * solution.w[first + k];
      free_energy += problem.p[first + k] * problem.p[first + k] / std::abs(mass(k, k));
    }
  }
  return energy <= std::max(kStillness, kForgiven * options_.tolerance) * free_energy;
}

/// Gives islands that hardly move the answer w = 0 where it is one.
void RestingSolver::stop_what_may_rest(const StepProblem& problem, StepSolution& solution,
                                       SolverReport& report) {
  if (!report.has_answer) return;
  bool has_stopped = false;
  const int num_kept = num_resting_;
  for (int island = 0; island < islands_.num_islands(); ++island) {
    const std::span<const int> blocks = islands_.blocks(island);
    if (blocks.empty() || is_moving_[blocks.front()] == 0) continue;
    if (!nearly_rests(problem, island, solution) || !try_rest(problem, island, solution, report))
      continue;
    islands_.scatter(problem, island, resting_[num_resting_ - 1]->solution, solution);
    num_resting_ = num_kept;
    has_stopped = true;
  }
  if (has_stopped && !parts_.empty()) moving_.gather(problem, solution);
}

// -------------------------------------------------------------------------------------------------
// What sleeps

/// visit(group, rows, row block) for all rows that touch a block which sleeps.
template <class Visit>
void RestingSolver::visit_rows_of_groups(const StepProblem& problem, const Visit& visit) const {
  for (const BlockRows* rows : {&problem.bilateral, &problem.contacts})
    for (int i = 0; i < rows->num_row_blocks(); ++i) {
      if (rows->entry_start(i) == rows->entry_start(i + 1)) continue;
      const int group = group_of_[rows->entry_block(rows->entry_start(i))];
      const bool is_detected =
          rows == &problem.contacts && problem.key[i] >= options_.first_detected_key;
      if (group >= 0 && !is_detected) visit(group, *rows, i);
    }
}

/// All numbers that the answer w = 0 depends on, per group. M̂ is not among them, since M̂w is
/// zero, nor are compliances, which follow from it or from the model.
void RestingSolver::sign(const StepProblem& problem,
                         std::vector<std::vector<double>>& signatures) const {
  if (signatures.size() < groups_.size()) signatures.resize(groups_.size());
  for (auto& signature : signatures) signature.clear();
  for (int b = 0; b < problem.num_blocks(); ++b) {
    if (group_of_[b] < 0) continue;
    const auto p = problem.p.begin() + problem.dof_start[b];
    signatures[group_of_[b]].insert(signatures[group_of_[b]].end(), p, p + problem.block_size(b));
  }
  visit_rows_of_groups(problem, [&](int group, const BlockRows& rows, int i) {
    std::vector<double>& signature = signatures[group];
    if (&rows == &problem.bilateral) {
      signature.insert(signature.end(), {problem.bias[i], problem.lower[i], problem.upper[i]});
    } else {
      const auto bias = problem.contact_bias.begin() + rows.row_start(i);
      signature.insert(signature.end(), bias, bias + rows.num_rows(i));
      signature.push_back(problem.mu[i]);
    }
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
      const double* values = rows.entry_values(e);
      signature.push_back(rows.entry_block(e));
      signature.insert(
          signature.end(), values,
          values + static_cast<std::ptrdiff_t>(rows.num_rows(i)) * rows.entry_columns(e));
    }
  });
}

bool RestingSolver::is_unchanged(const StepProblem& problem) {
  sign(problem, signatures_);
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g].is_in_use && !is_same_bits(signatures_[g], groups_[g].signature) &&
        std::find(changed_.begin(), changed_.end(), static_cast<int>(g)) == changed_.end())
      changed_.push_back(static_cast<int>(g));
  return changed_.empty();
}

int RestingSolver::put_to_sleep(std::span<const int> blocks) {
  std::size_t group = 0;
  while (group < groups_.size() && groups_[group].is_in_use) ++group;
  if (group == groups_.size()) groups_.emplace_back();
  group_of_.resize(is_still_.size(), -1);
  for (const int b : blocks) group_of_[b] = static_cast<int>(group);
  groups_[group].is_in_use = groups_[group].is_new = true;
  ++num_groups_;
  return static_cast<int>(group);
}

void RestingSolver::keep_new_groups() {
  sign(*last_step_, signatures_);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (!groups_[g].is_new) continue;
    groups_[g].signature = signatures_[g];
    groups_[g].impulses.clear();
  }
  visit_rows_of_groups(*last_step_, [&](int of, const BlockRows& rows, int i) {
    Group& group = groups_[of];
    if (!group.is_new) return;
    const bool is_bilateral = &rows == &last_step_->bilateral;
    const auto from =
        is_bilateral ? last_answer_.lambda.begin() + i : last_answer_.r.begin() + rows.row_start(i);
    group.impulses.insert(group.impulses.end(), from, from + rows.num_rows(i));
  });
  for (Group& group : groups_) group.is_new = false;
}

void RestingSolver::wake(int group) {
  groups_[group].is_in_use = false;
  --num_groups_;
  for (int& of : group_of_)
    if (of == group) of = -1;
}

}  // namespace stiction
