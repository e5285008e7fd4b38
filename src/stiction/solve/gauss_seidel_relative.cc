#include "stiction/solve/gauss_seidel_relative.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "stiction/solve/gauss_seidel_projection.h"
#include "stiction/solve/gauss_seidel_sweep.h"

namespace stiction {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Share of what other impulses amount to at a row that counts as an impulse of its own. (T21),
/// (T22)
constexpr double kBackgroundShare = 1e-4;

/// Impulses that cancel each other count up to this multiple of the data. (T21), (T22)
constexpr double kDataFactor = 1e7;

double ratio(double part, double whole) {
  if (part == 0) return 0;
  return whole > 0 && whole < kInfinity && part < kInfinity ? part / whole : kInfinity;
}

/// wᵀM̂w of one block; negative only by rounding.
double energy(const double* mass, int n, const double* w) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    double momentum = 0;
    for (int j = 0; j < n; ++j) momentum += mass[i * n + j] * w[j];
    sum += w[i] * momentum;
  }
  return std::max(sum, 0.0);
}

}  // namespace

/// Beyond the cap, where impulses grow against a contradiction, their rounding is an error, too.
double RelativeMeasure::excess_rounding(double impulse) const {
  return impulse > cap_ ? std::numeric_limits<double>::epsilon() * impulse : 0;
}

struct RelativeMeasure::Sums {
  double bilateral = 0, bilateral_total = 0, bilateral_background = 0;
  double cone_square = 0, cone_total = 0, cone_background_square = 0;
  double all = 0;              // a sum over all numbers: maxima drop those that are none
  bool is_infeasible = false;  // a row that nothing moves and that does not hold
};

void RelativeMeasure::prepare(const StepProblem& problem, const ContactBlocks& blocks) {
  problem_ = &problem;
  row_norm_.assign(blocks.num_rows(), 0.0);
  entry_norm_.clear();
  momentum_.resize(problem.num_blocks());
  involved_.resize(problem.num_blocks());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    double sum = 0;
    for (int k = problem.dof_start[b]; k < problem.dof_start[b + 1]; ++k)
      sum += problem.p[k] * blocks.free_velocity()[k];
    momentum_[b] = std::sqrt(std::max(sum, 0.0));
  }
  prepare_norms(blocks);
  prepare_data(blocks);
  prepare_scales(blocks);
}

void RelativeMeasure::prepare_norms(const ContactBlocks& blocks) {
  for (int i = 0; i < blocks.num_units(); ++i) {
    const ContactBlocks::Unit& unit = blocks.unit(i);
    for (int e = unit.entry_begin; e < blocks.unit(i + 1).entry_begin; ++e) {
      const int columns = blocks.entry(e).columns;
      for (int a = 0; a < unit.dim; ++a) {
        const double* jacobian = blocks.entry_values(e) + static_cast<std::ptrdiff_t>(a) * columns;
        const double* moved = jacobian + static_cast<std::ptrdiff_t>(unit.dim) * columns;
        double sum = 0;
        for (int k = 0; k < columns; ++k) sum += jacobian[k] * moved[k];
        entry_norm_.push_back(std::sqrt(std::max(sum, 0.0)));
        row_norm_[unit.row + a] += entry_norm_.back();
      }
    }
  }
}

