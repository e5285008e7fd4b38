#include "problems.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <chrono>

#include "arrays.h"
#include "stiction/base/error.h"
#include "stiction/problem/published_error.h"
#include "stiction/scene/problem_reader.h"
#include "stiction/scene/sparse_matrix.h"
#include "stiction/solve/solvers.h"

namespace stiction::python {
namespace {

/// Compressed rows, as scipy.sparse has them: sizes, starts of rows, columns, values.
SparseMatrix to_matrix(const py::tuple& parts, const std::string& what) {
  SparseMatrix matrix;
  matrix.num_rows = parts[0].cast<int>();
  matrix.num_columns = parts[1].cast<int>();
  matrix.row_start = parts[2].cast<std::vector<int>>();
  matrix.column = parts[3].cast<std::vector<int>>();
  matrix.value = parts[4].cast<std::vector<double>>();
  for (const double value : matrix.value)
    if (!std::isfinite(value))
      throw InputError(fmt::format("{} holds a number that is not finite", what));
  return matrix;
}

FrictionSection to_section(const std::string& text) {
  const auto section = try_parse_friction_section(text);
  if (!section)
    throw InputError(fmt::format("friction is '{}', must be disc, box or polygon:K, K even", text));
  return *section;
}

/// K of the problem from a matrix whose rows and columns are taken in this order.
void add_coupling(const SparseMatrix& matrix, const std::vector<int>& order, StepProblem& problem) {
  std::vector<int> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
  for (const int row : order) {
    problem.coupling.add_row();
    for (int e = matrix.row_start[row]; e < matrix.row_start[row + 1]; ++e)
      problem.coupling.add_entry(place[matrix.column[e]], matrix.value[e]);
  }
}

/// w = M z + q; w = 0 for equations, 0 ≤ z ⊥ w ≥ 0 for the others.
ProblemFile make_mlcp(const SparseMatrix& matrix, const std::vector<double>& q,
                      const std::vector<bool>& is_equation) {
  ProblemFile file;
  for (const bool equations : {true, false})
    for (std::size_t i = 0; i < q.size(); ++i)
      if (is_equation[i] == equations) file.row_index.push_back(static_cast<int>(i));
  StepProblem& problem = file.problem;
  bool has_equations = false;
  for (const int i : file.row_index) {
    if (is_equation[i]) {
      problem.add_bilateral_row({.bias = -q[i]});
      has_equations = true;
    } else {
      problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = problem.mu.size()});
      problem.contact_bias.back() = q[i];
    }
  }
  file.kind = has_equations ? ProblemKind::kMlcp : ProblemKind::kLcp;
  add_coupling(matrix, file.row_index, problem);
  return file;
}

void add_contacts(const std::vector<double>& free_velocity, const std::vector<double>& mu,
                  const FrictionSection& section, StepProblem& problem) {
  const std::size_t dimension = free_velocity.size() / mu.size();
  for (std::size_t i = 0; i < mu.size(); ++i) {
    problem.add_contact({.num_tangents = static_cast<int>(dimension) - 1,
                         .mu = mu[i],
                         .section = section,
                         .key = i});
    std::copy_n(free_velocity.begin() + static_cast<std::ptrdiff_t>(i * dimension), dimension,
                problem.contact_bias.end() - static_cast<std::ptrdiff_t>(dimension));
  }
}

py::dict solve(const ProblemFile& file, const std::string& solver_name, double tolerance) {
  if (!(tolerance > 0)) throw InputError(fmt::format("tol is {}, must be > 0", tolerance));
  if (const std::string fault = find_fault(file.problem); !fault.empty()) throw InputError(fault);
  const auto measure = file.kind == ProblemKind::kStepProblem ? StoppingMeasure::kCertificate
                                                              : StoppingMeasure::kPublished;
  const std::unique_ptr<Solver> solver = make_solver(solver_name, tolerance, measure);
  StepSolution solution;
  solution.resize(file.problem);
  SolverReport report;
  double wall = 0, error = 0;
  Certificate certificate;
  {
    const py::gil_scoped_release unlocked;
    const auto began = std::chrono::steady_clock::now();
    report = solver->solve(file.problem, solution);
    wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    solution.resize(file.problem);
    error = compute_published_error(file.kind, file.problem, solution);
    certificate = certify(file.problem, solution);
  }
  const bool is_solved = error <= tolerance && (certificate.meets(tolerance) ||
                                                !has_inflated_impulses(file.problem, solution));
  py::dict out;
  out["kind"] = std::string(to_text(file.kind));
  out["status"] = is_solved                                   ? std::string("solved")
                  : report.status == SolverStatus::kConverged ? std::string("above tolerance")
                                                              : std::string(to_text(report.status));
  out["is_solved"] = is_solved;
  out["error"] = error;
  out["residual"] = certificate.residual();
  out["certificate"] = certificate;
  out["iterations"] = report.iterations;
  out["wall_s"] = wall;
  RowVelocities rows = compute_row_velocities(file.problem, solution);
  if (file.row_index.empty()) {
    out["r"] = take_array(std::vector<double>(solution.r));
    out["u"] = take_array(std::move(rows.u));
  } else {
    std::vector<double> w(file.row_index.size());
    for (std::size_t i = 0; i < w.size(); ++i)
      w[file.row_index[i]] = i < rows.s.size() ? rows.s[i] : rows.u[i - rows.s.size()];
    out["z"] = take_array(impulses_in_file_order(file, solution));
    out["w"] = take_array(std::move(w));
  }
  if (!file.dof_index.empty()) out["v"] = take_array(velocities_in_file_order(file, solution));
  return out;
}

