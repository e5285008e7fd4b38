#include "stiction/scene/fclib_conversion.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "stiction/base/error.h"

namespace stiction {
namespace {

/// Whether a row is at one of its bounds, up to rounding.
bool is_at_bound(const StepProblem& problem, const StepSolution& solution, int row) {
  const double lambda = solution.lambda[row];
  const auto meets = [&](double bound) {
    return std::isfinite(bound) && std::abs(lambda - bound) <= 1e-12 * std::abs(bound);
  };
  return meets(problem.lower[row]) || meets(problem.upper[row]);
}

bool yields_nowhere(const StepProblem& problem) {
  const auto is_zero = [](double x) { return x == 0; };
  const auto is_infinite = [](double x) { return std::isinf(x); };
  return std::all_of(problem.compliance.begin(), problem.compliance.end(), is_zero) &&
         std::all_of(problem.contact_compliance.begin(), problem.contact_compliance.end(),
                     is_zero) &&
         std::all_of(problem.lower.begin(), problem.lower.end(), is_infinite) &&
         std::all_of(problem.upper.begin(), problem.upper.end(), is_infinite) &&
         problem.coupling.is_empty();
}

/// Rows of a contact with those that were added; `values` has the rows of the problem.
std::vector<double> padded(const StepProblem& problem, const std::vector<double>& values,
                           int dimension) {
  std::vector<double> all;
  for (int j = 0; j < problem.num_contacts(); ++j)
    for (int i = 0; i < dimension; ++i)
      all.push_back(i < problem.contacts.num_rows(j) ? values[problem.contacts.row_start(j) + i]
                                                     : 0.0);
  return all;
}

void add_contacts(const StepProblem& from, int dimension, StepProblem& to) {
  for (int j = 0; j < from.num_contacts(); ++j)
    to.add_contact({.num_tangents = dimension - 1,
                    .mu = from.contacts.num_rows(j) > 1 ? from.mu[j] : 0,
                    .section = FrictionSection::disc(),
                    .key = static_cast<std::uint64_t>(j)});
}

StepProblem make_global(const StepProblem& from, int dimension) {
  StepProblem to;
  to.h = from.h;
  to.dof_start = from.dof_start;
  to.mass_start = from.mass_start;
  to.mass_values = from.mass_values;
  to.p = from.p;
  to.bilateral = from.bilateral;
  to.compliance = from.compliance;
  to.bias = from.bias;
  to.lower = from.lower;
  to.upper = from.upper;
  for (int j = 0; j < from.num_contacts(); ++j) {
    to.add_contact({.num_tangents = dimension - 1,
                    .mu = from.contacts.num_rows(j) > 1 ? from.mu[j] : 0,
                    .section = FrictionSection::disc(),
                    .key = static_cast<std::uint64_t>(j)});
    for (int e = from.contacts.entry_start(j); e < from.contacts.entry_start(j + 1); ++e) {
      RowMatrixMap entry =
          to.contacts.add_entry(from.contacts.entry_block(e), from.contacts.entry_columns(e));
      entry.topRows(from.contacts.num_rows(j)) = from.contacts.entry_matrix(j, e);
    }
  }
  to.contact_bias = padded(from, from.contact_bias, dimension);
  return to;
}

/// Rows as a dense matrix.
MatrixXd dense(const StepProblem& problem, const BlockRows& rows) {
  MatrixXd matrix = MatrixXd::Zero(rows.num_rows(), problem.num_dofs());
  for (int j = 0; j < rows.num_row_blocks(); ++j)
    for (int e = rows.entry_start(j); e < rows.entry_start(j + 1); ++e)
      matrix.block(rows.row_start(j), problem.dof_start[rows.entry_block(e)], rows.num_rows(j),
                   rows.entry_columns(e)) = rows.entry_matrix(j, e);
  return matrix;
}

/// M̂⁻¹ of a matrix of columns, block by block.
MatrixXd solve_masses(const StepProblem& problem, const MatrixXd& columns) {
  MatrixXd result(columns.rows(), columns.cols());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int start = problem.dof_start[b], n = problem.block_size(b);
    result.middleRows(start, n) =
        Eigen::PartialPivLU<MatrixXd>(problem.mass_block(b)).solve(columns.middleRows(start, n));
  }
  return result;
}

/// u = W r + q with W = J M⁻¹Jᵀ + c − J M⁻¹Gᵀ (G M⁻¹Gᵀ + C)⁻¹ G M⁻¹Jᵀ.
StepProblem make_local(const StepProblem& from, const StepSolution& solution, int dimension) {
  std::vector<int> equations;
  VectorXd p = ConstVectorMap(from.p.data(), from.num_dofs());
  const MatrixXd all = dense(from, from.bilateral);
  for (int i = 0; i < from.num_bilateral(); ++i) {
    if (is_at_bound(from, solution, i))
      p += solution.lambda[i] * all.row(i).transpose();
    else
      equations.push_back(i);
  }
  const MatrixXd G = all(equations, Eigen::all), J = dense(from, from.contacts);
  const MatrixXd MJ = solve_masses(from, J.transpose()), MG = solve_masses(from, G.transpose());
  const VectorXd free = solve_masses(from, p);
  MatrixXd W = J * MJ;
  VectorXd q = J * free + ConstVectorMap(from.contact_bias.data(), J.rows());
  W.diagonal() += ConstVectorMap(from.contact_compliance.data(), J.rows());
  if (!equations.empty()) {
    MatrixXd S = G * MG;
    VectorXd rest = -G * free;
    for (std::size_t i = 0; i < equations.size(); ++i) {
      S(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i)) +=
          from.compliance[equations[i]];
      rest[static_cast<Eigen::Index>(i)] += from.bias[equations[i]];
    }
    const Eigen::FullPivLU<MatrixXd> factors(S);
    if (!factors.isInvertible())
      throw InputError("joint rows depend on each other and cannot be condensed");
    W -= J * MG * factors.solve(G * MJ);
    q += J * MG * factors.solve(rest);
  }
  StepProblem to;
  to.h = from.h;
  add_contacts(from, dimension, to);
  // Where a row of the file is among those of the problem; −1: it was added.
  std::vector<int> source;
  for (int j = 0; j < from.num_contacts(); ++j)
    for (int i = 0; i < dimension; ++i)
      source.push_back(i < from.contacts.num_rows(j) ? from.contacts.row_start(j) + i : -1);
  for (std::size_t i = 0; i < source.size(); ++i) {
    to.coupling.add_row();
    if (source[i] < 0) continue;
    for (std::size_t k = 0; k < source.size(); ++k)
      if (source[k] >= 0 && W(source[i], source[k]) != 0)
        to.coupling.add_entry(static_cast<int>(k), W(source[i], source[k]));
  }
  to.contact_bias = padded(from, {q.data(), q.data() + q.size()}, dimension);
  return to;
}

}  // namespace

