#include "stiction/base/block_rows.h"

#include "stiction/base/check.h"

namespace stiction {

void BlockRows::clear() {
  row_start_.resize(1);
  entry_start_.resize(1);
  entry_block_.clear();
  entry_columns_.clear();
  value_start_.clear();
  values_.clear();
}

void BlockRows::add_row_block(int num_rows) {
  ST_DEMAND(num_rows >= 0);
  row_start_.push_back(row_start_.back() + num_rows);
  entry_start_.push_back(entry_start_.back());
}

RowMatrixMap BlockRows::add_entry(int block, int block_size) {
  ST_DEMAND(num_row_blocks() > 0);
  const int rows = num_rows(num_row_blocks() - 1);
  const auto start = static_cast<int>(values_.size());
  entry_block_.push_back(block);
  entry_columns_.push_back(block_size);
  value_start_.push_back(start);
  values_.resize(values_.size() + static_cast<std::size_t>(rows) * block_size, 0.0);
  ++entry_start_.back();
  return {values_.data() + start, rows, block_size};
}

void BlockRows::add_entries_of(const BlockRows& from, int row_block) {
  ST_DEMAND(num_row_blocks() > 0 && num_rows(num_row_blocks() - 1) == from.num_rows(row_block));
  const int first = from.entry_start(row_block), last = from.entry_start(row_block + 1);
  if (first == last) return;
  // Entries of a row block follow each other.
  const int begin = from.value_start_[first];
  const int end =
      last < from.num_entries() ? from.value_start_[last] : static_cast<int>(from.values_.size());
  const int shift = static_cast<int>(values_.size()) - begin;
  values_.insert(values_.end(), from.values_.begin() + begin, from.values_.begin() + end);
  for (int e = first; e < last; ++e) {
    entry_block_.push_back(from.entry_block_[e]);
    entry_columns_.push_back(from.entry_columns_[e]);
    value_start_.push_back(from.value_start_[e] + shift);
  }
  entry_start_.back() += last - first;
}

RowMatrixMap BlockRows::add_single_rows(int num_rows, int block, int block_size) {
  const auto start = static_cast<std::ptrdiff_t>(values_.size());
  for (int i = 0; i < num_rows; ++i) {
    add_row_block(1);
    add_entry(block, block_size);
  }
  return {values_.data() + start, num_rows, block_size};
}

}  // namespace stiction
