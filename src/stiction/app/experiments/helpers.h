// Small things that most experiments need: runs that report how far they are, numbers as text,
// curves of a run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stiction/app/experiments/experiment.h"
#include "stiction/app/experiments/trace.h"
#include "stiction/app/plot.h"
#include "stiction/sim/simulation.h"

namespace stiction::experiments {

/// "1.24e-5", "0.103 m": at most so many digits, without superfluous zeros of exponents.
std::string show(double value, int digits = 3, const std::string& unit = {});

/// A wall time without unit, [s].
std::string show_seconds(double seconds);

/// 2^−exponent as people write it.
std::string power_of_two(int exponent);

/// Steps of options().h until `duration` has passed; the monitor hears of every hundredth of it.
void run_reporting(Simulation& simulation, double duration, Monitor& monitor,
                   const std::function<void()>& after_step = {});

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
