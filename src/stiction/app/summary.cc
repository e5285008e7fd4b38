#include "stiction/app/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "stiction/base/text.h"

namespace stiction {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity: a gap without contacts is null.
Json finite_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json ledger_object(const EnergyLedger& ledger) {
  return {{"start", ledger.start},
          {"kinetic", ledger.now.kinetic},
          {"potential", ledger.now.potential},
          {"spring", ledger.now.spring},
          {"applied", ledger.applied},
          {"motor", ledger.motor},
          {"friction", ledger.friction},
          {"impact", ledger.impact},
          {"numerical", ledger.numerical}};
}

Json event_object(const RunSummary& summary) {
  Json object = Json::object();
  for (int i = 0; i < kNumEventKinds; ++i) {
    const auto kind = static_cast<EventKind>(i);
    object[std::string(to_text(kind))] = summary.count(kind);
  }
  return object;
}

/// Lines about what happened within steps; none where nothing did.
std::string event_lines(const RunSummary& summary) {
  std::vector<std::string> counts;
  for (int i = 0; i < kNumEventKinds; ++i) {
    const auto kind = static_cast<EventKind>(i);
    if (kind == EventKind::kFloor || summary.count(kind) == 0) continue;
    counts.push_back(fmt::format("{} {}", to_text(kind), summary.count(kind)));
  }
  std::string text;
  if (!counts.empty()) text += fmt::format("  events     {}\n", joined(counts));
  if (const std::int64_t floors = summary.count(EventKind::kFloor); floors > 0)
    text += fmt::format(
        "  floor      acted {} {}: events too close to be located, the rest of the step taken "
        "inelastic\n",
        floors, floors == 1 ? "time" : "times");
  return text;
}

std::string substep_line(const RunSummary& summary) {
  if (summary.substeps == summary.steps && summary.rejected_substeps == 0) return {};
  std::string text = fmt::format("  substeps   {}", summary.substeps);
  if (summary.rejected_substeps > 0)
    text += fmt::format(", {} more rejected by error control", summary.rejected_substeps);
  return text + "\n";
}

std::string gain_line(const RunSummary& summary) {
  if (summary.impact_gains == 0) return {};
  return fmt::format(
      "  warning: {} {} raised the energy, by {:.3g} J together: Poisson's law with friction can\n",
      summary.impact_gains, summary.impact_gains == 1 ? "impact" : "impacts", summary.impact_gain);
}

std::string linear_line(const RunSummary& summary) {
  if (summary.linear_steps == 0) return {};
  return fmt::format(
      "  warning: the iteration to the end of the step did not converge in {} {}: one linear "
      "problem "
      "was solved instead\n",
      summary.linear_steps, summary.linear_steps == 1 ? "step" : "steps");
}

/// Joints and contacts that miss by more than this share of the size of the model are worth a word:
/// the certificate judges the problems of the steps, not how long the steps are.
constexpr double kLargeError = 0.01;

std::string error_lines(const Simulation& simulation) {
  VectorXd sizes;
  simulation.model().measure_coordinates(simulation.model().initial_state().q, sizes);
  const double size = sizes.size() > 0 ? sizes.maxCoeff() : 0;
  const RunSummary& summary = simulation.summary();
  std::string text;
  if (size > 0 && summary.joint_error_max > kLargeError * size)
    text += fmt::format("  warning: joints came apart by {:.3g}: h is too long for this scheme\n",
                        summary.joint_error_max);
  if (size > 0 && -summary.gap_min > kLargeError * size)
    text += fmt::format("  warning: contacts penetrated by {:.3g}: h is too long for this scheme\n",
                        -summary.gap_min);
  return text;
}

Json times_object(const RunSummary& summary) {
  const StepTimes& times = summary.times;
  const DurationHistogram& walls = summary.step_walls;
  Json histogram = Json::array();
  for (const auto& [up_to, count] : walls.octaves())
    histogram.push_back({{"up_to_s", up_to}, {"steps", count}});
  return {{"detect_s", times.detect},
          {"assemble_s", times.assemble},
          {"solve_s", times.solve},
          {"solve_direct_s", times.solve_direct},
          {"solve_sweeps_s", times.solve_sweeps},
          {"certify_s", times.certify},
          {"other_s", times.other},
          {"step_mean_s", walls.mean()},
          {"step_median_s", walls.quantile(0.5)},
          {"step_99_s", walls.quantile(0.99)},
          {"step_max_s", walls.max()},
          {"histogram", histogram},
          {"overruns", summary.overruns},
          {"overrun_residual", summary.overrun_residual}};
}

/// How many bodies sleep now and slept at most, and the share of all steps of bodies that they
/// slept.
Json sleep_object(const Simulation& simulation) {
  const RunSummary& summary = simulation.summary();
  const double all =
      static_cast<double>(summary.steps) * static_cast<double>(simulation.model().blocks().size());
  return {{"is_on", simulation.options().sleep},
          {"bodies", simulation.num_asleep()},
          {"bodies_max", summary.asleep_max},
          {"share", all > 0 ? static_cast<double>(summary.asleep_steps) / all : 0},
          {"wakes", summary.wakes}};
}

std::string sleep_line(const Simulation& simulation) {
  if (!simulation.options().sleep) return {};
  const Json object = sleep_object(simulation);
  return fmt::format(
      "  sleep      {} of {} bodies at the end, {} at most; {:.0f} % of the time of bodies; woken "
      "{} {}\n",
      simulation.num_asleep(), simulation.model().blocks().size(), simulation.summary().asleep_max,
      100 * object["share"].get<double>(), simulation.summary().wakes,
      simulation.summary().wakes == 1 ? "time" : "times");
}

std::string budget_line(const Simulation& simulation) {
  const RunSummary& summary = simulation.summary();
  if (!(simulation.options().budget > 0)) return {};
  std::string text = fmt::format(
      "  budget     {:.4g} ms a step: {} steps took longer, residual {:.2e} at worst above "
      "tolerance\n  steps     ",
      1e3 * simulation.options().budget, summary.overruns, summary.overrun_residual);
  for (const auto& [up_to, count] : summary.step_walls.octaves())
    text += fmt::format(" {} to {:.3g} ms,", count, 1e3 * up_to);
  text.back() = '\n';
  return text;
}

/// Where the time went, in per cent, and how long steps took.
std::string times_line(const RunSummary& summary) {
  const StepTimes& times = summary.times;
  const DurationHistogram& walls = summary.step_walls;
  const double total = times.total();
  if (!(total > 0)) return {};
  const auto share = [total](double part) { return 100 * part / total; };
  const bool is_split = times.solve_direct + times.solve_sweeps > 0;
  const std::string parts = is_split
                                ? fmt::format(" (direct {:.0f} %, sweeps {:.0f} %)",
                                              share(times.solve_direct), share(times.solve_sweeps))
                                : "";
  return fmt::format(
      "  time       detect {:.0f} %, assemble {:.0f} %, solve {:.0f} %{}, certify {:.0f} %, other "
      "{:.0f} %; steps {:.3g} ms median, {:.3g} ms 99th percentile, {:.3g} ms at most\n",
      share(times.detect), share(times.assemble), share(times.solve), parts, share(times.certify),
      share(times.other), 1e3 * walls.quantile(0.5), 1e3 * walls.quantile(0.99), 1e3 * walls.max());
}

std::string reduction_text(const RunSummary& summary) {
  return summary.reduced_max > 0
             ? fmt::format(", up to {} left out that others stand for", summary.reduced_max)
             : "";
}

bool has_constraints(const Model& model) { return model.num_constraints() > 0; }

}  // namespace

