// Bodies and joints by their names, as the command `reproduce` asks for them.
#pragma once

#include "stiction/app/experiments/mechanism_watch.h"

namespace stiction::testing {

using experiments::EnergyTrack;
using experiments::MechanismWatch;
using experiments::redundant_rows;

}  // namespace stiction::testing
