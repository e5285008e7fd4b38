#include "stiction/problem/certificate.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "stiction/problem/cone_projection.h"

namespace stiction {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Share of the impulses on the most loaded block that counts as an impulse of every row, so that
/// the rounding of velocities (2e-16 of them) stays below 1e-11 where the rows' own impulses are
/// zero or tiny. (T21), (T22)
constexpr double kBackgroundShare = 1e-4;

/// Impulses that cancel each other can be arbitrarily large, and would hide any error if it were
/// measured by them. They count up to this multiple of what the momenta and biases of the problem
/// amount to; light bodies under heavy ones, of mass ratio ρ, need √ρ per body. (T21), (T22)
constexpr double kDataFactor = 1e7;

/// Share of the data of the whole problem that counts as data of every row, so that rows with none
/// of their own are not asked for more than rounding allows. (T23)
constexpr double kLocalShare = 1e-4;

/// Share of the impulses at a row that counts likewise: their rounding, 2e-16, is then far below.
constexpr double kRoundingShare = 1e-7;

/// Beyond the cap, where impulses grow against a contradiction, their rounding is an error, too.
double excess_rounding(double impulse, double cap) {
  return impulse > cap ? std::numeric_limits<double>::epsilon() * impulse : 0;
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

/// std::max returns its first argument when the second is not a number; this never loses one.
double worse(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? kInfinity : std::max(a, b);
}

/// Residual over scale, where both vanish together. A scale that is not finite hides the residual.
double relative(double residual, double scale) {
  if (!std::isfinite(scale)) return kInfinity;
  if (residual == 0) return 0;
  return scale > 0 ? residual / scale : kInfinity;
}

/// The squared error of a row against the energy at hand there. An error that is small beside
/// impulses of heavy neighbours may still be all the motion of a light body. (T23)
double energy_error(double error, double data) {
  if (error == 0) return 0;
  return data > 0 ? error / data * (error / data) : 0;  // without any data impulses decide alone
}

double worst_of(const std::vector<double>& errors, double scale) {
  double worst = 0;
  for (const double error : errors) worst = worse(worst, error);
  return relative(worst, scale);
}

using FactorMap = Eigen::Map<MatrixXd>;
using ConstFactorMap = Eigen::Map<const MatrixXd>;

/// One row block seen from its own side: its velocity J w, the velocity that impulses as large as
/// those on any block could give it, and its diagonal block J S⁻¹Jᵀ of the Delassus matrix.
struct LocalView {
  Eigen::Vector3d u = Eigen::Vector3d::Zero();
  Eigen::Vector3d reach = Eigen::Vector3d::Zero();  // Σ_e ‖L⁻¹Jᵀ‖ · impulses on a block
  Eigen::Matrix3d delassus = Eigen::Matrix3d::Zero();
  double largest_coupling = 0;  // stands in where the matrix of an LCP has no positive diagonal
};

/// `condensed` holds L⁻¹Jᵀ of the entries one after the other; `offset` moves past those of this
/// block.
LocalView view_row_block(const StepProblem& problem, const BlockRows& rows, int row_block,
                         const std::vector<double>& w, double background,
                         const std::vector<double>& condensed, std::size_t& offset) {
  LocalView view;
  const int num_rows = rows.num_rows(row_block);
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
    const int block = rows.entry_block(e), columns = rows.entry_columns(e);
    const ConstRowMatrixMap jacobian(rows.entry_values(e), num_rows, columns);
    const ConstRowMatrixMap b(condensed.data() + offset, num_rows, columns);
    const ConstVectorMap velocity(w.data() + problem.dof_start[block], columns);
    for (int i = 0; i < num_rows; ++i) {
      view.u[i] += jacobian.row(i).dot(velocity);
      view.reach[i] += b.row(i).norm() * background;
      for (int j = 0; j < num_rows; ++j) view.delassus(i, j) += b.row(i).dot(b.row(j));
    }
    offset += static_cast<std::size_t>(num_rows) * columns;
  }
  return view;
}

/// Adds what impulses give to the rows of this block directly. `first_row` counts over all rows.
void add_coupling(const StepProblem& problem, const StepSolution& solution, int first_row,
                  int num_rows, LocalView& view) {
  const RowCoupling& coupling = problem.coupling;
  if (coupling.is_empty()) return;
  const int num_bilateral = problem.num_bilateral();
  for (int i = 0; i < num_rows; ++i) {
    double largest = 0;
    for (int e = coupling.entry_start(first_row + i); e < coupling.entry_start(first_row + i + 1);
         ++e) {
      const int column = coupling.column(e);
      const double x =
          column < num_bilateral ? solution.lambda[column] : solution.r[column - num_bilateral];
      view.u[i] += coupling.value(e) * x;
      view.reach[i] += std::abs(coupling.value(e) * x);
      largest = std::max(largest, std::abs(coupling.value(e)));
      const int j = column - first_row;
      if (j < 0 || j >= num_rows) continue;
      view.delassus(i, j) += 0.5 * coupling.value(e);
      view.delassus(j, i) += 0.5 * coupling.value(e);
    }
    view.largest_coupling = std::max(view.largest_coupling, largest);
  }
}

/// What a unit impulse gives its own row through the coupling; the largest that any gives it where
/// that is not positive.
double coupling_scale(const StepProblem& problem, int row) {
  const RowCoupling& coupling = problem.coupling;
  if (coupling.is_empty()) return 0;
  double own = 0, largest = 0;
  for (int e = coupling.entry_start(row); e < coupling.entry_start(row + 1); ++e) {
    if (coupling.column(e) == row) own += coupling.value(e);
    largest = std::max(largest, std::abs(coupling.value(e)));
  }
  return own > 0 ? own : largest;
}

/// Impulses over s and velocities times s have the unit √J and an effective mass of about one.
/// Normal and tangents get scales of their own, 1/√W: with a common one, errors of the stiffer
/// direction would be seen too small by the ratio of the two.
struct ContactScale {
  double normal = 0;  // 0: nothing moves this contact
  double tangential = 0;
};

ContactScale scale_of(const LocalView& view, int num_rows) {
  const Eigen::Matrix3d& delassus = view.delassus;
  const double normal = delassus(0, 0);
  double tangential = num_rows > 1 ? delassus(1, 1) : 0;
  if (num_rows == 3)  // the larger eigenvalue of the tangential block
    tangential = 0.5 * (delassus(1, 1) + delassus(2, 2)) +
                 std::hypot(0.5 * (delassus(1, 1) - delassus(2, 2)), delassus(1, 2));
  double largest = std::max(normal, tangential);
  if (!(largest > 0)) largest = view.largest_coupling;
  if (!(largest > 0)) return {};
  return {1 / std::sqrt(normal > 0 ? normal : largest),
          1 / std::sqrt(tangential > 0 ? tangential : largest)};
}

}  // namespace

