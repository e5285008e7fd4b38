// Projections and residuals of FrictionBlocks: what the certificate (T21), (T22) and the published
// errors will say, computed from the blocks and without their code.
#include <cmath>

#include "stiction/base/infinity.h"
#include "stiction/solve/friction_blocks.h"

namespace stiction {

namespace {

// Those of (T21), (T22).
constexpr double kBackgroundShare = 1e-4;
constexpr double kDataFactor = 1e7;
// Denominators of published errors count only above these.
constexpr double kLocalFloor = 2.2e-16, kGlobalFloor = 1.5e-8;

double relative(double error, double scale) {
  if (error == 0) return 0;
  return scale > 0 && std::isfinite(scale) ? error / scale : kInfinity;
}

double published(double error, double scale, double floor) {
  return scale > floor ? error / scale : error;
}

}  // namespace

void FrictionBlocks::project(int block, double friction, const double* z, double* out) const {
  const int rows = size(block);
  if (kind[block] != Kind::kContact) {
    out[0] = kind[block] == Kind::kFree ? z[0] : std::clamp(z[0], lower[block], upper[block]);
    return;
  }
  const double tangent = rows == 1   ? 0
                         : rows == 2 ? std::abs(z[1])
                                     : std::sqrt(z[1] * z[1] + z[2] * z[2]);
  if (z[0] >= 0 && tangent <= friction * z[0]) {  // the first matters where μ = 0
    for (int k = 0; k < rows; ++k) out[k] = z[k];
    return;
  }
  const double normal =
      std::max(0.0, rows == 1 ? z[0] : (z[0] + friction * tangent) / (1 + friction * friction));
  const double ratio = tangent > 0 ? friction * normal / tangent : 0;
  out[0] = normal;
  for (int k = 1; k < rows; ++k) out[k] = ratio * z[k];
}

void FrictionBlocks::shift(int block, double friction, const double* u, double* out) const {
  const int rows = size(block);
  for (int k = 0; k < rows; ++k) out[k] = u[k];
  if (rows == 2) out[0] += friction * std::abs(u[1]);
  if (rows == 3) out[0] += friction * std::sqrt(u[1] * u[1] + u[2] * u[2]);
}

/// ‖p‖ of every mass block in the norm of M̂⁻¹; returns the largest.
double FrictionBlocks::measure_momentum(const StepProblem& problem) {
  double largest = 0;
  mass_momentum_.resize(problem.num_blocks());
  for (int k = 0; k < problem.num_blocks(); ++k) {
    double square = 0;
    for (int d = problem.dof_start[k]; d < problem.dof_start[k + 1]; ++d)
      square += problem.p[d] * free_velocity_[d];
    mass_momentum_[k] = std::sqrt(std::max(square, 0.0));
    largest = std::max(largest, mass_momentum_[k]);
  }
  return largest;
}

/// What (T22) calls m of one block goes into its background; returns its largest datum.
double FrictionBlocks::measure_block(const StepProblem& problem, int block) {
  const bool is_contact = kind[block] == Kind::kContact;
  double reach[3] = {}, bias_square = 0, reach_square = 0, largest = 0;
  for (int k = block_piece_start_[block]; k < block_piece_start_[block + 1]; ++k)
    for (int r = 0; r < size(block); ++r) reach[r] += piece_norm_[pieces_[k].norm_start + r];
  for (int r = 0; r < size(block); ++r) {
    const int row = W.row_start[block] + r;
    const double raw = is_contact ? problem.contact_bias[row - num_bilateral_] : problem.bias[row];
    const double bias = raw * scale[row];
    (is_contact ? contact_bias_norm_ : bias_norm_) += raw * raw;
    largest = std::max(largest, std::abs(bias));
    bias_square += bias * bias;
    reach_square += reach[r] * scale[row] * reach[r] * scale[row];
  }
  Background& background = is_contact ? contact_background_ : row_background_;
  background.bias = std::max(background.bias, std::sqrt(bias_square));
  background.reach = std::max(background.reach, std::sqrt(reach_square));
  if (kind[block] != Kind::kBounded) return largest;
  return std::max(largest, std::abs(std::clamp(0.0, lower[block], upper[block])));
}

void FrictionBlocks::measure_data(const StepProblem& problem) {
  double data = measure_momentum(problem);
  row_background_ = contact_background_ = {};
  bias_norm_ = contact_bias_norm_ = 0;
  for (int i = 0; i < num_blocks(); ++i) data = std::max(data, measure_block(problem, i));
  bias_norm_ = std::sqrt(bias_norm_);
  contact_bias_norm_ = std::sqrt(contact_bias_norm_);
  data_cap_ = data > 0 ? kDataFactor * data : kInfinity;
}

/// What the impulses on the most loaded mass amount to, (T20).
double FrictionBlocks::largest_impulse(const ConstVectorRef& x) const {
  double largest = 0;
  for (std::size_t k = 0; k + 1 < mass_piece_start_.size(); ++k) {
    double sum = mass_momentum_[k];
    for (int l = mass_piece_start_[k]; l < mass_piece_start_[k + 1]; ++l) {
      const Piece& piece = pieces_[mass_pieces_[l]];
      const int start = W.row_start[piece.block];
      for (int r = 0; r < size(piece.block); ++r)
        sum += std::abs(x[start + r]) * scale[start + r] * piece_norm_[piece.norm_start + r];
    }
    largest = std::max(largest, sum);
  }
  return std::min(largest, data_cap_);
}

double FrictionBlocks::certificate_defect(int block, const double* x, const double* u) const {
  const int rows = size(block);
  double shifted[3] = {}, z[3] = {}, p[3] = {}, sum = 0;
  shift(block, u, shifted);
  bool is_inside = true;
  for (int k = 0; k < rows; ++k) z[k] = x[k] - shifted[k];
  project(block, z, p);
  for (int k = 0; k < rows; ++k) is_inside = is_inside && p[k] == z[k];
  // Inside the cone the error is û itself; a difference would lose it beside a large impulse.
  for (int k = 0; k < rows; ++k) {
    const double error = is_inside ? shifted[k] : x[k] - p[k];
    sum += error * error;
  }
  return std::sqrt(sum);
}

double FrictionBlocks::certificate_residual(const ConstVectorRef& x,
                                            const ConstVectorRef& u) const {
  double row_worst = 0, row_total = 0, contact_worst = 0, contact_total = 0, check = 0;
  for (int i = 0; i < num_blocks(); ++i) {
    if (!is_moved_[i]) continue;
    const int start = W.row_start[i];
    const double defect = certificate_defect(i, x.data() + start, u.data() + start);
    check += defect;  // std::max would drop a not-a-number
    double square = 0;
    for (int k = 0; k < size(i); ++k) square += x[start + k] * x[start + k];
    const bool is_contact = kind[i] == Kind::kContact;
    (is_contact ? contact_total : row_total) += std::sqrt(square);
    double& worst = is_contact ? contact_worst : row_worst;
    worst = std::max(worst, defect);
  }
  if (!std::isfinite(check)) return kInfinity;
  const double impulse = largest_impulse(x);
  const auto measure = [&](double worst, double total, const Background& background) {
    return relative(worst, std::min(total, data_cap_) + kBackgroundShare * background.of(impulse));
  };
  return std::max(measure(row_worst, row_total, row_background_),
                  measure(contact_worst, contact_total, contact_background_));
}

double FrictionBlocks::published_defect(int block, const double* x, const double* u) const {
  const int rows = size(block);
  double z[3] = {}, p[3] = {}, sum = 0;
  if (kind[block] == Kind::kFree) return u[0] * u[0];
  shift(block, friction_[block], u, z);
  for (int k = 0; k < rows; ++k) z[k] = x[k] - z[k];
  if (kind[block] == Kind::kBounded) {  // bounds are kept in the scaled unit
    const double s = scale[W.row_start[block]];
    p[0] = std::clamp(z[0], s * lower[block], s * upper[block]);
  } else {
    project(block, friction_[block], z, p);
  }
  for (int k = 0; k < rows; ++k) sum += (x[k] - p[k]) * (x[k] - p[k]);
  return sum;
}

double FrictionBlocks::published_residual(const ConstVectorRef& x, const ConstVectorRef& u) const {
  SquareSums rows, contacts;
  for (int i = 0; i < num_blocks(); ++i) {
    SquareSums& sums = kind[i] == Kind::kContact ? contacts : rows;
    double r[3] = {}, v[3] = {};
    for (int k = 0, row = W.row_start[i]; k < size(i); ++k, ++row) {
      r[k] = scale[row] * x[row];
      v[k] = u[row] / scale[row];
      sums.impulse += r[k] * r[k];
      sums.velocity += v[k] * v[k];
    }
    sums.error += published_defect(i, r, v);
  }
  if (!std::isfinite(rows.error + contacts.error + contacts.impulse + contacts.velocity))
    return kInfinity;
  return published_ratio(rows, contacts);
}

/// The sums put together as problem/published_error.h says.
double FrictionBlocks::published_ratio(const SquareSums& rows, const SquareSums& contacts) const {
  const double error = std::sqrt(contacts.error);
  const double size = std::sqrt(std::max(contacts.impulse, contacts.velocity));
  const double bias = std::hypot(bias_norm_, contact_bias_norm_);
  switch (problem_kind_) {
    case ProblemKind::kGlobalFriction:
      return published(error, size, kGlobalFloor) +
             published(std::sqrt(rows.error), std::max(std::sqrt(rows.velocity), bias_norm_),
                       kGlobalFloor);
    case ProblemKind::kLcp:
      return published(error, contact_bias_norm_, kLocalFloor);
    case ProblemKind::kMlcp:
    case ProblemKind::kLocalFriction:
    case ProblemKind::kStepProblem:
      break;
  }
  return published(std::sqrt(contacts.error + rows.error),
                   std::max({bias, std::sqrt(contacts.impulse + rows.impulse),
                             std::sqrt(contacts.velocity + rows.velocity)}),
                   kLocalFloor);
}

double FrictionBlocks::residual(const ConstVectorRef& x, const ConstVectorRef& u) const {
  double worst = 0;
  if (asks_certificate(measure_)) worst = certificate_residual(x, u);
  if (asks_published(measure_)) worst = std::max(worst, published_residual(x, u));
  return worst;
}

}  // namespace stiction
