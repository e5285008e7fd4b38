#include "stiction/solve/newton_cone.h"

#include <gtest/gtest.h>

#include "stiction/base/random.h"

namespace stiction {
namespace {

using lorentz::Vector;

Vector random_inside(Random& random) {
  Vector x(0, random.normal(), random.normal());
  x[0] = x.tail<2>().norm() + 0.01 + random.uniform();
  return x;
}

TEST(LorentzCone, DivisionInvertsTheProduct) {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const Vector x = random_inside(random), y(random.normal(), random.normal(), random.normal());
    EXPECT_LT((lorentz::divide(lorentz::product(x, y), x) - y).norm(), 1e-10 * (1 + y.norm()));
  }
}

TEST(LorentzCone, ScalingMapsBothPointsToOne) {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const Vector x = random_inside(random), y = 1e3 * random_inside(random);
    const lorentz::Scaling scaling = lorentz::make_scaling(x, y);
    EXPECT_LT((scaling.F * y - scaling.inverse * x).norm(), 1e-9 * (scaling.F * y).norm());
    EXPECT_LT((scaling.F * scaling.inverse - lorentz::Matrix::Identity()).norm(), 1e-9);
  }
}

TEST(LorentzCone, StepEndsOnTheBoundary) {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Vector x = random_inside(random), d(random.normal(), random.normal(), random.normal());
    const double step = lorentz::step_to_boundary(x, d);
    if (step > 1e6) continue;
    const Vector end = x + step * d;
    EXPECT_NEAR(end[0], end.tail<2>().norm(), 1e-9 * (1 + end.norm()));
    EXPECT_GT(lorentz::determinant(x + 0.5 * step * d), 0);
  }
}

TEST(LorentzCone, PlanarPointsStayInThePlane) {
  const Vector x(2, 1, 0), y(1, -0.5, 0);
  const lorentz::Scaling scaling = lorentz::make_scaling(x, y);
  EXPECT_EQ((scaling.F * y)[2], 0);
  EXPECT_EQ(lorentz::product(x, y)[2], 0);
  EXPECT_EQ(lorentz::divide(x, y)[2], 0);
}

}  // namespace
}  // namespace stiction
