// What Anitescu & Potra's two bars (E5) are asked.
#pragma once

#include "stiction/app/experiments/trace.h"

namespace stiction::experiments {

/// Of the strut between the centres, whose natural length is 1 m.
double bars_extension(const State& state);

/// Length of the way of the first foot along the table.
double first_foot_travel(const Trace& trace);

}  // namespace stiction::experiments
