// Jacobian rows in compressed block form. A row block (one contact, one joint) is a few consecutive
// rows that touch a few mass blocks; each touched block contributes one dense piece, stored row by
// row. Sparsity and numbers lie apart, all arrays keep their capacity when cleared.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "stiction/base/linear_algebra.h"
#include "stiction/base/worker_pool.h"

namespace stiction {

class BlockRows {
 public:
  void clear();

  /// Opens a new row block of `num_rows` rows; entries added next belong to it.
  void add_row_block(int num_rows);
  /// The piece of the newest row block in the columns of mass block `block`, num_rows × block_size,
  /// zero at first. The map is valid until the next addition. A block is added once per row block.
  RowMatrixMap add_entry(int block, int block_size);

  /// A row block with all of its entries. Their numbers, zero at first, follow each other from the
  /// place that is returned, which is valid until the next addition.
  struct Piece {
    int block = 0, columns = 0;
  };
  double* add_row_block(int num_rows, std::span<const Piece> pieces);
  /// Adds all row blocks of other rows. Two of the workers share it, if there are any.
  void append(const BlockRows& from, WorkerPool* workers = nullptr);
  void remove_last_row_block();

  /// Copies the entries of a row block of other rows to the newest row block.
  void add_entries_of(const BlockRows& from, int row_block);
  /// Adds `num_rows` row blocks of one row, each with one entry in `block`; they lie in one matrix.
  RowMatrixMap add_single_rows(int num_rows, int block, int block_size);

  /// Adds `num_rows` row blocks of one row, each with one entry in each of two blocks; `values` are
  /// those of the first row in the first block, then in the second, then of the second row, …
  void add_pair_rows(int num_rows, const std::array<int, 2>& blocks,
                     const std::array<int, 2>& sizes, const double* values);

  int num_row_blocks() const { return static_cast<int>(starts_.size()) - 1; }
  int num_rows() const { return starts_.back().row; }
  int row_start(int row_block) const { return starts_[row_block].row; }
  int num_rows(int row_block) const { return starts_[row_block + 1].row - starts_[row_block].row; }

  /// Entries of a row block are [entry_start(i), entry_start(i + 1)).
  int entry_start(int row_block) const { return starts_[row_block].entry; }
  int num_entries() const { return static_cast<int>(entries_.size()); }
  int entry_block(int entry) const { return entries_[entry].block; }
  int entry_columns(int entry) const { return entries_[entry].columns; }
  /// Row-major numbers of an entry, num_rows(row_block) × entry_columns(entry).
  const double* entry_values(int entry) const { return values_.data() + entries_[entry].value; }
  double* entry_values(int entry) { return values_.data() + entries_[entry].value; }
  ConstRowMatrixMap entry_matrix(int row_block, int entry) const {
    return {entry_values(entry), num_rows(row_block), entries_[entry].columns};
  }

  /// One row of a row block times x; block b of x begins at start[b].
  double times(int row_block, int row, const int* start, const double* x) const {
    double sum = 0;
    for (int e = entry_start(row_block); e < entry_start(row_block + 1); ++e) {
      const int columns = entries_[e].columns;
      const double* value = entry_values(e) + static_cast<std::ptrdiff_t>(row) * columns;
      const double* part = x + start[entries_[e].block];
      for (int k = 0; k < columns; ++k) sum += value[k] * part[k];
    }
    return sum;
  }

  /// All rows of a row block times x, the sums of `times`.
  template <int kRows>
  std::array<double, kRows> times_all(int row_block, const int* start, const double* x) const {
    std::array<double, kRows> sum{};
    for (int e = entry_start(row_block); e < entry_start(row_block + 1); ++e) {
      const int columns = entries_[e].columns;
      const double* value = entry_values(e);
      const double* part = x + start[entries_[e].block];
      for (int k = 0; k < columns; ++k)
        for (int i = 0; i < kRows; ++i)
          sum[i] += value[static_cast<std::ptrdiff_t>(i) * columns + k] * part[k];
    }
    return sum;
  }

  bool operator==(const BlockRows&) const = default;
  bool is_identical(const BlockRows& other) const;  // to the bit

 private:
  /// Where a row block begins.
  struct Start {
    int row = 0, entry = 0;
    bool operator==(const Start&) const = default;
  };
  struct Entry {
    int block = 0, columns = 0, value = 0;  // value: its first, in values_
    bool operator==(const Entry&) const = default;
  };
  void append_structure(const BlockRows& from, int shift);

  std::vector<Start> starts_{Start{}};  // and the end
  std::vector<Entry> entries_;
  std::vector<double> values_;
};

}  // namespace stiction
