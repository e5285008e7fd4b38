#include "stiction/solve/rest_finder.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction {
namespace {

/// Impulses that leave more than this share of the forces unbalanced are no start.
constexpr double kFarOff = 1e-2;
/// A row that yields by more than this share of its mobility is a spring: its impulse is given by
/// its extension. Less only keeps dependent rows apart.
constexpr double kSpringShare = 1e-6;
/// Rounds of conjugate gradients, each from what the one before left of the imbalance; by how much
/// a round is to reduce it, and how many iterations that may take.
constexpr int kMaxRounds = 6;
constexpr double kReduction = 1e-5, kLeastReduction = 0.1;
constexpr int kMaxIterations = 400;
/// Of the way to the boundary that a round may go.
constexpr double kMaxShare = 0.5;
/// Iterations of x ← h·(x/h) until it stands still; two as a rule.
constexpr int kMaxDivisions = 8;
/// Friction at the boundary of its cone up to this share is left as it is.
constexpr double kConeRounding = 1e-14;
/// Pivots below this share of the diagonal are those of directions that no row holds.
constexpr double kNoPivot = 1e-13;

/// The least s with (t₁, t₂) ∈ s·B, and the radius of the circle inside B.
struct Gauge {
  double value = 0, inner_radius = 1;
};

Gauge measure_tangent(const FrictionSection& section, int num_tangents, const double* t) {
  if (num_tangents == 1) return {std::abs(t[0]), 1};
  switch (section.kind) {
    case FrictionSection::Kind::kDisc:
      return {std::hypot(t[0], t[1]), 1};
    case FrictionSection::Kind::kBox:
      return {std::max(std::abs(t[0]), std::abs(t[1])), 1};
    case FrictionSection::Kind::kPolygon:
      break;
  }
  const double half = std::numbers::pi / section.num_sides, radius = std::cos(half);
  double largest = 0;
  for (int i = 0; i < section.num_sides; ++i) {
    const double angle = (2 * i + 1) * half;  // of the normal of a side
    largest = std::max(largest, t[0] * std::cos(angle) + t[1] * std::sin(angle));
  }
  return {largest / radius, radius};
}

/// x where h·(x/h) is x: impulses are kept as forces from step to step.
double standing(double x, double h) {
  for (int i = 0; h > 0 && i < kMaxDivisions; ++i) {
    const double next = h * (x / h);
    if (next == x) break;
    x = next;
  }
  return x;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// visit(row, its values in a mass block, that block, their number) for all rows of a row block.
template <class Visit>
void visit_pieces(const BlockRows& rows, int row_block, const Visit& visit) {
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
    const double* values = rows.entry_values(e);
    for (int i = 0; i < rows.num_rows(row_block); ++i, values += rows.entry_columns(e))
      visit(i, values, rows.entry_block(e), rows.entry_columns(e));
  }
}

/// J diag(M̂)⁻¹Jᵀ of one row of a row block.
double mobility(const StepProblem& problem, const BlockRows& rows, int row_block, int row) {
  double sum = 0;
  visit_pieces(rows, row_block, [&](int i, const double* values, int block, int n) {
    if (i != row) return;
    const double* mass = problem.mass_values.data() + problem.mass_start[block];
    for (int k = 0; k < n; ++k) sum += values[k] * values[k] / std::abs(mass[k * (n + 1)]);
  });
  return sum;
}

}  // namespace

int RestFinder::find(const StepProblem& problem, StepSolution& solution) {
  if (!problem.coupling.is_empty()) return -1;
  measure_scale(problem);
  admit(problem, solution);
  measure_imbalance(problem, solution);
  if (!(relative_imbalance(problem) <= kFarOff)) return -1;
  int iterations = 0;
  for (int round = 0;; ++round) {
    if (accepts(problem, solution)) return iterations;
    if (round == kMaxRounds) return -1;
    const double before = relative_imbalance(problem);
    const int spent = balance(problem, solution);
    if (spent < 0) return -1;
    iterations += spent;
    admit(problem, solution);
    measure_imbalance(problem, solution);
    if (!(relative_imbalance(problem) <= kLeastReduction * before)) return -1;
  }
}

/// The largest velocity that the momenta of a block amount to, by which rows are made comparable.
void RestFinder::measure_scale(const StepProblem& problem) {
  speed_ = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int start = problem.dof_start[b], n = problem.block_size(b);
    const double* mass = problem.mass_values.data() + problem.mass_start[b];
    double energy = 0;
    for (int k = 0; k < n; ++k)
      energy += problem.p[start + k] * problem.p[start + k] / std::abs(mass[k * (n + 1)]);
    if (n > 0) speed_ = std::max(speed_, std::sqrt(energy / std::abs(mass[0])));
  }
}

