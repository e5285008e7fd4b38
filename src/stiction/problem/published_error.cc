#include "stiction/problem/published_error.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "stiction/base/infinity.h"
#include "stiction/problem/certificate.h"
#include "stiction/problem/cone_projection.h"

namespace stiction {
namespace {

constexpr double kLocalFloor = 2.2e-16;
constexpr double kGlobalFloor = 1.5e-8;

double square(double x) { return x * x; }

double squared(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return sum;
}

double norm(const std::vector<double>& x) { return std::sqrt(squared(x)); }

/// Relative to the largest of the scales, absolute where these vanish.
double scaled(double defect, std::initializer_list<double> scales, double floor) {
  const double scale = std::max(scales);
  if (!std::isfinite(scale)) return kInfinity;  // the squares overflowed
  return scale > floor ? defect / scale : defect;
}

/// y += rows · w
void add_velocities(const StepProblem& problem, const BlockRows& rows, const StepSolution& solution,
                    std::vector<double>& y) {
  for (int i = 0; i < rows.num_row_blocks(); ++i)
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
      const double* value = rows.entry_values(e);
      const double* w = solution.w.data() + problem.dof_start[rows.entry_block(e)];
      for (int row = rows.row_start(i); row < rows.row_start(i + 1); ++row)
        for (int k = 0; k < rows.entry_columns(e); ++k) y[row] += *value++ * w[k];
    }
}

/// y = rowsᵀ · x
void compute_impulses(const StepProblem& problem, const BlockRows& rows,
                      const std::vector<double>& x, std::vector<double>& y) {
  y.assign(problem.num_dofs(), 0.0);
  for (int i = 0; i < rows.num_row_blocks(); ++i)
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
      const double* value = rows.entry_values(e);
      double* impulse = y.data() + problem.dof_start[rows.entry_block(e)];
      for (int row = rows.row_start(i); row < rows.row_start(i + 1); ++row)
        for (int k = 0; k < rows.entry_columns(e); ++k) impulse[k] += *value++ * x[row];
    }
}

void compute_momenta(const StepProblem& problem, const StepSolution& solution,
                     std::vector<double>& y) {
  y.resize(problem.num_dofs());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int start = problem.dof_start[b], size = problem.block_size(b);
    VectorMap(y.data() + start, size) =
        problem.mass_block(b).lazyProduct(ConstVectorMap(solution.w.data() + start, size));
  }
}

void add_coupling(const StepProblem& problem, const StepSolution& solution, RowVelocities& out) {
  const RowCoupling& coupling = problem.coupling;
  const int num_bilateral = problem.num_bilateral();
  for (int i = 0; i < coupling.num_rows(); ++i) {
    double sum = 0;
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e) {
      const int j = coupling.column(e);
      sum += coupling.value(e) *
             (j < num_bilateral ? solution.lambda[j] : solution.r[j - num_bilateral]);
    }
    (i < num_bilateral ? out.s[i] : out.u[i - num_bilateral]) += sum;
  }
}

void compute_rows(const StepProblem& problem, const StepSolution& solution, RowVelocities& rows) {
  rows.s.assign(problem.num_bilateral(), 0.0);
  rows.u.assign(problem.num_contact_rows(), 0.0);
  add_velocities(problem, problem.bilateral, solution, rows.s);
  add_velocities(problem, problem.contacts, solution, rows.u);
  add_coupling(problem, solution, rows);
  for (int i = 0; i < problem.num_bilateral(); ++i)
    rows.s[i] += problem.compliance[i] * solution.lambda[i] - problem.bias[i];
  for (int i = 0; i < problem.num_contact_rows(); ++i)
    rows.u[i] += problem.contact_compliance[i] * solution.r[i] + problem.contact_bias[i];
}

/// s, or λ − P(λ − s) in a row with bounds. (T2)
double bilateral_defect(const StepProblem& problem, int row, double lambda, double slack) {
  const double shifted = lambda - slack;
  const double projected = std::clamp(shifted, problem.lower[row], problem.upper[row]);
  return projected == shifted ? slack : lambda - projected;
}

double squared_bilateral_defect(const StepProblem& problem, const StepSolution& solution,
                                const std::vector<double>& slacks) {
  double sum = 0;
  for (int i = 0; i < problem.num_bilateral(); ++i)
    sum += square(bilateral_defect(problem, i, solution.lambda[i], slacks[i]));
  return sum;
}

/// ‖r − P(r − û)‖² of one contact. The number of rows is known to the compiler, so that no number
/// is stored by itself and loaded with its neighbours soon after, which stalls the processor.
template <int kRows>
double squared_defect_of(const StepProblem& problem, int contact, const double* r,
                         const double* u) {
  const FrictionCone cone{kRows - 1, problem.mu[contact], problem.section[contact]};
  Eigen::Vector3d impulse(r[0], 0, 0), velocity(u[0], 0, 0);
  for (int k = 1; k < kRows; ++k) {
    impulse[k] = r[k];
    velocity[k] = u[k];
  }
  velocity[0] += cone.mu * cone.support_against(velocity);
  const Eigen::Vector3d projected = cone.project(impulse - velocity);
  double sum = square(impulse[0] - projected[0]);
  for (int k = 1; k < kRows; ++k) sum += square(impulse[k] - projected[k]);
  return sum;
}

