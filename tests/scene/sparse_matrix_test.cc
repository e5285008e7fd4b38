#include "stiction/scene/sparse_matrix.h"

#include <gtest/gtest.h>

namespace stiction {
namespace {

using Parts = std::vector<std::vector<int>>;

TEST(SparseMatrix, SortsAddsUpAndDropsZeros) {
  const SparseMatrix a =
      compress({2, 3, {1, 0, 1, 0, 1, 1}, {2, 1, 0, 1, 2, 1}, {1, 2, 3, 4, 5, 0}});
  EXPECT_EQ(a, (SparseMatrix{2, 3, {0, 1, 3}, {1, 0, 2}, {6, 3, 6}}));
}

TEST(SparseMatrix, EntriesThatCancelVanish) {
  EXPECT_EQ(compress({1, 1, {0, 0}, {0, 0}, {1, -1}}), (SparseMatrix{1, 1, {0, 0}, {}, {}}));
}

TEST(SparseMatrix, TransposingTwiceChangesNothing) {
  const SparseMatrix a = compress({3, 2, {2, 0, 1, 2}, {1, 1, 0, 0}, {1, 2, 3, 4}});
  EXPECT_EQ(transposed(a), (SparseMatrix{2, 3, {0, 2, 4}, {1, 2, 0, 2}, {3, 4, 2, 1}}));
  EXPECT_EQ(transposed(transposed(a)), a);
}

TEST(SparseMatrix, WithoutRowsOrColumnsIsAMatrix) {
  EXPECT_EQ(compress({0, 0, {}, {}, {}}).row_start, std::vector<int>{0});
  EXPECT_EQ(transposed(compress({3, 0, {}, {}, {}})).num_rows, 0);
}

TEST(SparseMatrix, ComponentsAreTheBlocksOfABlockDiagonalMatrix) {
  // 0-3, 1 alone, 2-5-4; a single entry on one side of the diagonal joins as well.
  const SparseMatrix a = compress({6, 6, {0, 2, 4, 1}, {3, 5, 5, 1}, {1, 1, 1, 1}});
  EXPECT_EQ(find_components(a), (Parts{{0, 3}, {1}, {2, 4, 5}}));
  EXPECT_EQ(find_components(compress({0, 0, {}, {}, {}})), Parts{});
}

TEST(SparseMatrix, LongChainIsOneComponent) {
  TripletMatrix chain{20000, 20000, {}, {}, {}};
  for (int i = 1; i < 20000; ++i) {
    chain.row.push_back(i);
    chain.column.push_back(i - 1);
    chain.value.push_back(1);
  }
  EXPECT_EQ(find_components(compress(chain)).size(), 1u);
}

}  // namespace
}  // namespace stiction
