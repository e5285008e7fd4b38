#include "stiction/scene/sparse_matrix.h"

#include <algorithm>
#include <numeric>

#include "stiction/base/check.h"

namespace stiction {
namespace {

/// Sorts triplets by row, keeping their order within a row.
SparseMatrix sort_by_row(const TripletMatrix& triplets) {
  SparseMatrix sorted;
  sorted.num_rows = triplets.num_rows;
  sorted.num_columns = triplets.num_columns;
  sorted.row_start.assign(static_cast<std::size_t>(triplets.num_rows) + 1, 0);
  for (const int row : triplets.row) ++sorted.row_start[row + 1];
  std::partial_sum(sorted.row_start.begin(), sorted.row_start.end(), sorted.row_start.begin());
  std::vector<int> next(sorted.row_start.begin(), sorted.row_start.end() - 1);
  sorted.column.resize(triplets.row.size());
  sorted.value.resize(triplets.row.size());
  for (std::size_t k = 0; k < triplets.row.size(); ++k) {
    const int place = next[triplets.row[k]]++;
    sorted.column[place] = triplets.column[k];
    sorted.value[place] = triplets.value[k];
  }
  return sorted;
}

}  // namespace

SparseMatrix transposed(const SparseMatrix& matrix) {
  TripletMatrix triplets{matrix.num_columns, matrix.num_rows, matrix.column, {}, matrix.value};
  triplets.column.reserve(matrix.column.size());
  for (int i = 0; i < matrix.num_rows; ++i)
    triplets.column.insert(triplets.column.end(), matrix.row_start[i + 1] - matrix.row_start[i], i);
  return sort_by_row(triplets);
}

SparseMatrix compress(const TripletMatrix& triplets) {
  // Turned twice, the columns of every row ascend and repeated entries lie side by side.
  const SparseMatrix sorted = transposed(transposed(sort_by_row(triplets)));
  SparseMatrix result;
  result.num_rows = sorted.num_rows;
  result.num_columns = sorted.num_columns;
  result.row_start.reserve(sorted.row_start.size());
  for (int i = 0; i < sorted.num_rows; ++i) {
    for (int e = sorted.row_start[i]; e < sorted.row_start[i + 1];) {
      const int column = sorted.column[e];
      double sum = 0;
      for (; e < sorted.row_start[i + 1] && sorted.column[e] == column; ++e) sum += sorted.value[e];
      if (sum == 0) continue;
      result.column.push_back(column);
      result.value.push_back(sum);
    }
    result.row_start.push_back(static_cast<int>(result.column.size()));
  }
  return result;
}

std::vector<std::vector<int>> find_components(const SparseMatrix& matrix) {
  ST_DEMAND(matrix.num_rows == matrix.num_columns);
  std::vector<int> parent(matrix.num_rows);  // trees whose root is their smallest index
  std::iota(parent.begin(), parent.end(), 0);
  const auto find_root = [&](int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (int i = 0; i < matrix.num_rows; ++i)
    for (int e = matrix.row_start[i]; e < matrix.row_start[i + 1]; ++e) {
      const int a = find_root(i), b = find_root(matrix.column[e]);
      parent[std::max(a, b)] = std::min(a, b);
    }
  std::vector<std::vector<int>> components;
  std::vector<int> component_of(matrix.num_rows, -1);
  for (int i = 0; i < matrix.num_rows; ++i) {
    const int root = find_root(i);
    if (root == i) {
      component_of[i] = static_cast<int>(components.size());
      components.emplace_back();
    }
    components[component_of[root]].push_back(i);
  }
  return components;
}

}  // namespace stiction
