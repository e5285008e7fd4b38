#include "stiction/scene/problem_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"
#include "stiction/base/hdf5_handle.h"
#include "stiction/problem/problem_file.h"
#include "stiction/scene/sparse_matrix.h"

namespace stiction {
namespace {

struct NamedVector {
  const char* name;
  std::vector<double> values;
};

/// Bilateral rows and contact rows, one after the other.
std::vector<double> joined_rows(const std::vector<double>& first, std::vector<double> second) {
  second.insert(second.begin(), first.begin(), first.end());
  return second;
}

/// values[i] goes to the place index[i].
std::vector<double> scattered(const std::vector<double>& values, const std::vector<int>& index) {
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[index[i]] = values[i];
  return result;
}

bool is_lcp(const ProblemFile& file) {
  return file.kind == ProblemKind::kLcp || file.kind == ProblemKind::kMlcp;
}

/// What the group of an answer holds, in the order of the file.
std::vector<NamedVector> list_answer(const ProblemFile& file, const StepSolution& solution) {
  const RowVelocities rows = compute_row_velocities(file.problem, solution);
  if (is_lcp(file))
    return {{"z", impulses_in_file_order(file, solution)},
            {"w", scattered(joined_rows(rows.s, rows.u), file.row_index)}};
  std::vector<NamedVector> lists = {{"r", solution.r}, {"u", rows.u}};
  if (file.problem.num_dofs() > 0) lists.push_back({"v", velocities_in_file_order(file, solution)});
  if (file.problem.num_bilateral() > 0) lists.push_back({"l", solution.lambda});
  return lists;
}

class ProblemFileWriter {
 public:
  ProblemFileWriter(Hdf5File& out, const ProblemFile& file) : out_(out), file_(file) {}

  void write_local();
  void write_global();
  void write_lcp(const std::string& group);
  void write_answers();

 private:
  void write_info(const std::string& group);
  void write_friction(const std::string& group, const char* free_velocity);
  void write_vector(const std::string& object, const std::vector<double>& values) {
    out_.write(object, std::span<const double>(values));
  }
  void write_integer(const std::string& object, int value) {
    out_.write(object, std::span<const int>(&value, 1));
  }
  void write_matrix(const std::string& group, const TripletMatrix& triplets);
  void write_answer(const std::string& group, const StepSolution& solution);
  TripletMatrix coupling_triplets() const;
  TripletMatrix mass_triplets() const;
  TripletMatrix jacobian_triplets(const BlockRows& rows) const;