/// Biases and bounds in √J, by what a unit impulse gives its own row.
void RelativeMeasure::prepare_data(const ContactBlocks& blocks) {
  row_data_ = 0;
  const double* norm = entry_norm_.data();
  for (int i = 0; i < blocks.num_units(); ++i) {
    const ContactBlocks::Unit& unit = blocks.unit(i);
    double W[3];
    for (int a = 0; a < unit.dim; ++a) W[a] = blocks.compliance(unit.row + a);
    for (int e = unit.entry_begin; e < blocks.unit(i + 1).entry_begin; ++e)
      for (int a = 0; a < unit.dim; ++a, ++norm) W[a] += *norm * *norm;
    const bool is_joint = i < blocks.num_bilateral();
    for (int a = 0; a < unit.dim && !blocks.has_bodies(); ++a) {
      W[a] = is_joint ? blocks.bilateral_W(i) : blocks.contact(i - blocks.num_bilateral()).W(a, a);
      if (!(W[a] > 0)) W[a] = blocks.omega(i);
    }
    for (int a = 0; a < unit.dim; ++a)
      if (W[a] > 0)
        row_data_ = std::max(row_data_, std::abs(blocks.bias(unit.row + a)) / std::sqrt(W[a]));
    if (is_joint && W[0] > 0)
      row_data_ = std::max(
          row_data_, std::sqrt(W[0]) * std::abs(std::clamp(0.0, blocks.lower(i), blocks.upper(i))));
  }
}

void RelativeMeasure::prepare_scales(const ContactBlocks& blocks) {
  const int num_contacts = blocks.num_units() - blocks.num_bilateral();
  scale_.resize(num_contacts);
  for (int j = 0; j < num_contacts; ++j) {
    const OneContact& contact = blocks.contact(j);
    const double omega = blocks.omega(blocks.num_bilateral() + j), normal = contact.W(0, 0);
    double tangential = contact.dim() > 1 ? contact.W(1, 1) : 0;
    if (contact.dim() == 3) {  // the larger eigenvalue of the tangential block
      const double skew = 0.5 * (contact.W(1, 2) + contact.W(2, 1));
      const double half = 0.5 * (contact.W(1, 1) - contact.W(2, 2));
      tangential = 0.5 * (contact.W(1, 1) + contact.W(2, 2)) + std::sqrt(half * half + skew * skew);
    }
    double largest = std::max(normal, tangential);
    if (!(largest > 0)) largest = omega;
    scale_[j] = {};
    if (!(largest > 0)) continue;
    scale_[j] = {1 / std::sqrt(normal > 0 ? normal : largest),
                 1 / std::sqrt(tangential > 0 ? tangential : largest)};
  }
}

/// The cap and the most loaded block (T21), (T22).
void RelativeMeasure::measure_impulses(const ContactBlocks& blocks, const double* x,
                                       const double* w) {
  double data = row_data_;
  const StepProblem& problem = *problem_;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const double* mass = problem.mass_values.data() + problem.mass_start[b];
    involved_[b] =
        momentum_[b] + std::sqrt(energy(mass, problem.block_size(b), w + problem.dof_start[b]));
    data = std::max(data, involved_[b]);
  }
  cap_ = data > 0 ? kDataFactor * data : kInfinity;
  const double* norm = entry_norm_.data();
  for (int i = 0; i < blocks.num_units(); ++i) {
    const ContactBlocks::Unit& unit = blocks.unit(i);
    for (int e = unit.entry_begin; e < blocks.unit(i + 1).entry_begin; ++e)
      for (int a = 0; a < unit.dim; ++a)
        involved_[blocks.entry(e).block] += std::abs(x[unit.row + a]) * *norm++;
  }
  background_ = 0;
  for (const double impulses : involved_) background_ = std::max(background_, impulses);
  background_ = std::min(background_, cap_);
}

