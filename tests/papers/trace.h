// Every step of a run, as the command `reproduce` keeps it.
#pragma once

#include "stiction/app/experiments/trace.h"

namespace stiction::testing {

using experiments::Trace;
using experiments::TracedRun;

}  // namespace stiction::testing
