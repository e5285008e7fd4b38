#include "stiction/problem/certificate_contact.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace stiction {
namespace {

using Eigen::Vector3d;

/// √(a² + b²), by squares where these are far from the ends of the range: far cheaper.
double length(double a, double b) {
  const double square = a * a + b * b;
  return square > 1e-280 && square < 1e280 ? std::sqrt(square) : std::hypot(a, b);
}

/// A contact of kRows rows, in the units of the problem; compliance and bias included. The number
/// of rows is known to the compiler, so that all of it stays in registers.
template <int kRows>
struct LocalContact {
  std::array<double, kRows> u, delassus;
  double cross, largest_coupling;
  bool is_finite;
};

template <int kRows>
LocalContact<kRows> complete(const RowBlockView& view, const double* r, const double* compliance,
                             const double* bias) {
  LocalContact<kRows> contact;
  contact.cross = view.cross;
  contact.largest_coupling = view.largest_coupling;
  contact.is_finite = kRows < 3 || std::isfinite(view.cross);
  for (int i = 0; i < kRows; ++i) {
    contact.u[i] = view.u[i] + (compliance[i] * r[i] + bias[i]);
    contact.delassus[i] = view.delassus[i] + compliance[i];
    contact.is_finite &= std::isfinite(contact.u[i]) && std::isfinite(contact.delassus[i]);
  }
  return contact;
}

template <int kRows>
bool holds_exactly(const LocalContact<kRows>& contact, const double* r) {
  bool has_friction = false;
  for (int i = 1; i < kRows; ++i) has_friction |= r[i] != 0;
  const double u = contact.u[0];
  const bool is_outside = r[0] < 0 || (r[0] == 0 && has_friction);
  return !(u < 0 || (u > 0 && r[0] != 0) || is_outside);
}

/// Impulses times √W and velocities over it have the unit √J and an effective mass of about one.
/// Normal and tangents get weights √W of their own: with a common one, errors of the stiffer
/// direction would be seen too small by the ratio of the two.
struct ContactWeight {
  double normal = 0;  // 0: nothing moves this contact
  double tangential = 1;
};

template <int kRows>
ContactWeight weigh(const LocalContact<kRows>& contact) {
  const double normal = contact.delassus[0];
  double tangential = 0;
  if constexpr (kRows == 2) tangential = contact.delassus[1];
  if constexpr (kRows == 3)  // the larger eigenvalue of the tangential block
    tangential = 0.5 * (contact.delassus[1] + contact.delassus[2]) +
                 length(0.5 * (contact.delassus[1] - contact.delassus[2]), contact.cross);
  double largest = std::max(normal, tangential);
  if (!(largest > 0)) largest = contact.largest_coupling;
  if (!(largest > 0)) return {};
  ContactWeight weight{std::sqrt(normal > 0 ? normal : largest)};
  if constexpr (kRows > 1) weight.tangential = std::sqrt(tangential > 0 ? tangential : largest);
  return weight;
}

/// ‖r − P_K(r − û)‖. Inside the cone the error is û itself, which the difference would lose beside
/// a large impulse.
double cone_error(const FrictionCone& cone, const Vector3d& r, const Vector3d& u) {
  const Vector3d u_hat(u[0] + cone.mu * cone.support_against(u), u[1], u[2]);
  const Vector3d shifted = r - u_hat, projected = cone.project(shifted);
  double square = 0;
  for (int i = 0; i < 3; ++i) {
    const double error = projected[i] == shifted[i] ? u_hat[i] : r[i] - projected[i];
    square += error * error;
  }
  return std::sqrt(square);
}

/// The same beyond the cap, where an error in the last place of r would be taken for one of û: a
/// contact that slips is off the edge of its cone by as much, however exact the answer.
double large_cone_error(const FrictionCone& cone, const Vector3d& r, const Vector3d& u) {
  const Vector3d u_hat(u[0] + cone.mu * cone.support_against(u), u[1], u[2]);
  const std::optional<Vector3d> step = cone.project_step(r, -u_hat);
  return step ? step->norm() : cone_error(cone, r, u);
}

template <int kRows>
void scale_rows(const StepProblem& problem, int index, const RowBlockView& view, const double* r,
                const ImpulseScale& scale, ScaledContact& scaled) {
  const int row = problem.contacts.row_start(index);
  const double mu = problem.mu[index], *bias = problem.contact_bias.data() + row;
  const auto contact = complete<kRows>(view, r, problem.contact_compliance.data() + row, bias);
  const ContactWeight weight = contact.is_finite ? weigh(contact) : ContactWeight{};
  ContactFigures& figures = scaled.figures;
  figures = {};
  figures.is_scaled = weight.normal > 0 && mu >= 0;
  if (!figures.is_scaled) {
    const bool may_hold = contact.is_finite && !(weight.normal > 0);
    if (!may_hold || !holds_exactly(contact, r))
      figures.error = std::numeric_limits<double>::infinity();
    return;
  }
  const double normal = 1 / weight.normal, tangential = 1 / weight.tangential;
  Vector3d impulse(0, 0, 0), u(0, 0, 0);
  double impulse_square = 0, reach_square = 0;
  for (int i = 0; i < kRows; ++i) {
    const double s = i == 0 ? normal : tangential, bias_impulse = std::abs(bias[i]) * s;
    impulse[i] = r[i] * (i == 0 ? weight.normal : weight.tangential);
    u[i] = contact.u[i] * s;
    const double reach = (view.arm[i] * scale.load + view.reach[i]) * s + bias_impulse;
    impulse_square += impulse[i] * impulse[i];
    reach_square += reach * reach;
    figures.bias = std::max(figures.bias, bias_impulse);
  }
  scaled.cone = {kRows - 1, mu * normal * weight.tangential, problem.section[index]};
  scaled.impulse = impulse;
  scaled.u = u;
  figures.impulse = std::sqrt(impulse_square);
  figures.reach = std::sqrt(reach_square);
}

}  // namespace

void scale_contact(const StepProblem& problem, int contact, const RowBlockView& view,
                   const double* r, const ImpulseScale& scale, ScaledContact& scaled) {
  switch (problem.contacts.num_rows(contact)) {
    case 1:
      return scale_rows<1>(problem, contact, view, r, scale, scaled);
    case 2:
      return scale_rows<2>(problem, contact, view, r, scale, scaled);
    default:
      return scale_rows<3>(problem, contact, view, r, scale, scaled);
  }
}

double compute_cone_error(const ScaledContact& scaled, double cap) {
  if (!scaled.figures.is_scaled) return scaled.figures.error;
  return scaled.figures.impulse > cap ? large_cone_error(scaled.cone, scaled.impulse, scaled.u)
                                      : cone_error(scaled.cone, scaled.impulse, scaled.u);
}

}  // namespace stiction
