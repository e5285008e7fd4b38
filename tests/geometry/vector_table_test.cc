#include "stiction/geometry/vector_table.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "stiction/base/random.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

TEST(VectorTable, FindsTheFurthestOfAnyNumber) {
  Random random(1);
  for (int count = 1; count <= 100; ++count) {
    std::vector<Vector3d> vectors;
    for (int i = 0; i < count; ++i) vectors.push_back(random_vector(random));
    std::vector<double> numbers(VectorTable::count_numbers(vectors.size()));
    const VectorTable table(vectors, numbers);
    for (int trial = 0; trial < 50; ++trial) {
      const Vector3d direction = random_vector(random);
      const int found = table.find_furthest(direction);
      ASSERT_GE(found, 0);
      ASSERT_LT(found, count);
      for (const Vector3d& vector : vectors) {
        EXPECT_LE(direction.dot(vector), direction.dot(vectors[found]) + 1e-15);
      }
    }
  }
}

TEST(VectorTable, OfEqualsTheFirstIsTaken) {
  std::vector<Vector3d> vectors(70, Vector3d::Zero());
  vectors[37] = vectors[66] = Vector3d::UnitX();
  std::vector<double> numbers(VectorTable::count_numbers(vectors.size()));
  const VectorTable table(vectors, numbers);
  EXPECT_EQ(table.find_furthest(Vector3d::UnitX()), 37);
  EXPECT_EQ(table.find_furthest(-Vector3d::UnitX()), 0);
  EXPECT_EQ(table.find_furthest(Vector3d::Zero()), 0);
  EXPECT_EQ(table.find_furthest(Vector3d::Constant(std::numeric_limits<double>::quiet_NaN())), 0);
}

}  // namespace
}  // namespace stiction
