#include "stiction/geometry/face_clipping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "stiction/base/random.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::Vector2d;

/// On an ellipse: convex whatever the angles.
ConvexPolygon random_polygon(Random& random, int count) {
  std::vector<double> angles;
  for (int k = 0; k < count; ++k) angles.push_back(random.uniform(0, 2 * std::numbers::pi));
  std::sort(angles.begin(), angles.end());
  const Vector2d radii(random.uniform(0.1, 2), random.uniform(0.1, 2));
  ConvexPolygon polygon;
  polygon.clear();
  for (const double angle : angles) {
    polygon.add({radii.x() * std::cos(angle), radii.y() * std::sin(angle)});
  }
  polygon.finish();
  return polygon;
}

double cross(const Vector2d& x, const Vector2d& y) { return x.x() * y.y() - x.y() * y.x(); }

/// [m] largest distance beyond a side.
double height_over(const ConvexPolygon& polygon, const Vector2d& point) {
  double highest = -1e300;
  for (int k = 0; k < polygon.size(); ++k) {
    const Vector2d along = polygon.vertex(polygon.next(k)) - polygon.vertex(k);
    highest = std::max(highest, cross(point - polygon.vertex(k), along) / along.norm());
  }
  return highest;
}

class PolygonOfSize : public ::testing::TestWithParam<int> {};

TEST_P(PolygonOfSize, ContainsWhatIsInsideOfAllSides) {
  Random random(GetParam());
  int num_inside = 0;
  for (int k = 0; k < 500; ++k) {
    const ConvexPolygon polygon = random_polygon(random, GetParam());
    const Vector2d point(random.uniform(-1, 1), random.uniform(-1, 1));
    const double height = height_over(polygon, point);
    if (std::abs(height) < 1e-9) continue;
    EXPECT_EQ(polygon.contains(point, 0), height < 0);
    num_inside += height < 0;
  }
  EXPECT_GT(num_inside, 20);
}

// The ends of the part inside lie on the sides that are named, or are the ends of the segment.
TEST_P(PolygonOfSize, ClipsSegmentsAtTheSidesItNames) {
  Random random(GetParam());
  int num_crossing = 0;
  for (int k = 0; k < 500; ++k) {
    const ConvexPolygon polygon = random_polygon(random, GetParam());
    const Vector2d p(random.uniform(-2, 2), random.uniform(-2, 2));
    const Vector2d q(random.uniform(-2, 2), random.uniform(-2, 2));
    const ClippedSegment part = polygon.clip(p, q, 0);
    double nearest = 1e300;
    constexpr int kPlaces = testing::fewer_sanitized(1000);
    for (int i = 0; i <= kPlaces; ++i) {
      nearest = std::min(nearest, height_over(polygon, p + i / double{kPlaces} * (q - p)));
    }
    if (nearest < 0) {
      EXPECT_TRUE(part.hits);
    }
    if (!part.hits) continue;
    const auto expect_on_side = [&](double t, int side) {
      const Vector2d point = p + t * (q - p);
      const Vector2d v = polygon.vertex(side), w = polygon.vertex(polygon.next(side));
      EXPECT_NEAR(cross(point - v, w - v) / (w - v).norm(), 0, 1e-12);
      EXPECT_GE((point - v).dot(w - v), -1e-12);
      EXPECT_LE((point - v).dot(w - v), (w - v).squaredNorm() + 1e-12);
      ++num_crossing;
    };
    EXPECT_LE(height_over(polygon, p + (part.start + part.end) / 2 * (q - p)), 1e-12);
    if (part.start_side >= 0) {
      expect_on_side(part.start, part.start_side);
    } else {
      EXPECT_EQ(part.start, 0);
      EXPECT_LE(height_over(polygon, p), 1e-12);
    }
    if (part.end_side >= 0) {
      expect_on_side(part.end, part.end_side);
    } else {
      EXPECT_EQ(part.end, 1);
      EXPECT_LE(height_over(polygon, q), 1e-12);
    }
  }
  EXPECT_GT(num_crossing, 50);
}

// From three sides to beyond the number from which bisection is used.
INSTANTIATE_TEST_SUITE_P(Sizes, PolygonOfSize, ::testing::Values(3, 4, 7, 24, 25, 60, 500));

TEST(ConvexPolygon, FindsItsVertices) {
  Random random(1);
  for (const int count : {5, 100}) {
    const ConvexPolygon polygon = random_polygon(random, count);
    for (int k = 0; k < count; ++k) {
      EXPECT_TRUE(polygon.has_vertex_near(polygon.vertex(k), 1e-12));
      const Vector2d middle = (polygon.vertex(k) + polygon.vertex(polygon.next(k))) / 2;
      const double length = (polygon.vertex(polygon.next(k)) - polygon.vertex(k)).norm();
      EXPECT_FALSE(polygon.has_vertex_near(middle, 0.4 * length));
    }
  }
}

TEST(ConvexPolygon, WidenedByAMarginReachesFurther) {
  ConvexPolygon square;
  square.clear();
  for (const auto& [x, y] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}}) square.add(Vector2d(x, y));
  square.finish();
  const ClippedSegment part = square.clip({-1, 0.5}, {3, 0.5}, 0.5);
  EXPECT_DOUBLE_EQ(part.start, 0.125);
  EXPECT_DOUBLE_EQ(part.end, 0.625);
  EXPECT_EQ(part.start_side, 3);
  EXPECT_EQ(part.end_side, 1);
  EXPECT_FALSE(square.clip({-1, 2}, {3, 2}, 0.5).hits);
}

}  // namespace
}  // namespace stiction
