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

double norm(const std::vector<double>& x) {
  return ConstVectorMap(x.data(), static_cast<Eigen::Index>(x.size())).norm();
}

/// Relative to the largest of the scales, absolute where these vanish.
double scaled(double defect, std::initializer_list<double> scales, double floor) {
  const double scale = std::max(scales);
  return scale > floor ? defect / scale : defect;
}

/// y += rows · w
void add_velocities(const StepProblem& problem, const BlockRows& rows, const StepSolution& solution,
                    std::vector<double>& y) {
  for (int i = 0; i < rows.num_row_blocks(); ++i) {
    VectorMap segment(y.data() + rows.row_start(i), rows.num_rows(i));
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
      const int block = rows.entry_block(e);
      segment +=
          rows.entry_matrix(i, e) *
          ConstVectorMap(solution.w.data() + problem.dof_start[block], problem.block_size(block));
    }
  }
}

/// rowsᵀ · x
std::vector<double> compute_impulses(const StepProblem& problem, const BlockRows& rows,
                                     const std::vector<double>& x) {
  std::vector<double> y(problem.num_dofs(), 0.0);
  for (int i = 0; i < rows.num_row_blocks(); ++i) {
    const ConstVectorMap segment(x.data() + rows.row_start(i), rows.num_rows(i));
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
      const int block = rows.entry_block(e);
      VectorMap(y.data() + problem.dof_start[block], problem.block_size(block)) +=
          rows.entry_matrix(i, e).transpose() * segment;
    }
  }
  return y;
}

std::vector<double> compute_momenta(const StepProblem& problem, const StepSolution& solution) {
  std::vector<double> y(problem.num_dofs());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int start = problem.dof_start[b], size = problem.block_size(b);
    VectorMap(y.data() + start, size) =
        problem.mass_block(b) * ConstVectorMap(solution.w.data() + start, size);
  }
  return y;
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

/// s, or λ − P(λ − s) for a row with bounds. (T2)
std::vector<double> compute_bilateral_defect(const StepProblem& problem,
                                             const StepSolution& solution,
                                             const std::vector<double>& slacks) {
  std::vector<double> defect(slacks);
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    const double shifted = solution.lambda[i] - slacks[i];
    const double projected = std::clamp(shifted, problem.lower[i], problem.upper[i]);
    if (projected != shifted) defect[i] = solution.lambda[i] - projected;
  }
  return defect;
}

/// r − P(r − û)
std::vector<double> compute_cone_defect(const StepProblem& problem, const StepSolution& solution,
                                        const std::vector<double>& velocities) {
  std::vector<double> defect(velocities.size());
  for (int i = 0; i < problem.num_contacts(); ++i) {
    const int start = problem.contacts.row_start(i), size = problem.contacts.num_rows(i);
    const FrictionCone cone{size - 1, problem.mu[i], problem.section[i]};
    Eigen::Vector3d r = Eigen::Vector3d::Zero(), u = Eigen::Vector3d::Zero();
    r.head(size) = ConstVectorMap(solution.r.data() + start, size);
    u.head(size) = ConstVectorMap(velocities.data() + start, size);
    Eigen::Vector3d modified = u;
    modified[0] += problem.mu[i] * cone.support_against(u);
    VectorMap(defect.data() + start, size) = (r - cone.project(r - modified)).head(size);
  }
  return defect;
}

std::vector<double> compute_minimum(const std::vector<double>& z, const std::vector<double>& w) {
  std::vector<double> result(z.size());
  std::transform(z.begin(), z.end(), w.begin(), result.begin(),
                 [](double a, double b) { return std::min(a, b); });
  return result;
}

double local_error(const StepProblem& problem, const StepSolution& solution) {
  const std::vector<double> u = compute_row_velocities(problem, solution).u;
  return scaled(norm(compute_cone_defect(problem, solution, u)),
                {norm(problem.contact_bias), norm(solution.r), norm(u)}, kLocalFloor);
}

