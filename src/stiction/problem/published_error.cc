#include "stiction/problem/published_error.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "stiction/problem/certificate.h"
#include "stiction/problem/cone_projection.h"

namespace stiction {
namespace {

constexpr double kLocalFloor = 2.2e-16;
constexpr double kGlobalFloor = 1.5e-8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

/// ‖s‖², with λ − P(λ − s) for s in a row with bounds. (T2)
double squared_bilateral_defect(const StepProblem& problem, const StepSolution& solution,
                                const std::vector<double>& slacks) {
  double sum = 0;
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    const double shifted = solution.lambda[i] - slacks[i];
    const double projected = std::clamp(shifted, problem.lower[i], problem.upper[i]);
    const double defect = projected == shifted ? slacks[i] : solution.lambda[i] - projected;
    sum += defect * defect;
  }
  return sum;
}

/// ‖r − P(r − û)‖²
double squared_cone_defect(const StepProblem& problem, const StepSolution& solution,
                           const std::vector<double>& velocities) {
  double sum = 0;
  for (int i = 0; i < problem.num_contacts(); ++i) {
    const int start = problem.contacts.row_start(i), size = problem.contacts.num_rows(i);
    const FrictionCone cone{size - 1, problem.mu[i], problem.section[i]};
    Eigen::Vector3d r = Eigen::Vector3d::Zero(), u = Eigen::Vector3d::Zero();
    for (int k = 0; k < size; ++k) {
      r[k] = solution.r[start + k];
      u[k] = velocities[start + k];
    }
    Eigen::Vector3d modified = u;
    modified[0] += problem.mu[i] * cone.support_against(u);
    sum += (r - cone.project(r - modified)).squaredNorm();
  }
  return sum;
}

double squared_minimum(const std::vector<double>& z, const std::vector<double>& w) {
  double sum = 0;
  for (std::size_t i = 0; i < z.size(); ++i) sum += std::min(z[i], w[i]) * std::min(z[i], w[i]);
  return sum;
}

bool fits(const StepProblem& problem, const StepSolution& solution) {
  return static_cast<int>(solution.w.size()) == problem.num_dofs() &&
         static_cast<int>(solution.lambda.size()) == problem.num_bilateral() &&
         static_cast<int>(solution.r.size()) == problem.num_contact_rows() && solution.is_finite();
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
  compute_rows(problem, solution, rows_);
  switch (kind) {
    case ProblemKind::kGlobalFriction:
      return compute_momentum(problem, solution) + compute_global_rows(problem, solution);
    case ProblemKind::kLcp:
      return scaled(std::sqrt(squared_minimum(solution.r, rows_.u)), {norm(problem.contact_bias)},
                    kLocalFloor);
    case ProblemKind::kLocalFriction:
    case ProblemKind::kMlcp:
    case ProblemKind::kStepProblem:
      break;
  }
  const double contacts = kind == ProblemKind::kMlcp
                              ? squared_minimum(solution.r, rows_.u)
                              : squared_cone_defect(problem, solution, rows_.u);
  const double joints = squared_bilateral_defect(problem, solution, rows_.s);
  return scaled(std::sqrt(joints + contacts),
                {std::sqrt(squared(problem.bias) + squared(problem.contact_bias)),
                 std::sqrt(squared(solution.lambda) + squared(solution.r)),
                 std::sqrt(squared(rows_.s) + squared(rows_.u))},
                kLocalFloor);
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
  for (int j = 0; j < problem.num_contacts(); ++j)
    if (problem.contacts.num_rows(j) > 1) return ProblemKind::kLocalFriction;
  return problem.num_bilateral() > 0 ? ProblemKind::kMlcp : ProblemKind::kLcp;
}

RowVelocities compute_row_velocities(const StepProblem& problem, const StepSolution& solution) {
  RowVelocities rows;
  compute_rows(problem, solution, rows);
  return rows;
}

bool has_inflated_impulses(const StepProblem& problem, const StepSolution& solution) {
  constexpr double kProportion = 1e6;
  const RowCoupling& coupling = problem.coupling;
  const int num_bilateral = problem.num_bilateral();
  double data = 0, effect = 0;
  for (const std::vector<double>* list : {&problem.bias, &problem.contact_bias})
    for (const double bias : *list) data = std::max(data, std::abs(bias));
  for (int i = 0; i < coupling.num_rows(); ++i) {
    const double x = i < num_bilateral ? solution.lambda[i] : solution.r[i - num_bilateral];
    double own = 0, largest = 0;
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e) {
      if (coupling.column(e) == i) own = coupling.value(e);
      largest = std::max(largest, std::abs(coupling.value(e)));
    }
    if (x != 0 && largest == 0 && problem.num_blocks() == 0) return true;
    effect = std::max(effect, std::abs(x) * (own > 0 ? own : largest));
  }
  if (effect > kProportion * data) return true;
  double momentum = 0, impulse = 0;
  for (const double p : problem.p) momentum = std::max(momentum, std::abs(p));
  for (const BlockRows* rows : {&problem.bilateral, &problem.contacts})
    for (int i = 0; i < rows->num_row_blocks(); ++i)
      for (int e = rows->entry_start(i); e < rows->entry_start(i + 1); ++e) {
        const std::vector<double>& x = rows == &problem.bilateral ? solution.lambda : solution.r;
        const ConstVectorMap pieces(
            rows->entry_values(e),
            static_cast<Eigen::Index>(rows->num_rows(i)) * rows->entry_columns(e));
        impulse = std::max(impulse, std::abs(x[rows->row_start(i)]) * pieces.cwiseAbs().maxCoeff());
      }
  return impulse > kProportion * momentum;
}

double compute_published_error(ProblemKind kind, const StepProblem& problem,
                               const StepSolution& solution) {
  return PublishedError().compute(kind, problem, solution);
}

}  // namespace stiction
