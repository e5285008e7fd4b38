#include "stiction/scene/problem_reader.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>

#include "stiction/base/error.h"
#include "stiction/problem/problem_file.h"
#include "stiction/scene/fclib_reader.h"
#include "stiction/scene/lcp_reader.h"

namespace stiction {
namespace {

ProblemFile read_dump(const std::string& path) {
  ProblemFile file;
  file.problem = read_problem(path);
  for (int i = 0; i < file.problem.num_dofs(); ++i) file.dof_index.push_back(i);
  return file;
}

/// The group at the root of a file tells its kind.
ProblemFile read_by_kind(const std::string& path) {
  const FclibFile source(path);
  if (source.has("step_problem")) return read_dump(path);
  for (const char* rolling : {"fclib_local_rolling", "fclib_global_rolling"})
    if (source.has(rolling))
      source.fail(rolling, "is a problem with rolling friction, which is not supported");
  if (source.has("fclib_local")) return read_fclib_local(source);
  if (source.has("fclib_global")) return read_fclib_global(source);
  if (source.has("mlcp")) return read_mlcp(source);
  if (source.has("lcp")) return read_lcp(source);
  throw InputError(
      fmt::format("'{}' is an HDF5 file but no problem file: it has none of the groups "
                  "step_problem, fclib_local, fclib_global, lcp, mlcp",
                  path));
}

void replace_sections(const FrictionSection& friction, StepProblem& problem) {
  for (int i = 0; i < problem.num_contacts(); ++i)
    if (problem.contacts.num_rows(i) == 3) problem.section[i] = friction;
}

}  // namespace

ProblemFile read_problem_file(const std::string& path,
                              const std::optional<FrictionSection>& friction) {
  try {
    ProblemFile file = read_by_kind(path);
    if (file.title.empty()) file.title = std::filesystem::path(path).stem().string();
    if (friction) replace_sections(*friction, file.problem);
    if (const std::string fault = find_fault(file.problem); !fault.empty())
      throw InputError(fmt::format("problem file '{}': {}", path, fault));
    return file;
  } catch (const std::bad_alloc&) {
    throw IoError(fmt::format("cannot read '{}': it does not fit into memory", path));
  }
}

std::vector<double> impulses_in_file_order(const ProblemFile& file, const StepSolution& solution) {
  if (file.row_index.empty()) return solution.r;
  std::vector<double> z(file.row_index.size());
  const std::size_t num_equations = solution.lambda.size();
  for (std::size_t i = 0; i < z.size(); ++i)
    z[file.row_index[i]] = i < num_equations ? solution.lambda[i] : solution.r[i - num_equations];
  return z;
}

std::vector<double> velocities_in_file_order(const ProblemFile& file,
                                             const StepSolution& solution) {
  std::vector<double> v(solution.w.size());
  for (std::size_t i = 0; i < v.size(); ++i) v[file.dof_index[i]] = solution.w[i];
  return v;
}

}  // namespace stiction
