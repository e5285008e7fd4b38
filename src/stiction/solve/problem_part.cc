#include "stiction/solve/problem_part.h"

#include <algorithm>

#include "stiction/base/check.h"

namespace stiction {
namespace {

bool belongs(const BlockRows& rows, int row_block, std::span<const char> is_in) {
  const int first = rows.entry_start(row_block);
  return first == rows.entry_start(row_block + 1) || is_in[rows.entry_block(first)] != 0;
}

}  // namespace

void ProblemPart::extract(const StepProblem& whole, std::span<const char> is_in) {
  ST_DEMAND(whole.coupling.is_empty());
  problem.clear();
  problem.h = whole.h;
  blocks_.clear();
  bilateral_.clear();
  contacts_.clear();
  local_.assign(whole.num_blocks(), -1);
  for (int b = 0; b < whole.num_blocks(); ++b) {
    if (is_in[b] == 0) continue;
    const int n = whole.block_size(b);
    local_[b] = static_cast<int>(blocks_.size());
    blocks_.push_back(b);
    problem.add_mass_block(n) = whole.mass_block(b);
    std::copy_n(whole.p.begin() + whole.dof_start[b], n,
                problem.p.begin() + problem.dof_start[local_[b]]);
  }
  for (int i = 0; i < whole.num_bilateral(); ++i) {
    if (!belongs(whole.bilateral, i, is_in)) continue;
    bilateral_.push_back(i);
    problem.add_bilateral_row({.compliance = whole.compliance[i],
                               .bias = whole.bias[i],
                               .lower = whole.lower[i],
                               .upper = whole.upper[i]});
    copy_rows(whole.bilateral, i, problem.bilateral);
  }
  for (int j = 0; j < whole.num_contacts(); ++j) {
    if (!belongs(whole.contacts, j, is_in)) continue;
    contacts_.push_back(j);
    const int n = whole.contacts.num_rows(j), from = whole.contacts.row_start(j),
              to = problem.num_contact_rows();
    problem.add_contact({.num_tangents = n - 1,
                         .mu = whole.mu[j],
                         .section = whole.section[j],
                         .key = whole.key[j]});
    copy_rows(whole.contacts, j, problem.contacts);
    std::copy_n(whole.contact_compliance.begin() + from, n,
                problem.contact_compliance.begin() + to);
    std::copy_n(whole.contact_bias.begin() + from, n, problem.contact_bias.begin() + to);
  }
}

void ProblemPart::copy_rows(const BlockRows& from, int row_block, BlockRows& to) const {
  for (int e = from.entry_start(row_block); e < from.entry_start(row_block + 1); ++e) {
    ST_ASSERT(local_[from.entry_block(e)] >= 0);
    to.add_entry(local_[from.entry_block(e)], from.entry_columns(e)) =
        from.entry_matrix(row_block, e);
  }
}

void ProblemPart::gather(const StepProblem& whole, const StepSolution& from) {
  solution.w.clear();
  solution.lambda.clear();
  solution.r.clear();
  const auto append = [](const std::vector<double>& source, int first, int count,
                         std::vector<double>& out) {
    if (source.empty()) return;
    out.insert(out.end(), source.begin() + first, source.begin() + first + count);
  };
  for (const int b : blocks_) append(from.w, whole.dof_start[b], whole.block_size(b), solution.w);
  for (const int i : bilateral_) append(from.lambda, i, 1, solution.lambda);
  for (const int j : contacts_)
    append(from.r, whole.contacts.row_start(j), whole.contacts.num_rows(j), solution.r);
}

void ProblemPart::scatter(const StepProblem& whole, StepSolution& to) const {
  auto w = solution.w.begin();
  for (const int b : blocks_) {
    std::copy_n(w, whole.block_size(b), to.w.begin() + whole.dof_start[b]);
    w += whole.block_size(b);
  }
  for (std::size_t k = 0; k < bilateral_.size(); ++k) to.lambda[bilateral_[k]] = solution.lambda[k];
  auto r = solution.r.begin();
  for (const int j : contacts_) {
    std::copy_n(r, whole.contacts.num_rows(j), to.r.begin() + whole.contacts.row_start(j));
    r += whole.contacts.num_rows(j);
  }
}

}  // namespace stiction
