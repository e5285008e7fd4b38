#include "stiction/solve/saddle_lu.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

namespace stiction {

namespace {

// Fronts are merged while that adds few zeros: small dense kernels cost more per call than per
// number.
constexpr int kSmallFront = 24;         // scalar pivots
constexpr double kZeroFraction = 0.15;  // of the merged front's factor entries
// Up to this many rows one dense front is cheaper than any analysis.
constexpr int kDenseRows = 60;
// Numbers in the factors from which on fronts are worth sharing out.
constexpr std::size_t kLargeFactors = 20000;
constexpr double kTinyPivot = 1e-14;     // of the largest number of the pivot block
constexpr double kReplacedPivot = 1e-8;  // of the same: large enough to keep the factors bounded

/// out += a w with the 3×3 row-major a (none: the identity), for sizes that the compiler knows or,
/// with zeros, for any.
template <int kRows, int kColumns>
inline void add_block(const double* a, const double* w, int num_rows, int num_columns, double* out,
                      std::ptrdiff_t stride) {
  const int rows = kRows > 0 ? kRows : num_rows, columns = kColumns > 0 ? kColumns : num_columns;
  for (int c = 0; c < columns; ++c)
    for (int r = 0; r < rows; ++r) {
      double sum = 0;
      if (a)
        for (int k = 0; k < rows; ++k) sum += a[3 * r + k] * w[k * columns + c];
      else
        sum = w[r * columns + c];
      out[r + c * stride] += sum;
    }
}

/// x ← the forward elimination of a front: pivots first, then what it subtracts from later rows.
void eliminate_forward(const double* L, int rows, int pivots, double* x) {
  for (int k = 0; k < pivots; ++k, L += rows) {
    const double factor = x[k];
    if (factor == 0) continue;
    for (int r = k + 1; r < rows; ++r) x[r] -= factor * L[r];
  }
}

/// x ← U⁻¹(x − later · y), U in the upper part of the pivots, whose columns are `rows` long.
void substitute_back(const double* L, const double* later, int rows, int pivots, const double* y,
                     double* x) {
  for (int c = 0; c < rows - pivots; ++c, later += pivots)
    for (int r = 0; r < pivots; ++r) x[r] -= later[r] * y[c];
  for (int k = pivots - 1; k >= 0; --k) {
    const double* column = L + static_cast<std::ptrdiff_t>(k) * rows;
    const double value = x[k] /= column[k];
    for (int r = 0; r < k; ++r) x[r] -= value * column[r];
  }
}

}  // namespace

bool SaddleLu::analyse(const BlockMatrix& W, double max_flops) {
  const double max_entries =
      std::isinf(max_flops) ? max_flops : std::sqrt(max_flops * W.num_rows());
  if (pattern_start_ == W.entry_start && pattern_block_ == W.entry_block &&
      pattern_rows_ == W.row_start &&
      (is_laid_out_ || static_cast<double>(factor_size_) > max_entries))
    return static_cast<double>(factor_size_) <= max_entries;
  pattern_start_ = W.entry_start;
  pattern_block_ = W.entry_block;
  pattern_rows_ = W.row_start;
  is_laid_out_ = false;
  if (W.num_rows() <= kDenseRows) {
    form_dense_front(W);
  } else {
    minimum_degree_.find_order(W.entry_start, W.entry_block, block_at_);
    if (!find_structure(W, max_entries)) return false;
    form_fronts();
  }
  return is_laid_out_ = lay_out(W, max_entries);
}

void SaddleLu::form_dense_front(const BlockMatrix& W) {
  const int n = W.num_blocks();
  block_at_.resize(n);
  place_of_.resize(n);
  parent_.assign(n, -1);
  permuted_start_ = W.row_start;
  for (int k = 0; k < n; ++k) block_at_[k] = place_of_[k] = k;
  fronts_.clear();
  front_rows_.clear();
  Front front;
  front.num_nodes = n;
  front.num_pivots = front.num_rows = W.num_rows();
  if (n > 0) fronts_.push_back(front);
}

// Elimination tree and column structures by merging those of the children, then a postorder of the
// tree, in which the children of a front lie directly before it and updates form a stack.
bool SaddleLu::find_structure(const BlockMatrix& W, double max_entries) {
  if (!merge_structures(W, max_entries)) return false;
  find_postorder();
  move_structures();
  const int n = W.num_blocks();
  permuted_start_.assign(n + 1, 0);
  for (int k = 0; k < n; ++k) permuted_start_[k + 1] = permuted_start_[k] + W.size(block_at_[k]);
  return true;
}

/// Structures in the order of elimination, the places of each in any order.
bool SaddleLu::merge_structures(const BlockMatrix& W, double max_entries) {
  const int n = W.num_blocks();
  double entries = 0;  // fronts have these, and zeros
  Tree& tree = tree_;
  tree.start.assign(1, 0);
  tree.rows.clear();
  tree.parent.assign(n, n);
  tree.last_child.assign(n + 1, -1);
  tree.sibling.resize(n);
  tree.mark.assign(n, -1);
  place_of_.resize(n);
  for (int k = 0; k < n; ++k) place_of_[block_at_[k]] = k;
  for (int k = 0; k < n; ++k) {
    const int i = block_at_[k];
    double rows = 0.5 * W.size(i);
    const auto add = [&](int row) {
      if (row <= k || tree.mark[row] == k) return;
      tree.mark[row] = k;
      tree.rows.push_back(row);
      tree.parent[k] = std::min(tree.parent[k], row);
      rows += W.size(block_at_[row]);
    };
    for (int e = W.entry_start[i]; e < W.entry_start[i + 1]; ++e) add(place_of_[W.entry_block[e]]);
    for (int child = tree.last_child[k]; child >= 0; child = tree.sibling[child])
      for (int e = tree.start[child]; e < tree.start[child + 1]; ++e) add(tree.rows[e]);
    tree.start.push_back(static_cast<int>(tree.rows.size()));
    tree.sibling[k] = std::exchange(tree.last_child[tree.parent[k]], k);
    entries += 2 * rows * W.size(i);
    if (entries <= max_entries) continue;
    factor_size_ = static_cast<std::size_t>(std::ceil(entries));
    return false;
  }
  return true;
}

/// From its end: a node before its children, and of these the last one first.
void SaddleLu::find_postorder() {
  const int n = static_cast<int>(block_at_.size());
  tree_.postorder.resize(n);
  int node = n;  // all roots are children of a node that is none
  for (int k = n - 1; k >= 0; --k) {
    int next = tree_.last_child[node];
    for (; next < 0; node = tree_.parent[node]) next = tree_.sibling[node];
    tree_.postorder[k] = node = next;
  }
}

/// Everything into the postorder, and what a block updates sorted.
void SaddleLu::move_structures() {
  const int n = static_cast<int>(block_at_.size());
  std::vector<int>& place = tree_.mark;
  for (int k = 0; k < n; ++k) place[tree_.postorder[k]] = k;
  structure_start_.assign(1, 0);
  structure_.clear();
  parent_.resize(n);
  tree_.order.resize(n);
  for (int k = 0; k < n; ++k) {
    const int node = tree_.postorder[k];
    tree_.order[k] = block_at_[node];
    for (int e = tree_.start[node]; e < tree_.start[node + 1]; ++e)
      structure_.push_back(place[tree_.rows[e]]);
    std::sort(structure_.begin() + structure_start_[k], structure_.end());
    structure_start_.push_back(static_cast<int>(structure_.size()));
    parent_[k] = tree_.parent[node] < n ? place[tree_.parent[node]] : -1;
  }
  block_at_.swap(tree_.order);
  for (int k = 0; k < n; ++k) place_of_[block_at_[k]] = k;
}

// Grows fronts along the postorder: a front takes in the next node when that is the parent of its
// last one and the zeros that this adds are few.
void SaddleLu::form_fronts() {
  const int n = static_cast<int>(block_at_.size());
  fronts_.clear();
  front_rows_.clear();
  const auto rows_of = [&](int k) {
    int sum = 0;
    for (int e = structure_start_[k]; e < structure_start_[k + 1]; ++e)
      sum += permuted_start_[structure_[e] + 1] - permuted_start_[structure_[e]];
    return sum;
  };
  for (int k = 0; k < n;) {
    Front front;
    front.first_node = k;
    int last = k;
    double zeros = 0;
    while (last + 1 < n && parent_[last] == last + 1) {
      const int pivots = permuted_start_[last + 1] - permuted_start_[k];
      const int own = rows_of(last);
      const int next = rows_of(last + 1) + permuted_start_[last + 2] - permuted_start_[last + 1];
      const double added = static_cast<double>(next - own) * pivots;
      const double total = static_cast<double>(pivots + next) * (pivots + next);
      const double limit = pivots < kSmallFront ? 3 * kZeroFraction : kZeroFraction;
      if (zeros + added > limit * total) break;
      zeros += added;
      ++last;
    }
    front.num_nodes = last + 1 - k;
    front.num_pivots = permuted_start_[last + 1] - permuted_start_[k];
    front.num_rows = front.num_pivots + rows_of(last);
    front.row_begin = static_cast<int>(front_rows_.size());
    front.swap_begin = permuted_start_[k];
    for (int e = structure_start_[last]; e < structure_start_[last + 1]; ++e)
      for (int r = permuted_start_[structure_[e]]; r < permuted_start_[structure_[e] + 1]; ++r)
        front_rows_.push_back(r);
    fronts_.push_back(front);
    k = last + 1;
  }
}

/// Parents and children of the fronts; the latter lie before their parent, in increasing order.
void SaddleLu::connect_fronts() {
  front_of_.resize(block_at_.size());
  for (std::size_t f = 0; f < fronts_.size(); ++f)
    for (int k = 0; k < fronts_[f].num_nodes; ++k)
      front_of_[fronts_[f].first_node + k] = static_cast<int>(f);
  child_start_.assign(fronts_.size() + 1, 0);
  for (Front& front : fronts_) {
    const int parent_node = parent_[front.first_node + front.num_nodes - 1];
    front.parent = parent_node < 0 ? -1 : front_of_[parent_node];
    if (front.parent >= 0) ++child_start_[front.parent + 1];
  }
  for (std::size_t f = 0; f < fronts_.size(); ++f) child_start_[f + 1] += child_start_[f];
  children_.resize(fronts_.empty() ? 0 : child_start_.back());
  front_of_.assign(child_start_.begin(), child_start_.end());  // the next free place
  for (std::size_t f = 0; f < fronts_.size(); ++f)
    if (fronts_[f].parent >= 0) children_[front_of_[fronts_[f].parent]++] = static_cast<int>(f);
}

bool SaddleLu::lay_out(const BlockMatrix& W, double max_entries) {
  connect_fronts();
  factor_size_ = 0;
  std::size_t largest = 0;
  for (std::size_t f = 0; f < fronts_.size(); ++f) {
    Front& front = fronts_[f];
    const std::size_t rows = front.num_rows, pivots = front.num_pivots, rest = rows - pivots;
    front.lower = factor_size_;
    front.upper = front.lower + rows * pivots;
    factor_size_ = front.upper + pivots * rest;
    largest = std::max(largest, rows * rows);
  }
  if (static_cast<double>(factor_size_) > max_entries) return false;
  factors_.resize(factor_size_);
  lay_out_updates();
  const std::size_t num_desks = is_shared_out() ? workers_->num_threads() : 1;
  if (desks_.size() < num_desks) desks_.resize(num_desks);
  for (std::size_t k = 0; k < num_desks; ++k) {
    desks_[k].front.resize(largest);
    desks_[k].local.resize(W.num_rows());
  }
  is_replaced_.resize(W.num_rows());
  original_row_.resize(W.num_rows());
  for (std::size_t k = 0; k < block_at_.size(); ++k)
    for (int r = permuted_start_[k]; r < permuted_start_[k + 1]; ++r)
      original_row_[r] = W.row_start[block_at_[k]] + r - permuted_start_[k];
  swaps_.resize(W.num_rows());
  work_.resize(W.num_rows());
  gather_.resize(W.num_rows());
  return true;
}

bool SaddleLu::is_shared_out() const {
  return workers_ != nullptr && workers_->num_threads() > 1 && factor_size_ >= kLargeFactors;
}

/// One after the other, the children of a front lie directly before it and updates form a stack. At
/// once, every update has a place of its own.
void SaddleLu::lay_out_updates() {
  const auto size_of = [&](int front) {
    const std::size_t rest = fronts_[front].num_rows - fronts_[front].num_pivots;
    return rest * rest;
  };
  update_at_.resize(fronts_.size());
  std::size_t top = 0, highest = 0;
  for (int f = 0; f < static_cast<int>(fronts_.size()); ++f) {
    // The first child has the lowest place.
    if (!is_shared_out() && child_start_[f] < child_start_[f + 1])
      top = update_at_[children_[child_start_[f]]];
    update_at_[f] = top;
    top += size_of(f);
    highest = std::max(highest, top);
  }
  updates_.resize(highest);
  if (is_shared_out()) list_levels();
}

void SaddleLu::list_levels() {
  std::vector<int>& level = front_of_;
  level.assign(fronts_.size(), 0);
  int num_levels = 0;
  for (std::size_t f = 0; f < fronts_.size(); ++f) {  // children come first
    num_levels = std::max(num_levels, level[f] + 1);
    if (const int parent = fronts_[f].parent; parent >= 0)
      level[parent] = std::max(level[parent], level[f] + 1);
  }
  level_start_.assign(num_levels + 1, 0);
  for (const int l : level) ++level_start_[l + 1];
  for (int l = 0; l < num_levels; ++l) level_start_[l + 1] += level_start_[l];
  by_level_.resize(fronts_.size());
  for (std::size_t f = fronts_.size(); f-- > 0;)
    by_level_[--level_start_[level[f] + 1]] = static_cast<int>(f);
  // Ends have become starts, one place too far.
  level_start_.erase(level_start_.begin());
  level_start_.push_back(static_cast<int>(fronts_.size()));
}

bool SaddleLu::factor(const BlockMatrix& W, const std::vector<double>& B) {
  return factor(W, std::vector<double>(), B);  // no A stands for the identity
}

bool SaddleLu::factor(const BlockMatrix& W, const std::vector<double>& A,
                      const std::vector<double>& B) {
  (void)analyse(W);
  A_ = A.empty() ? nullptr : &A;
  B_ = &B;
  std::fill(is_replaced_.begin(), is_replaced_.end(), 0);
  std::atomic<bool> is_finite = true;
  if (is_shared_out()) {
    for (std::size_t l = 0; l + 1 < level_start_.size() && is_finite; ++l)
      workers_->run(level_start_[l + 1] - level_start_[l], [&](int k, int worker) {
        if (!factor_front(W, by_level_[level_start_[l] + k], desks_[worker])) is_finite = false;
      });
  } else {
    for (int f = 0; f < static_cast<int>(fronts_.size()) && is_finite; ++f)
      is_finite = factor_front(W, f, desks_[0]);
  }
  replaced_rows_.clear();
  for (std::size_t row = 0; row < is_replaced_.size(); ++row)
    if (is_replaced_[row]) replaced_rows_.push_back(original_row_[row]);
  return is_finite;
}

bool SaddleLu::factor_front(const BlockMatrix& W, int f, Desk& desk) {
  Front& front = fronts_[f];
  Eigen::Map<MatrixXd> F(desk.front.data(), front.num_rows, front.num_rows);
  assemble_front(W, front, desk, F);
  for (int c = child_start_[f + 1] - 1; c >= child_start_[f]; --c)
    add_update(fronts_[children_[c]], updates_.data() + update_at_[children_[c]], desk, F);
  if (!eliminate(front, F)) return false;
  const int rest = front.num_rows - front.num_pivots;
  Eigen::Map<MatrixXd>(updates_.data() + update_at_[f], rest, rest) =
      F.bottomRightCorner(rest, rest);
  return true;
}

void SaddleLu::scatter_block(const BlockMatrix& W, int i, int e, int row, int column,
                             Eigen::Map<MatrixXd> F) const {
  const int j = W.entry_block[e], rows = W.size(i), columns = W.size(j);
  const double* w = W.values.data() + W.value_start[e];
  const double* a = A_ ? A_->data() + 9 * static_cast<std::size_t>(i) : nullptr;
  double* out = &F(row, column);
  const std::ptrdiff_t stride = F.rows();
  if (rows == 3 && columns == 3)
    add_block<3, 3>(a, w, rows, columns, out, stride);
  else if (rows == 2 && columns == 2)
    add_block<2, 2>(a, w, rows, columns, out, stride);
  else
    add_block<0, 0>(a, w, rows, columns, out, stride);
  if (i != j || B_->empty()) return;
  const double* b = B_->data() + 9 * static_cast<std::size_t>(i);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) out[r + c * stride] += b[3 * r + c];
}

