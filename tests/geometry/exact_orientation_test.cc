// Against integers of 128 bits, which hold every determinant of coordinates below 2³⁸ exactly.
#include "stiction/geometry/exact_orientation.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <cstdint>

#include "stiction/base/random.h"

namespace stiction {
namespace {

__extension__ typedef __int128 Int128;
using IntPoint = std::array<std::int64_t, 3>;

Eigen::Vector3d to_point(const IntPoint& p, double scale = 1) {
  return scale * Eigen::Vector3d(static_cast<double>(p[0]), static_cast<double>(p[1]),
                                 static_cast<double>(p[2]));
}

int integer_orientation(const IntPoint& a, const IntPoint& b, const IntPoint& c,
                        const IntPoint& d) {
  const auto diff = [&](const IntPoint& p, int k) { return static_cast<Int128>(p[k]) - a[k]; };
  const Int128 determinant = diff(b, 0) * (diff(c, 1) * diff(d, 2) - diff(c, 2) * diff(d, 1)) -
                             diff(b, 1) * (diff(c, 0) * diff(d, 2) - diff(c, 2) * diff(d, 0)) +
                             diff(b, 2) * (diff(c, 0) * diff(d, 1) - diff(c, 1) * diff(d, 0));
  return (determinant > 0) - (determinant < 0);
}

IntPoint random_point(Random& random, int num_bits) {
  IntPoint p{};
  for (std::int64_t& x : p) {
    x = static_cast<std::int64_t>(random.next() >> (64 - num_bits)) -
        (std::int64_t{1} << (num_bits - 1));
  }
  return p;
}

TEST(ExactOrientation, IsPositiveOnTheSideThatSeesTheTriangleCounterclockwise) {
  const Eigen::Vector3d a(0, 0, 0), b(1, 0, 0), c(0, 1, 0);
  EXPECT_EQ(compute_orientation(a, b, c, {0.2, 0.2, 1}), 1);
  EXPECT_EQ(compute_orientation(a, b, c, {0.2, 0.2, -1}), -1);
  EXPECT_EQ(compute_orientation(a, b, c, {5, 7, 0}), 0);
}

TEST(ExactOrientation, AgreesWithIntegersOnRandomPoints) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const IntPoint a = random_point(random, 38), b = random_point(random, 38),
                   c = random_point(random, 38), d = random_point(random, 38);
    ASSERT_EQ(compute_orientation(to_point(a), to_point(b), to_point(c), to_point(d)),
              integer_orientation(a, b, c, d));
  }
}

// The fourth point is one unit of 2³⁶ beside the plane, or in it. Scaling by powers of two changes
// no bit and shows that the range promised is kept.
TEST(ExactOrientation, AgreesWithIntegersNextToThePlane) {
  Random random(2);
  int num_zero = 0, num_rounded_wrong = 0;
  for (int i = 0; i < 2000; ++i) {
    const IntPoint a = random_point(random, 34), b = random_point(random, 34),
                   c = random_point(random, 34);
    const std::int64_t m = random.integer(-3, 3), n = random.integer(-3, 3);
    IntPoint d{};
    for (int k = 0; k < 3; ++k) d[k] = a[k] + m * (b[k] - a[k]) + n * (c[k] - a[k]);
    d[random.integer(0, 2)] += random.integer(-1, 1);
    const int expected = integer_orientation(a, b, c, d);
    num_zero += expected == 0;
    for (const double scale : {1.0, 0x1p-200, 0x1p200}) {
      ASSERT_EQ(compute_orientation(to_point(a, scale), to_point(b, scale), to_point(c, scale),
                                    to_point(d, scale)),
                expected);
    }
    Eigen::Matrix3d naive;
    naive << to_point(b) - to_point(a), to_point(c) - to_point(a), to_point(d) - to_point(a);
    const double x = naive.col(0).dot(naive.col(1).cross(naive.col(2)));
    num_rounded_wrong += ((x > 0) - (x < 0)) != expected;
  }
  EXPECT_GT(num_zero, 100);
  EXPECT_GT(num_rounded_wrong, 100) << "these points are too easy to test exactness";
}

TEST(ExactOrientation, KnowsWhenDifferencesAreNotRepresentable) {
  // In the plane x = y but for a. All differences round as if 2⁻⁸⁰ were 0; with x for it, the
  // determinant is (1 − x)(2 − 1) − ((2 − x) − (1 − x)) = −x.
  const Eigen::Vector3d a(0x1p-80, 0, 0), b(1, 1, 0), c(2, 2, 1), d(1, 1, 1);
  EXPECT_EQ(compute_orientation(a, b, c, d), -1);
  EXPECT_EQ(compute_orientation(-a, b, c, d), 1);
  EXPECT_EQ(compute_orientation(0 * a, b, c, d), 0);
}

TEST(ExactOrientation, IsZeroForRepeatedPoints) {
  const Eigen::Vector3d a(0.1, 0.7, 0.3), b(1e-9, 3.3, 0.2), c(0.9, -0.1, 1e5);
  for (const Eigen::Vector3d& d : {a, b, c}) EXPECT_EQ(compute_orientation(a, b, c, d), 0);
  EXPECT_EQ(compute_orientation(a, a, b, c), 0);
}

}  // namespace
}  // namespace stiction