/// Into bounds and cones, and how far each impulse is from their boundary.
void RestFinder::admit(const StepProblem& problem, StepSolution& solution) {
  solution.w.assign(problem.num_dofs(), 0.0);
  room_.assign(problem.num_rows(), 0.0);
  for (int i = 0; i < problem.num_bilateral(); ++i) admit_row(problem, i, solution.lambda[i]);
  for (int j = 0; j < problem.num_contacts(); ++j)
    admit_contact(problem, j, solution.r.data() + problem.contacts.row_start(j));
}

void RestFinder::admit_row(const StepProblem& problem, int row, double& lambda) {
  const double moves = mobility(problem, problem.bilateral, row, 0);
  const double lower = problem.lower[row], upper = problem.upper[row];
  if (!(lower <= upper) || !(moves > 0)) return;
  const bool is_spring = problem.compliance[row] > kSpringShare * moves;
  if (is_spring) lambda = problem.bias[row] / problem.compliance[row];
  lambda = std::clamp(lambda, lower, upper);
  if (is_spring) return;
  room_[row] = std::min({speed_ / moves, upper - lambda, lambda - lower});
}

void RestFinder::admit_contact(const StepProblem& problem, int contact, double* r) {
  const int num_tangents = problem.contacts.num_rows(contact) - 1;
  const double mu = problem.mu[contact];
  double* room = room_.data() + problem.num_bilateral() + problem.contacts.row_start(contact);
  if (!(r[0] > 0)) {
    std::fill_n(r, 1 + num_tangents, 0.0);
    return;
  }
  if (num_tangents == 0 || mu == 0) {
    std::fill_n(r + 1, num_tangents, 0.0);
    room[0] = r[0];
    return;
  }
  const Gauge gauge = measure_tangent(problem.section[contact], num_tangents, r + 1);
  const double left = mu * r[0] - gauge.value;
  if (left < -kConeRounding * mu * r[0])
    for (int i = 1; i <= num_tangents; ++i) r[i] *= (1 - kConeRounding) * mu * r[0] / gauge.value;
  std::fill_n(room, 1 + num_tangents,
              std::min(r[0], gauge.inner_radius * std::max(left, 0.0) / (1 + mu)));
}

/// −(p + Gᵀλ + Jᵀr)
void RestFinder::measure_imbalance(const StepProblem& problem, const StepSolution& solution) {
  imbalance_.resize(problem.num_dofs());
  for (int i = 0; i < problem.num_dofs(); ++i) imbalance_[i] = -problem.p[i];
  const auto subtract = [&](const BlockRows& rows, const std::vector<double>& impulses) {
    for (int j = 0; j < rows.num_row_blocks(); ++j)
      visit_pieces(rows, j, [&](int i, const double* values, int block, int n) {
        const double impulse = impulses[rows.row_start(j) + i];
        double* out = imbalance_.data() + problem.dof_start[block];
        for (int k = 0; k < n; ++k) out[k] -= impulse * values[k];
      });
  };
  subtract(problem.bilateral, solution.lambda);
  subtract(problem.contacts, solution.r);
}

/// In the norm of the kinetic energy, relative to the forces.
double RestFinder::relative_imbalance(const StepProblem& problem) const {
  double left = 0, all = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int start = problem.dof_start[b], n = problem.block_size(b);
    const double* mass = problem.mass_values.data() + problem.mass_start[b];
    for (int k = 0; k < n; ++k) {
      const double inverse = 1 / std::abs(mass[k * (n + 1)]);
      left += imbalance_[start + k] * imbalance_[start + k] * inverse;
      all += problem.p[start + k] * problem.p[start + k] * inverse;
    }
  }
  return left == 0 ? 0 : std::sqrt(left / all);
}

bool RestFinder::accepts(const StepProblem& problem, StepSolution& solution) {
  for (double& lambda : solution.lambda) lambda = standing(lambda, problem.h);
  for (double& r : solution.r) r = standing(r, problem.h);
  return certifier_.certify(problem, solution).meets(precision_);
}