void SaddleLu::assemble_front(const BlockMatrix& W, const Front& front, Desk& desk,
                              Eigen::Map<MatrixXd> F) const {
  std::vector<int>& local = desk.local;
  F.setZero();
  for (int r = 0; r < front.num_pivots; ++r) local[front.swap_begin + r] = r;
  for (int r = front.num_pivots; r < front.num_rows; ++r)
    local[front_rows_[front.row_begin + r - front.num_pivots]] = r;
  const int end = front.first_node + front.num_nodes;
  for (int k = front.first_node; k < end; ++k) {
    const int i = block_at_[k];
    for (int e = W.entry_start[i]; e < W.entry_start[i + 1]; ++e) {
      const int j = W.entry_block[e], place = place_of_[j];
      if (place < front.first_node) continue;
      const int row = local[permuted_start_[k]], column = local[permuted_start_[place]];
      scatter_block(W, i, e, row, column, F);
      // Entries between pivots come up from both sides; the transposed one only once.
      if (place >= end) scatter_block(W, j, W.mirror[e], column, row, F);
    }
  }
}

void SaddleLu::add_update(const Front& child, const double* update, const Desk& desk,
                          Eigen::Map<MatrixXd> F) const {
  const std::vector<int>& local = desk.local;
  const int rest = child.num_rows - child.num_pivots;
  const int* rows = front_rows_.data() + child.row_begin;
  for (int c = 0; c < rest; ++c) {
    double* column = F.data() + static_cast<std::size_t>(local[rows[c]]) * F.rows();
    for (int r = 0; r < rest; ++r) column[local[rows[r]]] += update[r];
    update += rest;
  }
}

