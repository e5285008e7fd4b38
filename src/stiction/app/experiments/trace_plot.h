// Curves of a run, and figures of them.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "stiction/app/experiments/experiment.h"
#include "stiction/app/experiments/trace.h"
#include "stiction/app/plot.h"

namespace stiction::experiments {

/// Everything of a run as a curve over time.
LinePlot::Curve curve_of(const std::string& label, const Trace& trace,
                         const std::function<double(const State&)>& y);
LinePlot::Curve energy_of(const std::string& label, const Trace& trace);
/// One function of the state over another.
LinePlot::Curve path_of(const std::string& label, const Trace& trace,
                        const std::function<double(const State&)>& x,
                        const std::function<double(const State&)>& y);

/// A line of the given order through the last point of a convergence plot, for the eye.
LogLogPlot::Series order_line(const LogLogPlot::Series& measured, double order, int color);

template <class AnyPlot>
void add_figure(Result& result, std::string name, std::string caption, const AnyPlot& plot) {
  result.figures.push_back({std::move(name), std::move(caption), to_svg(plot)});
}

}  // namespace stiction::experiments