Certificate Certificate::invalid() {
  return {kInfinity, kInfinity, kInfinity, kInfinity, -kInfinity, kInfinity};
}

double Certificate::residual() const {
  return worse(worse(momentum, bilateral), worse(cone, motion));
}

void Certificate::include(const Certificate& other) {
  momentum = worse(momentum, other.momentum);
  bilateral = worse(bilateral, other.bilateral);
  cone = worse(cone, other.cone);
  motion = worse(motion, other.motion);
  gap = -worse(-gap, -other.gap);
  joint = worse(joint, other.joint);
}

Certificate Certifier::certify(const StepProblem& problem, const StepSolution& solution) {
  const bool fits = static_cast<int>(solution.w.size()) == problem.num_dofs() &&
                    static_cast<int>(solution.lambda.size()) == problem.num_bilateral() &&
                    static_cast<int>(solution.r.size()) == problem.num_contact_rows();
  if (!fits || !all_finite(solution.w) || !all_finite(solution.lambda) || !all_finite(solution.r))
    return Certificate::invalid();
  if (!factor_mass(problem)) return Certificate::invalid();
  condense_rows(problem, problem.bilateral, condensed_bilateral_);
  condense_rows(problem, problem.contacts, condensed_contacts_);

  Certificate certificate;
  certificate.momentum = momentum_residual(problem, solution);
  const double data = measure_data(problem);
  // Without any data the impulses are all there is.
  data_cap_ = data > 0 ? kDataFactor * data : kInfinity;
  data_floor_ = kLocalShare * data;
  double largest = 0;
  for (const double impulses : involved_) largest = std::max(largest, impulses);
  background_ = std::min(largest, data_cap_);
  motion_ = 0;
  certificate.bilateral = bilateral_residual(problem, solution);
  certificate.cone = cone_residual(problem, solution);
  certificate.motion = motion_;
  if (!std::isfinite(certificate.residual())) return Certificate::invalid();
  return certificate;
}

