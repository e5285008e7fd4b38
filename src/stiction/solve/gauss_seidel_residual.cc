#include "stiction/solve/gauss_seidel_residual.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "stiction/problem/contact_status.h"

namespace stiction {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Share of what other impulses amount to at a row that counts as an impulse of its own. (T21),
/// (T22)
constexpr double kBackgroundShare = 1e-4;

/// Impulses that cancel each other count up to this multiple of the data. (T21), (T22)
constexpr double kDataFactor = 1e7;

void project_on_disc_cone(double mu, int num_tangents, const double* z, double* out) {
  const double norm = num_tangents == 2 ? std::hypot(z[1], z[2]) : std::abs(z[1]);
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

double ratio(double part, double whole) {
  if (part == 0) return 0;
  return whole > 0 && std::isfinite(whole) && part < kInfinity ? part / whole : kInfinity;
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

void project_on_cone(const OneContact& contact, const double* z, double* out) {
  project_on_cone(contact, contact.mu(), z, out);
}

namespace {

/// 1/√ω of normal and tangents (T22).
struct ContactScale {
  double normal, tangential;
};

ContactScale scale_of(const OneContact& contact, double omega) {
  const double normal = contact.W(0, 0);
  double tangential = contact.dim() > 1 ? contact.W(1, 1) : 0;
  if (contact.dim() == 3) {
    const double skew = 0.5 * (contact.W(1, 2) + contact.W(2, 1));
    tangential = 0.5 * (contact.W(1, 1) + contact.W(2, 2)) +
                 std::hypot(0.5 * (contact.W(1, 1) - contact.W(2, 2)), skew);
  }
  return {1 / std::sqrt(normal > 0 ? normal : omega),
          1 / std::sqrt(tangential > 0 ? tangential : omega)};
}

}  // namespace

double support_against(const OneContact& contact, const double* u) {
  if (contact.dim() == 1) return 0;
  if (contact.dim() == 2) return std::abs(u[1]);
  if (!contact.table()) return std::hypot(u[1], u[2]);
  const PolygonTable& table = *contact.table();
  const double* n = table.corners[sector(table, -u[1], -u[2])].normal;
  return -table.apothem * (n[0] * u[1] + n[1] * u[2]) +
         table.half_length * std::abs(n[0] * u[2] - n[1] * u[1]);
}

namespace {

/// The defect r − P(r − û) with a step of one, and what the contact does.
char evaluate_unit_defect(const OneContact& contact, const double* r, const double* u,
                          double* defect) {
  double z[3], projected[3];
  const int dim = contact.dim();
  for (int a = 0; a < dim; ++a) z[a] = r[a] - u[a];
  z[0] -= contact.mu() * support_against(contact, u);
  project_on_cone(contact, z, projected);
  for (int a = 0; a < dim; ++a) defect[a] = r[a] - projected[a];
  const bool is_inside = std::equal(z, z + dim, projected);
  return static_cast<char>(projected[0] == 0 ? ContactStatus::kOpen
                           : is_inside       ? ContactStatus::kStick
                                             : ContactStatus::kSlip);
}

}  // namespace

/// Numerators and denominators of both measures.
struct GaussSeidelResidual::Sums {
  double bilateral = 0, bilateral_total = 0, bilateral_background = 0;
  double cone = 0, cone_total = 0, cone_background = 0;
  double unit_squares = 0, x_squares = 0, u_squares = 0, bias_squares = 0;
  double cap = kInfinity;  // of the totals
  bool is_infeasible = false;

  void add_row(double defect, double x, double u, double bias) {
    unit_squares += defect * defect;
    x_squares += x * x;
    u_squares += u * u;
    bias_squares += bias * bias;
  }
  Residual finish(bool has_bodies) const {
    const double floor = has_bodies ? 0 : bias_squares;
    const double unit_scale = std::sqrt(std::max({x_squares, u_squares, floor}));
    // The collection does not divide by a denominator that is mere rounding.
    const double divisor = unit_scale > std::numeric_limits<double>::epsilon() ? unit_scale : 1;
    Residual residual;
    residual.unit = std::sqrt(unit_squares) / divisor;
    residual.relative = std::max(
        ratio(bilateral, std::min(bilateral_total, cap) + kBackgroundShare * bilateral_background),
        ratio(cone, std::min(cone_total, cap) + kBackgroundShare * cone_background));
    if (is_infeasible) residual.relative = kInfinity;
    if (!std::isfinite(unit_squares + x_squares + u_squares)) residual = {kInfinity, kInfinity};
    return residual;
  }
};

void GaussSeidelResidual::prepare(const StepProblem& problem, const ContactBlocks& blocks) {
  row_norm_.clear();
  norm_start_.clear();
  for (int i = 0; i < blocks.num_units(); ++i) {
    const int dim = blocks.unit(i).dim;
    for (int e = blocks.unit(i).entry_begin; e < blocks.unit(i + 1).entry_begin; ++e) {
      norm_start_.push_back(static_cast<int>(row_norm_.size()));
      const int columns = blocks.entry(e).columns;
      for (int a = 0; a < dim; ++a) {
        const double* jacobian = blocks.entry_values(e) + static_cast<std::ptrdiff_t>(a) * columns;
        const double* moved = jacobian + static_cast<std::ptrdiff_t>(dim) * columns;
        double sum = 0;
        for (int k = 0; k < columns; ++k) sum += jacobian[k] * moved[k];
        row_norm_.push_back(std::sqrt(std::max(sum, 0.0)));
      }
    }
  }
  block_norm_.resize(problem.num_blocks());
  involved_.resize(problem.num_blocks());
  status_.assign(problem.num_contacts(), 0);
  for (int b = 0; b < problem.num_blocks(); ++b) {
    double sum = 0;
    for (int k = problem.dof_start[b]; k < problem.dof_start[b + 1]; ++k)
      sum += problem.p[k] * blocks.free_velocity()[k];
    block_norm_[b] = std::sqrt(std::max(sum, 0.0));
  }
  measure_data(blocks);
}

/// The size of the data: momenta, and impulses that biases and bounds call for. Condensed problems
/// have no such limit.
void GaussSeidelResidual::measure_data(const ContactBlocks& blocks) {
  double data = 0;
  for (const double norm : block_norm_) data = std::max(data, norm);
  for (int i = 0; i < blocks.num_units(); ++i) {
    const double weight = std::sqrt(blocks.omega(i));
    for (int a = 0; weight > 0 && a < blocks.unit(i).dim; ++a)
      data = std::max(data, std::abs(blocks.bias(blocks.unit(i).row + a)) / weight);
    if (i < blocks.num_bilateral())
      data = std::max(data, std::abs(std::clamp(0.0, blocks.lower(i), blocks.upper(i))) * weight);
  }
  cap_ = data > 0 && blocks.has_bodies() ? kDataFactor * data : kInfinity;
}

void GaussSeidelResidual::compute_involved(const ContactBlocks& blocks, const double* x) {
  std::copy(block_norm_.begin(), block_norm_.end(), involved_.begin());
  for (int i = 0; i < blocks.num_units(); ++i)
    for (int e = blocks.unit(i).entry_begin; e < blocks.unit(i + 1).entry_begin; ++e)
      for (int a = 0; a < blocks.unit(i).dim; ++a)
        involved_[blocks.entry(e).block] +=
            std::abs(x[blocks.unit(i).row + a]) * row_norm_[norm_start_[e] + a];
  // The most loaded block counts everywhere (T21), (T22).
  if (!involved_.empty())
    std::fill(involved_.begin(), involved_.end(),
              std::min(cap_, *std::max_element(involved_.begin(), involved_.end())));
}

Residual GaussSeidelResidual::evaluate(const ContactBlocks& blocks, const double* x,
                                       const double* u, const double* w) {
  compute_involved(blocks, x);
  Sums sums;
  sums.cap = cap_;
  for (int i = 0; i < blocks.num_units(); ++i) {
    const ContactBlocks::Unit& unit = blocks.unit(i);
    double velocity[3], reach[3];
    for (int a = 0; a < unit.dim; ++a) {
      velocity[a] = u[unit.row + a];
      reach[a] = std::abs(blocks.bias(unit.row + a));
    }
    for (int e = unit.entry_begin; e < blocks.unit(i + 1).entry_begin; ++e) {
      const ContactBlocks::Entry& entry = blocks.entry(e);
      const double* jacobian = blocks.entry_values(e);
      for (int a = 0; a < unit.dim; ++a) {
        reach[a] += row_norm_[norm_start_[e] + a] * involved_[entry.block];
        for (int k = 0; k < entry.columns; ++k) velocity[a] += *jacobian++ * w[entry.dof + k];
      }
    }
    if (i < blocks.num_bilateral())
      include_bilateral(blocks, i, x, velocity, reach, sums);
    else
      include_contact(blocks, i - blocks.num_bilateral(), x + unit.row, velocity, reach, sums);
  }
  return sums.finish(blocks.has_bodies());
}

void GaussSeidelResidual::include_bilateral(const ContactBlocks& blocks, int i, const double* x,
                                            const double* u, const double* reach,
                                            Sums& sums) const {
  const double lower = blocks.lower(i), upper = blocks.upper(i);
  sums.add_row(x[i] - std::clamp(x[i] - u[0], lower, upper), x[i], u[0], blocks.bias(i));
  const double omega = blocks.omega(i), weight = std::sqrt(omega);
  if (omega == 0) {  // nothing moves the row: it holds or it does not
    const bool is_at_bound = u[0] > 0 ? x[i] == lower : x[i] == upper;
    sums.is_infeasible = sums.is_infeasible || (u[0] != 0 && !is_at_bound);
    return;
  }
  const double defect = x[i] - std::clamp(x[i] - u[0] / omega, lower, upper);
  sums.bilateral = std::max(sums.bilateral, std::abs(defect) * weight);
  sums.bilateral_total += std::abs(x[i]) * weight;
  sums.bilateral_background = std::max(sums.bilateral_background, reach[0] / weight);
}

void GaussSeidelResidual::include_contact(const ContactBlocks& blocks, int j, const double* r,
                                          const double* u, const double* reach, Sums& sums) {
  const OneContact& contact = blocks.contact(j);
  const int unit = blocks.num_bilateral() + j, dim = contact.dim();
  double local[3];
  status_[j] = evaluate_unit_defect(contact, r, u, local);
  for (int a = 0; a < dim; ++a)
    sums.add_row(local[a], r[a], u[a], blocks.bias(blocks.unit(unit).row + a));
  const double omega = blocks.omega(unit);
  if (omega == 0) {
    sums.is_infeasible = sums.is_infeasible || u[0] < 0;
    return;
  }
  const ContactScale scale = scale_of(contact, omega);
  const double mu = contact.mu() * scale.normal / scale.tangential;
  double u_hat[3], z[3], projected[3], total = 0, background = 0, square = 0;
  for (int a = 0; a < dim; ++a) u_hat[a] = u[a] * (a == 0 ? scale.normal : scale.tangential);
  u_hat[0] += mu * support_against(contact, u_hat);
  for (int a = 0; a < dim; ++a) {
    const double s = a == 0 ? scale.normal : scale.tangential;
    total += r[a] / s * (r[a] / s);
    background += reach[a] * s * (reach[a] * s);
    z[a] = r[a] / s - u_hat[a];
  }
  project_on_cone(contact, mu, z, projected);
  const bool is_inside = std::equal(z, z + dim, projected);
  for (int a = 0; a < dim; ++a) {
    const double s = a == 0 ? scale.normal : scale.tangential;
    const double error = is_inside ? u_hat[a] : r[a] / s - projected[a];
    square += error * error;
  }
  sums.cone = std::max(sums.cone, std::sqrt(square));
  sums.cone_total += std::sqrt(total);
  sums.cone_background = std::max(sums.cone_background, std::sqrt(background));
}

}  // namespace stiction
