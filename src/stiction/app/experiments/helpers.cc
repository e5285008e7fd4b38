#include "stiction/app/experiments/helpers.h"

#include <fmt/format.h>

#include <cmath>

namespace stiction::experiments {

std::string show(double value, int digits, const std::string& unit) {
  std::string text = fmt::format("{:.{}g}", value, digits);
  if (const std::size_t e = text.find('e'); e != std::string::npos) {
    while (e + 3 < text.size() && text[e + 2] == '0') text.erase(e + 2, 1);
    if (text[e + 1] == '+') text.erase(e + 1, 1);
  }
  if (!unit.empty()) text += " " + unit;
  return text;
}

std::string show_seconds(double seconds) {
  return seconds < 10 ? fmt::format("{:.2f}", seconds) : fmt::format("{:.0f}", seconds);
}

std::string power_of_two(int exponent) {
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = "2⁻";
  for (const char c : std::to_string(exponent)) text += kDigits[c - '0'];
  return text;
}

void run_reporting(Simulation& simulation, double duration, Monitor& monitor,
                   const std::function<void()>& after_step) {
  const double start = simulation.state().t;
  double next = 0;
  // Half a step of tolerance: times are multiples of h but for rounding.
  while (simulation.state().t - start < duration - simulation.options().h / 2) {
    if (const double share = (simulation.state().t - start) / duration; share >= next) {
      monitor.report(share);
      next = share + 0.01;
    }
    simulation.step();
    if (after_step) after_step();
  }
  monitor.report(1);
}

LinePlot::Curve path_of(const std::string& label, const Trace& trace,
                        const std::function<double(const State&)>& x,
                        const std::function<double(const State&)>& y) {
  LinePlot::Curve curve{label, {}, {}};
  for (const Trace::Sample& sample : trace.samples) {
    curve.x.push_back(x(sample.state));
    curve.y.push_back(y(sample.state));
  }
  return curve;
}

LinePlot::Curve curve_of(const std::string& label, const Trace& trace,
                         const std::function<double(const State&)>& y) {
  return path_of(
      label, trace, [](const State& state) { return state.t; }, y);
}

LinePlot::Curve energy_of(const std::string& label, const Trace& trace) {
  LinePlot::Curve curve{label, {}, {}};
  for (const Trace::Sample& sample : trace.samples) {
    curve.x.push_back(sample.state.t);
    curve.y.push_back(sample.energy);
  }
  return curve;
}

LogLogPlot::Series order_line(const LogLogPlot::Series& measured, double order, int color) {
  LogLogPlot::Series line{
      .label = fmt::format("order {:g}", order), .x = {}, .y = {}, .color = color, .marker = 4};
  if (measured.x.size() < 2) return line;
  const double x0 = measured.x.back(), y0 = measured.y.back();
  for (const double x : {measured.x.front(), x0}) {
    line.x.push_back(x);
    line.y.push_back(y0 * std::pow(x / x0, order));
  }
  return line;
}

}  // namespace stiction::experiments
