#include "stiction/solve/one_contact.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "stiction/base/known_size.h"

namespace stiction {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// A singular A (tangents that nothing moves, or that the normal determines) is taken as A + δI
/// with δ this share of W: the slip that results is rounding of W r.
constexpr double kSingular = 16 * kEpsilon;

/// An impulse that is left of terms so many times larger is refined with the given data.
constexpr double kCancelled = 8;

/// A sliding direction whose inequalities fail by less is a solution.
constexpr double kAccepted = 1e-12;

/// A direction from the root of F that fails by more is looked for in another way.
constexpr double kScanned = 1e-14;

/// A Schur complement whose determinant is smaller by this, relative to the square of W, has no
/// inverse that an iteration could use.
constexpr double kNearlySingular = 1e-10;

double largest_symmetric_eigenvalue(const double* W) {
  Eigen::Matrix3d S;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) S(i, j) = 0.5 * (W[3 * i + j] + W[3 * j + i]);
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver;
  solver.computeDirect(S, Eigen::EigenvaluesOnly);
  return solver.eigenvalues()[2];
}

/// In space the Frobenius norm, which costs a tenth of the eigenvalue.
double measure_size(const double* W, int dim) {
  if (dim == 1) return W[0];
  if (dim == 2) {
    const double half = 0.5 * (W[0] - W[3]), skew = 0.5 * (W[1] + W[2]);
    return 0.5 * (W[0] + W[3]) + std::sqrt(half * half + skew * skew);
  }
  if (!(W[0] + W[4] + W[8] > 0)) return largest_symmetric_eigenvalue(W);
  double square = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      square += 0.25 * (W[3 * i + j] + W[3 * j + i]) * (W[3 * i + j] + W[3 * j + i]);
  return std::sqrt(square);
}

double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1]; }

}  // namespace

/// `dim` is known to the compiler where it is three.
[[gnu::always_inline]] inline void OneContact::prepare_known(const double* W, int dim, double mu,
                                                             const PolygonTable* table) {
  dim_ = dim;
  mu_ = mu;
  table_ = table;
  std::copy(W, W + dim * dim, W_);
  size_ = measure_size(W, dim);
  has_inverse_ = false;
  kind_ = dim == 1 || mu == 0 ? Kind::kNormal
          : dim == 2          ? Kind::kInterval
          : table             ? Kind::kPolygon
                              : Kind::kDisc;
  if (kind_ == Kind::kNormal || W[0] <= 0) return;
  const int n = dim - 1;
  double size = W[0];
  for (int i = 0; i < n; ++i) g_[i] = W[1 + i] / W[0];
  for (int i = 0; i < n; ++i) {
    size = std::max(size, std::abs(W[(1 + i) * dim + 1 + i]));
    for (int j = 0; j < n; ++j) A_[i * n + j] = W[(1 + i) * dim + 1 + j] - W[(1 + i) * dim] * g_[j];
  }
  const double shift = kSingular * size;
  if (n == 1) {
    if (std::abs(A_[0]) < shift) A_[0] = shift;
    determinant_ = A_[0];
    return prepare_inverse();
  }
  const auto measure = [this] {
    trace_ = A_[0] + A_[3];
    determinant_ = A_[0] * A_[3] - A_[1] * A_[2];
  };
  measure();
  if (std::abs(determinant_) < shift * std::max(std::abs(trace_), shift)) {
    A_[0] += shift;
    A_[3] += shift;
    measure();
  }
  // D = κ² + tr κ + det has its largest root here, if it has one above zero.
  const double discriminant = 0.25 * trace_ * trace_ - determinant_;
  smallest_kappa_ = discriminant < 0 ? 0 : std::max(0.0, std::sqrt(discriminant) - 0.5 * trace_);
  if (determinant_ > 0 && trace_ >= 0) smallest_kappa_ = 0;
  if (kind_ == Kind::kDisc) prepare_inverse();
}

void OneContact::prepare(const double* W, int dim, double mu, const PolygonTable* table) {
  with_known_size<3>(dim, [&]<int kDim>() { prepare_known(W, known<kDim>(dim), mu, table); });
}

