#include "stiction/solve/direct_iterative_friction.h"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

constexpr int kLocalSteps = 8;

/// Nearest point of the boundary of a polygon scaled by `size`; p lies outside.
void project_on_edges(const PolygonTable& table, double size, double* p) {
  double best = 0, nearest[2] = {0, 0};
  for (int i = 0; i < table.num_sides(); ++i) {
    const PolygonTable::Corner& corner = table.corners[i];
    const double* n = corner.normal;
    const double along =
        std::clamp(n[0] * p[1] - n[1] * p[0], -size * table.half_length, size * table.half_length);
    const double reach = size * table.apothem;
    const double q[2] = {reach * n[0] - along * n[1], reach * n[1] + along * n[0]};
    const double distance = std::hypot(q[0] - p[0], q[1] - p[1]);
    if (i > 0 && distance >= best) continue;
    best = distance;
    std::copy(q, q + 2, nearest);
  }
  std::copy(nearest, nearest + 2, p);
}

/// Largest eigenvalue of the symmetric part of W_TT.
double tangential_stiffness(const OneContact& law) {
  if (law.dim() == 2) return law.W(1, 1);
  const double skew = 0.5 * (law.W(1, 2) + law.W(2, 1));
  return 0.5 * (law.W(1, 1) + law.W(2, 2)) + std::hypot(0.5 * (law.W(1, 1) - law.W(2, 2)), skew);
}

}  // namespace

void project_on_section(const OneContact& law, double nu, double* beta) {
  const double size = law.mu() * std::max(nu, 0.0);
  if (law.dim() == 2) {
    beta[0] = std::clamp(beta[0], -size, size);
    return;
  }
  if (!law.table()) {
    const double norm = std::hypot(beta[0], beta[1]);
    if (norm <= size) return;
    for (int i = 0; i < 2; ++i) beta[i] *= size / norm;
    return;
  }
  bool is_inside = true;
  for (const PolygonTable::Corner& corner : law.table()->corners)
    is_inside = is_inside && corner.normal[0] * beta[0] + corner.normal[1] * beta[1] <=
                                 size * law.table()->apothem;
  if (!is_inside) project_on_edges(*law.table(), size, beta);
}

void relax_friction(const OneContact& law, const double* u, double* r) {
  const int num_tangents = std::min(law.dim() - 1, 2);
  const double stiffness = tangential_stiffness(law);
  double velocity[2] = {u[1], num_tangents > 1 ? u[2] : 0};
  const int steps = num_tangents == 1 ? 1 : kLocalSteps;
  for (int step = 0; step < steps; ++step) {
    double beta[2] = {r[1], num_tangents > 1 ? r[2] : 0};
    // Nothing moves the tangents: any β will do that the section allows.
    for (int i = 0; i < num_tangents; ++i) beta[i] -= stiffness > 0 ? velocity[i] / stiffness : 0;
    project_on_section(law, r[0], beta);
    double change = 0;
    for (int i = 0; i < num_tangents; ++i) {
      beta[i] -= r[1 + i];
      change = std::max(change, std::abs(beta[i]));
    }
    if (change == 0) break;
    for (int i = 0; i < num_tangents; ++i) {
      r[1 + i] += beta[i];
      for (int k = 0; k < num_tangents; ++k) velocity[k] += law.W(1 + k, 1 + i) * beta[i];
    }
  }
}

}  // namespace stiction
