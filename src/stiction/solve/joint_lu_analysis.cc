// The symbolic half of JointLu: groups of rows, their order, and where every number goes. All
// storage is kept, so that structures which come again allocate nothing.
#include <algorithm>
#include <functional>
#include <numeric>

#include "stiction/solve/joint_lu.h"

namespace stiction {

bool JointLu::analyse(const StepProblem& problem) {
  if (is_analysed_ && is_same_structure(problem)) return !is_too_large_;
  ++num_analyses_;
  is_analysed_ = true;
  copy_structure(problem);
  form_groups();
  // A body joins all of its groups to each other: too many make even the structure too large.
  std::int64_t least_work = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    std::int64_t rows = 0;
    for (const int group : groups_of_body_[b])
      rows += group_start_[group + 1] - group_start_[group];
    least_work += rows * rows * (rows / 3 + problem.block_size(b));
  }
  is_too_large_ = least_work > kMaxWork;
  if (is_too_large_) return false;
  connect_groups();
  order_groups();
  is_too_large_ = is_too_large_ || work_ > kMaxWork;
  if (is_too_large_) return false;
  lay_out_pivots();
  lay_out_bodies(problem);
  list_pivot_targets();
  count_work();
  return true;
}

bool JointLu::is_same_structure(const StepProblem& problem) const {
  if (dof_start_ != problem.dof_start || num_bilateral_ != problem.num_bilateral() ||
      static_cast<int>(contact_rows_.size()) != problem.num_contacts())
    return false;
  std::size_t at = 0;
  int row_block = 0;
  const auto is_same = [&](const BlockRows& rows) {
    for (int i = 0; i < rows.num_row_blocks(); ++i, ++row_block) {
      const int begin = rows.entry_start(i), end = rows.entry_start(i + 1);
      if (touch_start_[row_block + 1] - touch_start_[row_block] != end - begin) return false;
      for (int e = begin; e < end; ++e)
        if (touched_[at++] != rows.entry_block(e)) return false;
    }
    return true;
  };
  for (int j = 0; j < problem.num_contacts(); ++j)
    if (contact_rows_[j] != problem.contacts.num_rows(j)) return false;
  return is_same(problem.bilateral) && is_same(problem.contacts);
}

/// Bodies by row blocks: bilateral rows, then contacts.
void JointLu::copy_structure(const StepProblem& problem) {
  dof_start_ = problem.dof_start;
  num_bilateral_ = problem.num_bilateral();
  touch_start_.assign(1, 0);
  touched_.clear();
  for (const BlockRows* rows : {&problem.bilateral, &problem.contacts})
    for (int i = 0; i < rows->num_row_blocks(); ++i) {
      for (int e = rows->entry_start(i); e < rows->entry_start(i + 1); ++e)
        touched_.push_back(rows->entry_block(e));
      touch_start_.push_back(static_cast<int>(touched_.size()));
    }
  contact_rows_.resize(problem.num_contacts());
  for (int j = 0; j < problem.num_contacts(); ++j) contact_rows_[j] = problem.contacts.num_rows(j);
}

