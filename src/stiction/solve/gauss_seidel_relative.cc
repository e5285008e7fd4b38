#include "stiction/solve/gauss_seidel_relative.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>

#include "stiction/base/infinity.h"
#include "stiction/base/known_size.h"
#include "stiction/solve/gauss_seidel_projection.h"
#include "stiction/solve/gauss_seidel_sweep.h"

namespace stiction {
namespace {

/// Share of what other impulses amount to at a row that counts as an impulse of its own. (T21),
/// (T22)
constexpr double kBackgroundShare = 1e-4;

/// Impulses that cancel each other count up to this multiple of the data. (T21), (T22)
constexpr double kDataFactor = 1e7;

/// Shares of the data of all rows and of the impulses at a row that count as its data. (T23)
constexpr double kLocalShare = 1e-4, kRoundingShare = 1e-7;

/// Share of the speed of free motion that bodies at rest have at most.
constexpr double kRest = 1e-3;

/// Units and bodies that one task takes: some ten microseconds.
constexpr int kUnitGrain = 64, kBodyGrain = 32;

double ratio(double part, double whole) {
  if (part == 0) return 0;
  return whole > 0 && whole < kInfinity && part < kInfinity ? part / whole : kInfinity;
}

/// wᵀM̂w of one block; negative only by rounding.
double energy(const double* mass, int size, const double* w) {
  return with_known_size<6>(size, [&]<int kSize>() {
    const int n = known<kSize>(size);
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      double momentum = 0;
      for (int j = 0; j < n; ++j) momentum += mass[i * n + j] * w[j];
      sum += w[i] * momentum;
    }
    return std::max(sum, 0.0);
  });
}

}  // namespace

/// Beyond the cap, where impulses grow against a contradiction, their rounding is an error, too.
double RelativeMeasure::excess_rounding(double impulse) const {
  return impulse > cap_ ? std::numeric_limits<double>::epsilon() * impulse : 0;
}

void RelativeMeasure::prepare(const StepProblem& problem, const ContactBlocks& blocks) {
  problem_ = &problem;
  row_norm_.resize(blocks.num_rows());
  entry_norm_.resize(3 * static_cast<std::size_t>(blocks.unit(blocks.num_units()).entry_begin));
  momentum_.resize(problem.num_blocks());
  involved_.resize(problem.num_blocks());
  moving_.resize(problem.num_blocks());
  unit_data_.resize(blocks.num_units());
  figures_.resize(blocks.num_units());
  is_complete_ = false;
  scale_.resize(blocks.num_units() - blocks.num_bilateral());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    double sum = 0;
    for (int k = problem.dof_start[b]; k < problem.dof_start[b + 1]; ++k)
      sum += problem.p[k] * blocks.free_velocity()[k];
    momentum_[b] = std::sqrt(std::max(sum, 0.0));
  }
  run_numbers(blocks.workers(), blocks.num_units(), kUnitGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) unit_data_[i] = prepare_data(blocks, i);
  });
  row_data_ = 0;
  for (const double data : unit_data_) row_data_ = std::max(row_data_, data);
}

void RelativeMeasure::complete(const ContactBlocks& blocks) {
  run_numbers(blocks.workers(), blocks.num_units(), kUnitGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      prepare_norms(blocks, i);
      if (i >= blocks.num_bilateral()) prepare_scale(blocks, i - blocks.num_bilateral());
    }
  });
  is_complete_ = true;
}

void RelativeMeasure::prepare_norms(const ContactBlocks& blocks, int i) {
  const ContactBlocks::Unit& unit = blocks.unit(i);
  const int end = blocks.unit(i + 1).entry_begin;
  with_known_size<3>(unit.dim, [&]<int kDim>() {
    const int dim = known<kDim>(unit.dim);
    double sum[3] = {};
    for (int e = unit.entry_begin; e < end; ++e) {
      const double* squares = blocks.entry_squares(e);
      double* norms = entry_norm_.data() + 3 * static_cast<std::ptrdiff_t>(e);
      for (int a = 0; a < dim; ++a) {
        norms[a] = std::sqrt(std::max(squares[a], 0.0));
        sum[a] += norms[a];
      }
    }
    for (int a = 0; a < dim; ++a) row_norm_[unit.row + a] = sum[a];
  });
}

