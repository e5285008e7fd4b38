#include "stiction/app/work_precision.h"

#include <fmt/format.h>

#include <algorithm>

namespace stiction {
namespace {

std::string error_label(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kQEnd:
      return "error of q at the end";
    case ErrorKind::kVMean:
      return "error of v, mean over time";
    case ErrorKind::kQMean:
      break;
  }
  return "error of q, mean over time";
}

int index_in(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

LogLogPlot::Series make_series(const ComparisonLine& line, const ComparisonPlan& plan) {
  LogLogPlot::Series series;
  const int scheme = index_in(plan.schemes, line.scheme);
  const int solver = index_in(plan.solvers, line.solver);
  // Where only one of them varies, it may have both signs.
  series.color = plan.schemes.size() > 1 ? scheme : solver;
  series.marker = plan.solvers.size() > 1 ? solver : scheme;
  for (const ComparisonRun& run : line.runs) {
    const double error = value_of(run.error, plan.error);
    if (!run.is_good() || !(error > 0)) continue;
    series.x.push_back(run.wall);
    series.y.push_back(error);
  }
  series.label =
      fmt::format("{}, {}{}", line.scheme, line.solver, series.x.empty() ? ": no point" : "");
  return series;
}

}  // namespace

LogLogPlot make_work_precision_plot(const std::string& scene, const ComparisonPlan& plan,
                                    const Comparison& comparison) {
  LogLogPlot plot{.title = fmt::format("{}: error against time for {} s", scene, plan.duration),
                  .x_label = "wall time [s]",
                  .y_label = error_label(plan.error),
                  .series = {}};
  for (const ComparisonLine& line : comparison.lines)
    plot.series.push_back(make_series(line, plan));
  return plot;
}

bool has_points(const LogLogPlot& plot) {
  return std::any_of(plot.series.begin(), plot.series.end(),
                     [](const LogLogPlot::Series& series) { return !series.x.empty(); });
}

}  // namespace stiction