/// Blocks of R D Rᵀ on its diagonal, as LLᵀ; row-major, with 1/L_kk on the diagonal of L and 0
/// where no row holds.
void RestFinder::factor_preconditioner(const StepProblem& problem) {
  blocks_.assign(problem.mass_values.size(), 0.0);
  const auto add = [&](const BlockRows& rows, const double* room) {
    for (int j = 0; j < rows.num_row_blocks(); ++j)
      visit_pieces(rows, j, [&](int i, const double* values, int block, int n) {
        double* out = blocks_.data() + problem.mass_start[block];
        for (int k = 0; k < n; ++k)
          for (int l = 0; l <= k; ++l)
            out[k * n + l] += room[rows.row_start(j) + i] * values[k] * values[l];
      });
  };
  add(problem.bilateral, room_.data());
  add(problem.contacts, room_.data() + problem.num_bilateral());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int n = problem.block_size(b);
    double* L = blocks_.data() + problem.mass_start[b];
    for (int k = 0; k < n; ++k) {
      const double diagonal = L[k * n + k];
      for (int l = 0; l <= k; ++l) {
        double sum = L[k * n + l];
        for (int m = 0; m < l; ++m) sum -= L[k * n + m] * L[l * n + m];
        if (l < k)
          L[k * n + l] = sum * L[l * n + l];
        else
          L[k * n + k] = sum > kNoPivot * diagonal ? 1 / std::sqrt(sum) : 0;
      }
    }
  }
}

void RestFinder::precondition(const StepProblem& problem, const std::vector<double>& x,
                              std::vector<double>& y) const {
  y.resize(x.size());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int start = problem.dof_start[b], n = problem.block_size(b);
    const double* L = blocks_.data() + problem.mass_start[b];
    for (int k = 0; k < n; ++k) {
      double sum = x[start + k];
      for (int l = 0; l < k; ++l) sum -= L[k * n + l] * y[start + l];
      y[start + k] = sum * L[k * n + k];
    }
    for (int k = n - 1; k >= 0; --k) {
      double sum = y[start + k];
      for (int l = k + 1; l < n; ++l) sum -= L[l * n + k] * y[start + l];
      y[start + k] = sum * L[k * n + k];
    }
  }
}

/// answer_ = D R y and out = Rᵀ D R y.
void RestFinder::apply(const StepProblem& problem, const std::vector<double>& y,
                       std::vector<double>& out) {
  out.assign(problem.num_dofs(), 0.0);
  answer_.assign(problem.num_rows(), 0.0);
  const auto add = [&](const BlockRows& rows, int first_row) {
    for (int j = 0; j < rows.num_row_blocks(); ++j) {
      double* answer = answer_.data() + first_row + rows.row_start(j);
      const double* room = room_.data() + first_row + rows.row_start(j);
      visit_pieces(rows, j, [&](int i, const double* values, int block, int n) {
        const double* part = y.data() + problem.dof_start[block];
        for (int k = 0; k < n; ++k) answer[i] += room[i] * values[k] * part[k];
      });
      visit_pieces(rows, j, [&](int i, const double* values, int block, int n) {
        double* part = out.data() + problem.dof_start[block];
        for (int k = 0; k < n; ++k) part[k] += answer[i] * values[k];
      });
    }
  };
  add(problem.bilateral, 0);
  add(problem.contacts, problem.num_bilateral());
}

/// Changes the impulses such that they balance what is left, as far as their room allows. Returns
/// the iterations, or −1 where it got nowhere.
int RestFinder::balance(const StepProblem& problem, StepSolution& solution) {
  factor_preconditioner(problem);
  const std::size_t size = imbalance_.size();
  y_.assign(size, 0.0);
  precondition(problem, imbalance_, z_);
  direction_ = z_;
  double product = dot(imbalance_, z_);
  const double goal = kReduction * kReduction * product;
  int iteration = 0;
  for (; iteration < kMaxIterations && product > goal; ++iteration) {
    apply(problem, direction_, image_);
    const double curvature = dot(direction_, image_);
    if (!(curvature > 0)) break;
    const double length = product / curvature;
    for (std::size_t i = 0; i < size; ++i) {
      y_[i] += length * direction_[i];
      imbalance_[i] -= length * image_[i];
    }
    precondition(problem, imbalance_, z_);
    const double next = dot(imbalance_, z_);
    const double factor = next / product;
    for (std::size_t i = 0; i < size; ++i) direction_[i] = z_[i] + factor * direction_[i];
    product = next;
  }
  apply(problem, y_, image_);
  double share = 0;
  for (std::size_t i = 0; i < answer_.size(); ++i)
    if (room_[i] > 0) share = std::max(share, std::abs(answer_[i]) / room_[i]);
  if (!std::isfinite(share)) return -1;
  const double factor = share > kMaxShare ? kMaxShare / share : 1;
  for (int i = 0; i < problem.num_bilateral(); ++i) solution.lambda[i] += factor * answer_[i];
  for (int i = 0; i < problem.num_contact_rows(); ++i)
    solution.r[i] += factor * answer_[problem.num_bilateral() + i];
  return iteration;
}

}  // namespace stiction
