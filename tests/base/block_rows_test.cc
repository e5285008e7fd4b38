#include "stiction/base/block_rows.h"

#include <gtest/gtest.h>

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