/// Columns [begin, end) of the pivots, by plain loops: in small fronts they are all there is.
void SaddleLu::factor_panel(const Front& front, Eigen::Map<MatrixXd> F, int begin, int end,
                            double scale) {
  const int p = front.num_pivots;
  const std::ptrdiff_t stride = front.num_rows;
  for (int k = begin; k < end; ++k) {
    double* pivot_column = F.data() + k * stride;
    int best = k;
    for (int r = k + 1; r < p; ++r)
      if (std::abs(pivot_column[r]) > std::abs(pivot_column[best])) best = r;
    swaps_[front.swap_begin + k] = best;
    if (best != k)
      for (int c = 0; c < front.num_rows; ++c)
        std::swap(F.data()[k + c * stride], F.data()[best + c * stride]);
    if (!(std::abs(pivot_column[k]) > kTinyPivot * scale)) {
      is_replaced_[front.swap_begin + k] = 1;
      pivot_column[k] = scale > 0 ? kReplacedPivot * scale : 1;
    }
    const double reciprocal = 1 / pivot_column[k];
    for (int r = k + 1; r < p; ++r) pivot_column[r] *= reciprocal;
    for (int c = k + 1; c < end; ++c) {
      double* column = F.data() + c * stride;
      const double factor = column[k];
      if (factor == 0) continue;
      for (int r = k + 1; r < p; ++r) column[r] -= factor * pivot_column[r];
    }
  }
}