std::string to_json(const RunReport& report, const Simulation& simulation) {
  const RunSummary& summary = simulation.summary();
  const Json object = {
      {"scene", report.scene},
      {"scheme", simulation.options().scheme},
      {"solver", simulation.options().solver},
      {"steps", report.steps},
      {"simulated_s", report.simulated},
      {"wall_s", report.wall},
      {"contacts_max", summary.contacts_max},
      {"contacts_left_out_max", summary.reduced_max},
      {"residual_max", finite_or_null(summary.residual_max)},
      {"gap_min", finite_or_null(summary.gap_min)},
      {"joint_error_max", finite_or_null(summary.joint_error_max)},
      {"energy_ledger", ledger_object(simulation.energy())},
      {"steps_above_tolerance", summary.steps_above_tolerance},
      {"retries", summary.retries},
      {"substeps", summary.substeps},
      {"rejected_substeps", summary.rejected_substeps},
      {"scheme_iterations", summary.scheme_iterations},
      {"linear_steps", summary.linear_steps},
      {"events", event_object(summary)},
      {"impact_gains", summary.impact_gains},
      {"impact_gain_J", summary.impact_gain},
      {"sleep", sleep_object(simulation)},
      {"times", times_object(summary)},
      {"notes", simulation.notes()},
      {"recording", report.recording.empty() ? Json(nullptr) : Json(report.recording)},
      {"status", report.status}};
  // File names need not be UTF-8, JSON is.
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_summary(const RunReport& report, const Simulation& simulation) {
  const RunSummary& summary = simulation.summary();
  const EnergyLedger& e = simulation.energy();
  std::string text = fmt::format(
      "{}: {} ({}, {})\n  steps      {} of {} s, {:.6g} s simulated in {:.3g} s ({:.3g} steps/s)\n",
      report.scene, report.status, simulation.options().scheme, simulation.options().solver,
      report.steps, simulation.options().h, report.simulated, report.wall,
      report.wall > 0 ? static_cast<double>(report.steps) / report.wall : 0);
  text += fmt::format("  residual   {:.2e} at worst, tolerance {:.0e}", summary.residual_max,
                      simulation.options().tolerance);
  if (summary.steps_above_tolerance > 0)
    text += fmt::format(", {} steps above it", summary.steps_above_tolerance);
  if (summary.retries > 0) text += fmt::format(", {} retries", summary.retries);
  text += "\n" + substep_line(summary);
  if (std::isfinite(summary.gap_min))
    text += fmt::format("  contacts   {} active at most, smallest gap {:.2e}{}\n",
                        summary.contacts_max, summary.gap_min, reduction_text(summary));
  text += event_lines(summary);
  if (has_constraints(simulation.model()))
    text += fmt::format("  joints     error {:.2e} at worst\n", summary.joint_error_max);
  text += fmt::format(
      "  energy     {:.6g} J -> {:.6g} J: applied {:.3g}, motor {:.3g}, friction {:.3g}, "
      "impact {:.3g}, numerical {:.3g}\n",
      e.start, e.now.total(), e.applied, e.motor, e.friction, e.impact, e.numerical);
  text += sleep_line(simulation) + times_line(summary) + budget_line(simulation);
  text += gain_line(summary) + linear_line(summary) + error_lines(simulation);
  if (!report.recording.empty()) text += fmt::format("  recording  {}\n", report.recording);
  return text;
}

}  // namespace stiction
