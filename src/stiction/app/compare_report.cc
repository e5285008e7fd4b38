#include "stiction/app/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "stiction/base/text.h"

namespace stiction {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

constexpr std::array kKinds = {ErrorKind::kQMean, ErrorKind::kQEnd, ErrorKind::kVMean};

std::string describe(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kQEnd:
      return "|q - q_ref| at the end";
    case ErrorKind::kVMean:
      return "|v - v_ref| in the mean over time";
    case ErrorKind::kQMean:
      break;
  }
  return "|q - q_ref| in the mean over time";
}

/// Means over phases need not be whole numbers.
std::string count_text(double count) {
  return count == std::floor(count) ? fmt::format("{:.0f}", count) : fmt::format("{:.1f}", count);
}

Row header(ErrorKind chosen) {
  Row row{"scheme", "solver", "h [s]", "error"};
  for (const ErrorKind kind : kKinds)
    if (kind != chosen) row.emplace_back(to_text(kind));
  row.insert(row.end(), {"time [s]", "steps/s", "events", "residual", "order"});
  return row;
}

Row row_of(const ComparisonLine& line, const ComparisonRun& run, ErrorKind chosen) {
  Row row{line.scheme, line.solver, to_text(run.h)};
  if (!run.is_good()) {
    row.emplace_back("failed");
    return row;
  }
  row.push_back(fmt::format("{:.3e}", value_of(run.error, chosen)));
  for (const ErrorKind kind : kKinds)
    if (kind != chosen) row.push_back(fmt::format("{:.3e}", value_of(run.error, kind)));
  row.insert(row.end(),
             {fmt::format("{:.3g}", run.wall), fmt::format("{:.3g}", run.steps_per_second()),
              count_text(run.events), fmt::format("{:.1e}", run.residual_max),
              run.order ? fmt::format("{:.2f}", *run.order) : "-"});
  return row;
}

/// Rows as text with columns under each other: names to the left, numbers to the right.
std::string aligned(const std::vector<Row>& rows) {
  constexpr std::size_t kNames = 2;
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i < kNames ? fmt::format("  {:<{}}", row[i], widths[i])
                         : fmt::format("  {:>{}}", row[i], widths[i]);
    text += line + "\n";
  }
  return text;
}

std::string reference_text(const CompareReport& report) {
  const ComparisonPlan& plan = report.plan;
  const Comparison& comparison = report.comparison;
  std::string text = fmt::format("reference: {} with {} at h = {} s, ", plan.reference_scheme,
                                 plan.reference_solver, to_text(plan.reference_h));
  if (!comparison.reference_failure.empty())
    return text + "failed: " + comparison.reference_failure + "\n";
  text +=
      fmt::format("{} steps in {:.3g} s", comparison.reference_steps, comparison.reference_wall);
  if (comparison.reference_stride > 1)
    text += fmt::format(", kept at every {}-th", comparison.reference_stride);
  return text + "\n";
}

std::string fitted_text(const std::vector<ComparisonLine>& lines) {
  std::vector<Row> rows;
  for (const ComparisonLine& line : lines)
    if (line.fitted_order)
      rows.push_back({line.scheme, line.solver, fmt::format("{:.2f}", *line.fitted_order)});
  return rows.empty() ? "" : "fitted order over all steps:\n" + aligned(rows);
}

std::string failures_text(const std::vector<ComparisonLine>& lines) {
  std::string text;
  for (const ComparisonLine& line : lines)
    for (const ComparisonRun& run : line.runs)
      if (!run.is_good())
        text += fmt::format("failed: {} with {}, h = {} s: {}\n", line.scheme, line.solver,
                            to_text(run.h), run.failure);
  return text;
}

/// JSON has no infinity and no not-a-number.
Json number_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }
Json number_or_null(const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); }
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// A number of a run, which has none if it failed.
Json figure(const ComparisonRun& run, double x) {
  return run.is_good() ? number_or_null(x) : Json(nullptr);
}

Json events_object(const ComparisonRun& run) {
  if (!run.is_good()) return nullptr;
  Json object = Json::object();
  for (int kind = 0; kind < kNumEventKinds; ++kind)
    object[std::string(to_text(static_cast<EventKind>(kind)))] = run.events_by_kind[kind];
  return object;
}