bool SaddleLu::factor_pivots(const Front& front, Eigen::Map<MatrixXd> F) {
  const int p = front.num_pivots;
  auto pivots = F.topLeftCorner(p, p);
  const double scale = pivots.cwiseAbs().maxCoeff(), check = pivots.sum();  // max may drop a NaN
  if (!std::isfinite(check)) return false;
  constexpr int kPanel = 24;
  for (int begin = 0; begin < p; begin += kPanel) {
    const int end = std::min(begin + kPanel, p);
    factor_panel(front, F, begin, end, scale);
    const int width = end - begin, rest = p - end;
    if (rest == 0) break;
    auto right = pivots.block(begin, end, width, rest);
    pivots.block(begin, begin, width, width).triangularView<Eigen::UnitLower>().solveInPlace(right);
    pivots.block(end, end, rest, rest).noalias() -= pivots.block(end, begin, rest, width) * right;
  }
  return true;
}

bool SaddleLu::eliminate(Front& front, Eigen::Map<MatrixXd> F) {
  if (!factor_pivots(front, F)) return false;
  const int p = front.num_pivots, rest = front.num_rows - p;
  if (rest > 0) {
    auto upper = F.topRightCorner(p, rest);
    auto lower = F.bottomLeftCorner(rest, p);
    const auto pivots = F.topLeftCorner(p, p);
    pivots.triangularView<Eigen::UnitLower>().solveInPlace(upper);
    pivots.triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(lower);
    F.bottomRightCorner(rest, rest).noalias() -= lower * upper;
    Eigen::Map<MatrixXd>(factors_.data() + front.upper, p, rest) = upper;
  }
  Eigen::Map<MatrixXd>(factors_.data() + front.lower, front.num_rows, p) = F.leftCols(p);
  return true;
}

