// A sparse matrix in compressed rows, as far as problem files need one: columns ascend in every
// row, repeated entries are added up, and zeros are dropped, since a file may spell out blocks that
// are mostly empty.
#pragma once

#include <vector>

namespace stiction {

struct SparseMatrix {
  int num_rows = 0;
  int num_columns = 0;
  std::vector<int> row_start{
      0};  // num_rows + 1; entries of row i are [row_start[i], row_start[i+1])
  std::vector<int> column;
  std::vector<double> value;

  bool operator==(const SparseMatrix&) const = default;
};

/// Entries in any order; the indices must lie inside the matrix.
struct TripletMatrix {
  int num_rows = 0;
  int num_columns = 0;
  std::vector<int> row;
  std::vector<int> column;
  std::vector<double> value;
};

SparseMatrix compress(const TripletMatrix& triplets);
SparseMatrix transposed(const SparseMatrix& matrix);

/// The smallest sets of indices that no entry of a square matrix leaves: the blocks of a block
/// diagonal matrix. Every set ascends, and the sets ascend by their first index.
std::vector<std::vector<int>> find_components(const SparseMatrix& matrix);

}  // namespace stiction