double squared_contact_defect(const StepProblem& problem, int contact, const double* r,
                              const double* u) {
  switch (problem.contacts.num_rows(contact)) {
    case 1:
      return squared_defect_of<1>(problem, contact, r, u);
    case 2:
      return squared_defect_of<2>(problem, contact, r, u);
    default:
      return squared_defect_of<3>(problem, contact, r, u);
  }
}

double squared_cone_defect(const StepProblem& problem, const StepSolution& solution,
                           const std::vector<double>& velocities) {
  double sum = 0;
  for (int i = 0; i < problem.num_contacts(); ++i) {
    const int start = problem.contacts.row_start(i);
    sum += squared_contact_defect(problem, i, solution.r.data() + start, velocities.data() + start);
  }
  return sum;
}

/// Squares of all that the errors of problems without bodies are made of, summed in one pass: many
/// such problems have a handful of rows, and are solved in less time than lists of them take.
struct CondensedSquares {
  double defect = 0, data = 0, impulses = 0, velocities = 0;

  /// Infinite if a number is not finite, or too large for its square.
  double relative_to(double scale) const {
    if (!std::isfinite(defect + data + impulses + velocities)) return kInfinity;
    return scaled(std::sqrt(defect), {std::sqrt(scale)}, kLocalFloor);
  }
};

/// K x in one row, the impulses of bilateral rows before those of contacts.
class CouplingProduct {
 public:
  CouplingProduct(const StepProblem& problem, const StepSolution& solution)
      : coupling_(problem.coupling),
        num_bilateral_(problem.num_bilateral()),
        lambda_(solution.lambda.data()),
        r_(solution.r.data()) {}

  double row(int i) const {
    if (coupling_.is_empty()) return 0;
    double sum = 0;
    const int end = coupling_.entry_start(i + 1);
    for (int e = coupling_.entry_start(i); e < end; ++e) {
      const int j = coupling_.column(e);
      sum += coupling_.value(e) * (j < num_bilateral_ ? lambda_[j] : r_[j - num_bilateral_]);
    }
    return sum;
  }

 private:
  const RowCoupling& coupling_;
  int num_bilateral_;
  const double *lambda_, *r_;
};

/// `has_cones`: contacts count by their friction cones, else row by row as min(z, w).
CondensedSquares sum_condensed(const StepProblem& problem, const StepSolution& solution,
                               bool has_cones) {
  CondensedSquares sums;
  const CouplingProduct product(problem, solution);
  const int num_bilateral = problem.num_bilateral();
  for (int i = 0; i < num_bilateral; ++i) {
    const double lambda = solution.lambda[i], bias = problem.bias[i];
    const double slack = product.row(i) + problem.compliance[i] * lambda - bias;
    sums.defect += square(bilateral_defect(problem, i, lambda, slack));
    sums.data += square(bias);
    sums.impulses += square(lambda);
    sums.velocities += square(slack);
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int start = problem.contacts.row_start(j), end = problem.contacts.row_start(j + 1);
    double u[3];
    for (int row = start; row < end; ++row) {
      const double r = solution.r[row], bias = problem.contact_bias[row];
      const double sum =
          product.row(num_bilateral + row) + problem.contact_compliance[row] * r + bias;
      u[row - start] = sum;
      if (!has_cones) sums.defect += square(std::min(r, sum));
      sums.data += square(bias);
      sums.impulses += square(r);
      sums.velocities += square(sum);
    }
    if (has_cones) sums.defect += squared_contact_defect(problem, j, solution.r.data() + start, u);
  }
  return sums;
}

bool fits(const StepProblem& problem, const StepSolution& solution) {
  return static_cast<int>(solution.w.size()) == problem.num_dofs() &&
         static_cast<int>(solution.lambda.size()) == problem.num_bilateral() &&
         static_cast<int>(solution.r.size()) == problem.num_contact_rows();
}

}  // namespace

double PublishedError::compute(ProblemKind kind, const StepProblem& problem,
                               const StepSolution& solution) {
  if (!fits(problem, solution)) return kInfinity;
  const double error = compute_kind(kind, problem, solution);
  return std::isfinite(error) ? error : kInfinity;
}

double PublishedError::compute_kind(ProblemKind kind, const StepProblem& problem,
                                    const StepSolution& solution) {
  if (kind == ProblemKind::kStepProblem) return certifier_.certify(problem, solution).residual();
  if (kind == ProblemKind::kGlobalFriction || problem.num_blocks() > 0) {
    if (!solution.is_finite()) return kInfinity;
    compute_rows(problem, solution, rows_);
    return compute_momentum(problem, solution) + compute_global_rows(problem, solution);
  }
  const bool has_cones = kind == ProblemKind::kLocalFriction;
  const CondensedSquares sums = sum_condensed(problem, solution, has_cones);
  return sums.relative_to(kind == ProblemKind::kLcp
                              ? sums.data
                              : std::max({sums.data, sums.impulses, sums.velocities}));
}

