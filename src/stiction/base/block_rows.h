// Jacobian rows in compressed block form. A row block (one contact, one joint) is a few consecutive
// rows that touch a few mass blocks; each touched block contributes one dense piece, stored row by
// row. Sparsity and numbers lie apart, all arrays keep their capacity when cleared.
#pragma once

#include <vector>

#include "stiction/base/linear_algebra.h"

namespace stiction {

class BlockRows {
 public:
  void clear();

  /// Opens a new row block of `num_rows` rows; entries added next belong to it.
  void add_row_block(int num_rows);
  /// The piece of the newest row block in the columns of mass block `block`, num_rows × block_size,
  /// zero at first. The map is valid until the next addition. A block is added once per row block.
  RowMatrixMap add_entry(int block, int block_size);

  /// Copies the entries of a row block of other rows to the newest row block.
  void add_entries_of(const BlockRows& from, int row_block);
  /// Adds `num_rows` row blocks of one row, each with one entry in `block`; they lie in one matrix.
  RowMatrixMap add_single_rows(int num_rows, int block, int block_size);

  int num_row_blocks() const { return static_cast<int>(row_start_.size()) - 1; }
  int num_rows() const { return row_start_.back(); }
  int row_start(int row_block) const { return row_start_[row_block]; }
  int num_rows(int row_block) const { return row_start_[row_block + 1] - row_start_[row_block]; }

  /// Entries of a row block are [entry_start(i), entry_start(i + 1)).
  int entry_start(int row_block) const { return entry_start_[row_block]; }
  int num_entries() const { return static_cast<int>(entry_block_.size()); }
  int entry_block(int entry) const { return entry_block_[entry]; }
  int entry_columns(int entry) const { return entry_columns_[entry]; }
  /// Row-major numbers of an entry, num_rows(row_block) × entry_columns(entry).
  const double* entry_values(int entry) const { return values_.data() + value_start_[entry]; }
  double* entry_values(int entry) { return values_.data() + value_start_[entry]; }
  ConstRowMatrixMap entry_matrix(int row_block, int entry) const {
    return {entry_values(entry), num_rows(row_block), entry_columns_[entry]};
  }

  /// One row of a row block times x; block b of x begins at start[b].
  double times(int row_block, int row, const int* start, const double* x) const {
    double sum = 0;
    for (int e = entry_start_[row_block]; e < entry_start_[row_block + 1]; ++e) {
      const int columns = entry_columns_[e];
      const double* value = entry_values(e) + static_cast<std::ptrdiff_t>(row) * columns;
      const double* part = x + start[entry_block_[e]];
      for (int k = 0; k < columns; ++k) sum += value[k] * part[k];
    }
    return sum;
  }

  bool operator==(const BlockRows&) const = default;

 private:
  std::vector<int> row_start_{0};
  std::vector<int> entry_start_{0};
  std::vector<int> entry_block_;
  std::vector<int> entry_columns_;
  std::vector<int> value_start_;
  std::vector<double> values_;
};

}  // namespace stiction
