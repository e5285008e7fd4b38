#include "stiction/solve/gauss_seidel_projection.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction {
namespace {

void project_on_disc_cone(double mu, int num_tangents, const double* z, double* out) {
  const double norm = num_tangents == 2 ? planar_length(z[1], z[2]) : std::abs(z[1]);
  double normal = z[0], shrink = 1;
  if (z[0] < 0 || norm > mu * z[0]) {
    normal = std::max(0.0, (z[0] + mu * norm) / (1 + mu * mu));
    shrink = norm > 0 ? mu * normal / norm : 0;
  }
  out[0] = normal;
  for (int i = 1; i <= num_tangents; ++i) out[i] = shrink * z[i];
}

/// Index of the edge whose sector contains the direction.
int sector(const PolygonTable& table, double x, double y) {
  const int n = table.num_sides();
  const double first = table.section.kind == FrictionSection::Kind::kBox ? 0.125 : 0;
  const double turn = std::atan2(y, x) / (2 * std::numbers::pi) - first;
  if (!std::isfinite(turn)) return 0;  // any: the result will not be finite either
  return static_cast<int>(std::floor((turn - std::floor(turn)) * n)) % n;
}

/// The cone is its own mirror image in the plane through every corner and through the middle of
/// every edge, so the nearest point lies in the same sector as z, and only one facet counts.
void project_on_polygon_cone(double mu, const PolygonTable& table, const double* z, double* out) {
  const double* n = table.corners[sector(table, z[1], z[2])].normal;
  const double across = n[0] * z[1] + n[1] * z[2], along = n[0] * z[2] - n[1] * z[1];
  const double reach = mu * table.apothem, half = mu * table.half_length;
  if (z[0] >= 0 && across <= reach * z[0]) {
    std::copy(z, z + 3, out);
    return;
  }
  double nu = (z[0] + reach * across) / (1 + reach * reach), sigma = along;
  if (!(nu > 0 && std::abs(along) <= half * nu)) {
    const double side = along < 0 ? -half : half;
    nu = std::max(0.0, (z[0] + reach * across + side * along) / (1 + reach * reach + half * half));
    sigma = side * nu;
  }
  out[0] = nu;
  out[1] = reach * nu * n[0] - sigma * n[1];
  out[2] = reach * nu * n[1] + sigma * n[0];
}

}  // namespace

void project_on_cone(const OneContact& contact, double mu, const double* z, double* out) {
  if (contact.dim() == 1)
    out[0] = std::max(0.0, z[0]);
  else if (contact.dim() == 3 && contact.table())
    project_on_polygon_cone(mu, *contact.table(), z, out);
  else
    project_on_disc_cone(mu, contact.dim() - 1, z, out);
}

double support_against(const OneContact& contact, const double* u) {
  if (contact.dim() == 1) return 0;
  if (contact.dim() == 2) return std::abs(u[1]);
  if (!contact.table()) return planar_length(u[1], u[2]);
  const PolygonTable& table = *contact.table();
  const double* n = table.corners[sector(table, -u[1], -u[2])].normal;
  return -table.apothem * (n[0] * u[1] + n[1] * u[2]) +
         table.half_length * std::abs(n[0] * u[2] - n[1] * u[1]);
}

void step_by_projection(const OneContact& contact, double omega, const double* u, const double* old,
                        double* r) {
  double z[3];
  std::copy(old, old + contact.dim(), r);
  if (omega == 0) return;
  z[0] = old[0] - (u[0] + contact.mu() * support_against(contact, u)) / omega;
  for (int a = 1; a < contact.dim(); ++a) z[a] = old[a] - u[a] / omega;
  project_on_cone(contact, z, r);
}

ContactStatus status_of(const OneContact& contact, const double* r, const double* u) {
  const double rho = contact.size() > 0 ? 1 / contact.size() : 1;
  double z[3] = {}, projected[3];
  for (int a = 0; a < contact.dim(); ++a) z[a] = r[a] - rho * u[a];
  z[0] -= rho * contact.mu() * support_against(contact, u);
  project_on_cone(contact, z, projected);
  if (projected[0] == 0) return ContactStatus::kOpen;
  const bool is_inside = std::equal(z, z + contact.dim(), projected);
  return is_inside ? ContactStatus::kStick : ContactStatus::kSlip;
}

}  // namespace stiction