double momentum_error(const StepProblem& problem, const StepSolution& solution) {
  const std::vector<double> momenta = compute_momenta(problem, solution);
  const std::vector<double> contact = compute_impulses(problem, problem.contacts, solution.r);
  const std::vector<double> joint = compute_impulses(problem, problem.bilateral, solution.lambda);
  std::vector<double> defect(momenta.size());
  for (std::size_t i = 0; i < defect.size(); ++i)
    defect[i] = momenta[i] - contact[i] - joint[i] - problem.p[i];
  return scaled(norm(defect), {norm(problem.p), norm(momenta), norm(contact), norm(joint)},
                kGlobalFloor);
}

double global_error(const StepProblem& problem, const StepSolution& solution) {
  const RowVelocities rows = compute_row_velocities(problem, solution);
  std::vector<double> joint_velocities(problem.num_bilateral(), 0.0);
  add_velocities(problem, problem.bilateral, solution, joint_velocities);
  return momentum_error(problem, solution) +
         scaled(norm(compute_cone_defect(problem, solution, rows.u)),
                {norm(solution.r), norm(rows.u)}, kGlobalFloor) +
         scaled(norm(compute_bilateral_defect(problem, solution, rows.s)),
                {norm(problem.bias), norm(joint_velocities)}, kGlobalFloor);
}

double lcp_error(const StepProblem& problem, const StepSolution& solution) {
  const RowVelocities w = compute_row_velocities(problem, solution);
  return scaled(norm(compute_minimum(solution.r, w.u)), {norm(problem.contact_bias)}, kLocalFloor);
}

double mlcp_error(const StepProblem& problem, const StepSolution& solution) {
  const RowVelocities w = compute_row_velocities(problem, solution);
  const double defect = std::hypot(norm(compute_bilateral_defect(problem, solution, w.s)),
                                   norm(compute_minimum(solution.r, w.u)));
  return scaled(
      defect,
      {std::hypot(norm(problem.bias), norm(problem.contact_bias)),
       std::hypot(norm(solution.lambda), norm(solution.r)), std::hypot(norm(w.s), norm(w.u))},
      kLocalFloor);
}

double error_of_kind(ProblemKind kind, const StepProblem& problem, const StepSolution& solution) {
  switch (kind) {
    case ProblemKind::kStepProblem:
      return certify(problem, solution).residual();
    case ProblemKind::kLocalFriction:
      return local_error(problem, solution);
    case ProblemKind::kGlobalFriction:
      return global_error(problem, solution);
    case ProblemKind::kLcp:
      return lcp_error(problem, solution);
    case ProblemKind::kMlcp:
      return mlcp_error(problem, solution);
  }
  return kInfinity;
}

bool fits(const StepProblem& problem, const StepSolution& solution) {
  const auto is_good = [](const std::vector<double>& x, int size) {
    return x.size() == static_cast<std::size_t>(size) &&
           std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
  };
  return is_good(solution.w, problem.num_dofs()) &&
         is_good(solution.lambda, problem.num_bilateral()) &&
         is_good(solution.r, problem.num_contact_rows());
}

}  // namespace

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
  rows.s.assign(problem.num_bilateral(), 0.0);
  rows.u.assign(problem.num_contact_rows(), 0.0);
  add_velocities(problem, problem.bilateral, solution, rows.s);
  add_velocities(problem, problem.contacts, solution, rows.u);
  add_coupling(problem, solution, rows);
  for (int i = 0; i < problem.num_bilateral(); ++i)
    rows.s[i] += problem.compliance[i] * solution.lambda[i] - problem.bias[i];
  for (int i = 0; i < problem.num_contact_rows(); ++i)
    rows.u[i] += problem.contact_compliance[i] * solution.r[i] + problem.contact_bias[i];
  return rows;
}

double compute_published_error(ProblemKind kind, const StepProblem& problem,
                               const StepSolution& solution) {
  if (!fits(problem, solution)) return kInfinity;
  const double error = error_of_kind(kind, problem, solution);
  return std::isfinite(error) ? error : kInfinity;
}

}  // namespace stiction
