#include "tests/solve/law_check.h"

#include <algorithm>
#include <numbers>

namespace stiction::testing {

VectorXd all_impulses(const StepSolution& solution) {
  VectorXd x(static_cast<Eigen::Index>(solution.lambda.size() + solution.r.size()));
  x << ConstVectorMap(solution.lambda.data(), static_cast<Eigen::Index>(solution.lambda.size())),
      ConstVectorMap(solution.r.data(), static_cast<Eigen::Index>(solution.r.size()));
  return x;
}

bool is_well_formed(const StepProblem& problem, const StepSolution& solution) {
  return solution.w.size() == static_cast<std::size_t>(problem.num_dofs()) &&
         solution.lambda.size() == static_cast<std::size_t>(problem.num_bilateral()) &&
         solution.r.size() == static_cast<std::size_t>(problem.num_contact_rows()) &&
         solution.is_finite();
}

std::vector<Eigen::Vector2d> section_corners(const FrictionSection& section) {
  if (section.kind == FrictionSection::Kind::kBox) return {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  std::vector<Eigen::Vector2d> corners;
  for (int i = 0; i < section.num_sides; ++i) {
    const double angle = 2 * std::numbers::pi * i / section.num_sides;
    corners.emplace_back(std::cos(angle), std::sin(angle));
  }
  return corners;
}

LawCheck::LawCheck(const StepProblem& problem, const StepSolution& solution)
    : problem_(problem), dense_(problem), x_(all_impulses(solution)) {
  u_ = dense_.W * x_ + dense_.a;
  const double mobility = x_.size() > 0 ? dense_.W.diagonal().maxCoeff() : 1;
  scale_ = VectorXd::Constant(x_.size(), 1 / std::sqrt(mobility > 0 ? mobility : 1));
  for (int i = 0; i < x_.size(); ++i)
    if (dense_.W(i, i) > 0) scale_[i] = 1 / std::sqrt(dense_.W(i, i));
  size_ = scale_.cwiseProduct(dense_.W.cwiseAbs() * x_.cwiseAbs() + dense_.a.cwiseAbs()).sum();
  size_ += x_.cwiseAbs().cwiseQuotient(scale_).sum();
  check_momentum(solution);
  for (int i = 0; i < problem.num_bilateral(); ++i) check_bilateral(i);
  for (int j = 0; j < problem.num_contacts(); ++j) check_contact(j);
}

void LawCheck::check_momentum(const StepSolution& solution) {
  const VectorXd gap = solution.w_vector() - dense_.w_free - dense_.V * x_;
  double energy = 0, reference = 0;
  for (int b = 0; b < problem_.num_blocks(); ++b) {
    const int start = problem_.dof_start[b], size = problem_.block_size(b);
    const VectorXd part = gap.segment(start, size);
    const VectorXd speed = solution.w_vector().segment(start, size);
    energy += part.dot(problem_.mass_block(b) * part);
    reference += speed.dot(problem_.mass_block(b) * speed);
  }
  size_ += std::sqrt(std::max(0.0, reference));
  blame(std::sqrt(std::max(0.0, energy)));
}

void LawCheck::check_bilateral(int i) {
  const double lower = problem_.lower[i], upper = problem_.upper[i], s = scale_[i];
  const double below = (x_[i] - lower) / s, above = (upper - x_[i]) / s, slack = s * u_[i];
  blame(-std::min(below, above));
  blame(std::min(std::max(slack, 0.0), below));
  blame(std::min(std::max(-slack, 0.0), above));
}

void LawCheck::check_contact(int j) {
  const int row = problem_.num_bilateral() + problem_.contacts.row_start(j);
  const int num_tangents = problem_.contacts.num_rows(j) - 1;
  const double impulse = x_[row] / scale_[row], speed = scale_[row] * u_[row];
  blame(std::abs(std::min(impulse, speed)));
  if (num_tangents == 0) return;
  const double nu = std::max(0.0, x_[row]), mu = problem_.mu[j], s = scale_[row + 1];
  const VectorXd beta = x_.segment(row + 1, num_tangents), slip = u_.segment(row + 1, num_tangents);
  double reach = beta.norm(), brake = slip.norm();  // gauge of β, σ_B(−u_T)
  const std::vector<Eigen::Vector2d> corners =
      num_tangents == 2 ? section_corners(problem_.section[j]) : std::vector<Eigen::Vector2d>();
  if (!corners.empty()) reach = brake = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Eigen::Vector2d along = corners[(i + 1) % corners.size()] - corners[i];
    const Eigen::Vector2d outward(along[1], -along[0]);
    reach = std::max(reach, outward.dot(beta) / outward.dot(corners[i]));
    brake = std::max(brake, -corners[i].dot(slip));
  }
  blame((reach - mu * nu) / s);
  // A power [J]: what the best impulse would take away beyond β, over the sizes of its factors.
  const double missed = slip.dot(beta) + mu * nu * brake;
  const double factors = s * slip.norm() + (beta.norm() + mu * nu) / s;
  if (factors > 0) blame(missed / factors);
}

double error_of_collections(const StepProblem& problem, const StepSolution& solution) {
  const DenseProblem dense(problem);
  const VectorXd r = all_impulses(solution), u = dense.W * r + dense.a;
  double square = 0;
  bool has_friction = false;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int row = problem.contacts.row_start(j), n = problem.contacts.num_rows(j) - 1;
    has_friction = has_friction || n > 0;
    if (n == 0) {
      square += std::pow(std::min(r[row], u[row]), 2);
      continue;
    }
    const double mu = problem.mu[j];
    VectorXd z = r.segment(row, n + 1) - u.segment(row, n + 1);
    z[0] -= mu * u.segment(row + 1, n).norm();
    const double length = z.tail(n).norm();
    VectorXd nearest = z;  // inside the cone
    if (length > mu * z[0]) {
      nearest[0] = std::max(0.0, (z[0] + mu * length) / (1 + mu * mu));
      nearest.tail(n) = length > 0 ? VectorXd(mu * nearest[0] / length * z.tail(n)) : 0 * z.tail(n);
    }
    square += (r.segment(row, n + 1) - nearest).squaredNorm();
  }
  const double scale =
      has_friction ? std::max({dense.a.norm(), r.norm(), u.norm()}) : dense.a.norm();
  return std::sqrt(square) / (scale > 2.2e-16 ? scale : 1);
}

}  // namespace stiction::testing