/// W⁻¹ by cofactors.
void OneContact::prepare_inverse() {
  double bound = kNearlySingular;
  for (int i = 1; i < dim_; ++i) bound *= std::abs(W_[i * dim_ + i]);
  has_inverse_ = determinant_ > bound;
  if (!has_inverse_) return;
  const double factor = 1 / (W_[0] * determinant_);  // W_NN times that of the Schur complement
  if (dim_ == 2) {
    inverse_[0] = W_[3] * factor;
    inverse_[1] = -W_[1] * factor;
    inverse_[2] = -W_[2] * factor;
    inverse_[3] = W_[0] * factor;
    return;
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int k = (i + 1) % 3, l = (i + 2) % 3, m = (j + 1) % 3, n = (j + 2) % 3;
      inverse_[j * 3 + i] =
          (W_[k * 3 + m] * W_[l * 3 + n] - W_[k * 3 + n] * W_[l * 3 + m]) * factor;
    }
}

bool OneContact::solve(const double* q, double* r, double& hint) const {
  for (int i = 0; i < dim_; ++i) r[i] = 0;
  if (q[0] >= 0) return true;
  if (!(W_[0] > 0)) return false;  // the normal impulse cannot push the contact apart
  switch (kind_) {
    case Kind::kNormal:
      r[0] = -q[0] / W_[0];
      return true;
    case Kind::kInterval:
      return solve_interval(q, r);
    case Kind::kDisc:
      return solve_disc(q, r, hint);
    case Kind::kPolygon:
      return solve_polygon(q, r, hint);
  }
  return false;
}

/// The slides of an indefinite W may both hold, besides sticking (Painlevé): sticking comes first.
bool OneContact::solve_interval(const double* q, double* r) const {
  const double rho = -q[0] / W_[0], b = q[1] + W_[2] * rho, A = A_[0], g = g_[0];
  r[1] = -b / A;
  r[0] = rho - g * r[1];
  if (rho > kCancelled * r[0]) {
    const double e[2] = {q[0] + W_[0] * r[0] + W_[1] * r[1], q[1] + W_[2] * r[0] + W_[3] * r[1]};
    const double correction = -(e[1] - W_[2] * e[0] / W_[0]) / A;
    r[1] += correction;
    r[0] -= e[0] / W_[0] + g * correction;
  }
  if (std::abs(r[1]) <= mu_ * r[0]) return true;
  r[0] = r[1] = 0;
  double least = kAccepted;
  bool found = false;
  for (const double direction : {b > 0 ? -1.0 : 1.0, b > 0 ? 1.0 : -1.0}) {
    const double denominator = 1 + mu_ * g * direction;
    if (denominator <= 0) continue;
    const double normal = rho / denominator, tangential = mu_ * normal * direction;
    const double slip = q[1] + W_[2] * normal + W_[3] * tangential;
    const double wrong = direction * slip /
                         (std::abs(q[1]) + std::abs(W_[2] * normal) + std::abs(W_[3] * tangential));
    if (!(wrong < least)) continue;
    found = true;
    least = std::max(wrong, 0.0);
    r[0] = normal;
    r[1] = tangential;
  }
  return found;
}

OneContact::Reduced OneContact::reduce(const double* q) const {
  Reduced reduced;
  reduced.q = q;
  reduced.rho = -q[0] / W_[0];
  reduced.b[0] = q[1] + W_[3] * reduced.rho;
  reduced.b[1] = q[2] + W_[6] * reduced.rho;
  reduced.c[0] = A_[3] * reduced.b[0] - A_[1] * reduced.b[1];
  reduced.c[1] = A_[0] * reduced.b[1] - A_[2] * reduced.b[0];
  return reduced;
}

