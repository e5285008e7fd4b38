// Performance profiles (Dolan and Moré 2002) as SVG.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "bench/solvers/report.h"

namespace stiction::bench {
namespace {

constexpr double kWidth = 770, kHeight = 420, kLeft = 60, kRight = 230, kTop = 40, kBottom = 50;
constexpr double kMaxRatio = 1000;
constexpr std::size_t kMaxRivals = 8;

struct Curve {
  std::string name;
  bool is_ours = false;
  std::vector<double> ratios;  // of the problems it solved, ascending
};

std::optional<double> solve_time(const Trial* trial) {
  if (trial == nullptr || trial->result.status != TrialResult::Status::kSolved) return {};
  return trial->result.seconds;
}

std::optional<double> fastest_time(const ProblemRecord& record, double tolerance) {
  const std::optional<double> ours = solve_time(record.best(kOurLibrary, tolerance));
  const std::optional<double> theirs = solve_time(record.best(kSiconos, tolerance));
  if (!ours || !theirs) return ours ? ours : theirs;
  return std::min(*ours, *theirs);
}

std::vector<Curve> make_curves(const std::vector<ProblemRecord>& records, double tolerance) {
  std::map<std::string, Curve> by_name;
  Curve together{"siconos, best of all", false, {}};
  for (const ProblemRecord& record : records) {
    const std::optional<double> fastest = fastest_time(record, tolerance);
    if (!fastest) continue;
    for (const Trial& trial : record.trials) {
      if (trial.tolerance != tolerance) continue;
      const std::string name = trial.library + " " + trial.solver;
      Curve& curve =
          by_name.try_emplace(name, Curve{name, trial.library == kOurLibrary, {}}).first->second;
      if (const auto time = solve_time(&trial)) curve.ratios.push_back(*time / *fastest);
    }
    if (const auto time = solve_time(record.best(kSiconos, tolerance)))
      together.ratios.push_back(*time / *fastest);
  }
  std::vector<Curve> ours, theirs;
  for (auto& [name, curve] : by_name) (curve.is_ours ? ours : theirs).push_back(std::move(curve));
  std::stable_sort(theirs.begin(), theirs.end(), [](const Curve& a, const Curve& b) {
    return a.ratios.size() > b.ratios.size();
  });
  if (theirs.size() > kMaxRivals) theirs.resize(kMaxRivals);
  if (!together.ratios.empty()) ours.push_back(std::move(together));
  ours.insert(ours.end(), theirs.begin(), theirs.end());
  for (Curve& curve : ours) std::sort(curve.ratios.begin(), curve.ratios.end());
  return ours;
}

double x_of(double ratio) {
  const double share = std::log(std::min(ratio, kMaxRatio)) / std::log(kMaxRatio);
  return kLeft + share * (kWidth - kLeft - kRight);
}
double y_of(double share) { return kHeight - kBottom - share * (kHeight - kTop - kBottom); }

std::string draw_axes(double tolerance) {
  std::string text = fmt::format(
      "<text x=\"{}\" y=\"22\" font-size=\"15\">Share of problems solved to {:g} within τ times "
      "the "
      "fastest time</text>\n",
      kLeft, tolerance);
  for (double ratio = 1; ratio <= kMaxRatio; ratio *= 10)
    text += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#ccc\"/>"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4:g}</text>\n",
        x_of(ratio), y_of(0), y_of(1), y_of(0) + 18, ratio);
  for (int i = 0; i <= 4; ++i)
    text += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"#ccc\"/>"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}%</text>\n",
        x_of(1), y_of(i / 4.0), x_of(kMaxRatio), kLeft - 8, y_of(i / 4.0) + 4, 25 * i);
  return text + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">τ</text>\n",
                            0.5 * (x_of(1) + x_of(kMaxRatio)), y_of(0) + 36);
}

std::string draw_curve(const Curve& curve, std::size_t num_problems, std::size_t index) {
  constexpr std::array<const char*, 10> kColours = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                                                    "#ff7f0e", "#17becf", "#8c564b", "#e377c2",
                                                    "#7f7f7f", "#bcbd22"};
  const char* colour = kColours.at(index % kColours.size());
  const char* dash = curve.is_ours ? "" : " stroke-dasharray=\"6 3\"";
  double share = 0;
  std::string path = fmt::format("M{:.1f} {:.1f}", x_of(1), y_of(0));
  for (std::size_t i = 0; i < curve.ratios.size() && curve.ratios[i] <= kMaxRatio; ++i) {
    path += fmt::format(" H{:.1f}", x_of(curve.ratios[i]));
    share = static_cast<double>(i + 1) / static_cast<double>(num_problems);
    path += fmt::format(" V{:.1f}", y_of(share));
  }
  path += fmt::format(" H{:.1f}", x_of(kMaxRatio));
  const double legend = kTop + 16 * static_cast<double>(index);
  return fmt::format(
      "<path d=\"{0}\" fill=\"none\" stroke=\"{1}\" stroke-width=\"2\"{2}/>\n"
      "<line x1=\"{3:.1f}\" y1=\"{4:.1f}\" x2=\"{5:.1f}\" y2=\"{4:.1f}\" stroke=\"{1}\" "
      "stroke-width=\"2\"{2}/><text x=\"{6:.1f}\" y=\"{7:.1f}\">{8}</text>\n",
      path, colour, dash, kWidth - kRight + 12, legend, kWidth - kRight + 36, kWidth - kRight + 42,
      legend + 4, curve.name);
}

}  // namespace

std::string to_profile_svg(const std::vector<ProblemRecord>& records, double tolerance) {
  const std::vector<Curve> curves = make_curves(records, tolerance);
  const double height = std::max(kHeight, kTop + 16.0 * static_cast<double>(curves.size()) + 20);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, height);
  text += draw_axes(tolerance);
  const std::size_t num_problems = std::max<std::size_t>(1, records.size());
  for (std::size_t i = 0; i < curves.size(); ++i) text += draw_curve(curves[i], num_problems, i);
  return text + "</svg>\n";
}

}  // namespace stiction::bench
