#include "stiction/app/experiments/trace_plot.h"

#include <fmt/format.h>

#include <cmath>

namespace stiction::experiments {

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
