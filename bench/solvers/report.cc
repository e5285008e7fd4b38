#include "bench/solvers/report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace stiction::bench {
namespace {

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", 1e6 * seconds);
  if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} s", seconds);
}

std::string cell(const Trial* trial, bool with_name) {
  if (trial == nullptr) return "–";
  const TrialResult& result = trial->result;
  if (result.status == TrialResult::Status::kInaccurate)
    return fmt::format("error {:.1e}", result.error);
  if (result.status != TrialResult::Status::kSolved) return to_text(result.status);
  const std::string time = time_text(result.seconds);
  return with_name ? fmt::format("{} {}", trial->solver, time) : time;
}

std::string summary_table(const std::vector<ProblemRecord>& records,
                          const TournamentOptions& options) {
  std::string text =
      "| tolerance | problems | solved by auto | by a rival | compared | geometric mean of "
      "rival / auto | least ratio above 1 ms |\n|---|---|---|---|---|---|---|\n";
  for (const double tolerance : options.tolerances) {
    const Comparison c = compare(records, "auto", tolerance);
    text += fmt::format(
        "| {:g} | {} | {} | {} | {} | {} | {} |\n", tolerance, c.problems, c.solved_by_us,
        c.solved_by_them, c.compared,
        c.compared > 0 ? fmt::format("{:.3g}", c.geometric_mean) : "–",
        c.worst_problem.empty() ? "–" : fmt::format("{:.3g} ({})", c.worst, c.worst_problem));
  }
  return text;
}

std::string problem_table(const std::vector<ProblemRecord>& records, double tolerance) {
  std::string text = fmt::format(
      "\n## Tolerance {:g}\n\n"
      "| problem | kind | contacts | auto | error | residual | our fastest | fastest rival | "
      "rival / auto |\n|---|---|---|---|---|---|---|---|---|\n",
      tolerance);
  for (const ProblemRecord& record : records) {
    const Trial* ours = record.find(kOurLibrary, "auto", tolerance);
    const Trial* rival = record.best(kSiconos, tolerance);
    const bool is_comparable =
        ours != nullptr && rival != nullptr && ours->result.status == TrialResult::Status::kSolved;
    text += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", record.problem, to_text(record.kind),
        record.num_contacts, cell(ours, false),
        ours != nullptr ? fmt::format("{:.1e}", ours->result.error) : "–",
        ours != nullptr ? fmt::format("{:.1e}", ours->result.residual) : "–",
        cell(record.best(kOurLibrary, tolerance), true), cell(rival, true),
        is_comparable ? fmt::format("{:.2f}", rival->result.seconds / ours->result.seconds) : "–");
  }
  return text;
}

/// Infinity has no place in JSON.
nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

nlohmann::ordered_json to_object(const Trial& trial) {
  return {{"library", trial.library},
          {"solver", trial.solver},
          {"tolerance", trial.tolerance},
          {"status", to_text(trial.result.status)},
          {"seconds", trial.result.seconds},
          {"error", number(trial.result.error)},
          {"residual", number(trial.result.residual)},
          {"iterations", trial.result.iterations}};
}

}  // namespace

std::string to_markdown(const std::vector<ProblemRecord>& records,
                        const TournamentOptions& options) {
  std::string text = fmt::format(
      "# Solvers on stored problems\n\n"
      "One thread, cold start, at most {:g} s per solve; the least of several times, of the "
      "processor where it exceeds a millisecond. Solved means "
      "that the published error, recomputed from the answer, is within the tolerance. The residual "
      "is the certificate's, which does not depend on units. The rival is the fastest solver of "
      "Siconos for that very problem and tolerance.\n\n",
      options.time_limit);
  text += summary_table(records, options);
  for (const double tolerance : options.tolerances) text += problem_table(records, tolerance);
  return text;
}

std::string to_json(const std::vector<ProblemRecord>& records, const TournamentOptions& options) {
  nlohmann::ordered_json object;
  object["time_limit_s"] = options.time_limit;
  object["tolerances"] = options.tolerances;
  for (const double tolerance : options.tolerances) {
    const Comparison c = compare(records, "auto", tolerance);
    object["summary"].push_back({{"tolerance", tolerance},
                                 {"problems", c.problems},
                                 {"solved_by_auto", c.solved_by_us},
                                 {"solved_by_rivals", c.solved_by_them},
                                 {"compared", c.compared},
                                 {"geometric_mean_ratio", c.geometric_mean},
                                 {"least_ratio_above_1ms", number(c.worst)}});
  }
  object["problems"] = nlohmann::ordered_json::array();
  for (const ProblemRecord& record : records) {
    nlohmann::ordered_json trials = nlohmann::ordered_json::array();
    for (const Trial& trial : record.trials) trials.push_back(to_object(trial));
    object["problems"].push_back({{"folder", record.folder},
                                  {"problem", record.problem},
                                  {"kind", to_text(record.kind)},
                                  {"contacts", record.num_contacts},
                                  {"rows", record.num_rows},
                                  {"trials", trials}});
  }
  return object.dump(1) + "\n";
}

}  // namespace stiction::bench
