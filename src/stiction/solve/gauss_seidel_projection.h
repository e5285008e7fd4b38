// The friction cone as Gauss–Seidel solvers see it: nearest point, support of the section, and what
// a contact does. Code of its own, beside that of the certificate.
#pragma once

#include <cmath>

#include "stiction/problem/contact_status.h"
#include "stiction/solve/one_contact.h"

namespace stiction {

/// ‖(x, y)‖. std::hypot is ten times as slow and needed only where squares leave the range.
inline double planar_length(double x, double y) {
  constexpr double kLeast = 1e-280, kMost = 1e300;
  const double square = x * x + y * y;
  return square > kLeast && square < kMost ? std::sqrt(square) : std::hypot(x, y);
}

/// The nearest point of the cone of `contact` with friction coefficient `mu`; dim numbers in and
/// out.
void project_on_cone(const OneContact& contact, double mu, const double* z, double* out);
inline void project_on_cone(const OneContact& contact, const double* z, double* out) {
  project_on_cone(contact, contact.mu(), z, out);
}

/// σ_B(−u_T) of (T4).
double support_against(const OneContact& contact, const double* u);

/// r = the nearest point of the cone to old − û/ω: where a contact has no answer of its own to the
/// velocity u. Nothing happens if ω is zero.
void step_by_projection(const OneContact& contact, double omega, const double* u, const double* old,
                        double* r);

/// What the contact does with impulse r and velocity u, by the part of the cone on which r − ρû
/// lands; ρ is the inverse size of W, so that the answer does not depend on units.
ContactStatus status_of(const OneContact& contact, const double* r, const double* u);

}  // namespace stiction
