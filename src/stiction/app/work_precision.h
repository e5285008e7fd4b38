// The work–precision plot of a comparison: error against wall time, one line per scheme × solver.
#pragma once

#include <string>

#include "stiction/app/plot.h"
#include "stiction/sim/comparison.h"

namespace stiction {

/// A scheme has a colour, a solver a marker with its dashes; one scheme or one solver alone leaves
/// both to the other. Runs that failed have no place, nor have errors of zero.
LogLogPlot make_work_precision_plot(const std::string& scene, const ComparisonPlan& plan,
                                    const Comparison& comparison);

/// Whether there is anything to draw.
bool has_points(const LogLogPlot& plot);

}  // namespace stiction
