#include "stiction/solve/contradiction.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "stiction/solve/lemke_solver.h"

namespace stiction {
namespace {

constexpr int kMaxRows = 300;  // Lemke's method is cubic in this
/// Compliance against the rows' own mobility. Weights balance to about this.
constexpr double kSoftness = 1e-10;
/// Velocities that weights of this balance exclude, against those of biases and momenta.
constexpr double kExcludedVelocity = 1e6;
/// Rows whose weight is below this share of the largest are not named.
constexpr double kNoWeight = 1e-6;

/// How well terms of Kᵀy have to cancel. Weights are known to kSoftness.
constexpr double kCancelled = 1e-6;

/// Half of the rows matter: those that demand a sign or a value of their velocity.
struct DemandingRow {
  int row;              // of all rows, bilateral ones first
  int contact;          // −1 for a bilateral row
  double lower, upper;  // of its weight
};

/// Rows that give way to their own impulse demand nothing: however stiff they are, C y = 0 leaves
/// them no weight. Their impulses may be b/C, far beyond what is_proof excludes.
std::vector<DemandingRow> list_demanding_rows(const StepProblem& problem) {
  std::vector<DemandingRow> rows;
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    if (problem.compliance[i] > 0) continue;
    const bool is_bounded_below = std::isfinite(problem.lower[i]);
    const bool is_bounded_above = std::isfinite(problem.upper[i]);
    if (is_bounded_below && is_bounded_above) continue;
    rows.push_back({i, -1, is_bounded_below ? 0 : -StepProblem::kUnbounded,
                    is_bounded_above ? 0 : StepProblem::kUnbounded});
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int row = problem.contacts.row_start(j);
    if (!(problem.contact_compliance[row] > 0))
      rows.push_back({problem.num_bilateral() + row, j, 0, StepProblem::kUnbounded});
  }
  return rows;
}

double bias_of(const StepProblem& problem, int row) {
  const int num_bilateral = problem.num_bilateral();
  return row < num_bilateral ? -problem.bias[row] : problem.contact_bias[row - num_bilateral];
}

/// Calls visit(mass block, columns, numbers) for the pieces of a row.
template <typename Visit>
void visit_pieces(const StepProblem& problem, const DemandingRow& row, const Visit& visit) {
  const bool is_contact = row.contact >= 0;
  const BlockRows& rows = is_contact ? problem.contacts : problem.bilateral;
  const int block = is_contact ? row.contact : row.row;  // the normal is the first row of a block
  for (int e = rows.entry_start(block); e < rows.entry_start(block + 1); ++e)
    visit(rows.entry_block(e), rows.entry_columns(e), rows.entry_values(e));
}

/// The symmetric parts of the mass blocks, for the norm of impulses in √J.
class ImpulseNorm {
 public:
  explicit ImpulseNorm(const StepProblem& problem) {
    for (int b = 0; b < problem.num_blocks(); ++b)
      factors_.emplace_back(0.5 * (problem.mass_block(b) + problem.mass_block(b).transpose()));
  }
  double squared(int block, const ConstVectorRef& impulse) const {
    return factors_[block].matrixL().solve(impulse).squaredNorm();
  }

