// The observed order of convergence.
#pragma once

#include "stiction/app/experiments/fitted_order.h"

namespace stiction::testing {

using experiments::fitted_order;

}  // namespace stiction::testing
