#include "stiction/scene/fclib_reader.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>

#include "stiction/base/text.h"

namespace stiction {
namespace {

const std::string kLocal = "fclib_local";
const std::string kGlobal = "fclib_global";
constexpr std::size_t kMaxMassValues = std::size_t{1} << 27;  // 1 GB of dense blocks

int read_space_dimension(const FclibFile& source, const std::string& group) {
  const int dimension = source.read_integer(group + "/spacedim");
  if (dimension == 5)
    source.fail(group + "/spacedim", "is 5: rolling friction is not supported, only 2 or 3");
  if (dimension != 2 && dimension != 3)
    source.fail(group + "/spacedim", fmt::format("is {}, expected 2 or 3", dimension));
  return dimension;
}

std::vector<double> read_friction(const FclibFile& source, const std::string& group,
                                  int num_contacts) {
  const std::string object = group + "/vectors/mu";
  std::vector<double> mu = source.read_vector(object, num_contacts);
  for (std::size_t i = 0; i < mu.size(); ++i)
    if (mu[i] < 0)
      source.fail(object, fmt::format("is {} at {}, expected a friction coefficient >= 0",
                                      to_text(mu[i]), i));
  return mu;
}

/// The free velocities of the contacts, whose number is that of the rows of all contacts.
std::vector<double> read_free_velocities(const FclibFile& source, const std::string& object,
                                         int dimension) {
  std::vector<double> values = source.read_vector(object);
  if (values.size() % static_cast<std::size_t>(dimension) != 0)
    source.fail(object, fmt::format("has {} entries, expected a multiple of spacedim = {}",
                                    values.size(), dimension));
  return values;
}

void add_entries(const SparseMatrix& matrix, int row, int first_column, RowCoupling& coupling) {
  for (int e = matrix.row_start[row]; e < matrix.row_start[row + 1]; ++e)
    coupling.add_entry(first_column + matrix.column[e], matrix.value[e]);
}

/// K = [R Vᵀ; V W]: V and R are optional, for equations R l + Vᵀr + s = 0 beside u = W r + V l + q.
void add_local_coupling(const FclibFile& source, StepProblem& problem) {
  const int num_rows = problem.num_contact_rows();
  const SparseMatrix W = source.read_matrix(kLocal + "/W", num_rows, num_rows);
  SparseMatrix V, Vt, R;
  V.num_rows = R.num_rows = num_rows;
  V.row_start.assign(num_rows + 1, 0);
  int num_equations = 0;
  if (source.has(kLocal + "/V") || source.has(kLocal + "/R")) {
    num_equations = source.read_num_columns(kLocal + "/V");
    V = source.read_matrix(kLocal + "/V", num_rows, num_equations);
    Vt = transposed(V);
    R = source.read_matrix(kLocal + "/R", num_equations, num_equations);
    for (const double s : source.read_vector(kLocal + "/vectors/s", num_equations))
      problem.add_bilateral_row({.bias = -s});
  }
  for (int i = 0; i < num_equations; ++i) {
    problem.coupling.add_row();
    add_entries(R, i, 0, problem.coupling);
    add_entries(Vt, i, num_equations, problem.coupling);
  }
  for (int i = 0; i < num_rows; ++i) {
    problem.coupling.add_row();
    add_entries(V, i, 0, problem.coupling);
    add_entries(W, i, num_equations, problem.coupling);
  }
}

/// Where the degrees of freedom of a file went: place in the problem, and block with place in it.
struct DofPlaces {
  struct Place {
    int block = 0;
    int offset = 0;
  };
  std::vector<Place> place;  // by index in the file
  std::vector<int> index;    // in the file, by place in the problem
};

/// The connected parts of M, joined to bodies where these can be told: six unknowns in space, three
/// in the plane. A contact then touches two blocks instead of twelve.
std::vector<std::vector<int>> find_parts(const SparseMatrix& mass, int dimension) {
  std::vector<std::vector<int>> parts = find_components(mass);
  const int body_size = dimension == 3 ? 6 : 3;
  const bool are_bodies = mass.num_rows % body_size == 0 &&
                          std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
                            return part.front() / body_size == part.back() / body_size;
                          });
  if (!are_bodies) return parts;
  parts.assign(mass.num_rows / body_size, std::vector<int>(body_size));
  for (int i = 0; i < mass.num_rows; ++i) parts[i / body_size][i % body_size] = i;
  return parts;
}

