// Polygons and boxes: every vertex and every edge is a linear problem of its own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "stiction/solve/one_contact.h"

namespace stiction {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// A face whose inequalities fail by less is a solution.
constexpr double kAccepted = 1e-12;

double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1]; }

/// Solves a 2 × 2 system by elimination with row pivoting; false if it is singular.
bool solve_pair(double a11, double a12, double a21, double a22, double f1, double f2, double& x,
                double& y) {
  if (std::abs(a21) > std::abs(a11)) {
    std::swap(a11, a21);
    std::swap(a12, a22);
    std::swap(f1, f2);
  }
  const double factor = a21 / a11;
  y = (f2 - factor * f1) / (a22 - factor * a12);
  x = (f1 - a12 * y) / a11;
  return std::isfinite(x) && std::isfinite(y);
}

}  // namespace

PolygonTable::PolygonTable(const FrictionSection& from) : section(from) {
  const bool is_box = from.kind == FrictionSection::Kind::kBox;
  const int n = is_box ? 4 : from.num_sides;
  const double radius = is_box ? std::numbers::sqrt2 : 1, half = std::numbers::pi / n;
  apothem = is_box ? 1 : std::cos(half);
  half_length = radius * std::sin(half);
  corners.resize(n);
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * half * i + (is_box ? half : 0);
    corners[i] = {{radius * std::cos(angle), radius * std::sin(angle)},
                  {std::cos(angle + half), std::sin(angle + half)}};
  }
}

/// Faces are tried outwards from the one of the last solve, or from where b points: vertex i is
/// face 2i, edge i is face 2i + 1.
bool OneContact::solve_polygon(const double* q, double* r, double& hint) const {
  const Reduced reduced = reduce(q);
  if (try_stick(reduced, r)) return true;
  std::fill(r, r + 3, 0.0);
  const int num_faces = 2 * table_->num_sides();
  const double turn = std::atan2(-reduced.b[1], -reduced.b[0]) / (2 * std::numbers::pi);
  if (!std::isfinite(turn)) return false;
  const int guess = static_cast<int>(std::floor((turn < 0 ? turn + 1 : turn) * num_faces));
  const int start = hint > 0 ? static_cast<int>(hint) - 1 : guess % num_faces;
  double least = kAccepted;
  for (int i = 0; i < num_faces && least > kEpsilon; ++i) {
    const int offset = i % 2 ? (i + 1) / 2 : -(i / 2);
    const int face = (start + offset + num_faces) % num_faces;
    double trial[3];
    const double wrong =
        face % 2 ? try_edge(reduced, face / 2, trial) : try_vertex(reduced, face / 2, trial);
    if (!(wrong < least)) continue;
    least = wrong;
    hint = face + 1;
    std::copy(trial, trial + 3, r);
  }
  return least < kAccepted;
}

/// β = μν d: −u_T must lie between the normals of the two edges that meet here. Returns by how much
/// it does not.
double OneContact::try_vertex(const Reduced& reduced, int corner, double* r) const {
  const double* d = table_->corners[corner].vertex;
  const double denominator = 1 + mu_ * dot(g_, d);
  if (!(denominator > 0)) return 1;
  const double nu = reduced.rho / denominator;
  r[0] = nu;
  r[1] = mu_ * nu * d[0];
  r[2] = mu_ * nu * d[1];
  double u[2];
  const double size = compute_slip(reduced.q, r, u);
  const int n = table_->num_sides();
  const double* after = table_->corners[corner].normal;
  const double* before = table_->corners[(corner + n - 1) % n].normal;
  const double past_after = u[0] * after[1] - u[1] * after[0];
  const double short_of_before = before[0] * u[1] - before[1] * u[0];
  return std::max({past_after, short_of_before, 0.0}) / size;
}

/// β on an edge, that is β = μν h n + σ t: u_T = −κ n with κ ≥ 0.
double OneContact::try_edge(const Reduced& reduced, int corner, double* r) const {
  const double* n = table_->corners[corner].normal;
  const double t[2] = {-n[1], n[0]};
  const double reach = mu_ * table_->apothem;
  const double rn[2] = {reach * n[0], reach * n[1]};
  const double tW[3] = {t[0] * W_[3] + t[1] * W_[6], t[0] * W_[4] + t[1] * W_[7],
                        t[0] * W_[5] + t[1] * W_[8]};
  double nu, sigma;
  if (!solve_pair(W_[0] + dot(W_ + 1, rn), dot(W_ + 1, t), tW[0] + dot(tW + 1, rn), dot(tW + 1, t),
                  -reduced.q[0], -dot(t, reduced.q + 1), nu, sigma) ||
      !(nu > 0))
    return 1;
  r[0] = nu;
  for (int i = 0; i < 2; ++i) r[1 + i] = nu * rn[i] + sigma * t[i];
  double u[2];
  const double size = compute_slip(reduced.q, r, u);
  const double outside = std::abs(sigma) / (mu_ * nu) - table_->half_length;
  return std::max({outside, dot(n, u) / size, 0.0});
}

}  // namespace stiction