/// Row blocks with the same list of bodies become one group. sorted_rows_ holds row blocks here,
/// and group_of_row_ is by row blocks.
void JointLu::form_groups() {
  const int num_row_blocks = static_cast<int>(touch_start_.size()) - 1;
  const int num_bodies = static_cast<int>(dof_start_.size()) - 1;
  const auto bodies_of = [&](int i) { return touched_.begin() + touch_start_[i]; };
  const auto is_before = [&](int a, int b) {
    return std::lexicographical_compare(bodies_of(a), bodies_of(a + 1), bodies_of(b),
                                        bodies_of(b + 1));
  };
  sorted_rows_.resize(num_row_blocks);
  std::iota(sorted_rows_.begin(), sorted_rows_.end(), 0);
  // Not std::stable_sort, which allocates.
  std::sort(sorted_rows_.begin(), sorted_rows_.end(), [&](int a, int b) {
    if (is_before(a, b)) return true;
    return !is_before(b, a) && a < b;
  });
  if (static_cast<int>(groups_of_body_.size()) < num_bodies) groups_of_body_.resize(num_bodies);
  for (int b = 0; b < num_bodies; ++b) groups_of_body_[b].clear();
  group_of_row_.resize(num_row_blocks);
  group_start_.assign(1, 0);  // in rows
  for (int i = 0; i < num_row_blocks; ++i) {
    const int row_block = sorted_rows_[i];
    if (i == 0 || is_before(sorted_rows_[i - 1], row_block)) {
      const int group = static_cast<int>(group_start_.size()) - 1;
      group_start_.push_back(group_start_.back());
      for (auto body = bodies_of(row_block); body != bodies_of(row_block + 1); ++body)
        groups_of_body_[*body].push_back(group);
    }
    group_of_row_[row_block] = static_cast<int>(group_start_.size()) - 2;
    group_start_.back() +=
        row_block < num_bilateral_ ? 1 : contact_rows_[row_block - num_bilateral_];
  }
}

