// What verify says to the runs that an experiment has kept.
#pragma once

#include "stiction/app/experiments/experiment.h"

namespace stiction::experiments {

/// Adds a statement and a table: whether every law holds in every recorded run.
void add_verification(const Monitor& monitor, Result& result);

}  // namespace stiction::experiments
