#include "stiction/solve/islands.h"

#include <algorithm>

namespace stiction {

void Islands::find(const StepProblem& problem) {
  const int num_blocks = problem.num_blocks(), num_bilateral = problem.num_bilateral();
  sets_.reset(num_blocks + num_bilateral + problem.num_contacts());
  join_rows(problem.bilateral, num_blocks);
  join_rows(problem.contacts, num_blocks + num_bilateral);
  join_coupling(problem);
  number(problem);
  list(0, num_blocks, block_start_, blocks_);
  list(num_blocks, num_bilateral, bilateral_start_, bilaterals_);
  list(num_blocks + num_bilateral, problem.num_contacts(), contact_start_, contacts_);
  number_locally(problem);
}

void Islands::join_rows(const BlockRows& rows, int first_node) {
  for (int i = 0; i < rows.num_row_blocks(); ++i)
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e)
      sets_.join(first_node + i, rows.entry_block(e));
}

void Islands::join_coupling(const StepProblem& problem) {
  if (problem.coupling.is_empty()) return;
  row_node_.resize(problem.num_rows());
  int node = problem.num_blocks();
  for (int i = 0; i < problem.num_bilateral(); ++i) row_node_[i] = node++;
  for (int j = 0; j < problem.num_contacts(); ++j, ++node)
    std::fill_n(row_node_.begin() + problem.num_bilateral() + problem.contacts.row_start(j),
                problem.contacts.num_rows(j), node);
  const RowCoupling& coupling = problem.coupling;
  for (int row = 0; row < coupling.num_rows(); ++row)
    for (int e = coupling.entry_start(row); e < coupling.entry_start(row + 1); ++e)
      if (coupling.value(e) != 0) sets_.join(row_node_[row], row_node_[coupling.column(e)]);
}

void Islands::number(const StepProblem& problem) {
  const int num_blocks = problem.num_blocks(), num_nodes = sets_.size();
  island_.assign(num_nodes, -1);
  int count = 0;
  for (int node = num_blocks; node < num_nodes; ++node) {
    int& island = island_[sets_.root(node)];
    if (island < 0) island = count++;
    island_[node] = island;
  }
  loose_.clear();
  for (int block = 0; block < num_blocks; ++block) {
    island_[block] = island_[sets_.root(block)];
    if (island_[block] < 0) loose_.push_back(block);
  }
  block_start_.assign(count + 1, 0);
  bilateral_start_.assign(count + 1, 0);
  contact_start_.assign(count + 1, 0);
}