/// Tangential velocity for an impulse, from the data; returns the sum of the sizes of its terms.
double OneContact::compute_slip(const double* q, const double* r, double* u) const {
  double size = 0;
  for (int i = 0; i < 2; ++i) {
    const double* row = W_ + 3 * (i + 1);
    u[i] = q[1 + i] + row[0] * r[0] + row[1] * r[1] + row[2] * r[2];
    size += std::abs(q[1 + i]) + std::abs(row[0] * r[0]) + std::abs(row[1] * r[1]) +
            std::abs(row[2] * r[2]);
  }
  return size;
}

/// r = −W⁻¹q if that is in the cone.
bool OneContact::try_stick(const Reduced& reduced, double* r) const {
  const auto eliminate = [this](const Reduced& from, double* out) {
    for (int i = 0; i < 2; ++i) out[1 + i] = -from.c[i] / determinant_;
    out[0] = from.rho - dot(g_, out + 1);
  };
  eliminate(reduced, r);
  const int num_refinements = reduced.rho > kCancelled * r[0] ? 3 : 1;
  for (int k = 0; k < num_refinements; ++k) {
    double e[3], correction[3];
    e[0] = reduced.q[0] + W_[0] * r[0] + W_[1] * r[1] + W_[2] * r[2];
    compute_slip(reduced.q, r, e + 1);
    eliminate(reduce(e), correction);
    for (int i = 0; i < 3; ++i) r[i] += correction[i];
  }
  if (!(r[0] >= 0)) return false;
  const double limit = mu_ * r[0];
  if (!table_) return std::hypot(r[1], r[2]) <= limit;
  for (const PolygonTable::Corner& corner : table_->corners)
    if (dot(corner.normal, r + 1) > limit * table_->apothem) return false;
  return true;
}

bool OneContact::solve_disc(const double* q, double* r, double& hint) const {
  const Reduced reduced = reduce(q);
  if (try_stick(reduced, r)) return true;
  std::fill(r, r + 3, 0.0);
  double kappa = hint;
  const double wrong = find_root(reduced, kappa) ? slide_along(reduced, kappa, r) : 1;
  if (wrong > kScanned && scan_directions(q, r)) return true;
  hint = kappa;
  if (wrong <= kAccepted) return true;
  std::fill(r, r + 3, 0.0);
  return false;
}

/// Newton's method on F in a bracket that bisection keeps shrinking; `kappa` enters as a guess.
bool OneContact::find_root(const Reduced& reduced, double& kappa) const {
  const double* b = reduced.b;
  const double* c = reduced.c;
  const double cc = dot(c, c), bc = dot(b, c), bb = dot(b, b), gc = dot(g_, c), gb = dot(g_, b);
  double slope = 0, size = 0;
  const auto F = [&](double k) {
    const double norm = std::sqrt(std::max(cc + k * (2 * bc + k * bb), 0.0));
    const double D = determinant_ + k * (trace_ + k);
    slope = mu_ * (reduced.rho * (trace_ + 2 * k) + gb) - (norm > 0 ? (bc + k * bb) / norm : 0);
    size = mu_ * (reduced.rho * std::abs(D) + std::abs(gc) + k * std::abs(gb)) + norm;
    return mu_ * (reduced.rho * D + gc + k * gb) - norm;
  };
  double low = smallest_kappa_;
  if (!(F(low) < 0)) return false;
  double high = std::max(2 * low + std::abs(trace_), std::sqrt(bb) / (mu_ * reduced.rho));
  for (int doubling = 0; F(high) < 0; ++doubling, high *= 2) {
    if (doubling == 200 || !std::isfinite(high)) return false;
    low = high;
  }
  if (!(kappa > low && kappa < high)) kappa = high;
  for (int iteration = 0; iteration < 200; ++iteration) {
    const double value = F(kappa);
    if (std::abs(value) <= 2 * kEpsilon * size) return true;
    (value < 0 ? low : high) = kappa;
    double next = kappa - value / slope;
    if (!(slope > 0 && next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - kappa) <= kEpsilon * kappa) return true;
    kappa = next;
  }
  return std::isfinite(kappa);
}