void SaddleLu::solve(VectorRef x) {
  const int n = static_cast<int>(block_at_.size());
  for (int k = 0; k < n; ++k)
    for (int r = 0; r < permuted_start_[k + 1] - permuted_start_[k]; ++r)
      work_[permuted_start_[k] + r] = x[pattern_rows_[block_at_[k]] + r];
  for (const Front& front : fronts_) {
    const int p = front.num_pivots, rest = front.num_rows - p;
    auto head = work_.segment(front.swap_begin, p);
    for (int k = 0; k < p; ++k) std::swap(head[k], head[swaps_[front.swap_begin + k]]);
    gather_.head(p) = head;
    gather_.segment(p, rest).setZero();
    eliminate_forward(factors_.data() + front.lower, front.num_rows, p, gather_.data());
    head = gather_.head(p);
    for (int r = 0; r < rest; ++r) work_[front_rows_[front.row_begin + r]] += gather_[p + r];
  }
  for (auto f = fronts_.rbegin(); f != fronts_.rend(); ++f) {
    const int p = f->num_pivots, rest = f->num_rows - p;
    for (int r = 0; r < rest; ++r) gather_[r] = work_[front_rows_[f->row_begin + r]];
    substitute_back(factors_.data() + f->lower, factors_.data() + f->upper, f->num_rows, p,
                    gather_.data(), work_.data() + f->swap_begin);
  }
  for (int k = 0; k < n; ++k)
    for (int r = 0; r < permuted_start_[k + 1] - permuted_start_[k]; ++r)
      x[pattern_rows_[block_at_[k]] + r] = work_[permuted_start_[k] + r];
}

}  // namespace stiction
