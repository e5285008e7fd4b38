#include "stiction/base/kept_vector.h"

#include <gtest/gtest.h>

namespace stiction {
namespace {

TEST(KeptVector, KeepsItsRoomWhenItBecomesShorter) {
  KeptVector x;
  EXPECT_EQ(x.size(), 0);
  x.setZero(10);
  const double* room = x.data();
  x.resize(3);
  EXPECT_EQ(x.size(), 3);
  x = VectorXd::LinSpaced(10, 1, 10);
  EXPECT_EQ(x.data(), room);
  EXPECT_EQ(x[9], 10);
  x.resize(0);
  EXPECT_EQ(x.squaredNorm(), 0);
}

TEST(KeptVector, CopiesNumbersAndSwapsRooms) {
  KeptVector x, y;
  x = VectorXd::LinSpaced(4, 1, 4);
  y = x;
  EXPECT_NE(x.data(), y.data());
  const KeptVector copy(x);
  EXPECT_EQ(copy, x);
  y.resize(2);
  y *= 10;
  const double *room_of_x = x.data(), *room_of_y = y.data();
  x.swap(y);
  EXPECT_EQ(x.data(), room_of_y);
  EXPECT_EQ(y.data(), room_of_x);
  EXPECT_EQ(x.size(), 2);
  EXPECT_EQ(x[1], 20);
  EXPECT_EQ(y, copy);
}

TEST(KeptVector, TakesExpressionsOfItself) {
  KeptVector x;
  x = VectorXd::Constant(3, 2);
  x = 2 * x - VectorXd::Ones(3);
  x += x;
  EXPECT_EQ(x, VectorXd::Constant(3, 6));
}

// Sums have the same order, and so the same bits, as in Eigen's own vectors.
TEST(KeptVector, AddsUpAsVectorsOfEigenDo) {
  for (int size = 0; size < 40; ++size) {
    const VectorXd plain = VectorXd::LinSpaced(size, 0.1, 7.3).cwiseInverse();
    const KeptVector kept(plain);
    EXPECT_EQ(kept.squaredNorm(), plain.squaredNorm());
    EXPECT_EQ(kept.sum(), plain.sum());
    EXPECT_EQ((2 * kept).dot(kept), (2 * plain).dot(plain));
  }
}

}  // namespace
}  // namespace stiction
