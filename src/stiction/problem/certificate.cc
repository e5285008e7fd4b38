#include "stiction/problem/certificate.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "stiction/problem/cone_projection.h"

namespace stiction {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Share of the impulses on the bodies of a row that counts as an impulse of that row, so that the
/// rounding of those bodies' velocities (2e-16 of them) stays below 1e-11 where the row's own
/// impulses are zero or tiny. (T21), (T22)
constexpr double kBackgroundShare = 1e-4;

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

using FactorMap = Eigen::Map<MatrixXd>;
using ConstFactorMap = Eigen::Map<const MatrixXd>;

/// One row block seen from its own side: its velocity J w, the velocity that the impulses on the
/// blocks it touches could have given it, and its diagonal block J S⁻¹Jᵀ of the Delassus matrix.
struct LocalView {
  Eigen::Vector3d u = Eigen::Vector3d::Zero();
  Eigen::Vector3d reach = Eigen::Vector3d::Zero();  // Σ_e ‖L⁻¹Jᵀ‖ · impulses on the block
  Eigen::Matrix3d delassus = Eigen::Matrix3d::Zero();
  double largest_coupling = 0;  // stands in where the matrix of an LCP has no positive diagonal
};

/// `condensed` holds L⁻¹Jᵀ of the entries one after the other; `offset` moves past those of this
/// block.
LocalView view_row_block(const StepProblem& problem, const BlockRows& rows, int row_block,
                         const std::vector<double>& w, const std::vector<double>& involved,
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
      view.reach[i] += b.row(i).norm() * involved[block];
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

/// The largest eigenvalue of the leading num_rows × num_rows part.
double largest_eigenvalue(const Eigen::Matrix3d& block, int num_rows) {
  if (num_rows == 1) return block(0, 0);
  if (num_rows == 2) {
    const double half_trace = 0.5 * (block(0, 0) + block(1, 1));
    return half_trace + std::hypot(0.5 * (block(0, 0) - block(1, 1)), block(0, 1));
  }
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver;
  solver.computeDirect(block, Eigen::EigenvaluesOnly);
  return solver.eigenvalues()[2];
}

}  // namespace

Certificate Certificate::invalid() {
  return {kInfinity, kInfinity, kInfinity, -kInfinity, kInfinity};
}

double Certificate::residual() const { return worse(worse(momentum, bilateral), cone); }

void Certificate::include(const Certificate& other) {
  momentum = worse(momentum, other.momentum);
  bilateral = worse(bilateral, other.bilateral);
  cone = worse(cone, other.cone);
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
  certificate.bilateral = bilateral_residual(problem, solution);
  certificate.cone = cone_residual(problem, solution);
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

double Certifier::bilateral_residual(const StepProblem& problem,
                                     const StepSolution& solution) const {
  // Impulses of rows with different units are made comparable by √W: their unit is then √J.
  double worst = 0, total = 0, background = 0;
  std::size_t offset = 0;
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    LocalView view = view_row_block(problem, problem.bilateral, i, solution.w, involved_,
                                    condensed_bilateral_, offset);
    add_coupling(problem, solution, i, 1, view);
    const double lambda = solution.lambda[i];
    const double slack = view.u[0] + problem.compliance[i] * lambda - problem.bias[i];
    double delassus = view.delassus(0, 0) + problem.compliance[i];
    if (delassus <= 0) delassus = view.largest_coupling;
    if (delassus <= 0) {  // a row that nothing can move: it holds or it does not
      const bool is_at_bound = slack > 0 ? lambda == problem.lower[i] : lambda == problem.upper[i];
      if (slack != 0 && !is_at_bound) return kInfinity;
      continue;
    }
    const double projected =
        std::clamp(lambda - slack / delassus, problem.lower[i], problem.upper[i]);
    const double weight = std::sqrt(delassus);
    worst = worse(worst, std::abs(lambda - projected) * weight);
    total += std::abs(lambda) * weight;
    background = std::max(background, (view.reach[0] + std::abs(problem.bias[i])) / weight);
  }
  return relative(worst, total + kBackgroundShare * background);
}

double Certifier::cone_residual(const StepProblem& problem, const StepSolution& solution) const {
  double worst = 0, total = 0, background = 0;
  std::size_t offset = 0;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int start = problem.contacts.row_start(j);
    const int num_rows = problem.contacts.num_rows(j);
    LocalView view = view_row_block(problem, problem.contacts, j, solution.w, involved_,
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
    double inverse_mass = largest_eigenvalue(view.delassus, num_rows);
    if (inverse_mass <= 0) inverse_mass = view.largest_coupling;
    if (inverse_mass <= 0) {  // no impulse changes anything here: only feasibility can be asked for
      if (view.u[0] < 0) return kInfinity;
      continue;
    }
    const FrictionCone cone{num_rows - 1, problem.mu[j], problem.section[j]};
    Eigen::Vector3d u_hat = view.u;
    u_hat[0] += cone.mu * cone.support_against(view.u);
    worst = worse(worst, (r - cone.project(r - u_hat / inverse_mass)).norm());
    total += r.norm();
    background = std::max(background, view.reach.norm() / inverse_mass);
  }
  return relative(worst, total + kBackgroundShare * background);
}

Certificate certify(const StepProblem& problem, const StepSolution& solution) {
  return Certifier().certify(problem, solution);
}

}  // namespace stiction
