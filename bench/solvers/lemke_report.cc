#include "bench/solvers/lemke_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace stiction::bench {
namespace {

std::string group_of(const LemkeRecord& record) {
  return record.num_contacts == 0
             ? record.family
             : fmt::format("{}, {} contacts", record.family, record.num_contacts);
}

/// Rival over ours; nothing where one of the two has no answer.
std::optional<double> ratio(const LemkeRecord& record, const std::optional<LemkeTiming>& rival) {
  if (!rival || !rival->is_solved() || !record.ours.is_solved()) return {};
  return rival->seconds / record.ours.seconds;
}

LemkeSummary summarize_group(const std::vector<LemkeRecord>& records, const std::string& name) {
  LemkeSummary summary{.name = name};
  double sum = 0, least = std::numeric_limits<double>::infinity();
  int compared = 0;
  for (const LemkeRecord& record : records) {
    if (!name.empty() && group_of(record) != name) continue;
    ++summary.problems;
    summary.solved_by_us += record.ours.is_solved() ? 1 : 0;
    summary.solved_by_rival += record.driver && record.driver->is_solved() ? 1 : 0;
    if (const std::optional<double> r = ratio(record, record.driver)) {
      sum += std::log(*r);
      least = std::min(least, *r);
      ++compared;
    }
  }
  if (compared > 0) summary.mean = std::exp(sum / compared), summary.least = least;
  return summary;
}

std::string to_cell(const std::optional<LemkeTiming>& timing) {
  if (!timing) return "";
  return fmt::format("{:.4g}{}", 1e6 * timing->seconds, timing->is_solved() ? "" : " (unsolved)");
}

std::string to_cell(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "";
}

nlohmann::json describe(const LemkeTiming& timing) {
  return {{"seconds", timing.seconds},
          {"error", std::isfinite(timing.error) ? nlohmann::json(timing.error) : nlohmann::json()},
          {"solved", timing.is_solved()}};
}

}  // namespace

std::vector<LemkeSummary> summarize(const std::vector<LemkeRecord>& records) {
  std::vector<std::string> names;
  for (const LemkeRecord& record : records)
    if (std::find(names.begin(), names.end(), group_of(record)) == names.end())
      names.push_back(group_of(record));
  std::vector<LemkeSummary> summaries;
  for (const std::string& name : names) summaries.push_back(summarize_group(records, name));
  LemkeSummary all = summarize_group(records, "");
  all.name = "all";
  summaries.push_back(all);
  return summaries;
}

std::string to_markdown(const std::vector<LemkeRecord>& records) {
  std::string text =
      "# Lemke's method, ours and that of Siconos\n\n"
      "The same dense matrix and vector for both, prepared before the clock starts; least of many\n"
      "repetitions, one thread. A problem counts as solved with ‖min(z, Mz + q)‖/‖q‖ below 1e-10,\n"
      "computed here from either answer. Ratios are times of Siconos over ours, where both "
      "solved.\n"
      "Siconos has two entries: its driver, which checks what it returns as ours does, and the "
      "bare\n"
      "function behind it.\n\n"
      "| problems | number | solved by us | by Siconos | mean ratio | least ratio |\n"
      "|---|---|---|---|---|---|\n";
  for (const LemkeSummary& s : summarize(records))
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", s.name, s.problems, s.solved_by_us,
                        s.solved_by_rival, s.mean > 0 ? fmt::format("{:.3g}", s.mean) : "",
                        s.mean > 0 ? fmt::format("{:.3g}", s.least) : "");
  text +=
      "\n| problem | family | size | pivots | ours [µs] | error | driver [µs] | error | ratio | "
      "bare [µs] | ratio |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const LemkeRecord& r : records)
    text += fmt::format("| {} | {} | {} | {} | {} | {:.1e} | {} | {} | {} | {} | {} |\n", r.name,
                        r.family, r.size, r.pivots, to_cell(std::optional(r.ours)), r.ours.error,
                        to_cell(r.driver), r.driver ? fmt::format("{:.1e}", r.driver->error) : "",
                        to_cell(ratio(r, r.driver)), to_cell(r.bare), to_cell(ratio(r, r.bare)));
  return text;
}

std::string to_json(const std::vector<LemkeRecord>& records) {
  nlohmann::json document;
  for (const LemkeRecord& record : records) {
    nlohmann::json entry = {{"name", record.name},          {"family", record.family},
                            {"size", record.size},          {"contacts", record.num_contacts},
                            {"pivots", record.pivots},      {"stage", record.stage},
                            {"ours", describe(record.ours)}};
    if (record.driver) entry["siconos_driver"] = describe(*record.driver);
    if (record.bare) entry["siconos_bare"] = describe(*record.bare);
    document["problems"].push_back(entry);
  }
  for (const LemkeSummary& s : summarize(records))
    document["summary"].push_back({{"name", s.name},
                                   {"problems", s.problems},
                                   {"solved_by_us", s.solved_by_us},
                                   {"solved_by_siconos", s.solved_by_rival},
                                   {"geometric_mean", s.mean},
                                   {"least", s.least}});
  return document.dump(2) + "\n";
}

}  // namespace stiction::bench
