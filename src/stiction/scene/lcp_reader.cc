#include "stiction/scene/lcp_reader.h"

#include <fmt/format.h>

namespace stiction {
namespace {

struct RowOrder {
  std::vector<int> index;  // in the file, equations first, each kind in the order of the file
  int num_equations = 0;
};

/// An lcp may leave the flags out, and has no equations.
RowOrder order_rows(const FclibFile& source, const std::string& group, int num_rows,
                    bool is_mixed) {
  const std::string object = group + "/complementarity";
  std::vector<int> flags(num_rows, 1);
  if (is_mixed || source.has(object)) flags = source.read_integers(object, num_rows);
  RowOrder order;
  for (int i = 0; i < num_rows; ++i) {
    const bool is_allowed = flags[i] == 1 || (flags[i] == 0 && is_mixed);
    if (!is_allowed)
      source.fail(object,
                  fmt::format("is {} at {}, expected {}", flags[i], i, is_mixed ? "0 or 1" : "1"));
    if (flags[i] == 0) order.index.push_back(i);
  }
  order.num_equations = static_cast<int>(order.index.size());
  for (int i = 0; i < num_rows; ++i)
    if (flags[i] == 1) order.index.push_back(i);
  return order;
}

void add_coupling(const SparseMatrix& matrix, const std::vector<int>& order,
                  RowCoupling& coupling) {
  std::vector<int> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
  for (const int row : order) {
    coupling.add_row();
    for (int e = matrix.row_start[row]; e < matrix.row_start[row + 1]; ++e)
      coupling.add_entry(place[matrix.column[e]], matrix.value[e]);
  }
}

std::optional<StepSolution> read_answer(const FclibFile& source, const ProblemFile& file) {
  const int num_rows = file.problem.num_rows();
  if (!source.has("solution/z")) return {};
  const std::vector<double> z = source.read_vector("solution/z", num_rows);
  StepSolution answer;
  answer.resize(file.problem);
  const int num_equations = file.problem.num_bilateral();
  for (int i = 0; i < num_rows; ++i)
    (i < num_equations ? answer.lambda[i] : answer.r[i - num_equations]) = z[file.row_index[i]];
  return answer;
}

ProblemFile read_group(const FclibFile& source, const std::string& group, bool is_mixed) {
  ProblemFile file;
  StepProblem& problem = file.problem;
  file.kind = is_mixed ? ProblemKind::kMlcp : ProblemKind::kLcp;
  file.title = source.try_read_text(group + "/info/title");
  const std::vector<double> q = source.read_vector(group + "/q");
  const int num_rows = static_cast<int>(q.size());
  const RowOrder order = order_rows(source, group, num_rows, is_mixed);
  file.row_index = order.index;
  for (int i = 0; i < num_rows; ++i) {
    const double free_slack = q[file.row_index[i]];
    if (i < order.num_equations) {
      problem.add_bilateral_row({.bias = -free_slack});
    } else {
      const auto key = static_cast<std::uint64_t>(file.row_index[i]);
      problem.add_contact({0, 0.0, FrictionSection::disc(), key});
      problem.contact_bias.back() = free_slack;
    }
  }
  add_coupling(source.read_matrix(group + "/M", num_rows, num_rows), file.row_index,
               problem.coupling);
  file.solution = read_answer(source, file);
  return file;
}

}  // namespace

ProblemFile read_lcp(const FclibFile& source) { return read_group(source, "lcp", false); }
ProblemFile read_mlcp(const FclibFile& source) { return read_group(source, "mlcp", true); }

}  // namespace stiction