  Hdf5File& out_;
  const ProblemFile& file_;
};

void ProblemFileWriter::write_matrix(const std::string& group, const TripletMatrix& triplets) {
  // The rows of the transpose are the columns, so that entries come sorted by column.
  const SparseMatrix columns = transposed(compress(triplets));
  std::vector<int> column;
  for (int c = 0; c < columns.num_rows; ++c)
    column.insert(column.end(), columns.row_start[c + 1] - columns.row_start[c], c);
  const int size = static_cast<int>(column.size());
  out_.make_group(group);
  write_integer(group + "/m", triplets.num_rows);
  write_integer(group + "/n", triplets.num_columns);
  write_integer(group + "/nz", size);
  write_integer(group + "/nzmax", size);
  out_.write(group + "/p", std::span<const int>(column));
  out_.write(group + "/i", std::span<const int>(columns.column));
  write_vector(group + "/x", columns.value);
}

TripletMatrix ProblemFileWriter::coupling_triplets() const {
  const RowCoupling& coupling = file_.problem.coupling;
  const int num_rows = file_.problem.num_rows();
  const auto place = [&](int row) { return file_.row_index.empty() ? row : file_.row_index[row]; };
  TripletMatrix triplets{num_rows, num_rows, {}, {}, {}};
  for (int i = 0; i < coupling.num_rows(); ++i)
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e) {
      triplets.row.push_back(place(i));
      triplets.column.push_back(place(coupling.column(e)));
      triplets.value.push_back(coupling.value(e));
    }
  return triplets;
}

TripletMatrix ProblemFileWriter::mass_triplets() const {
  const StepProblem& problem = file_.problem;
  TripletMatrix triplets{problem.num_dofs(), problem.num_dofs(), {}, {}, {}};
  for (int b = 0; b < problem.num_blocks(); ++b)
    for (int i = 0; i < problem.block_size(b); ++i)
      for (int j = 0; j < problem.block_size(b); ++j) {
        triplets.row.push_back(file_.dof_index[problem.dof_start[b] + i]);
        triplets.column.push_back(file_.dof_index[problem.dof_start[b] + j]);
        triplets.value.push_back(problem.mass_block(b)(i, j));
      }
  return triplets;
}

/// The transpose of the rows: FCLIB's H and G.
TripletMatrix ProblemFileWriter::jacobian_triplets(const BlockRows& rows) const {
  const StepProblem& problem = file_.problem;
  TripletMatrix triplets{problem.num_dofs(), rows.num_rows(), {}, {}, {}};
  for (int k = 0; k < rows.num_row_blocks(); ++k)
    for (int e = rows.entry_start(k); e < rows.entry_start(k + 1); ++e)
      for (int i = 0; i < rows.num_rows(k); ++i)
        for (int j = 0; j < rows.entry_columns(e); ++j) {
          triplets.row.push_back(file_.dof_index[problem.dof_start[rows.entry_block(e)] + j]);
          triplets.column.push_back(rows.row_start(k) + i);
          triplets.value.push_back(rows.entry_matrix(k, e)(i, j));
        }
  return triplets;
}

void ProblemFileWriter::write_info(const std::string& group) {
  out_.make_group(group + "/info");
  out_.write_text(group + "/info/title", file_.title);
}

void ProblemFileWriter::write_friction(const std::string& group, const char* free_velocity) {
  write_info(group);
  write_integer(group + "/spacedim", file_.space_dimension);
  out_.make_group(group + "/vectors");
  write_vector(group + "/vectors/" + free_velocity, file_.problem.contact_bias);
  write_vector(group + "/vectors/mu", file_.problem.mu);
}

void ProblemFileWriter::write_local() {
  out_.make_group("fclib_local");
  write_friction("fclib_local", "q");
  write_matrix("fclib_local/W", coupling_triplets());
}

void ProblemFileWriter::write_global() {
  const StepProblem& problem = file_.problem;
  const std::string group = "fclib_global";
  out_.make_group(group);
  write_friction(group, "w");
  write_vector(group + "/vectors/f", scattered(problem.p, file_.dof_index));
  write_matrix(group + "/M", mass_triplets());
  write_matrix(group + "/H", jacobian_triplets(problem.contacts));
  if (problem.num_bilateral() == 0) return;
  std::vector<double> b(problem.bias);
  for (double& value : b) value = -value;
  write_vector(group + "/vectors/b", b);
  write_matrix(group + "/G", jacobian_triplets(problem.bilateral));
}

void ProblemFileWriter::write_lcp(const std::string& group) {
  const StepProblem& problem = file_.problem;
  std::vector<double> free_slack(problem.bias);
  for (double& value : free_slack) value = -value;
  std::vector<int> flags(problem.num_rows(), 1);
  for (int i = 0; i < problem.num_bilateral(); ++i) flags[file_.row_index[i]] = 0;
  out_.make_group(group);
  write_info(group);
  write_matrix(group + "/M", coupling_triplets());
  write_vector(group + "/q",
               scattered(joined_rows(free_slack, problem.contact_bias), file_.row_index));
  out_.write(group + "/complementarity", std::span<const int>(flags));
}

void ProblemFileWriter::write_answer(const std::string& group, const StepSolution& solution) {
  out_.make_group(group);
  for (const NamedVector& list : list_answer(file_, solution))
    write_vector(group + "/" + list.name, list.values);
}

void ProblemFileWriter::write_answers() {
  if (file_.solution) write_answer("solution", *file_.solution);
  if (file_.guesses.empty()) return;
  out_.make_group("guesses");
  write_integer("guesses/number_of_guesses", static_cast<int>(file_.guesses.size()));
  for (std::size_t i = 0; i < file_.guesses.size(); ++i)
    write_answer(fmt::format("guesses/{}", i + 1), file_.guesses[i]);
}

/// Throws where a problem has terms that the format of its kind cannot express.
void check_form(const std::string& path, const ProblemFile& file) {
  const StepProblem& problem = file.problem;
  const auto demand = [&](bool is_good, const char* what) {
    if (!is_good)
      throw InputError(
          fmt::format("cannot write '{}': a {} problem has {}", path, to_text(file.kind), what));
  };
  const auto is_zero = [](double x) { return x == 0; };
  const bool is_global = file.kind == ProblemKind::kGlobalFriction;
  demand(is_global || problem.num_dofs() == 0, "no bodies");
  demand(!is_global || problem.coupling.is_empty(), "no coupling between rows");
  demand(file.kind != ProblemKind::kLocalFriction || problem.num_bilateral() == 0, "no equations");
  demand(std::all_of(problem.compliance.begin(), problem.compliance.end(), is_zero) &&
             std::all_of(problem.contact_compliance.begin(), problem.contact_compliance.end(),
                         is_zero),
         "no compliance");
  demand(std::all_of(problem.lower.begin(), problem.lower.end(),
                     [](double x) { return x == -StepProblem::kUnbounded; }) &&
             std::all_of(problem.upper.begin(), problem.upper.end(),
                         [](double x) { return x == StepProblem::kUnbounded; }),
         "equations without bounds");
  const int rows = is_lcp(file) ? 1 : file.space_dimension;
  for (int i = 0; i < problem.num_contacts(); ++i)
    demand(problem.contacts.num_rows(i) == rows, "the same number of rows at all contacts");
}

void write_kind(Hdf5File& out, const ProblemFile& file) {
  ProblemFileWriter writer(out, file);
  if (file.kind == ProblemKind::kLocalFriction) writer.write_local();
  if (file.kind == ProblemKind::kGlobalFriction) writer.write_global();
  if (file.kind == ProblemKind::kLcp) writer.write_lcp("lcp");
  if (file.kind == ProblemKind::kMlcp) writer.write_lcp("mlcp");
  writer.write_answers();
}

/// Replaces group /solution of an HDF5 file; false if HDF5 refuses.
bool replace_solution(const std::string& path, const std::vector<NamedVector>& lists) {
  const Hdf5Silence silence;
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  if (!file.is_valid()) return false;
  if (H5Lexists(file.id(), "solution", H5P_DEFAULT) > 0 &&
      H5Ldelete(file.id(), "solution", H5P_DEFAULT) < 0)
    return false;
  Hdf5Handle group(H5Gcreate2(file.id(), "solution", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   H5Gclose);
  if (!group.is_valid()) return false;
  for (const NamedVector& list : lists) {
    const hsize_t size = list.values.size();
    const Hdf5Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    Hdf5Handle dataset(H5Dcreate2(group.id(), list.name, hdf5_file_type<double>(), space.id(),
                                  H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                       H5Dclose);
    const bool is_written = dataset.is_valid() &&
                            (size == 0 || H5Dwrite(dataset.id(), hdf5_type<double>(), H5S_ALL,
                                                   H5S_ALL, H5P_DEFAULT, list.values.data()) >= 0);
    if (!is_written || dataset.close() < 0) return false;
  }
  return group.close() >= 0 && file.close() >= 0;
}

}  // namespace

void write_problem_file(const std::string& path, const ProblemFile& file) {
  if (file.kind == ProblemKind::kStepProblem) return write_problem(path, file.problem);
  check_form(path, file);
  PendingFile pending(path);
  Hdf5File out = Hdf5File::create(pending.temporary_path(), path);
  write_kind(out, file);
  out.close();
  pending.commit();
}

void write_solution(const std::string& path, const std::string& source, const ProblemFile& file,
                    const StepSolution& solution) {
  PendingFile pending(path);
  std::error_code error;
  std::filesystem::copy_file(source, pending.temporary_path(),
                             std::filesystem::copy_options::overwrite_existing, error);
  if (error)
    throw IoError(fmt::format("cannot copy '{}' to '{}': {}", source, path, error.message()));
  // A copy of a write-protected file would be so, too.
  std::filesystem::permissions(pending.temporary_path(), std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add, error);
  if (!replace_solution(pending.temporary_path(), list_answer(file, solution)))
    throw IoError(fmt::format("cannot write '{}': HDF5 refuses to add the solution", path));
  pending.commit();
}

}  // namespace stiction