/// Adds one part of M as a dense block.
void add_mass(const FclibFile& source, const SparseMatrix& mass, const std::vector<int>& part,
              DofPlaces& dofs, StepProblem& problem) {
  const int size = static_cast<int>(part.size());
  for (int k = 0; k < size; ++k) dofs.place[part[k]] = {problem.num_blocks(), k};
  dofs.index.insert(dofs.index.end(), part.begin(), part.end());
  RowMatrixMap block = problem.add_mass_block(size);
  for (int k = 0; k < size; ++k)
    for (int e = mass.row_start[part[k]]; e < mass.row_start[part[k] + 1]; ++e)
      block(k, dofs.place[mass.column[e]].offset) = mass.value[e];
  const MatrixXd symmetric = 0.5 * (block + block.transpose());
  if (Eigen::LLT<MatrixXd>(symmetric).info() != Eigen::Success)
    source.fail(kGlobal + "/M",
                fmt::format("is not positive definite in the part of {} unknowns that holds row {}",
                            size, part.front()));
}

DofPlaces add_masses(const FclibFile& source, const SparseMatrix& mass, int dimension,
                     StepProblem& problem) {
  DofPlaces dofs;
  dofs.place.resize(mass.num_rows);
  std::size_t num_values = 0;
  for (const std::vector<int>& part : find_parts(mass, dimension)) {
    num_values += part.size() * part.size();
    if (num_values > kMaxMassValues)
      source.fail(kGlobal + "/M",
                  fmt::format("has a connected part of {} unknowns, too many for dense blocks",
                              part.size()));
    add_mass(source, mass, part, dofs, problem);
  }
  return dofs;
}

/// Rows in the unknowns of the file, handed to row blocks in the blocks of the problem.
struct JacobianSource {
  const SparseMatrix& rows;
  const DofPlaces& dofs;
  const StepProblem& problem;

  /// Adds rows [first, first + count) to the newest row block of `out`, which has as many.
  void add_entries(int first, int count, BlockRows& out) const {
    std::vector<int> blocks;
    for (int e = rows.row_start[first]; e < rows.row_start[first + count]; ++e)
      blocks.push_back(dofs.place[rows.column[e]].block);
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    for (const int block : blocks) {
      RowMatrixMap entry = out.add_entry(block, problem.block_size(block));
      for (int k = 0; k < count; ++k)
        for (int e = rows.row_start[first + k]; e < rows.row_start[first + k + 1]; ++e)
          if (const auto place = dofs.place[rows.column[e]]; place.block == block)
            entry(k, place.offset) = rows.value[e];
    }
  }
};

/// G is optional: equations Gᵀv + b = 0 between velocities.
void add_equations(const FclibFile& source, const DofPlaces& dofs, StepProblem& problem) {
  const std::string group = kGlobal + "/G";
  if (!source.has(group)) return;
  const int num_rows = source.read_num_columns(group);
  if (num_rows < 0) source.fail(group + "/n", fmt::format("is {}, expected >= 0", num_rows));
  const std::vector<double> b = source.read_vector(kGlobal + "/vectors/b", num_rows);
  const SparseMatrix rows = transposed(source.read_matrix(group, problem.num_dofs(), num_rows));
  const JacobianSource jacobian{rows, dofs, problem};
  for (int i = 0; i < num_rows; ++i) {
    problem.add_bilateral_row({.bias = -b[i]});
    jacobian.add_entries(i, 1, problem.bilateral);
  }
}