/// S = LLᵀ block by block; false if a block is not positive definite or not finite.
bool Certifier::factor_mass(const StepProblem& problem) {
  factor_.resize(problem.mass_values.size());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int n = problem.block_size(b);
    const ConstRowMatrixMap mass = problem.mass_block(b);
    FactorMap factor(factor_.data() + problem.mass_start[b], n, n);
    factor = 0.5 * (mass + mass.transpose());
    const Eigen::LLT<Eigen::Ref<MatrixXd>> cholesky(factor);
    if (cholesky.info() != Eigen::Success || !factor.allFinite()) return false;
  }
  return true;
}

/// L⁻¹Jᵀ for every entry, stored row of J by row of J.
void Certifier::condense_rows(const StepProblem& problem, const BlockRows& rows,
                              std::vector<double>& out) {
  out.clear();
  for (int i = 0; i < rows.num_row_blocks(); ++i) {
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
      const int columns = rows.entry_columns(e);
      const int num_values = rows.num_rows(i) * columns;
      const std::size_t start = out.size();
      out.insert(out.end(), rows.entry_values(e), rows.entry_values(e) + num_values);
      const ConstFactorMap factor(factor_.data() + problem.mass_start[rows.entry_block(e)], columns,
                                  columns);
      for (int row = 0; row < rows.num_rows(i); ++row) {
        VectorMap x(out.data() + start + static_cast<std::size_t>(row) * columns, columns);
        factor.triangularView<Eigen::Lower>().solveInPlace(x);
      }
    }
  }
}

namespace {

/// defect −= rowsᵀ·impulse, and the kinetic energy norm of each piece is added to its block's sum.
void subtract_impulses(const StepProblem& problem, const BlockRows& rows,
                       const std::vector<double>& impulse, const std::vector<double>& condensed,
                       std::vector<double>& defect, std::vector<double>& involved) {
  const double* b = condensed.data();
  for (int i = 0; i < rows.num_row_blocks(); ++i) {
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
      const int columns = rows.entry_columns(e);
      double* d = defect.data() + problem.dof_start[rows.entry_block(e)];
      for (int row = 0; row < rows.num_rows(i); ++row, b += columns) {
        const double x = impulse[rows.row_start(i) + row];
        const double* value = rows.entry_values(e) + static_cast<std::ptrdiff_t>(row) * columns;
        double square = 0;
        for (int k = 0; k < columns; ++k) {
          d[k] -= value[k] * x;
          square += b[k] * b[k];
        }
        involved[rows.entry_block(e)] += std::abs(x) * std::sqrt(square);
      }
    }
  }
}

}  // namespace

double Certifier::momentum_residual(const StepProblem& problem, const StepSolution& solution) {
  defect_.assign(problem.num_dofs(), 0.0);
  involved_.assign(problem.num_blocks(), 0.0);
  momentum_.assign(problem.num_blocks(), 0.0);
  largest_momentum_ = 0;
  const auto energy_norm = [&](int b, const ConstVectorRef& x) {
    const int n = problem.block_size(b);
    scratch_.resize(n);
    VectorMap y(scratch_.data(), n);
    y = x;
    ConstFactorMap(factor_.data() + problem.mass_start[b], n, n)
        .triangularView<Eigen::Lower>()
        .solveInPlace(y);
    return y.norm();
  };
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int n = problem.block_size(b);
    const ConstVectorMap w(solution.w.data() + problem.dof_start[b], n);
    const ConstVectorMap p(problem.p.data() + problem.dof_start[b], n);
    VectorMap defect(defect_.data() + problem.dof_start[b], n);
    defect.noalias() = problem.mass_block(b).lazyProduct(w);
    involved_[b] = energy_norm(b, defect) + energy_norm(b, p);
    momentum_[b] = involved_[b];
    largest_momentum_ = worse(largest_momentum_, involved_[b]);
    defect -= p;
  }
  subtract_impulses(problem, problem.bilateral, solution.lambda, condensed_bilateral_, defect_,
                    involved_);
  subtract_impulses(problem, problem.contacts, solution.r, condensed_contacts_, defect_, involved_);
  double worst = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const ConstVectorMap defect(defect_.data() + problem.dof_start[b], problem.block_size(b));
    worst = worse(worst, relative(energy_norm(b, defect), involved_[b]));
  }
  return worst;
}

