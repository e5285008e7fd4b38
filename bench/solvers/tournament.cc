#include "bench/solvers/tournament.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction::bench {
namespace {

bool is_solved(const Trial& trial) { return trial.result.status == TrialResult::Status::kSolved; }

/// The time that one more rival is worth.
double allowed_seconds(const ProblemRecord& record, const Contender& contender, double tolerance,
                       const TournamentOptions& options) {
  const Trial* best = record.best(contender.library(), tolerance);
  if (best == nullptr || options.patience <= 0) return options.time_limit;
  return std::min(options.time_limit, std::max(1.0, options.patience * best->result.seconds));
}

}  // namespace

const Trial* ProblemRecord::best(const std::string& library, double tolerance) const {
  const Trial* fastest = nullptr;
  for (const Trial& trial : trials)
    if (trial.library == library && trial.tolerance == tolerance && is_solved(trial) &&
        (fastest == nullptr || trial.result.seconds < fastest->result.seconds))
      fastest = &trial;
  return fastest;
}

const Trial* ProblemRecord::find(const std::string& library, const std::string& solver,
                                 double tolerance) const {
  for (const Trial& trial : trials)
    if (trial.library == library && trial.solver == solver && trial.tolerance == tolerance)
      return &trial;
  return nullptr;
}

ProblemRecord run_problem(const ProblemFile& file, const std::string& folder,
                          const Contenders& contenders, const TournamentOptions& options,
                          const Progress& progress) {
  ProblemRecord record{
      folder, file.title, file.kind, file.problem.num_contacts(), file.problem.num_rows(), {}};
  for (const auto& contender : contenders) {
    if (!contender->takes(file)) continue;
    for (const double tolerance : options.tolerances) {
      // Auto is never hurried: it stands for what a user gets.
      const double seconds = contender->name() == "auto"
                                 ? options.time_limit
                                 : allowed_seconds(record, *contender, tolerance, options);
      Trial trial{contender->library(), contender->name(), tolerance,
                  run_trial(*contender, file, tolerance, seconds)};
      record.trials.push_back(trial);
      progress(record, trial);
      // What is too slow for a loose tolerance is so for a tight one, if it had all the time.
      const bool was_hurried = seconds < options.time_limit;
      if (trial.result.status == TrialResult::Status::kTimeout && !was_hurried) break;
    }
  }
  return record;
}

Comparison compare(const std::vector<ProblemRecord>& records, const std::string& our_solver,
                   double tolerance) {
  Comparison result;
  result.tolerance = tolerance;
  result.worst = std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const ProblemRecord& record : records) {
    const Trial* ours = record.find(kOurLibrary, our_solver, tolerance);
    const Trial* theirs = record.best(kSiconos, tolerance);
    const bool do_we = ours != nullptr && is_solved(*ours);
    ++result.problems;
    result.solved_by_us += do_we ? 1 : 0;
    result.solved_by_them += theirs != nullptr ? 1 : 0;
    if (!do_we || theirs == nullptr) continue;
    const double ratio = theirs->result.seconds / ours->result.seconds;
    ++result.compared;
    sum += std::log(ratio);
    constexpr double kShort = 1e-3;
    const bool counts = std::max(theirs->result.seconds, ours->result.seconds) > kShort;
    if (counts && ratio < result.worst) {
      result.worst = ratio;
      result.worst_problem = record.problem;
    }
  }
  result.geometric_mean = result.compared > 0 ? std::exp(sum / result.compared) : 0;
  return result;
}

}  // namespace stiction::bench