/// Impulse and slip of sliding against the direction (cos, sin); false if no positive normal
/// impulse belongs to it.
struct OneContact::Slide {
  double d[2], t[2];  // direction of friction, and across it
  double r[3], u[2];
  double size;   // of the terms of u
  double wrong;  // slip across the direction, zero in a solution
};

bool OneContact::try_slide(const double* q, double cosine, double sine, Slide& slide) const {
  slide.d[0] = slide.t[1] = cosine;
  slide.d[1] = sine;
  slide.t[0] = -sine;
  const double denominator = W_[0] + mu_ * dot(W_ + 1, slide.d);
  if (!(denominator > 0)) return false;
  slide.r[0] = -q[0] / denominator;
  for (int i = 0; i < 2; ++i) slide.r[1 + i] = mu_ * slide.r[0] * slide.d[i];
  slide.size = compute_slip(q, slide.r, slide.u);
  slide.wrong = dot(slide.t, slide.u);
  return true;
}

/// The root fixes the direction of sliding. Given the direction, normal velocity and friction bound
/// hold to rounding; what cancellation in c + κb has left of the angle, Newton's method removes.
/// Returns by how much the direction is wrong.
double OneContact::slide_along(const Reduced& reduced, double kappa, double* r) const {
  double d[2] = {-(reduced.c[0] + kappa * reduced.b[0]), -(reduced.c[1] + kappa * reduced.b[1])};
  double least = 1;
  for (int refinement = 0; refinement < 6; ++refinement) {
    const double norm = std::hypot(d[0], d[1]);
    Slide slide;
    if (!(norm > 0) || !try_slide(reduced.q, d[0] / norm, d[1] / norm, slide)) break;
    const double wrong = std::abs(slide.wrong) / slide.size;
    if (!(wrong < least)) break;  // the angle before was as good as it gets
    least = wrong;
    std::copy(slide.r, slide.r + 3, r);
    if (wrong <= kEpsilon) break;
    const double nu_slope =
        -slide.r[0] * mu_ * dot(W_ + 1, slide.t) / (W_[0] + mu_ * dot(W_ + 1, slide.d));
    double slope = -dot(slide.d, slide.u);
    for (int i = 0; i < 2; ++i) {
      const double* row = W_ + 3 * (i + 1);
      slope += slide.t[i] * (nu_slope * (row[0] + mu_ * dot(row + 1, slide.d)) +
                             mu_ * slide.r[0] * dot(row + 1, slide.t));
    }
    const double turn = -slide.wrong / slope;
    if (!(std::abs(turn) < 0.1)) break;
    for (int i = 0; i < 2; ++i) d[i] = slide.d[i] + turn * slide.t[i];
  }
  return least;
}

/// For matrices whose reduced form is worthless (W_NN next to nothing beside W_NT): looks around
/// the circle for a direction whose slip changes sides, and bisects. Finds a solution if the
/// directions of two of them, or of one and a pole, are not closer than the scan.
bool OneContact::scan_directions(const double* q, double* r) const {
  constexpr int kNumDirections = 64, kNumBisections = 60;
  const auto slide_at = [&](double angle, Slide& slide) {
    return try_slide(q, std::cos(angle), std::sin(angle), slide);
  };
  Slide previous, next, middle;
  for (int i = 0; i < kNumDirections; ++i) {
    double low = 2 * std::numbers::pi * i / kNumDirections;
    double high = 2 * std::numbers::pi * (i + 1) / kNumDirections;
    if (!slide_at(low, previous) || !slide_at(high, next)) continue;
    if ((previous.wrong > 0) == (next.wrong > 0)) continue;
    for (int k = 0; k < kNumBisections; ++k) {
      const double angle = 0.5 * (low + high);
      if (!slide_at(angle, middle)) break;
      ((middle.wrong > 0) == (previous.wrong > 0) ? low : high) = angle;
    }
    const bool is_solution = std::abs(middle.wrong) <= kAccepted * middle.size &&
                             dot(middle.d, middle.u) <= kAccepted * middle.size;
    if (!is_solution) continue;
    std::copy(middle.r, middle.r + 3, r);
    return true;
  }
  return false;
}

}  // namespace stiction