/// Biases and bounds in √J, by what a unit impulse gives its own row.
double RelativeMeasure::prepare_data(const ContactBlocks& blocks, int i) const {
  const ContactBlocks::Unit& unit = blocks.unit(i);
  const bool is_joint = i < blocks.num_bilateral();
  bool has_bias = false;
  for (int a = 0; a < unit.dim; ++a) has_bias = has_bias || blocks.bias(unit.row + a) != 0;
  if (!has_bias && !is_joint) return 0;
  double W[3], data = 0;
  for (int a = 0; a < unit.dim; ++a) W[a] = blocks.compliance(unit.row + a);
  for (int e = unit.entry_begin; e < blocks.unit(i + 1).entry_begin; ++e)
    for (int a = 0; a < unit.dim; ++a) W[a] += std::max(blocks.entry_squares(e)[a], 0.0);
  for (int a = 0; a < unit.dim && !blocks.has_bodies(); ++a) {
    W[a] = is_joint ? blocks.bilateral_W(i) : blocks.contact(i - blocks.num_bilateral()).W(a, a);
    if (!(W[a] > 0)) W[a] = blocks.omega(i);
  }
  for (int a = 0; a < unit.dim; ++a)
    if (W[a] > 0) data = std::max(data, std::abs(blocks.bias(unit.row + a)) / std::sqrt(W[a]));
  if (is_joint && W[0] > 0)
    data = std::max(data,
                    std::sqrt(W[0]) * std::abs(std::clamp(0.0, blocks.lower(i), blocks.upper(i))));
  return data;
}

void RelativeMeasure::prepare_scale(const ContactBlocks& blocks, int j) {
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
  if (!(largest > 0)) return;
  scale_[j] = {1 / std::sqrt(normal > 0 ? normal : largest),
               1 / std::sqrt(tangential > 0 ? tangential : largest)};
}

void RelativeMeasure::measure_data(const ContactBlocks& blocks, const double* w) {
  const StepProblem& problem = *problem_;
  run_numbers(blocks.workers(), problem.num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) {
      const double* mass = problem.mass_values.data() + problem.mass_start[b];
      moving_[b] =
          momentum_[b] + std::sqrt(energy(mass, problem.block_size(b), w + problem.dof_start[b]));
    }
  });
  data_ = row_data_;
  for (const double moving : moving_) data_ = std::max(data_, moving);
  cap_ = data_ > 0 ? kDataFactor * data_ : kInfinity;
}

bool RelativeMeasure::moves(const ContactBlocks& blocks) const {
  int num_touched = 0, num_moving = 0;
  for (int b = 0; b < blocks.num_blocks(); ++b) {
    if (blocks.meetings(b).empty()) continue;
    const double root = moving_[b] - momentum_[b];
    num_moving += root > kRest * momentum_[b] ? 1 : 0;
    ++num_touched;
  }
  return 2 * num_moving > num_touched;
}

/// The cap and the most loaded block (T21), (T22).
void RelativeMeasure::measure_impulses(const ContactBlocks& blocks, const double* x,
                                       const double* w) {
  measure_data(blocks, w);
  run_numbers(blocks.workers(), problem_->num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) involved_[b] = sum_impulses(blocks, b, x);
  });
  background_ = 0;
  for (const double impulses : involved_) background_ = std::max(background_, impulses);
  background_ = std::min(background_, cap_);
}

/// What impulses on a block amount to, its own momenta included.
double RelativeMeasure::sum_impulses(const ContactBlocks& blocks, int block,
                                     const double* x) const {
  double sum = moving_[block];
  for (const ContactBlocks::Meeting& meeting : blocks.meetings(block)) {
    const ContactBlocks::Unit& unit = blocks.unit(meeting.unit);
    const double* norm = entry_norm_.data() + 3 * static_cast<std::ptrdiff_t>(meeting.entry);
    for (int a = 0; a < unit.dim; ++a) sum += std::abs(x[unit.row + a]) * norm[a];
  }
  return sum;
}

/// The data of a unit (T23), where other impulses could do as much as `reach`.
double RelativeMeasure::find_data(const ContactBlocks& blocks, int unit, double reach) const {
  double local = 0;
  for (int e = blocks.unit(unit).entry_begin; e < blocks.unit(unit + 1).entry_begin; ++e)
    local = std::max(local, moving_[blocks.entry(e).block]);
  return std::max(local + kLocalShare * data_ + kRoundingShare * std::min(reach, cap_),
                  unit_data_[unit]);
}

/// (T23) of a unit with the squared error.
double RelativeMeasure::measure_motion(const ContactBlocks& blocks, int unit, double square,
                                       double reach) const {
  const double data = find_data(blocks, unit, reach);
  return data > 0 ? square / (data * data) : 0;
}

void RelativeMeasure::list_scales(const ContactBlocks& blocks, std::vector<double>& out) const {
  out.resize(blocks.num_units());
  run_numbers(blocks.workers(), blocks.num_units(), kUnitGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) out[i] = find_data(blocks, i, 0);
  });
}

