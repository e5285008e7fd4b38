// Stewart & Trinkle's rod (E2): the fall until the first contact in closed form, and what its runs
// are asked.
#pragma once

#include "stiction/app/experiments/trace.h"

namespace stiction::experiments {

inline constexpr double kRodHalf = 0.25, kRodRadius = 0.05;  // [m]

/// Contacts of examples/rod-and-table.json.
enum RodEnd { kFrontEnd = 0, kRearEnd = 1 };

/// End of the first step in which the contact carries a force, −1 if there is none.
double first_contact_of(const Trace& trace, RodEnd end);

/// Time at which the rear end of the freely falling rod reaches the table: root of the gap.
double rod_landing_time();

/// nᵀM⁻¹(n − μd) of the rear end for a contact point `radius` below the centre of the end.
double rod_sliding_delassus(double angle, double radius);

/// The first time after `from` from which on the rod no longer slides to the left.
double end_of_sliding(const Trace& trace, double from);

}  // namespace stiction::experiments
