#include "stiction/base/block_rows.h"

#include "stiction/base/check.h"
#include "stiction/base/same_bits.h"

namespace stiction {

void BlockRows::clear() {
  starts_.resize(1);
  entries_.clear();
  values_.clear();
}

void BlockRows::add_row_block(int num_rows) {
  ST_DEMAND(num_rows >= 0);
  starts_.push_back({starts_.back().row + num_rows, starts_.back().entry});
}

RowMatrixMap BlockRows::add_entry(int block, int block_size) {
  ST_DEMAND(num_row_blocks() > 0);
  const int rows = num_rows(num_row_blocks() - 1);
  const auto start = static_cast<int>(values_.size());
  entries_.push_back({block, block_size, start});
  values_.resize(values_.size() + static_cast<std::size_t>(rows) * block_size, 0.0);
  ++starts_.back().entry;
  return {values_.data() + start, rows, block_size};
}

double* BlockRows::add_row_block(int num_rows, std::span<const Piece> pieces) {
  Start next = starts_.back();
  const std::size_t first = values_.size();
  auto value = static_cast<int>(first);
  for (const Piece& piece : pieces) {
    entries_.push_back({piece.block, piece.columns, value});
    value += num_rows * piece.columns;
    ++next.entry;
  }
  values_.resize(value);
  next.row += num_rows;
  starts_.push_back(next);
  return values_.data() + first;
}

void BlockRows::append(const BlockRows& from, WorkerPool* workers) {
  const auto shift = static_cast<int>(values_.size());
  run_blocks(workers, 2, 1, [&](int part, int) {
    if (part == 0)
      append_structure(from, shift);
    else
      values_.insert(values_.end(), from.values_.begin(), from.values_.end());
  });
}

/// `shift` is what its numbers are moved by.
void BlockRows::append_structure(const BlockRows& from, int shift) {
  const Start last = starts_.back();
  const std::size_t first_entry = entries_.size(), first_start = starts_.size();
  entries_.insert(entries_.end(), from.entries_.begin(), from.entries_.end());
  for (std::size_t e = first_entry; e < entries_.size(); ++e) entries_[e].value += shift;
  starts_.insert(starts_.end(), from.starts_.begin() + 1, from.starts_.end());
  for (std::size_t i = first_start; i < starts_.size(); ++i) {
    starts_[i].row += last.row;
    starts_[i].entry += last.entry;
  }
}

void BlockRows::remove_last_row_block() {
  ST_DEMAND(num_row_blocks() > 0);
  starts_.pop_back();
  if (starts_.back().entry == num_entries()) return;  // it had none
  values_.resize(entries_[starts_.back().entry].value);
  entries_.resize(starts_.back().entry);
}

void BlockRows::add_entries_of(const BlockRows& from, int row_block) {
  ST_DEMAND(num_row_blocks() > 0 && num_rows(num_row_blocks() - 1) == from.num_rows(row_block));
  const int first = from.entry_start(row_block), last = from.entry_start(row_block + 1);
  if (first == last) return;
  // Entries of a row block follow each other.
  const int begin = from.entries_[first].value;
  const int end =
      last < from.num_entries() ? from.entries_[last].value : static_cast<int>(from.values_.size());
  const int shift = static_cast<int>(values_.size()) - begin;
  values_.insert(values_.end(), from.values_.begin() + begin, from.values_.begin() + end);
  for (int e = first; e < last; ++e) {
    const Entry& entry = from.entries_[e];
    entries_.push_back({entry.block, entry.columns, entry.value + shift});
  }
  starts_.back().entry += last - first;
}

RowMatrixMap BlockRows::add_single_rows(int num_rows, int block, int block_size) {
  const auto start = static_cast<std::ptrdiff_t>(values_.size());
  for (int i = 0; i < num_rows; ++i) {
    add_row_block(1);
    add_entry(block, block_size);
  }
  return {values_.data() + start, num_rows, block_size};
}

void BlockRows::add_pair_rows(int num_rows, const std::array<int, 2>& blocks,
                              const std::array<int, 2>& sizes, const double* values) {
  const Start last = starts_.back();
  const int width = sizes[0] + sizes[1];
  auto value = static_cast<int>(values_.size());
  values_.insert(values_.end(), values, values + static_cast<std::ptrdiff_t>(num_rows) * width);
  for (int i = 1; i <= num_rows; ++i, value += width) {
    starts_.push_back({last.row + i, last.entry + 2 * i});
    entries_.push_back({blocks[0], sizes[0], value});
    entries_.push_back({blocks[1], sizes[1], value + sizes[0]});
  }
}

bool BlockRows::is_identical(const BlockRows& other) const {
  static_assert(sizeof(Start) == 2 * sizeof(int) && sizeof(Entry) == 3 * sizeof(int));
  return is_same_bits(values_, other.values_) && is_same_bits(starts_, other.starts_) &&
         is_same_bits(entries_, other.entries_);
}

}  // namespace stiction