 private:
  std::vector<Eigen::LLT<MatrixXd>> factors_;
};

/// ω of every demanding row: what a unit impulse gives it.
std::vector<double> compute_mobilities(const StepProblem& problem, const ImpulseNorm& norm,
                                       const std::vector<DemandingRow>& rows) {
  std::vector<double> mobility;
  double largest = 0;
  for (const DemandingRow& row : rows) {
    double omega = 0;
    visit_pieces(problem, row, [&](int block, int columns, const double* values) {
      omega += norm.squared(block, ConstVectorMap(values, columns));
    });
    if (!problem.coupling.is_empty())
      for (int e = problem.coupling.entry_start(row.row);
           e < problem.coupling.entry_start(row.row + 1); ++e)
        if (problem.coupling.column(e) == row.row) omega += std::abs(problem.coupling.value(e));
    mobility.push_back(omega);
    largest = std::max(largest, omega);
  }
  for (double& omega : mobility)  // a row that nothing moves
    if (!(omega > 0)) omega = largest > 0 ? largest : 1;
  return mobility;
}

/// The demanding rows alone, without friction and momenta, and a little compliant.
StepProblem make_soft_problem(const StepProblem& problem, const std::vector<DemandingRow>& rows,
                              const std::vector<double>& mobility) {
  StepProblem soft;
  for (int b = 0; b < problem.num_blocks(); ++b)
    soft.add_mass_block(problem.block_size(b)) = problem.mass_block(b);
  std::vector<int> local(problem.num_rows(), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int row = rows[i].row;
    const double compliance = kSoftness * mobility[i];
    const bool is_contact = rows[i].contact >= 0;
    local[row] = static_cast<int>(i);  // bilateral rows come first in both
    if (is_contact) {
      soft.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
      soft.contact_compliance.back() = compliance;
      soft.contact_bias.back() = bias_of(problem, row);
    } else {
      soft.add_bilateral_row({compliance, problem.bias[row], rows[i].lower, rows[i].upper});
    }
    visit_pieces(problem, rows[i], [&](int block, int columns, const double* values) {
      (is_contact ? soft.contacts : soft.bilateral).add_entry(block, columns) =
          ConstRowMatrixMap(values, 1, columns);
    });
  }
  for (std::size_t i = 0; i < rows.size() && !problem.coupling.is_empty(); ++i) {
    soft.coupling.add_row();
    for (int e = problem.coupling.entry_start(rows[i].row);
         e < problem.coupling.entry_start(rows[i].row + 1); ++e)
      if (local[problem.coupling.column(e)] >= 0)
        soft.coupling.add_entry(local[problem.coupling.column(e)], problem.coupling.value(e));
  }
  return soft;
}

/// What the weights leave of velocities and impulses, Rᵀy and Kᵀy, in √J.
double compute_imbalance(const StepProblem& problem, const ImpulseNorm& norm,
                         const std::vector<DemandingRow>& rows, const std::vector<double>& mobility,
                         const std::vector<double>& weight) {
  VectorXd impulse = VectorXd::Zero(problem.num_dofs());
  VectorXd coupled = VectorXd::Zero(problem.num_rows());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    visit_pieces(problem, rows[i], [&](int block, int columns, const double* values) {
      impulse.segment(problem.dof_start[block], columns) +=
          weight[i] * ConstVectorMap(values, columns);
    });
    const int row = rows[i].row;
    if (problem.coupling.is_empty()) continue;
    for (int e = problem.coupling.entry_start(row); e < problem.coupling.entry_start(row + 1); ++e)
      coupled[problem.coupling.column(e)] += problem.coupling.value(e) * weight[i];
  }
  double square = 0;
  for (int b = 0; b < problem.num_blocks(); ++b)
    square += norm.squared(b, impulse.segment(problem.dof_start[b], problem.block_size(b)));
  const double least = *std::min_element(mobility.begin(), mobility.end());
  return std::sqrt(square) + coupled.norm() / std::sqrt(least);
}

/// Whether what named rows do to each other directly cancels, and is not merely small: rows that
/// are soft by way of K can have impulses as large as they are stiff.
bool cancels_directly(const StepProblem& problem, const std::vector<DemandingRow>& rows,
                      const std::vector<double>& weight, const std::vector<char>& is_named) {
  if (problem.coupling.is_empty()) return true;
  VectorXd sum = VectorXd::Zero(problem.num_rows()), size = sum;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_named[i]) continue;
    for (int e = problem.coupling.entry_start(rows[i].row);
         e < problem.coupling.entry_start(rows[i].row + 1); ++e) {
      const double term = problem.coupling.value(e) * weight[i];
      sum[problem.coupling.column(e)] += term;
      size[problem.coupling.column(e)] += std::abs(term);
    }
  }
  return (sum.array().abs() <= kCancelled * size.array()).all();
}

/// Whether the weights exclude a solution.
bool is_proof(const StepProblem& problem, const std::vector<DemandingRow>& rows,
              const std::vector<double>& mobility, const std::vector<double>& weight) {
  double work = 0, largest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double bias = bias_of(problem, rows[i].row);
    work += weight[i] * bias;
    largest = std::max(largest, std::abs(bias) / std::sqrt(mobility[i]));
  }
  const ImpulseNorm norm(problem);
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const ConstVectorMap p(problem.p.data() + problem.dof_start[b], problem.block_size(b));
    largest = std::max(largest, std::sqrt(norm.squared(b, p)));
  }
  return -work >
         kExcludedVelocity * largest * compute_imbalance(problem, norm, rows, mobility, weight);
}

}  // namespace

Contradiction find_contradiction(const StepProblem& problem) {
  const std::vector<DemandingRow> rows = list_demanding_rows(problem);
  if (rows.empty() || rows.size() > kMaxRows) return {};
  const std::vector<double> mobility = compute_mobilities(problem, ImpulseNorm(problem), rows);
  const StepProblem soft = make_soft_problem(problem, rows, mobility);
  StepSolution answer;
  if (LemkeSolver().solve(soft, answer).status != SolverStatus::kConverged) return {};
  std::vector<double> weight(answer.lambda);
  weight.insert(weight.end(), answer.r.begin(), answer.r.end());
  double largest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    largest = std::max(largest, std::abs(weight[i]) * std::sqrt(mobility[i]));
  std::vector<char> is_named;
  for (std::size_t i = 0; i < rows.size(); ++i)
    is_named.push_back(std::abs(weight[i]) * std::sqrt(mobility[i]) > kNoWeight * largest);
  if (!is_proof(problem, rows, mobility, weight) ||
      !cancels_directly(problem, rows, weight, is_named))
    return {};
  Contradiction contradiction;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_named[i]) continue;
    if (rows[i].contact >= 0)
      contradiction.contacts.push_back(rows[i].contact);
    else
      contradiction.rows.push_back(rows[i].row);
  }
  return contradiction;
}

}  // namespace stiction