RelativeMeasure::Levels RelativeMeasure::evaluate(const ContactBlocks& blocks, const double* x,
                                                  const double* u, const double* w,
                                                  double largest_motion) {
  if (!is_complete_) complete(blocks);
  measure_impulses(blocks, x, w);
  std::atomic<bool> is_beyond = false;
  run_numbers(blocks.workers(), blocks.num_units(), kUnitGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      figures_[i] = measure_unit(blocks, i, x, u, w);
      if (!(figures_[i].motion > largest_motion)) continue;
      is_beyond = true;
      return;
    }
  });
  return is_beyond ? Levels{kInfinity, kInfinity} : sum_up(blocks);
}

double RelativeMeasure::measure_motion_again(const ContactBlocks& blocks, const double* x,
                                             const double* u, const double* w,
                                             std::span<const int> units) {
  const int n = static_cast<int>(units.size());
  run_numbers(blocks.workers(), n, kUnitGrain, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) figures_[units[k]] = measure_unit(blocks, units[k], x, u, w);
  });
  double largest = 0;
  for (const int i : units) {
    const double motion = figures_[i].motion;
    largest = motion >= largest || std::isnan(motion) ? motion : largest;
  }
  return std::isnan(largest) ? kInfinity : largest;
}

RelativeMeasure::Figures RelativeMeasure::measure_unit(const ContactBlocks& blocks, int i,
                                                       const double* x, const double* u,
                                                       const double* w) const {
  if (i < blocks.num_bilateral()) {
    double s;
    compute_unit_velocity<1>(blocks, i, u, w, &s);
    return measure_bilateral(blocks, i, x[i], s);
  }
  switch (blocks.unit(i).dim) {
    case 1:
      return measure_contact<1>(blocks, i, x, u, w);
    case 2:
      return measure_contact<2>(blocks, i, x, u, w);
    default:
      return measure_contact<3>(blocks, i, x, u, w);
  }
}

/// In the order of the units, whoever measured them.
RelativeMeasure::Levels RelativeMeasure::sum_up(const ContactBlocks& blocks) const {
  double motion = 0, bilateral = 0, bilateral_total = 0, bilateral_background = 0, all = 0;
  double cone_square = 0, cone_total = 0, cone_background_square = 0;
  for (int i = 0; i < blocks.num_units(); ++i) {
    const Figures& figures = figures_[i];
    if (figures.is_infeasible) return {kInfinity, kInfinity};
    const bool is_joint = i < blocks.num_bilateral();
    double& worst = is_joint ? bilateral : cone_square;
    double& background = is_joint ? bilateral_background : cone_background_square;
    worst = std::max(worst, figures.defect);
    (is_joint ? bilateral_total : cone_total) += figures.impulse;
    background = std::max(background, figures.background);
    motion = std::max(motion, figures.motion);
    all += figures.all;
  }
  if (!std::isfinite(all)) return {kInfinity, kInfinity};
  return {std::max(ratio(bilateral,
                         std::min(bilateral_total, cap_) + kBackgroundShare * bilateral_background),
                   ratio(std::sqrt(cone_square),
                         std::min(cone_total, cap_) +
                             kBackgroundShare * std::sqrt(cone_background_square))),
          motion};
}

RelativeMeasure::Figures RelativeMeasure::measure_bilateral(const ContactBlocks& blocks, int i,
                                                            double x, double s) const {
  const double lower = blocks.lower(i), upper = blocks.upper(i), omega = blocks.omega(i);
  if (omega == 0) {
    const bool is_at_bound = s > 0 ? x == lower : x == upper;
    return {.is_infeasible = s != 0 && !is_at_bound};
  }
  const double weight = std::sqrt(omega);
  // Between the bounds the defect is the step itself; as a difference it would be lost beside a
  // large x.
  const double step = s / omega, shifted = x - step;
  const double projected = std::clamp(shifted, lower, upper);
  const double defect = projected == shifted ? step : x - projected;
  const double reach = row_norm_[i] * background_ + std::abs(blocks.bias(i));
  const double error = std::abs(defect) * weight + excess_rounding(std::abs(x) * weight);
  return {.defect = error,
          .impulse = std::abs(x) * weight,
          .background = reach / weight,
          .motion = measure_motion(blocks, i, error * error, reach / weight),
          .all = x + s};
}

template <int kDim>
RelativeMeasure::Figures RelativeMeasure::measure_contact(const ContactBlocks& blocks, int unit,
                                                          const double* x, const double* u,
                                                          const double* w) const {
  const int row = blocks.unit(unit).row, contact = unit - blocks.num_bilateral();
  const OneContact& law = blocks.contact(contact);
  const Scale scale = scale_[contact];
  double velocity[kDim];
  compute_unit_velocity<kDim>(blocks, unit, u, w, velocity);
  if (scale.normal == 0) return {.is_infeasible = velocity[0] < 0};
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
  return {.defect = square,
          .impulse = impulse,
          .background = background,
          .motion = measure_motion(blocks, unit, square, std::sqrt(background)),
          .all = total + all};
}

}  // namespace stiction
