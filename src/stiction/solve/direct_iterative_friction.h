// One visit of a tangential Gauss–Seidel sweep: the friction impulse β of a contact for given
// normal impulse ν, (T4) with the fixed set μν·B instead of the cone.
#pragma once

#include "stiction/solve/one_contact.h"

namespace stiction {

/// The point of μν·B nearest to `beta` (one or two numbers), in place: the interval, disc, box or
/// polygon of the contact.
void project_on_section(const OneContact& law, double nu, double* beta);

/// New β of a contact that has r = (ν, β) and moves with u (dim numbers each), normal impulse and
/// all others kept. Steps β ← P(β − u_T/λ_max(W_TT)): exact with one tangent, otherwise a few of
/// them, each of which lowers the energy.
void relax_friction(const OneContact& law, const double* u, double* r);

}  // namespace stiction