/// The size of the data in √J: the largest momentum of a block, and the largest impulse that a bias
/// or the bounds of a row call for.
double Certifier::measure_data(const StepProblem& problem) const {
  double largest = largest_momentum_;
  const auto visit = [&](const BlockRows& rows, int first_row, const std::vector<double>& condensed,
                         const std::vector<double>& compliance, const auto& measure) {
    std::size_t offset = 0;
    for (int i = 0; i < rows.num_row_blocks(); ++i) {
      Eigen::Vector3d delassus = Eigen::Vector3d::Zero();
      for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
        const ConstRowMatrixMap b(condensed.data() + offset, rows.num_rows(i),
                                  rows.entry_columns(e));
        for (int k = 0; k < rows.num_rows(i); ++k) delassus[k] += b.row(k).squaredNorm();
        offset += static_cast<std::size_t>(b.size());
      }
      for (int row = rows.row_start(i), k = 0; k < rows.num_rows(i); ++k, ++row) {
        const double own = delassus[k] + compliance[row] + coupling_scale(problem, first_row + row);
        if (own > 0) measure(row, std::sqrt(own));
      }
    }
  };
  visit(problem.bilateral, 0, condensed_bilateral_, problem.compliance,
        [&](int row, double weight) {
          const double least = std::clamp(0.0, problem.lower[row], problem.upper[row]);
          largest = worse(largest, std::abs(problem.bias[row]) / weight);
          largest = worse(largest, std::abs(least) * weight);
        });
  visit(problem.contacts, problem.num_bilateral(), condensed_contacts_, problem.contact_compliance,
        [&](int row, double weight) {
          largest = worse(largest, std::abs(problem.contact_bias[row]) / weight);
        });
  return largest;
}

/// The largest momentum of the blocks that a row touches, in √J.
double Certifier::local_data(const BlockRows& rows, int row_block) const {
  double largest = 0;
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e)
    largest = std::max(largest, momentum_[rows.entry_block(e)]);
  return largest;
}

double Certifier::bilateral_residual(const StepProblem& problem, const StepSolution& solution) {
  // Impulses of rows with different units are made comparable by √W: their unit is then √J.
  double total = 0, background = 0;
  row_error_.assign(problem.num_bilateral(), 0.0);
  std::size_t offset = 0;
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    LocalView view = view_row_block(problem, problem.bilateral, i, solution.w, background_,
                                    condensed_bilateral_, offset);
    add_coupling(problem, solution, i, 1, view);
    if (!(problem.lower[i] <= problem.upper[i])) {  // std::clamp drops a NaN
      row_error_[i] = kInfinity;
      continue;
    }
    const double lambda = solution.lambda[i];
    const double slack = view.u[0] + problem.compliance[i] * lambda - problem.bias[i];
    double delassus = view.delassus(0, 0) + problem.compliance[i];
    if (delassus <= 0) delassus = view.largest_coupling;
    if (delassus <= 0) {  // a row that nothing can move: it holds or it does not
      const bool is_at_bound = slack > 0 ? lambda == problem.lower[i] : lambda == problem.upper[i];
      const bool is_within = lambda >= problem.lower[i] && lambda <= problem.upper[i];
      if (!is_within || (slack != 0 && !is_at_bound)) row_error_[i] = kInfinity;
      continue;
    }
    const double step = slack / delassus, shifted = lambda - step;
    const double projected = std::clamp(shifted, problem.lower[i], problem.upper[i]);
    const double weight = std::sqrt(delassus);
    // Within the bounds the error is the step itself, which the difference would lose beside a
    // large impulse.
    const double error = projected == shifted ? step : lambda - projected;
    row_error_[i] =
        std::abs(error) * weight + excess_rounding(std::abs(lambda) * weight, data_cap_);
    const double reach = std::min((view.reach[0] + std::abs(problem.bias[i])) / weight, data_cap_);
    const double data = local_data(problem.bilateral, i) + std::abs(problem.bias[i]) / weight +
                        kRoundingShare * reach + data_floor_;
    motion_ = worse(motion_, energy_error(row_error_[i], data));
    total += std::abs(lambda) * weight;
    background = std::max(background, reach);
  }
  row_scale_ = std::min(total, data_cap_) + kBackgroundShare * background;
  return worst_of(row_error_, row_scale_);
}