ProblemFile make_local(const SparseMatrix& delassus, const std::vector<double>& q,
                       const std::vector<double>& mu, const FrictionSection& section) {
  ProblemFile file;
  file.kind = ProblemKind::kLocalFriction;
  file.space_dimension = static_cast<int>(q.size() / mu.size());
  add_contacts(q, mu, section, file.problem);
  for (int row = 0; row < delassus.num_rows; ++row) {
    file.problem.coupling.add_row();
    for (int e = delassus.row_start[row]; e < delassus.row_start[row + 1]; ++e)
      file.problem.coupling.add_entry(delassus.column[e], delassus.value[e]);
  }
  return file;
}

/// M v = H r + f, u = Hᵀ v + w; `rows` is Hᵀ.
ProblemFile make_global(const SparseMatrix& mass, const std::vector<double>& f,
                        const SparseMatrix& rows, const std::vector<double>& w,
                        const std::vector<double>& mu, const FrictionSection& section) {
  ProblemFile file;
  file.kind = ProblemKind::kGlobalFriction;
  file.space_dimension = static_cast<int>(w.size() / mu.size());
  StepProblem& problem = file.problem;
  std::vector<int> block_of(f.size()), offset_of(f.size());
  const auto parts = find_components(mass);
  for (std::size_t b = 0; b < parts.size(); ++b) {
    for (std::size_t k = 0; k < parts[b].size(); ++k) {
      block_of[parts[b][k]] = static_cast<int>(b);
      offset_of[parts[b][k]] = static_cast<int>(k);
      file.dof_index.push_back(parts[b][k]);
    }
    RowMatrixMap block = problem.add_mass_block(static_cast<int>(parts[b].size()));
    for (std::size_t k = 0; k < parts[b].size(); ++k)
      for (int e = mass.row_start[parts[b][k]]; e < mass.row_start[parts[b][k] + 1]; ++e)
        block(static_cast<Eigen::Index>(k), offset_of[mass.column[e]]) = mass.value[e];
  }
  for (std::size_t i = 0; i < f.size(); ++i) problem.p[i] = f[file.dof_index[i]];
  for (std::size_t j = 0; j < mu.size(); ++j) {
    const int dimension = file.space_dimension;
    problem.add_contact({.num_tangents = dimension - 1, .mu = mu[j], .section = section, .key = j});
    const int first = static_cast<int>(j) * dimension;
    std::copy_n(w.begin() + first, dimension, problem.contact_bias.end() - dimension);
    std::vector<int> blocks;
    for (int r = first; r < first + dimension; ++r)
      for (int e = rows.row_start[r]; e < rows.row_start[r + 1]; ++e)
        blocks.push_back(block_of[rows.column[e]]);
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    for (const int b : blocks) {
      RowMatrixMap piece = problem.contacts.add_entry(b, problem.block_size(b));
      for (int r = first; r < first + dimension; ++r)
        for (int e = rows.row_start[r]; e < rows.row_start[r + 1]; ++e)
          if (block_of[rows.column[e]] == b)
            piece(r - first, offset_of[rows.column[e]]) = rows.value[e];
    }
  }
  return file;
}

}  // namespace

void bind_problems(py::module_& module) {
  module.def("solve_mlcp",
             [](const py::tuple& m, const std::vector<double>& q,
                const std::vector<bool>& is_equation, const std::string& solver, double tol) {
               return solve(make_mlcp(to_matrix(m, "M"), q, is_equation), solver, tol);
             });
  module.def("solve_local", [](const py::tuple& w, const std::vector<double>& q,
                               const std::vector<double>& mu, const std::string& friction,
                               const std::string& solver, double tol) {
    return solve(make_local(to_matrix(w, "W"), q, mu, to_section(friction)), solver, tol);
  });
  module.def(
      "solve_global", [](const py::tuple& m, const std::vector<double>& f, const py::tuple& rows,
                         const std::vector<double>& w, const std::vector<double>& mu,
                         const std::string& friction, const std::string& solver, double tol) {
        return solve(
            make_global(to_matrix(m, "M"), f, to_matrix(rows, "H"), w, mu, to_section(friction)),
            solver, tol);
      });
  module.def("solve_file", [](const std::string& path, const std::string& solver, double tol) {
    return solve(read_problem_file(path), solver, tol);
  });
}

}  // namespace stiction::python
