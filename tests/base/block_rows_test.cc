#include "stiction/base/block_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace stiction {
namespace {

TEST(BlockRows, PairsOfEntriesAreWhatSingleOnesWouldBe) {
  std::vector<double> values;
  for (int i = 0; i < 3 * 8; ++i) values.push_back(i + 0.5);
  BlockRows at_once, one_by_one;
  for (BlockRows* rows : {&at_once, &one_by_one}) {  // something is there already
    rows->add_row_block(2);
    rows->add_entry(0, 2) << 1, 2, 3, 4;
  }
  at_once.add_pair_rows(3, {4, 1}, {6, 2}, values.data());
  for (int i = 0; i < 3; ++i) {
    one_by_one.add_row_block(1);
    one_by_one.add_entry(4, 6) = ConstRowMatrixMap(values.data() + 8 * i, 1, 6);
    one_by_one.add_entry(1, 2) = ConstRowMatrixMap(values.data() + 8 * i + 6, 1, 2);
  }
  EXPECT_EQ(at_once, one_by_one);
  EXPECT_EQ(at_once.num_rows(), 5);
  EXPECT_EQ(at_once.entry_start(4), 7);
  EXPECT_EQ(at_once.entry_values(6)[1], values[23]);
}

TEST(BlockRows, RowBlocksAddedAtOnceAppendedAndRemovedAreThoseOfOneByOne) {
  std::vector<double> values;
  for (int i = 0; i < 3 * 8; ++i) values.push_back(i + 0.5);
  BlockRows one_by_one, at_once, more;
  for (int copy = 0; copy < 2; ++copy) {
    one_by_one.add_row_block(3);
    one_by_one.add_entry(4, 6) = ConstRowMatrixMap(values.data(), 3, 6);
    one_by_one.add_entry(1, 2) = ConstRowMatrixMap(values.data() + 18, 3, 2);
    one_by_one.add_row_block(1);  // without entries
  }
  const std::vector<BlockRows::Piece> pieces{{4, 6}, {1, 2}};
  for (BlockRows* rows : {&at_once, &more}) {
    std::copy(values.begin(), values.end(), rows->add_row_block(3, pieces));
    rows->add_row_block(1, {});
  }
  at_once.append(more);
  EXPECT_EQ(at_once, one_by_one);
  at_once.add_row_block(3, pieces);
  at_once.remove_last_row_block();
  EXPECT_EQ(at_once, one_by_one);
  at_once.add_row_block(2, {});
  at_once.remove_last_row_block();
  EXPECT_EQ(at_once, one_by_one);
}

TEST(BlockRows, AreIdenticalToTheBit) {
  BlockRows a, b;
  for (BlockRows* rows : {&a, &b}) {
    rows->add_row_block(1);
    rows->add_entry(0, 2).setZero();
  }
  EXPECT_TRUE(a.is_identical(b));
  b.entry_values(0)[1] = -0.0;
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a.is_identical(b));
  BlockRows other_block, longer = a;
  other_block.add_row_block(1);
  other_block.add_entry(1, 2).setZero();
  longer.add_row_block(1);
  EXPECT_FALSE(a.is_identical(other_block));
  EXPECT_FALSE(a.is_identical(longer));
}

}  // namespace
}  // namespace stiction
