#include "bench/scenes/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "stiction/app/plot.h"

namespace stiction::bench {
namespace {

/// JSON has no number for what is not one.
nlohmann::json to_number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}
double from_number(const nlohmann::json& json) {
  return json.is_number() ? json.get<double>() : kUnknown;
}

std::string format_figure(double value) {
  if (!std::isfinite(value)) return "";
  return value == 0 ? "0" : fmt::format("{:.1e}", value);
}
/// [ms] Of steps that take microseconds with another digit.
std::string format_time(double seconds) {
  if (!std::isfinite(seconds)) return "";
  return seconds < 1e-4 ? fmt::format("{:.4f}", 1e3 * seconds)
                        : fmt::format("{:.3f}", 1e3 * seconds);
}

/// Errors below it are shown at it: a double has no more digits of a metre.
constexpr double kSmallestError = 1e-16;

/// What the scene is about.
double main_error(const SceneReport& report, const TrialResult& trial) {
  if (!trial.trouble.empty()) return kUnknown;
  const double error = report.error_names.empty() ? trial.penetration_settled
                       : trial.errors.empty()     ? kUnknown
                                                  : trial.errors.front().value;
  return std::isfinite(error) ? std::max(error, kSmallestError) : kUnknown;
}

std::string main_error_name(const SceneReport& report) {
  return report.error_names.empty() ? "settled overlap [m]" : report.error_names.front();
}

std::string engine_of(const TrialResult& trial) {
  return trial.contender.substr(0, trial.contender.find(','));
}

/// Colours go by engine, markers by its settings.
void add_style(const TrialResult& trial, std::map<std::string, std::pair<int, int>>& known,
               LogLogPlot::Series& series) {
  const auto [place, is_new] = known.try_emplace(engine_of(trial), known.size(), 0);
  series.color = place->second.first;
  series.marker = place->second.second++;
}

/// Spheres without the walls of their box.
double count_moving(const SceneDescription& scene) {
  return static_cast<double>(std::count_if(scene.bodies.begin(), scene.bodies.end(),
                                           [](const SceneBody& body) { return !body.is_static; }));
}

/// Of log time over log number, by least squares over those from 1,000 on.
double fit_exponent(const std::vector<SceneReport>& reports, std::size_t contender) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const SceneReport& report : reports) {
    if (contender >= report.trials.size() || count_moving(report.scene) < 1000) continue;
    const double y = std::log(report.trials[contender].seconds_settled);
    const double x = std::log(count_moving(report.scene));
    if (!std::isfinite(y)) continue;
    n += 1;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return n < 2 ? kUnknown : (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace

nlohmann::json to_json(const TrialResult& trial) {
  nlohmann::json errors = nlohmann::json::array();
  for (const SceneError& error : trial.errors)
    errors.push_back({{"name", error.name}, {"value", to_number(error.value)}});
  return {{"contender", trial.contender},
          {"setting", trial.setting == Setting::kDefault ? "default" : "accurate"},
          {"trouble", trial.trouble},
          {"remark", trial.remark},
          {"steps", trial.steps},
          {"seconds_mean", to_number(trial.seconds_mean)},
          {"seconds_settled", to_number(trial.seconds_settled)},
          {"penetration_max", to_number(trial.penetration_max)},
          {"penetration_settled", to_number(trial.penetration_settled)},
          {"joint_gap", to_number(trial.joint_gap)},
          {"drift", to_number(trial.drift)},
          {"energy_scale", to_number(trial.energy_scale)},
          {"energy_gain", to_number(trial.energy_gain)},
          {"energy_end", to_number(trial.energy_end)},
          {"kinetic_end", to_number(trial.kinetic_end)},
          {"residual", to_number(trial.residual)},
          {"steps_above_tolerance", trial.steps_above_tolerance},
          {"errors", std::move(errors)}};
}

TrialResult trial_from_json(const nlohmann::json& json) {
  TrialResult trial;
  trial.contender = json.at("contender");
  trial.setting = json.at("setting") == "default" ? Setting::kDefault : Setting::kAccurate;
  trial.trouble = json.at("trouble");
  trial.remark = json.at("remark");
  trial.steps = json.at("steps");
  trial.seconds_mean = from_number(json.at("seconds_mean"));
  trial.seconds_settled = from_number(json.at("seconds_settled"));
  trial.penetration_max = from_number(json.at("penetration_max"));
  trial.penetration_settled = from_number(json.at("penetration_settled"));
  trial.joint_gap = from_number(json.at("joint_gap"));
  trial.drift = from_number(json.at("drift"));
  trial.energy_scale = from_number(json.at("energy_scale"));
  trial.energy_gain = from_number(json.at("energy_gain"));
  trial.energy_end = from_number(json.at("energy_end"));
  trial.kinetic_end = from_number(json.at("kinetic_end"));
  trial.residual = from_number(json.at("residual"));
  trial.steps_above_tolerance = json.at("steps_above_tolerance");
  for (const nlohmann::json& error : json.at("errors"))
    trial.errors.push_back({error.at("name"), from_number(error.at("value"))});
  return trial;
}

nlohmann::json to_json(const SceneReport& report) {
  nlohmann::json trials = nlohmann::json::array();
  for (const TrialResult& trial : report.trials) trials.push_back(to_json(trial));
  return {{"scene", report.scene.name},          {"claim", report.scene.claim},
          {"bodies", report.scene.num_bodies()}, {"h", report.scene.h},
          {"duration", report.scene.duration},   {"trials", std::move(trials)}};
}

std::string to_table(const SceneReport& report) {
  const SceneDescription& scene = report.scene;
  std::string text = fmt::format("## {}: {}\n\n{} bodies, h = 1/{:.0f} s, {:g} s\n\n", scene.name,
                                 scene.claim, scene.num_bodies(), 1 / scene.h, scene.duration);
  std::vector<std::string> names = {"contender", "ms/step", "settled"};
  names.insert(names.end(), report.error_names.begin(), report.error_names.end());
  names.insert(names.end(), {"overlap [m]", "settled [m]", "energy gain", "energy end"});
  if (!scene.joints.empty()) names.push_back("joint gap [m]");
  names.insert(names.end(), {"residual", "remarks"});
  std::string line;
  for (const std::string& name : names) {
    text += fmt::format("| {} ", name);
    line += line.empty() ? "|---" : "|--:";
  }
  text += "|\n" + line + "|\n";
  for (const TrialResult& trial : report.trials) {
    text += fmt::format("| {} | {} | {} ", trial.contender, format_time(trial.seconds_mean),
                        format_time(trial.seconds_settled));
    for (std::size_t i = 0; i < report.error_names.size(); ++i)
      text +=
          fmt::format("| {} ", i < trial.errors.size() ? format_figure(trial.errors[i].value) : "");
    text += fmt::format("| {} | {} | {} | {} ", format_figure(trial.penetration_max),
                        format_figure(trial.penetration_settled), format_figure(trial.energy_gain),
                        format_figure(trial.energy_end));
    if (!scene.joints.empty()) text += fmt::format("| {} ", format_figure(trial.joint_gap));
    std::string remarks = trial.trouble + trial.remark;  // one of them at most
    if (trial.steps_above_tolerance > 0)
      remarks += fmt::format("{}{} steps above tolerance", remarks.empty() ? "" : "; ",
                             trial.steps_above_tolerance);
    text += fmt::format("| {} | {} |\n", format_figure(trial.residual), remarks);
  }
  return text;
}

std::string to_work_precision_svg(const SceneReport& report) {
  LogLogPlot plot{.title = report.scene.name + ": " + report.scene.claim,
                  .x_label = "ms per step",
                  .y_label = main_error_name(report),
                  .series = {}};
  std::map<std::string, std::pair<int, int>> known;
  for (const TrialResult& trial : report.trials) {
    LogLogPlot::Series series{.label = trial.contender,
                              .x = {1e3 * trial.seconds_mean},
                              .y = {main_error(report, trial)}};
    add_style(trial, known, series);
    if (std::isfinite(series.y[0])) plot.series.push_back(std::move(series));
  }
  return to_svg(plot);
}

std::string to_scaling_table(const std::vector<SceneReport>& reports) {
  std::string text =
      "## Scaling: spheres in a box, ten layers deep\n\nms per step while they lie in the box\n\n"
      "| contender ";
  std::string line = "|---";
  for (const SceneReport& report : reports) {
    text += fmt::format("| {:.0f} ", count_moving(report.scene));
    line += "|--:";
  }
  text += "| exponent | overlap [m] | remarks |\n" + line + "|--:|--:|--:|\n";
  for (std::size_t c = 0; c < reports.front().trials.size(); ++c) {
    text += fmt::format("| {} ", reports.front().trials[c].contender);
    std::string trouble;
    double overlap = 0;
    for (const SceneReport& report : reports) {
      const bool is_there = c < report.trials.size();
      text += fmt::format("| {} ", is_there ? format_time(report.trials[c].seconds_settled) : "");
      if (!is_there) continue;
      const TrialResult& trial = report.trials[c];
      if (trial.trouble.empty()) overlap = std::max(overlap, trial.penetration_settled);
      if (trouble.empty() && !trial.trouble.empty())
        trouble = fmt::format("{:.0f}: {}", count_moving(report.scene), trial.trouble);
    }
    const double exponent = fit_exponent(reports, c);
    text += fmt::format("| {} | {} | {} |\n",
                        std::isfinite(exponent) ? fmt::format("{:.2f}", exponent) : "",
                        format_figure(overlap), trouble);
  }
  return text;
}

std::string to_scaling_svg(const std::vector<SceneReport>& reports) {
  LogLogPlot plot{.title = "Spheres lying in a box, ten layers deep",
                  .x_label = "spheres",
                  .y_label = "ms per step",
                  .series = {}};
  std::map<std::string, std::pair<int, int>> known;
  for (std::size_t c = 0; c < reports.front().trials.size(); ++c) {
    LogLogPlot::Series series{.label = reports.front().trials[c].contender, .x = {}, .y = {}};
    add_style(reports.front().trials[c], known, series);
    for (const SceneReport& report : reports) {
      if (c >= report.trials.size()) continue;
      series.x.push_back(count_moving(report.scene));
      series.y.push_back(1e3 * report.trials[c].seconds_settled);
    }
    plot.series.push_back(std::move(series));
  }
  return to_svg(plot);
}

}  // namespace stiction::bench