/// Contacts with J = Hᵀ and the free velocities w.
void add_contacts(const FclibFile& source, int dimension, const DofPlaces& dofs,
                  StepProblem& problem) {
  const bool is_empty = source.read_num_columns(kGlobal + "/H") == 0;
  std::vector<double> w;
  if (!is_empty) w = read_free_velocities(source, kGlobal + "/vectors/w", dimension);
  const int num_rows = static_cast<int>(w.size());
  const SparseMatrix rows =
      transposed(source.read_matrix(kGlobal + "/H", problem.num_dofs(), num_rows));
  const JacobianSource jacobian{rows, dofs, problem};
  const std::vector<double> mu = read_friction(source, kGlobal, num_rows / dimension);
  for (std::size_t i = 0; i < mu.size(); ++i) {
    problem.add_contact({dimension - 1, mu[i], FrictionSection::disc(), i});
    jacobian.add_entries(static_cast<int>(i) * dimension, dimension, problem.contacts);
  }
  problem.contact_bias = w;
}

/// v, l and r of a stored answer; u follows from them. Nothing if one is missing.
std::optional<StepSolution> read_answer(const FclibFile& source, const std::string& group,
                                        const ProblemFile& file) {
  const StepProblem& problem = file.problem;
  if (!source.has(group)) return {};
  const auto is_there = [&](const std::string& name, int size) {
    return size == 0 || source.has(group + "/" + name);
  };
  if (!is_there("v", problem.num_dofs()) || !is_there("l", problem.num_bilateral()) ||
      !is_there("r", problem.num_contact_rows()))
    return {};
  StepSolution answer;
  answer.resize(problem);
  if (problem.num_dofs() > 0) {
    const std::vector<double> v = source.read_vector(group + "/v", problem.num_dofs());
    for (int i = 0; i < problem.num_dofs(); ++i) answer.w[i] = v[file.dof_index[i]];
  }
  if (problem.num_bilateral() > 0)
    answer.lambda = source.read_vector(group + "/l", problem.num_bilateral());
  if (problem.num_contact_rows() > 0)
    answer.r = source.read_vector(group + "/r", problem.num_contact_rows());
  return answer;
}

void read_answers(const FclibFile& source, ProblemFile& file) {
  file.solution = read_answer(source, "solution", file);
  if (!source.has("guesses/number_of_guesses")) return;
  const int count = source.read_integer("guesses/number_of_guesses");
  for (int i = 1; i <= count && source.has(fmt::format("guesses/{}", i)); ++i)
    if (auto guess = read_answer(source, fmt::format("guesses/{}", i), file))
      file.guesses.push_back(std::move(*guess));
}

}  // namespace

ProblemFile read_fclib_local(const FclibFile& source) {
  ProblemFile file;
  file.kind = ProblemKind::kLocalFriction;
  file.title = source.try_read_text(kLocal + "/info/title");
  file.space_dimension = read_space_dimension(source, kLocal);
  const std::vector<double> q =
      read_free_velocities(source, kLocal + "/vectors/q", file.space_dimension);
  const int num_rows = static_cast<int>(q.size());
  const std::vector<double> mu = read_friction(source, kLocal, num_rows / file.space_dimension);
  for (std::size_t i = 0; i < mu.size(); ++i)
    file.problem.add_contact({file.space_dimension - 1, mu[i], FrictionSection::disc(), i});
  file.problem.contact_bias = q;
  add_local_coupling(source, file.problem);
  read_answers(source, file);
  return file;
}

ProblemFile read_fclib_global(const FclibFile& source) {
  ProblemFile file;
  StepProblem& problem = file.problem;
  file.kind = ProblemKind::kGlobalFriction;
  file.title = source.try_read_text(kGlobal + "/info/title");
  file.space_dimension = read_space_dimension(source, kGlobal);
  const std::vector<double> f = source.read_vector(kGlobal + "/vectors/f");
  const int num_dofs = static_cast<int>(f.size());
  const SparseMatrix mass = source.read_matrix(kGlobal + "/M", num_dofs, num_dofs);
  const DofPlaces dofs = add_masses(source, mass, file.space_dimension, problem);
  file.dof_index = dofs.index;
  for (int i = 0; i < num_dofs; ++i) problem.p[i] = f[dofs.index[i]];
  add_equations(source, dofs, problem);
  add_contacts(source, file.space_dimension, dofs, problem);
  read_answers(source, file);
  return file;
}

}  // namespace stiction
