// Whether terms that schemes add to mass blocks are symmetric. Asked once, before the first step:
// some solvers take symmetric masses alone, and refuse with a message then instead of in the midst
// of a run.
#pragma once

#include "stiction/contact/contact_model.h"

namespace stiction {

/// Of the gyroscopic matrix (T16) of every block, at the positions of `state` and velocities that
/// differ from each other: what is zero at rest is not missed.
bool is_gyroscopic_term_symmetric(const ContactModel& model, const State& state);

/// Of the force Jacobians of every block, likewise.
bool are_force_jacobians_symmetric(const ContactModel& model, const State& state);

}  // namespace stiction
