// Arithmetic of the Lorentz cone L = {(a, b): a ≥ ‖b‖} for the interior point method: Jordan
// product, its inverse, Nesterov–Todd scaling and steps to the boundary. The cone of the plane is
// the one in space with a last entry of zero, which all operations leave alone.
#pragma once

#include <Eigen/Core>

namespace stiction::lorentz {

using Vector = Eigen::Vector3d;
using Matrix = Eigen::Matrix3d;

/// a² − ‖b‖², computed without cancellation beyond that of a − ‖b‖.
double determinant(const Vector& x);
/// x ∘ y = (xᵀy, x₀y_T + y₀x_T).
Vector product(const Vector& x, const Vector& y);
/// The z with x ∘ z = y.
Vector divide(const Vector& y, const Vector& x);

/// Symmetric F with F y = F⁻¹x for x and y inside the cone.
struct Scaling {
  Matrix F = Matrix::Identity(), inverse = Matrix::Identity();
};
Scaling make_scaling(const Vector& x, const Vector& y);

/// The largest t ≥ 0 with x + t d in the cone; huge if there is none.
double step_to_boundary(const Vector& x, const Vector& d);

}  // namespace stiction::lorentz