/// Nodes [first_node, first_node + count) sorted by island, as numbers from zero.
void Islands::list(int first_node, int count, std::vector<int>& start,
                   std::vector<int>& items) const {
  for (int i = 0; i < count; ++i)
    if (island_[first_node + i] >= 0) ++start[island_[first_node + i] + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  items.resize(start.back());
  for (int i = count - 1; i >= 0; --i)  // moves every start up to the next; undone below
    if (island_[first_node + i] >= 0) items[--start[island_[first_node + i] + 1]] = i;
  std::rotate(start.begin(), start.begin() + 1, start.end());
  start.back() = static_cast<int>(items.size());
}

void Islands::copy_rows(const BlockRows& from, int row_block, BlockRows& to) const {
  for (int e = from.entry_start(row_block); e < from.entry_start(row_block + 1); ++e)
    to.add_entry(local_[from.entry_block(e)], from.entry_columns(e)) =
        from.entry_matrix(row_block, e);
}

void Islands::extract(const StepProblem& problem, int island, StepProblem& part) const {
  part.clear();
  part.h = problem.h;
  for (int k = block_start_[island]; k < block_start_[island + 1]; ++k) {
    const int block = blocks_[k];
    part.add_mass_block(problem.block_size(block)) = problem.mass_block(block);
    part.block_p(local_[block]) =
        ConstVectorMap(problem.p.data() + problem.dof_start[block], problem.block_size(block));
  }
  for (int k = bilateral_start_[island]; k < bilateral_start_[island + 1]; ++k) {
    const int row = bilaterals_[k];
    part.add_bilateral_row({.compliance = problem.compliance[row],
                            .bias = problem.bias[row],
                            .lower = problem.lower[row],
                            .upper = problem.upper[row]});
    copy_rows(problem.bilateral, row, part.bilateral);
  }
  for (int k = contact_start_[island]; k < contact_start_[island + 1]; ++k) {
    const int j = contacts_[k], start = problem.contacts.row_start(j);
    const int num_rows = problem.contacts.num_rows(j), to = part.num_contact_rows();
    part.add_contact({.num_tangents = num_rows - 1,
                      .mu = problem.mu[j],
                      .section = problem.section[j],
                      .key = problem.key[j]});
    copy_rows(problem.contacts, j, part.contacts);
    std::copy_n(problem.contact_compliance.begin() + start, num_rows,
                part.contact_compliance.begin() + to);
    std::copy_n(problem.contact_bias.begin() + start, num_rows, part.contact_bias.begin() + to);
  }
  if (!problem.coupling.is_empty()) copy_coupling(problem, island, part);
}

/// visit(row) for all rows of an island, bilateral rows first.
template <typename Visit>
void Islands::visit_rows(const StepProblem& problem, int island, const Visit& visit) const {
  for (int k = bilateral_start_[island]; k < bilateral_start_[island + 1]; ++k)
    visit(bilaterals_[k]);
  for (int k = contact_start_[island]; k < contact_start_[island + 1]; ++k)
    for (int i = 0; i < problem.contacts.num_rows(contacts_[k]); ++i)
      visit(problem.num_bilateral() + problem.contacts.row_start(contacts_[k]) + i);
}

/// Of mass blocks, and of rows where a coupling needs it.
void Islands::number_locally(const StepProblem& problem) {
  local_.resize(problem.num_blocks());
  for (int island = 0; island < num_islands(); ++island)
    for (int k = block_start_[island]; k < block_start_[island + 1]; ++k)
      local_[blocks_[k]] = k - block_start_[island];
  if (problem.coupling.is_empty()) return;
  local_row_.resize(problem.num_rows());
  for (int island = 0; island < num_islands(); ++island) {
    int next = 0;
    visit_rows(problem, island, [&](int row) { local_row_[row] = next++; });
  }
}

void Islands::copy_coupling(const StepProblem& problem, int island, StepProblem& part) const {
  const RowCoupling& coupling = problem.coupling;
  visit_rows(problem, island, [&](int row) {
    part.coupling.add_row();
    for (int e = coupling.entry_start(row); e < coupling.entry_start(row + 1); ++e)
      if (coupling.value(e) != 0)
        part.coupling.add_entry(local_row_[coupling.column(e)], coupling.value(e));
  });
}

/// visit(array of the answer, first in the whole, first in the part, count)
template <typename Visit>
void Islands::visit_segments(const StepProblem& problem, int island, const Visit& visit) const {
  int local = 0;
  for (int k = block_start_[island]; k < block_start_[island + 1]; ++k) {
    const int size = problem.block_size(blocks_[k]);
    visit(&StepSolution::w, problem.dof_start[blocks_[k]], local, size);
    local += size;
  }
  local = 0;
  for (int k = bilateral_start_[island]; k < bilateral_start_[island + 1]; ++k)
    visit(&StepSolution::lambda, bilaterals_[k], local++, 1);
  local = 0;
  for (int k = contact_start_[island]; k < contact_start_[island + 1]; ++k) {
    const int size = problem.contacts.num_rows(contacts_[k]);
    visit(&StepSolution::r, problem.contacts.row_start(contacts_[k]), local, size);
    local += size;
  }
}

void Islands::gather(const StepProblem& problem, int island, const StepSolution& whole,
                     StepSolution& part) const {
  part.w.clear();
  part.lambda.clear();
  part.r.clear();
  visit_segments(problem, island, [&](auto array, int first, int, int count) {
    const auto from = (whole.*array).begin() + first;
    (part.*array).insert((part.*array).end(), from, from + count);
  });
}

void Islands::scatter(const StepProblem& problem, int island, const StepSolution& part,
                      StepSolution& whole) const {
  visit_segments(problem, island, [&](auto array, int first, int local, int count) {
    std::copy_n((part.*array).begin() + local, count, (whole.*array).begin() + first);
  });
}

}  // namespace stiction