void JointLu::connect_groups() {
  const int num_groups = static_cast<int>(group_start_.size()) - 1;
  if (static_cast<int>(neighbours_.size()) < num_groups) neighbours_.resize(num_groups);
  for (int g = 0; g < num_groups; ++g) neighbours_[g].clear();
  for (std::size_t b = 0; b + 1 < dof_start_.size(); ++b)
    for (const int g : groups_of_body_[b])
      for (const int other : groups_of_body_[b])
        if (other != g) neighbours_[g].push_back(other);
  for (int g = 0; g < num_groups; ++g) {
    std::vector<int>& list = neighbours_[g];
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

/// Minimum degree, counted in rows, on the graph of groups itself: its fill is what the factors
/// hold anyway. Ties go to the smaller group, so that a chain is walked from one end to the other.
void JointLu::order_groups() {
  const int num_groups = static_cast<int>(group_start_.size()) - 1;
  const auto degree = [&](int g) {
    int sum = 0;
    for (const int other : neighbours_[g]) sum += group_start_[other + 1] - group_start_[other];
    return sum;
  };
  heap_.clear();
  place_of_group_.assign(num_groups, -1);
  group_at_.clear();
  work_ = 0;
  const std::greater<> later_first;
  for (int g = 0; g < num_groups; ++g) heap_.emplace_back(degree(g), g);
  std::make_heap(heap_.begin(), heap_.end(), later_first);
  while (!heap_.empty() && work_ <= kMaxWork) {
    std::pop_heap(heap_.begin(), heap_.end(), later_first);
    const auto [rows, g] = heap_.back();
    heap_.pop_back();
    if (place_of_group_[g] >= 0 || rows != degree(g)) continue;
    place_of_group_[g] = static_cast<int>(group_at_.size());
    group_at_.push_back(g);
    const std::int64_t size = group_start_[g + 1] - group_start_[g];
    work_ += size * rows * rows;
    eliminate_symbolically(g);
    for (const int other : neighbours_[g]) {
      heap_.emplace_back(degree(other), other);
      std::push_heap(heap_.begin(), heap_.end(), later_first);
    }
  }
}

/// Joins all neighbours of the group to each other and takes it out of their lists; its own list
/// stays, as the structure of its column.
void JointLu::eliminate_symbolically(int group) {
  const std::vector<int>& clique = neighbours_[group];
  for (const int member : clique) {
    std::vector<int>& list = neighbours_[member];
    merged_.resize(list.size() + clique.size());
    const auto end =
        std::set_union(list.begin(), list.end(), clique.begin(), clique.end(), merged_.begin());
    list.clear();
    for (auto other = merged_.begin(); other != end; ++other)
      if (*other != group && *other != member) list.push_back(*other);
  }
}

void JointLu::lay_out_pivots() {
  const int num_groups = static_cast<int>(group_at_.size());
  pivots_.resize(num_groups);
  later_.clear();
  int slot = 0;
  for (int place = 0; place < num_groups; ++place) {
    const int g = group_at_[place];
    pivots_[place] = {.slot = slot, .size = group_start_[g + 1] - group_start_[g]};
    slot += pivots_[place].size;
  }
  std::size_t at = 0;
  for (int place = 0; place < num_groups; ++place) {
    Pivot& pivot = pivots_[place];
    std::vector<int>& list = neighbours_[group_at_[place]];
    for (int& other : list) other = place_of_group_[other];
    std::sort(list.begin(), list.end());
    pivot.later_begin = static_cast<int>(later_.size());
    for (const int other : list) {
      later_.push_back({other, pivots_[other].slot, pivots_[other].size, pivot.rest});
      pivot.rest += pivots_[other].size;
    }
    pivot.later_end = static_cast<int>(later_.size());
    const std::size_t n = pivot.size, rest = pivot.rest;
    pivot.diagonal = at;
    pivot.upper = at + n * n;
    pivot.lower = pivot.upper + n * rest;
    at = pivot.lower + n * rest;
  }
  blocks_.resize(at);
  // Rows of a group in the order of the problem: sorted_rows_ lists the row blocks by groups.
  const int num_row_blocks = static_cast<int>(sorted_rows_.size());
  int num_rows = num_bilateral_;
  for (const int rows : contact_rows_) num_rows += rows;
  slot_of_row_.resize(num_rows);
  row_of_slot_.resize(num_rows);
  int first_contact_row = num_bilateral_, next = 0, group = -1;
  merged_.resize(contact_rows_.size() + 1);
  for (std::size_t j = 0; j <= contact_rows_.size(); ++j) {
    merged_[j] = first_contact_row;
    if (j < contact_rows_.size()) first_contact_row += contact_rows_[j];
  }
  for (int i = 0; i < num_row_blocks; ++i) {
    const int row_block = sorted_rows_[i];
    if (group_of_row_[row_block] != group) {
      group = group_of_row_[row_block];
      next = pivots_[place_of_group_[group]].slot;
    }
    const bool is_contact = row_block >= num_bilateral_;
    const int first = is_contact ? merged_[row_block - num_bilateral_] : row_block;
    const int count = is_contact ? contact_rows_[row_block - num_bilateral_] : 1;
    for (int k = 0; k < count; ++k) {
      slot_of_row_[first + k] = next;
      row_of_slot_[next++] = first + k;
    }
  }
}

/// Bodies lie in the order in which their first group is eliminated.
void JointLu::lay_out_bodies(const StepProblem& problem) {
  const int num_bodies = problem.num_blocks(), num_groups = static_cast<int>(pivots_.size());
  const auto first_place = [&](int b) {
    int first = num_groups;
    for (const int group : groups_of_body_[b]) first = std::min(first, place_of_group_[group]);
    return first;
  };
  heap_.clear();
  for (int b = 0; b < num_bodies; ++b) heap_.emplace_back(first_place(b), b);
  std::sort(heap_.begin(), heap_.end());
  bodies_.resize(num_bodies);
  body_of_block_.resize(num_bodies);
  touches_.clear();
  row_places_.clear();
  targets_.clear();
  std::size_t factors = 0, scratch = 0;
  for (int i = 0; i < num_bodies; ++i) {
    const int b = heap_[i].second;
    Body& body = bodies_[i];
    body = {.block = b, .size = problem.block_size(b), .dof = problem.dof_start[b]};
    body_of_block_[b] = i;
    body.touch_begin = static_cast<int>(touches_.size());
    for (const int group : groups_of_body_[b]) {
      const int place = place_of_group_[group], count = pivots_[place].size;
      touches_.push_back({place, body.num_rows, count, pivots_[place].slot});
      body.num_rows += count;
    }
    body.touch_end = static_cast<int>(touches_.size());
    body.row_begin = static_cast<int>(row_places_.size());
    row_places_.resize(row_places_.size() + body.num_rows);
    body.target_begin = static_cast<int>(targets_.size());
    for (int a = body.touch_begin; a < body.touch_end; ++a)
      for (int c = body.touch_begin; c < body.touch_end; ++c)
        targets_.push_back(find_target(touches_[a].place, touches_[c].place));
    const std::size_t size = body.size, rows = body.num_rows;
    body.factors = factors;
    factors += size * size;
    scratch = std::max(scratch, rows * rows + 2 * size * rows + 2 * size);
  }
  mass_factors_.resize(factors);
  scratch_.resize(scratch);
  list_rows(problem);
}

JointLu::RowValues::RowValues(const StepProblem& problem)
    : bilateral(problem.bilateral.num_entries() > 0 ? problem.bilateral.entry_values(0) : nullptr),
      contacts(problem.contacts.num_entries() > 0 ? problem.contacts.entry_values(0) : nullptr) {}

/// Where the rows of a body are found in a problem: entries lie in the order of the rows.
void JointLu::list_rows(const StepProblem& problem) {
  const RowValues values(problem);
  int row = 0;
  for (const BlockRows* rows : {&problem.bilateral, &problem.contacts})
    for (int i = 0; i < rows->num_row_blocks(); ++i)
      for (int k = 0; k < rows->num_rows(i); ++k, ++row)
        for (int e = rows->entry_start(i); e < rows->entry_start(i + 1); ++e) {
          const Body& body = bodies_[body_of_block_[rows->entry_block(e)]];
          const int slot = slot_of_row_[row];
          int t = body.touch_begin;
          while (slot < touches_[t].slot || slot >= touches_[t].slot + touches_[t].count) ++t;
          const bool is_contact = rows == &problem.contacts;
          const auto place = static_cast<int>(rows->entry_values(e) -
                                              (is_contact ? values.contacts : values.bilateral)) +
                             k * rows->entry_columns(e);
          row_places_[body.row_begin + touches_[t].local + slot - touches_[t].slot] =
              is_contact ? ~place : place;
        }
}

/// The block of S of two groups that share a body or fill.
JointLu::Target JointLu::find_target(int row_place, int column_place) const {
  const auto make = [](std::size_t at, int stride) { return Target{static_cast<int>(at), stride}; };
  if (row_place == column_place) return make(pivots_[row_place].diagonal, pivots_[row_place].size);
  const bool is_upper = row_place < column_place;
  const Pivot& pivot = pivots_[is_upper ? row_place : column_place];
  const int other = is_upper ? column_place : row_place;
  const auto later =
      std::lower_bound(later_.begin() + pivot.later_begin, later_.begin() + pivot.later_end, other,
                       [](const Later& a, int place) { return a.place < place; });
  if (is_upper) return make(pivot.upper + later->local, pivot.rest);
  return make(pivot.lower + static_cast<std::size_t>(later->local) * pivot.size, pivot.size);
}

void JointLu::list_pivot_targets() {
  pivot_targets_.clear();
  for (Pivot& pivot : pivots_) {
    pivot.target_begin = static_cast<int>(pivot_targets_.size());
    for (int a = pivot.later_begin; a < pivot.later_end; ++a)
      for (int b = pivot.later_begin; b < pivot.later_end; ++b)
        pivot_targets_.push_back(find_target(later_[a].place, later_[b].place));
  }
}

/// Multiplications of a factorisation, and the sizes of what is kept by slots and dofs.
void JointLu::count_work() {
  work_ = 0;
  for (const Body& body : bodies_) {
    const std::int64_t n = body.size, m = body.num_rows;
    work_ += n * n * n / 3 + m * n * n + m * m * n;
  }
  for (const Pivot& pivot : pivots_) {
    const std::int64_t n = pivot.size, m = pivot.rest;
    work_ += n * n * n / 3 + 2 * n * n * m + n * m * m;
  }
  const std::size_t num_slots = row_of_slot_.size(), num_dofs = dof_start_.back();
  for (std::vector<double>* list : {&weight_, &compliance_, &inverse_, &g_, &x_, &missed_, &step_})
    list->resize(num_slots);
  w_.resize(num_dofs);
  is_active_.resize(num_slots);
  mass_traits_.resize(bodies_.size());
}

}  // namespace stiction