Json run_object(const ComparisonLine& line, const ComparisonRun& run, ErrorKind kind) {
  return {{"scheme", line.scheme},
          {"solver", line.solver},
          {"h", run.h},
          {"status", run.is_good() ? "complete" : "failed"},
          {"reason", text_or_null(run.failure)},
          {"error", figure(run, value_of(run.error, kind))},
          {"q_mean", figure(run, run.error.q_mean)},
          {"q_end", figure(run, run.error.q_end)},
          {"v_mean", figure(run, run.error.v_mean)},
          {"wall_s", figure(run, run.wall)},
          {"steps", figure(run, run.steps)},
          {"steps_per_s", figure(run, run.steps_per_second())},
          {"events", figure(run, run.events)},
          {"events_by_kind", events_object(run)},
          {"residual_max", figure(run, run.residual_max)},
          {"order", number_or_null(run.order)}};
}

Json reference_object(const ComparisonPlan& plan, const Comparison& comparison) {
  const bool is_good = comparison.reference_failure.empty();
  return {{"scheme", plan.reference_scheme},
          {"solver", plan.reference_solver},
          {"h", plan.reference_h},
          {"status", is_good ? "complete" : "failed"},
          {"reason", text_or_null(comparison.reference_failure)},
          {"steps", comparison.reference_steps},
          {"wall_s", is_good ? Json(comparison.reference_wall) : Json(nullptr)},
          {"kept_every", comparison.reference_stride}};
}

/// A field of CSV: in quotes where it holds what separates fields, quotes doubled.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string to_table(const CompareReport& report) {
  const ComparisonPlan& plan = report.plan;
  const Comparison& comparison = report.comparison;
  std::string text = fmt::format("{}: {} s, tolerance {:g}\n", report.scene, to_text(plan.duration),
                                 plan.base.tolerance);
  text += reference_text(report);
  if (!comparison.lines.empty()) {
    text += fmt::format("error: {}, {}", to_text(plan.error), describe(plan.error));
    if (plan.phases > 1)
      text += fmt::format("; means of {} runs at h (1 + {} k)", plan.phases, kPhaseShift);
    std::vector<Row> rows{header(plan.error)};
    for (const ComparisonLine& line : comparison.lines)
      for (const ComparisonRun& run : line.runs) rows.push_back(row_of(line, run, plan.error));
    text += "\n" + aligned(rows) + fitted_text(comparison.lines);
  }
  text += failures_text(comparison.lines);
  for (const std::string& note : comparison.notes) text += fmt::format("note: {}\n", note);
  if (!report.plot.empty()) text += fmt::format("plot: {}\n", report.plot);
  if (!report.csv.empty()) text += fmt::format("table: {}\n", report.csv);
  return text;
}

std::string to_json(const CompareReport& report) {
  const ComparisonPlan& plan = report.plan;
  const Comparison& comparison = report.comparison;
  Json runs = Json::array(), orders = Json::array();
  for (const ComparisonLine& line : comparison.lines) {
    orders.push_back({{"scheme", line.scheme},
                      {"solver", line.solver},
                      {"order", number_or_null(line.fitted_order)}});
    for (const ComparisonRun& run : line.runs) runs.push_back(run_object(line, run, plan.error));
  }
  const Json object = {{"scene", report.scene},
                       {"duration_s", plan.duration},
                       {"tolerance", plan.base.tolerance},
                       {"phases", plan.phases},
                       {"error", to_text(plan.error)},
                       {"reference", reference_object(plan, comparison)},
                       {"runs", runs},
                       {"orders", orders},
                       {"notes", comparison.notes},
                       {"plot", text_or_null(report.plot)},
                       {"csv", text_or_null(report.csv)},
                       {"status", comparison.has_failures() ? "failed" : "complete"}};
  // File names need not be UTF-8, JSON is.
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_csv(const CompareReport& report) {
  std::string text =
      "scheme,solver,h,status,q_mean,q_end,v_mean,wall_s,steps,steps_per_s,events,residual_max,"
      "order,reason\n";
  for (const ComparisonLine& line : report.comparison.lines)
    for (const ComparisonRun& run : line.runs) {
      const auto number = [&](double x) { return run.is_good() ? to_text(x) : std::string(); };
      Row row{line.scheme,
              line.solver,
              to_text(run.h),
              run.is_good() ? "complete" : "failed",
              number(run.error.q_mean),
              number(run.error.q_end),
              number(run.error.v_mean),
              number(run.wall),
              number(run.steps),
              number(run.steps_per_second()),
              number(run.events),
              number(run.residual_max),
              run.order ? to_text(*run.order) : std::string(),
              csv_field(run.failure)};
      text += fmt::format("{}\n", fmt::join(row, ","));
    }
  return text;
}

}  // namespace stiction
