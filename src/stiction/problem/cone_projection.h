// Projection onto the friction cone K = {(ν, β): ν ≥ 0, β ∈ μν·B} and the support function of its
// section, for the certificate and for naming what a contact does. Solvers must not use this file:
// a checker shares no code with what it checks.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <optional>

#include "stiction/problem/friction_section.h"

namespace stiction {

/// The cone of one contact. Vectors are (normal, tangent 1, tangent 2); entries of tangents that
/// the contact does not have are zero.
struct FrictionCone {
  int num_tangents = 0;
  double mu = 0;
  FrictionSection section;

  /// The point of K nearest to z. Here and below, what has no corners is short enough to become
  /// part of its caller.
  Eigen::Vector3d project(const Eigen::Vector3d& z) const {
    // Without friction the cone is a half-line, which the formulas of both other cases miss.
    if (mu == 0 || num_tangents == 0) return {std::max(0.0, z[0]), 0, 0};
    return is_round() ? project_onto_round(z) : project_onto_polyhedron(z);
  }

  /// P_K(r + d) − r for r in K, or off it by rounding, without the cancellation of an r that is far
  /// longer than d: the projection of d onto what the faces of K near r leave. Faces that pass r
  /// within some units of its last place pass through it: r and μ are known no better, and with
  /// another μ in the last place they would. Nothing where d is not small enough for that.
  std::optional<Eigen::Vector3d> project_step(const Eigen::Vector3d& r,
                                              const Eigen::Vector3d& d) const;

  /// σ_B(−u_T) = max {−bᵀu_T : b ∈ B}: the dissipation that maximal friction owes per unit μν.
  double support_against(const Eigen::Vector3d& u) const {
    return is_round() ? tangential_length(u) : support_of_polygon(u);
  }

 private:
  bool is_round() const { return num_tangents < 2 || section.kind == FrictionSection::Kind::kDisc; }
  /// ‖z_T‖, without a root where there is but one tangent.
  double tangential_length(const Eigen::Vector3d& z) const {
    return num_tangents < 2 ? std::abs(z[1]) : std::sqrt(z[1] * z[1] + z[2] * z[2]);
  }
  Eigen::Vector3d project_onto_round(const Eigen::Vector3d& z) const {
    const double tangential = tangential_length(z);
    if (tangential <= mu * z[0]) return z;
    if (mu * tangential <= -z[0]) return {0, 0, 0};
    const double normal = (z[0] + mu * tangential) / (1 + mu * mu);
    const double scale = mu * normal / tangential;
    return {normal, scale * z[1], scale * z[2]};
  }
  Eigen::Vector3d project_onto_polyhedron(const Eigen::Vector3d& z) const;
  double support_of_polygon(const Eigen::Vector3d& u) const;

  /// A half-space outward·x ≤ room of steps x from a point of K.
  struct Face {
    Eigen::Vector3d outward{0, 0, 0};
    double room = 0;
  };
  struct Faces;
  Face face_at(const Eigen::Vector3d& r, double apothem, const Eigen::Vector2d& direction) const;
  Faces find_faces(const Eigen::Vector3d& r, double reach) const;
};

}  // namespace stiction