double PublishedError::compute_momentum(const StepProblem& problem, const StepSolution& solution) {
  compute_momenta(problem, solution, momenta_);
  compute_impulses(problem, problem.contacts, solution.r, contact_impulses_);
  compute_impulses(problem, problem.bilateral, solution.lambda, joint_impulses_);
  double sum = 0;
  for (std::size_t i = 0; i < momenta_.size(); ++i) {
    const double defect = momenta_[i] - contact_impulses_[i] - joint_impulses_[i] - problem.p[i];
    sum += defect * defect;
  }
  return scaled(std::sqrt(sum),
                {norm(problem.p), norm(momenta_), norm(contact_impulses_), norm(joint_impulses_)},
                kGlobalFloor);
}

double PublishedError::compute_global_rows(const StepProblem& problem,
                                           const StepSolution& solution) {
  joint_velocities_.assign(problem.num_bilateral(), 0.0);
  add_velocities(problem, problem.bilateral, solution, joint_velocities_);
  return scaled(std::sqrt(squared_cone_defect(problem, solution, rows_.u)),
                {norm(solution.r), norm(rows_.u)}, kGlobalFloor) +
         scaled(std::sqrt(squared_bilateral_defect(problem, solution, rows_.s)),
                {norm(problem.bias), norm(joint_velocities_)}, kGlobalFloor);
}

std::string_view to_text(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::kStepProblem:
      return "step";
    case ProblemKind::kLocalFriction:
      return "local friction";
    case ProblemKind::kGlobalFriction:
      return "global friction";
    case ProblemKind::kLcp:
      return "lcp";
    case ProblemKind::kMlcp:
      return "mlcp";
  }
  return "unknown";
}

ProblemKind collection_kind(const StepProblem& problem) {
  if (problem.num_blocks() > 0) return ProblemKind::kGlobalFriction;
  const bool has_tangents = problem.num_contact_rows() > problem.num_contacts();
  if (has_tangents) return ProblemKind::kLocalFriction;
  return problem.num_bilateral() > 0 ? ProblemKind::kMlcp : ProblemKind::kLcp;
}

RowVelocities compute_row_velocities(const StepProblem& problem, const StepSolution& solution) {
  RowVelocities rows;
  compute_rows(problem, solution, rows);
  return rows;
}

namespace {

/// What direct coupling makes of the impulses, as their own rows see it. Infinite where an impulse
/// acts on nothing at all.
double largest_coupled_effect(const StepProblem& problem, const StepSolution& solution) {
  const RowCoupling& coupling = problem.coupling;
  const int num_bilateral = problem.num_bilateral();
  double effect = 0;
  for (int i = 0; i < coupling.num_rows(); ++i) {
    const double x = i < num_bilateral ? solution.lambda[i] : solution.r[i - num_bilateral];
    if (x == 0) continue;
    const int begin = coupling.entry_start(i), end = coupling.entry_start(i + 1);
    int diagonal = begin;
    while (diagonal < end && coupling.column(diagonal) != i) ++diagonal;
    double size = diagonal < end ? coupling.value(diagonal) : 0;
    if (!(size > 0)) {  // of an LCP; the largest entry stands in
      for (int e = begin; e < end; ++e) size = std::max(size, std::abs(coupling.value(e)));
      if (size == 0 && problem.num_blocks() == 0) return kInfinity;
    }
    effect = std::max(effect, std::abs(x) * size);
  }
  return effect;
}

double largest_momentum_change(const BlockRows& rows, const std::vector<double>& x) {
  double largest = 0;
  for (int i = 0; i < rows.num_row_blocks(); ++i)
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
      const ConstVectorMap pieces(
          rows.entry_values(e),
          static_cast<Eigen::Index>(rows.num_rows(i)) * rows.entry_columns(e));
      largest = std::max(largest, std::abs(x[rows.row_start(i)]) * pieces.cwiseAbs().maxCoeff());
    }
  return largest;
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

bool has_inflated_impulses(const StepProblem& problem, const StepSolution& solution) {
  constexpr double kProportion = 1e6;
  const double data = std::max(largest_of(problem.bias), largest_of(problem.contact_bias));
  if (largest_coupled_effect(problem, solution) > kProportion * data) return true;
  if (problem.num_blocks() == 0) return false;
  const double change = std::max(largest_momentum_change(problem.bilateral, solution.lambda),
                                 largest_momentum_change(problem.contacts, solution.r));
  return change > kProportion * largest_of(problem.p);
}

double compute_published_error(ProblemKind kind, const StepProblem& problem,
                               const StepSolution& solution) {
  return PublishedError().compute(kind, problem, solution);
}

}  // namespace stiction