ProblemFile to_fclib(const StepProblem& problem, const StepSolution& solution,
                     const std::string& title, int max_rows) {
  if (problem.num_contacts() == 0)
    throw InputError("the step has no contacts: there is no friction problem to write");
  int num_tangents = 1;
  bool is_disc = true;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    num_tangents = std::max(num_tangents, problem.contacts.num_rows(j) - 1);
    if (problem.contacts.num_rows(j) == 3 && problem.mu[j] > 0 &&
        problem.section[j].kind != FrictionSection::Kind::kDisc)
      is_disc = false;
  }
  ProblemFile file;
  file.title = title;
  file.space_dimension = num_tangents + 1;
  StepSolution answer;
  answer.r = padded(problem, solution.r, file.space_dimension);
  if (yields_nowhere(problem)) {
    file.kind = ProblemKind::kGlobalFriction;
    file.problem = make_global(problem, file.space_dimension);
    file.dof_index.resize(problem.num_dofs());
    for (int i = 0; i < problem.num_dofs(); ++i) file.dof_index[i] = i;
    answer.w = solution.w;
    answer.lambda = solution.lambda;
  } else {
    if (problem.num_rows() > max_rows)
      throw InputError(fmt::format("the step has {} rows, at most {} can be condensed",
                                   problem.num_rows(), max_rows));
    file.kind = ProblemKind::kLocalFriction;
    file.problem = make_local(problem, solution, file.space_dimension);
  }
  if (is_disc)
    file.solution = answer;
  else
    file.guesses.push_back(answer);
  return file;
}

}  // namespace stiction
