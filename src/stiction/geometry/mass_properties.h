// Mass, centre of mass and inertia of solids of uniform density, and what can be done with them:
// move, combine, scale, check.
//
// Closed forms for sphere, capsule, box, cylinder and ellipsoid. Mesh and convex hull by the
// divergence theorem: signed tetrahedra between a point o inside the bounding box and each triangle
// (a, b, c seen from o), with s = a + b + c and V = det[a, b, c]/6,
//   ∫ dx = V,   ∫ x dx = V s/4,   ∫ x xᵀ dx = V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ),
// exact for polyhedra. (Mirtich 1996, "Fast and accurate computation of polyhedral mass
// properties", J Graphics Tools 1(2); Eberly 2002, "Polyhedral mass properties (revisited)"; the
// moments of a tetrahedron as in Tonon 2004, J Math Stat 1(1).) (T33)–(T36)
#pragma once

#include <Eigen/Core>

#include <optional>
#include <span>
#include <string>

#include "stiction/geometry/shape.h"

namespace stiction {

/// All in one frame F, that of the shape unless moved by `transformed`.
struct MassProperties {
  double mass = 0;                                    // [kg]
  Eigen::Vector3d center = Eigen::Vector3d::Zero();   // [m] centre of mass in F
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  // [kg m²] about `center`, axes of F; its
                                                      // products are −∫ x y dm
};

/// Why a shape without other faults has no mass of its own: it is unbounded (plane, height-field),
/// or its mesh is open, inside out or without volume. Empty if it has one.
std::string find_mass_fault(const Shape& shape);

/// None exactly if find_mass_fault has something to say. Throws InputError for a shape with a fault
/// (find_fault), for a density that is not finite and > 0, and for masses or moments that are too
/// large or too small for a double. A mesh that intersects itself counts its volume as often as it
/// winds around it.
std::optional<MassProperties> compute_mass_properties(const Shape& shape, double density);

/// The same solid seen from another frame: properties in F become properties in G, where the origin
/// of F is at p_GF and its axes are the columns of R_GF. Throws InputError if R_GF is not a
/// rotation up to 1e-9.
MassProperties transformed(const MassProperties& properties, const Eigen::Matrix3d& R_GF,
                           const Eigen::Vector3d& p_GF);

/// Several solids, all given in the same frame, as one rigid body. Throws InputError if there is
/// none.
MassProperties combined(std::span<const MassProperties> parts);

/// The same solid with another density, such that it has this mass. Throws InputError for a mass
/// that is not finite and > 0, new or old.
MassProperties scaled_to_mass(const MassProperties& properties, double mass);

/// Why no rigid body has this inertia about its centre of mass: not finite, not symmetric, not
/// positive definite, or one principal moment exceeds the sum of the other two (A + B − C = 2∫ z²
/// dm cannot be negative). Symmetry and triangle inequality may be violated by 1e-9 of the largest
/// entry and moment, for numbers that were written down with limited digits. Empty if some body has
/// it.
std::string find_inertia_fault(const Eigen::Matrix3d& inertia);

}  // namespace stiction