double Certifier::cone_residual(const StepProblem& problem, const StepSolution& solution) {
  double total = 0, background = 0;
  contact_error_.assign(problem.num_contacts(), 0.0);
  std::size_t offset = 0;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int start = problem.contacts.row_start(j);
    const int num_rows = problem.contacts.num_rows(j);
    LocalView view = view_row_block(problem, problem.contacts, j, solution.w, background_,
                                    condensed_contacts_, offset);
    add_coupling(problem, solution, problem.num_bilateral() + start, num_rows, view);
    Eigen::Vector3d r = Eigen::Vector3d::Zero();
    for (int i = 0; i < num_rows; ++i) {
      r[i] = solution.r[start + i];
      const double compliance = problem.contact_compliance[start + i];
      view.u[i] += compliance * r[i] + problem.contact_bias[start + i];
      view.reach[i] += std::abs(problem.contact_bias[start + i]);
      view.delassus(i, i) += compliance;
    }
    if (!view.u.allFinite() || !view.delassus.allFinite()) {
      contact_error_[j] = kInfinity;
      continue;
    }
    const ContactScale scale = scale_of(view, num_rows);
    // Where no impulse changes its own velocity there is no scale for an error: the law holds or it
    // does not.
    if (!(scale.normal > 0)) {
      const bool is_open = view.u[0] > 0 && r[0] != 0;
      const bool is_outside = r[0] < 0 || (r[0] == 0 && !r.isZero(0));
      if (view.u[0] < 0 || is_open || is_outside) contact_error_[j] = kInfinity;
      continue;
    }
    if (!(problem.mu[j] >= 0)) {
      contact_error_[j] = kInfinity;
      continue;
    }
    const FrictionCone cone{num_rows - 1, problem.mu[j] * scale.normal / scale.tangential,
                            problem.section[j]};
    const Eigen::Vector3d s(scale.normal, scale.tangential, scale.tangential);
    const Eigen::Vector3d impulse = r.cwiseQuotient(s), u = view.u.cwiseProduct(s);
    Eigen::Vector3d u_hat = u;
    u_hat[0] += cone.mu * cone.support_against(u);
    const Eigen::Vector3d shifted = impulse - u_hat, projected = cone.project(shifted);
    // Inside the cone the error is û itself, which the difference would lose beside a large
    // impulse.
    Eigen::Vector3d error;
    for (int i = 0; i < 3; ++i)
      error[i] = projected[i] == shifted[i] ? u_hat[i] : impulse[i] - projected[i];
    contact_error_[j] = error.norm() + excess_rounding(impulse.norm(), data_cap_);
    const double reach = std::min(view.reach.cwiseProduct(s).norm(), data_cap_);
    double data = local_data(problem.contacts, j) + data_floor_ + kRoundingShare * reach;
    for (int i = 0; i < num_rows; ++i)
      data = std::max(data, std::abs(problem.contact_bias[start + i]) * s[i]);
    motion_ = worse(motion_, energy_error(contact_error_[j], data));
    total += impulse.norm();
    background = std::max(background, reach);
  }
  contact_scale_ = std::min(total, data_cap_) + kBackgroundShare * background;
  return worst_of(contact_error_, contact_scale_);
}

Offenders Certifier::offenders(double tolerance) const {
  Offenders offenders;
  for (std::size_t i = 0; i < row_error_.size(); ++i)
    if (!(relative(row_error_[i], row_scale_) <= tolerance))
      offenders.rows.push_back(static_cast<int>(i));
  for (std::size_t j = 0; j < contact_error_.size(); ++j)
    if (!(relative(contact_error_[j], contact_scale_) <= tolerance))
      offenders.contacts.push_back(static_cast<int>(j));
  return offenders;
}

Certificate certify(const StepProblem& problem, const StepSolution& solution) {
  return Certifier().certify(problem, solution);
}

}  // namespace stiction
