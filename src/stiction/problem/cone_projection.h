// Projection onto the friction cone K = {(ν, β): ν ≥ 0, β ∈ μν·B} and the support function of its
// section, for the certificate and for naming what a contact does. Solvers must not use this file:
// a checker shares no code with what it checks.
#pragma once

#include <Eigen/Core>

#include "stiction/problem/friction_section.h"

namespace stiction {

/// The cone of one contact. Vectors are (normal, tangent 1, tangent 2); entries of tangents that
/// the contact does not have are zero.
struct FrictionCone {
  int num_tangents = 0;
  double mu = 0;
  FrictionSection section;

  /// The point of K nearest to z.
  Eigen::Vector3d project(const Eigen::Vector3d& z) const;

  /// σ_B(−u_T) = max {−bᵀu_T : b ∈ B}: the dissipation that maximal friction owes per unit μν.
  double support_against(const Eigen::Vector3d& u) const;
};

}  // namespace stiction