double RelativeMeasure::evaluate(const ContactBlocks& blocks, const double* x, const double* u,
                                 const double* w) {
  measure_impulses(blocks, x, w);
  Sums sums;
  for (int i = 0; i < blocks.num_bilateral(); ++i) {
    double s;
    compute_unit_velocity<1>(blocks, i, u, w, &s);
    include_bilateral(blocks, i, x[i], s, sums);
  }
  for (int i = blocks.num_bilateral(); i < blocks.num_units(); ++i) switch (blocks.unit(i).dim) {
      case 1:
        include_contact<1>(blocks, i, x, u, w, sums);
        break;
      case 2:
        include_contact<2>(blocks, i, x, u, w, sums);
        break;
      default:
        include_contact<3>(blocks, i, x, u, w, sums);
    }
  if (sums.is_infeasible) return kInfinity;
  const double bilateral = ratio(sums.bilateral, std::min(sums.bilateral_total, cap_) +
                                                     kBackgroundShare * sums.bilateral_background);
  const double cone = ratio(
      std::sqrt(sums.cone_square),
      std::min(sums.cone_total, cap_) + kBackgroundShare * std::sqrt(sums.cone_background_square));
  return std::isfinite(sums.all) ? std::max(bilateral, cone) : kInfinity;
}

void RelativeMeasure::include_bilateral(const ContactBlocks& blocks, int i, double x, double s,
                                        Sums& sums) const {
  const double lower = blocks.lower(i), upper = blocks.upper(i), omega = blocks.omega(i);
  if (omega == 0) {
    const bool is_at_bound = s > 0 ? x == lower : x == upper;
    sums.is_infeasible = sums.is_infeasible || (s != 0 && !is_at_bound);
    return;
  }
  const double weight = std::sqrt(omega);
  // Between the bounds the defect is the step itself; as a difference it would be lost beside a
  // large x.
  const double step = s / omega, shifted = x - step;
  const double projected = std::clamp(shifted, lower, upper);
  const double defect = projected == shifted ? step : x - projected;
  const double reach = row_norm_[i] * background_ + std::abs(blocks.bias(i));
  sums.bilateral =
      std::max(sums.bilateral, std::abs(defect) * weight + excess_rounding(std::abs(x) * weight));
  sums.bilateral_total += std::abs(x) * weight;
  sums.all += x + s;
  sums.bilateral_background = std::max(sums.bilateral_background, reach / weight);
}

template <int kDim>
void RelativeMeasure::include_contact(const ContactBlocks& blocks, int unit, const double* x,
                                      const double* u, const double* w, Sums& sums) const {
  const int row = blocks.unit(unit).row, contact = unit - blocks.num_bilateral();
  const OneContact& law = blocks.contact(contact);
  const Scale scale = scale_[contact];
  double velocity[kDim];
  compute_unit_velocity<kDim>(blocks, unit, u, w, velocity);
  if (scale.normal == 0) {
    sums.is_infeasible = sums.is_infeasible || velocity[0] < 0;
    return;
  }
  double u_hat[kDim], r[kDim], z[kDim], projected[kDim];
  double total = 0, background = 0, square = 0, all = 0;
  for (int a = 0; a < kDim; ++a) {
    const double s = a == 0 ? scale.normal : scale.tangential;
    const double reach = (row_norm_[row + a] * background_ + std::abs(blocks.bias(row + a))) * s;
    u_hat[a] = velocity[a] * s;
    r[a] = x[row + a] / s;
    total += r[a] * r[a];
    background += reach * reach;
  }
  const double mu = law.mu() * scale.normal / scale.tangential;
  u_hat[0] += mu * support_against(law, u_hat);
  for (int a = 0; a < kDim; ++a) z[a] = r[a] - u_hat[a];
  project_on_cone(law, mu, z, projected);
  for (int a = 0; a < kDim; ++a) {
    // Where the projection changes nothing the defect is û itself, as above.
    const double defect = z[a] == projected[a] ? u_hat[a] : r[a] - projected[a];
    square += defect * defect;
    all += u_hat[a] * u_hat[a];
  }
  const double impulse = std::sqrt(total);
  const double rounding = excess_rounding(impulse);
  if (rounding > 0) square = (std::sqrt(square) + rounding) * (std::sqrt(square) + rounding);
  sums.cone_square = std::max(sums.cone_square, square);
  sums.cone_total += impulse;
  sums.all += total + all;
  sums.cone_background_square = std::max(sums.cone_background_square, background);
}

}  // namespace stiction
