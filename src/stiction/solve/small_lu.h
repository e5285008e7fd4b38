// LU factors of a matrix of a few 6 × 6 blocks, most of them empty: bodies that touch each other,
// as few as a step with some contacts has. Blocks are eliminated in an order of least degree and
// their pattern is kept in the bits of a number, so that finding out what to do costs less than
// doing it; pivots are exchanged within a block only. SaddleLu is for larger matrices, and takes
// ten times as long where there is one body. Allocates only when sizes grow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stiction {

class SmallLu {
 public:
  static constexpr int kMaxBlocks = 16;
  static constexpr int kSize = 6;  // of a block

  /// Begins anew with blocks that are not coupled.
  void begin(int num_blocks);
  void couple(int first, int second);
  /// Chooses the order, and with it which blocks there are. After all couplings.
  void analyse();

  /// Sets all of the matrix to zero.
  void clear();
  /// The block in the rows of `first` and the columns of `second`, row by row.
  double* block(int first, int second) { return at(place_[first], place_[second]); }

  /// False if a pivot is zero or not finite.
  [[nodiscard]] bool factor();
  /// Overwrites the right side by the solution; 6 numbers per block.
  void solve(double* x) const;

 private:
  void place_values();

  static constexpr int kEntries = kSize * kSize;
  double* at(int i, int j) { return values_.data() + start_[kMaxBlocks * i + j]; }
  const double* at(int i, int j) const { return values_.data() + start_[kMaxBlocks * i + j]; }

  int num_blocks_ = 0;
  std::array<std::uint32_t, kMaxBlocks> neighbours_ = {};  // of a block, by its number
  int num_analysed_ = 0;
  std::array<std::uint32_t, kMaxBlocks> analysed_ = {};   // neighbours that the order is for
  std::array<std::uint32_t, kMaxBlocks> later_ = {};      // by place: coupled ones of later places
  std::array<int, kMaxBlocks> place_ = {}, number_ = {};  // in the order, and its inverse
  std::array<int, kMaxBlocks* kSize> swap_ = {};          // by place
  // Blocks that there are, one after the other as they are eliminated: few of them need little of
  // the cache.
  std::vector<double> values_;
  std::array<int, kMaxBlocks* kMaxBlocks> start_ = {};  // in values_, of blocks (i, j) by place
  int num_values_ = 0;
};

}  // namespace stiction
