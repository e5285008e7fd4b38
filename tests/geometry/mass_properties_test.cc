// Closed forms are compared with integrals over slices, polyhedra with closed forms, hulls with
// random sampling: no formula is checked against itself. Where nothing but rounding differs the
// tolerance is 1e-13 relative: about a hundred operations of 2⁻⁵³ each on terms that do not cancel.
#include "stiction/geometry/mass_properties.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "stiction/geometry/convex_hull.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using std::numbers::pi;

constexpr double kRounding = 1e-13;
constexpr double kDensity = 2.5;

/// `length` is the size of the body, to measure errors of the centre with.
void expect_same(const MassProperties& actual, const MassProperties& expected, double length,
                 double tolerance = kRounding) {
  EXPECT_NEAR(actual.mass / expected.mass, 1, tolerance);
  EXPECT_LE((actual.center - expected.center).norm(), tolerance * length)
      << actual.center.transpose() << " instead of " << expected.center.transpose();
  EXPECT_LE((actual.inertia - expected.inertia).norm(), tolerance * expected.inertia.norm())
      << actual.inertia << "\ninstead of\n"
      << expected.inertia;
}

MassProperties properties_of(const Shape& shape, double density = kDensity) {
  const auto properties = compute_mass_properties(shape, density);
  EXPECT_TRUE(properties.has_value()) << name_of(shape) << ": " << find_mass_fault(shape);
  return properties.value_or(MassProperties{});
}

// -------------------------------------------------------------------------------------------------
// Closed forms against slices

/// Ellipses with semi-axes a·s, b·s at height z, where s² is a polynomial of degree 2 in z on each
/// of the intervals.
struct Slices {
  double a = 1, b = 1;
  std::vector<double> borders{};  // in increasing order
  std::function<double(double)> s_squared{};
};

/// Moments of an ellipse: area π a b s², ∫ x² = π a³ b s⁴/4. All integrands in z are polynomials of
/// degree at most 4, for which three Gauss points per interval are exact.
MassProperties integrate(const Slices& slices, double density) {
  MassProperties sum;
  for (std::size_t i = 0; i + 1 < slices.borders.size(); ++i) {
    const double middle = (slices.borders[i] + slices.borders[i + 1]) / 2;
    const double half = (slices.borders[i + 1] - slices.borders[i]) / 2;
    for (const auto& [node, weight] :
         {std::pair{-std::sqrt(0.6), 5 / 9.0}, {0.0, 8 / 9.0}, {std::sqrt(0.6), 5 / 9.0}}) {
      const double z = middle + half * node;
      const double s2 = slices.s_squared(z);
      const double dm = density * half * weight * pi * slices.a * slices.b * s2;
      const double xx = slices.a * slices.a * s2 / 4;
      const double yy = slices.b * slices.b * s2 / 4;
      sum.mass += dm;
      sum.center.z() += dm * z;
      sum.inertia.diagonal() += dm * Vector3d(yy + z * z, xx + z * z, xx + yy);
    }
  }
  sum.center /= sum.mass;
  return sum;
}

TEST(MassProperties, OfASphereAreThoseOfItsSlices) {
  const double r = 0.7;
  const auto slices = [&](double z) { return r * r - z * z; };
  expect_same(properties_of(Sphere{r}), integrate({1, 1, {-r, r}, slices}, kDensity), r);
}

TEST(MassProperties, OfAnEllipsoidAreThoseOfItsSlices) {
  const double c = 1.7;
  const auto slices = [&](double z) { return 1 - z * z / (c * c); };
  expect_same(properties_of(Ellipsoid{{0.3, 0.9, c}}),
              integrate({0.3, 0.9, {-c, c}, slices}, kDensity), c);
}

TEST(MassProperties, OfACylinderAreThoseOfItsSlices) {
  const auto slices = [](double) { return 1.0; };
  expect_same(properties_of(Cylinder{0.4, 3}), integrate({0.4, 0.4, {-1.5, 1.5}, slices}, kDensity),
              3);
}

TEST(MassProperties, OfACapsuleAreThoseOfItsSlices) {
  const double r = 0.4;
  for (const double l : {0.0, 0.1, 5.0}) {
    const auto slices = [&](double z) {
      const double beyond = std::max(std::abs(z) - l / 2, 0.0);
      return r * r - beyond * beyond;
    };
    const Slices capsule{1, 1, {-l / 2 - r, -l / 2, l / 2, l / 2 + r}, slices};
    expect_same(properties_of(Capsule{r, l}), integrate(capsule, kDensity), l + r);
  }
}

TEST(MassProperties, OfABoxAreThoseOfTheTextbook) {
  const MassProperties box = properties_of(Box{{1, 2, 3}}, 2);
  EXPECT_DOUBLE_EQ(box.mass, 12);
  EXPECT_EQ(box.center, Vector3d::Zero());
  EXPECT_LE((box.inertia - Matrix3d(Vector3d(13, 10, 5).asDiagonal())).norm(), 13 * kRounding);
}

TEST(MassProperties, OfACapsuleWithoutLengthAreThoseOfASphere) {
  expect_same(properties_of(Capsule{0.3, 0}), properties_of(Sphere{0.3}), 0.3);
}

// -------------------------------------------------------------------------------------------------
// Polyhedra

TEST(MassProperties, OfABoxAsMeshAndAsHullAreThoseOfTheBox) {
  const Vector3d size(0.5, 2, 3);
  const MassProperties box = properties_of(Box{size});
  expect_same(properties_of(box_mesh(size)), box, size.norm());
  expect_same(properties_of(Convex{box_corners(size)}), box, size.norm());
}

/// The unit tetrahedron has the moments ∫ x² = 1/60, ∫ x y = 1/120, hence, about its centre,
/// (1/60 − 1/96) = 1/160 and (1/120 − 1/96) = −1/480.
TEST(MassProperties, OfATetrahedronAreThoseOfTheTextbook) {
  MassProperties expected{.mass = 1 / 6.0, .center = Vector3d::Constant(0.25)};
  expected.inertia.setConstant(1 / 480.0);
  expected.inertia.diagonal().setConstant(2 / 160.0);
  const Convex convex{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  expect_same(properties_of(convex, 1), expected, 1);
  const Mesh mesh{convex.points, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  expect_same(properties_of(mesh, 1), expected, 1);
}

TEST(MassProperties, OfAMovedMeshAreTheMovedOnes) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Vector3d size(random.uniform(0.1, 2), random.uniform(0.1, 2), random.uniform(0.1, 2));
    const Matrix3d R = random_rotation(random);
    const Vector3d p = random_vector(random);
    Mesh mesh = box_mesh(size);
    for (Vector3d& vertex : mesh.vertices) vertex = R * vertex + p;
    const MassProperties expected = transformed(properties_of(Box{size}), R, p);
    // Thin boxes of 0.1 × 2 × 2 lose a factor 20 against their rounded coordinates of about 3.
    expect_same(properties_of(mesh), expected, size.norm(), 30 * kRounding);
    expect_same(properties_of(Convex{mesh.vertices}), expected, size.norm(), 30 * kRounding);
  }
}

// Vertices of a unit cube at a distance of 10⁶ m are rounded to 10⁶·2⁻⁵³ ≈ 1.1e-10 m each; formulas
// about the world's origin would lose another twelve digits in the inertia.
TEST(MassProperties, OfAMeshFarFromTheOriginLoseOnlyTheRoundingOfItsVertices) {
  Random random(7);
  const Matrix3d R = random_rotation(random);
  const Vector3d p(1e6, -1e6, 1e6);
  Mesh mesh = box_mesh({1, 1, 1});
  for (Vector3d& vertex : mesh.vertices) vertex = R * vertex + p;
  expect_same(properties_of(mesh), transformed(properties_of(Box{{1, 1, 1}}), R, p), 1, 1e-9);
}

TEST(MassProperties, OfABoxWithAHoleAreThoseOfTheBoxLessThoseOfTheHole) {
  Mesh mesh = box_mesh({2, 2, 2});
  const Vector3d p(0.3, -0.2, 0.1);
  for (const Vector3d& corner : box_corners({1, 0.5, 1})) mesh.vertices.push_back(corner + p);
  for (const auto& [a, b, c] : box_mesh({1, 1, 1}).triangles) {
    mesh.triangles.push_back({c + 8, b + 8, a + 8});
  }
  MassProperties hole = properties_of(Box{{1, 0.5, 1}});
  hole = {.mass = -hole.mass, .center = p, .inertia = -hole.inertia};
  const MassProperties expected = combined(std::vector{properties_of(Box{{2, 2, 2}}), hole});
  expect_same(properties_of(mesh), expected, 2);
}

TEST(MassProperties, OfAHullDoNotDependOnOrderRepetitionAndPointsInside) {
  Random random(8);
  std::vector<Vector3d> points;
  for (int i = 0; i < 40; ++i) points.push_back(random_vector(random));
  const MassProperties expected = properties_of(Convex{points});
  std::vector<Vector3d> more(points.rbegin(), points.rend());
  for (int i = 0; i < 40; ++i) {
    more.push_back(points[i]);
    more.push_back(expected.center + 0.5 * (points[i] - expected.center));
  }
  expect_same(properties_of(Convex{more}), expected, 1);
}

/// Convex combinations of few points: whether x is inside is asked of all planes through three
/// points that have the rest on one side, without any hull.
struct HalfSpaces {
  std::vector<Vector3d> normals{};
  std::vector<double> offsets{};

  explicit HalfSpaces(const std::vector<Vector3d>& points) {
    for (const Vector3d& a : points) {
      for (const Vector3d& b : points) {
        for (const Vector3d& c : points) add_if_face(points, a, b, c);
      }
    }
  }

  void add_if_face(const std::vector<Vector3d>& points, const Vector3d& a, const Vector3d& b,
                   const Vector3d& c) {
    const Vector3d normal = (b - a).cross(c - a);
    if (normal.norm() < 1e-9) return;
    for (const Vector3d& d : points) {
      if (normal.dot(d - a) > 1e-12) return;
    }
    normals.push_back(normal);
    offsets.push_back(normal.dot(a));
  }

  bool contains(const Vector3d& x) const {
    for (std::size_t i = 0; i < normals.size(); ++i) {
      if (normals[i].dot(x) > offsets[i]) return false;
    }
    return true;
  }
};

// N samples in a box of volume B estimate ∫ f with standard deviation at most B·max|f|/(2√N) for
// integrands of one sign and B·max|f|/√N for others; five of them are exceeded once in a million.
TEST(MassProperties, OfRandomHullsAgreeWithRandomSampling) {
  constexpr int kNumSamples = 200'000;
  for (unsigned seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<Vector3d> points;
    for (int i = 0; i < 9; ++i) {
      points.push_back({random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)});
    }
    const HalfSpaces inside(points);
    double volume = 0;
    Vector3d first = Vector3d::Zero();
    Matrix3d second = Matrix3d::Zero();
    for (int i = 0; i < kNumSamples; ++i) {
      const double x = random.uniform(-1, 1), y = random.uniform(-1, 1), z = random.uniform(-1, 1);
      const Vector3d sample(x, y, z);
      if (!inside.contains(sample)) continue;
      volume += 8.0 / kNumSamples;
      first += 8.0 / kNumSamples * sample;
      second += 8.0 / kNumSamples * sample * sample.transpose();
    }
    const double bound = 5 * 8 / std::sqrt(kNumSamples);  // max|f| = 1 for all of them
    const MassProperties hull = properties_of(Convex{points}, 1);
    EXPECT_NEAR(hull.mass, volume, bound / 2);
    EXPECT_LE((hull.mass * hull.center - first).cwiseAbs().maxCoeff(), bound);
    const Matrix3d steiner = hull.mass * hull.center * hull.center.transpose();
    const Matrix3d about_center = second - steiner;
    const Matrix3d inertia = about_center.trace() * Matrix3d::Identity() - about_center;
    EXPECT_LE((hull.inertia - inertia).cwiseAbs().maxCoeff(), 2 * bound);
    EXPECT_GT(hull.mass, 3 * bound) << "too small a hull to say anything";
  }
}

// Inscribed polyhedra miss the sphere by O(d²) of the distance d of their points, d² ~ 1/n: each
// quadrupling of n quarters the error. The constant is that of random points, hence the wide
// margin.
TEST(MassProperties, OfHullsOfPointsOnASphereConvergeToThoseOfTheBall) {
  Random random(9);
  const MassProperties ball = properties_of(Sphere{1});
  std::vector<Vector3d> points;
  double previous = 0;
  for (const int n : {1000, 4000, 16000}) {
    while (static_cast<int>(points.size()) < n) {
      points.push_back(random_vector(random).normalized());
    }
    const MassProperties hull = properties_of(Convex{points});
    const double error = (hull.inertia - ball.inertia).norm() / ball.inertia.norm();
    if (previous > 0) {
      EXPECT_NEAR(std::log2(previous / error), 2, 0.3) << n;
    }
    previous = error;
  }
}

// -------------------------------------------------------------------------------------------------
// Moving, combining, scaling

TEST(MassProperties, TwoBoxesMakeOneBox) {
  for (const double x : {0.1, 1.0, 2.9}) {
    const Matrix3d one = Matrix3d::Identity();
    const std::vector parts{
        transformed(properties_of(Box{{x, 1, 2}}), one, {x / 2 + 5, 0, 0}),
        transformed(properties_of(Box{{3 - x, 1, 2}}), one, {x / 2 + 1.5 + 5, 0, 0})};
    const MassProperties whole = transformed(properties_of(Box{{3, 1, 2}}), one, {6.5, 0, 0});
    expect_same(combined(parts), whole, 3);
  }
}

TEST(MassProperties, ParallelAxisTheorem) {
  const MassProperties ball = properties_of(Sphere{0.1});
  const Vector3d d(0.3, -0.4, 1.2);  // length 1.3
  const Matrix3d one = Matrix3d::Identity();
  const MassProperties pair =
      combined(std::vector{transformed(ball, one, d), transformed(ball, one, -d)});
  EXPECT_LE(pair.center.norm(), kRounding);
  EXPECT_NEAR(pair.mass, 2 * ball.mass, kRounding);
  const Vector3d along = d.normalized();
  const Vector3d across = along.unitOrthogonal();
  const double i0 = ball.inertia(0, 0);
  EXPECT_NEAR(along.dot(pair.inertia * along), 2 * i0, kRounding);
  EXPECT_NEAR(across.dot(pair.inertia * across), 2 * i0 + 2 * ball.mass * 1.69, kRounding);
}

TEST(MassProperties, TransformingThereAndBackChangesNothing) {
  Random random(10);
  const Matrix3d R = random_rotation(random);
  const Vector3d p = random_vector(random);
  const MassProperties box = transformed(properties_of(Box{{1, 2, 3}}), Matrix3d::Identity(), p);
  const MassProperties there = transformed(box, R, p);
  expect_same(transformed(there, R.transpose(), -R.transpose() * p), box, 3);
  EXPECT_EQ(there.inertia, there.inertia.transpose());
  EXPECT_GT((there.inertia - box.inertia).norm(), 0.1) << "the rotation does nothing";
}

TEST(MassProperties, TransformingRefusesWhatIsNoRotation) {
  const MassProperties ball = properties_of(Sphere{1});
  EXPECT_THROW((void)transformed(ball, -Matrix3d::Identity(), {0, 0, 0}), InputError);
  EXPECT_THROW((void)transformed(ball, 1.001 * Matrix3d::Identity(), {0, 0, 0}), InputError);
}

TEST(MassProperties, CombiningNothingIsAnInputError) {
  EXPECT_THROW((void)combined({}), InputError);
}

TEST(MassProperties, ScalingToAMassIsChoosingTheDensity) {
  const Cylinder cylinder{0.3, 2};
  const double volume = properties_of(cylinder, 1).mass;
  expect_same(scaled_to_mass(properties_of(cylinder), 7), properties_of(cylinder, 7 / volume), 2);
  EXPECT_THROW((void)scaled_to_mass(properties_of(cylinder), 0), InputError);
  EXPECT_THROW((void)scaled_to_mass(MassProperties{}, 1), InputError);
}

/// One of each kind that has a mass, `unit` metres large. The polyhedra are off centre.
std::vector<Shape> solids(double unit) {
  Random random(11);
  Convex convex;
  for (int i = 0; i < 30; ++i) {
    convex.points.push_back(unit * (random_vector(random) + Vector3d::Ones()));
  }
  Mesh mesh = box_mesh({1, 2, 3});
  for (Vector3d& vertex : mesh.vertices) vertex = unit * (vertex + Vector3d(1, 0, -2));
  return {Sphere{unit},
          Capsule{unit, 2 * unit},
          Box{unit * Vector3d(1, 2, 3)},
          Cylinder{unit, 2 * unit},
          Ellipsoid{unit * Vector3d(1, 2, 3)},
          convex,
          mesh};
}

TEST(MassProperties, ScaleWithDensityAndWithTheFifthPowerOfSize) {
  const std::vector<Shape> reference = solids(1);
  for (const double unit : {1e-6, 1e-3, 1e3, 1e6}) {
    const std::vector<Shape> scaled = solids(unit);
    for (std::size_t i = 0; i < reference.size(); ++i) {
      SCOPED_TRACE(std::string(name_of(reference[i])) + " " + std::to_string(unit));
      MassProperties expected = properties_of(reference[i], 1);
      expected.mass *= 3 * std::pow(unit, 3);
      expected.center *= unit;
      expected.inertia *= 3 * std::pow(unit, 5);
      const MassProperties actual = properties_of(scaled[i], 3);
      expect_same(actual, expected, unit);
      EXPECT_EQ(find_inertia_fault(actual.inertia), "");
    }
  }
}

TEST(MassProperties, OfAPlateAtTheLimitOfFlatnessSatisfyTheTriangleInequality) {
  Random random(12);
  for (int i = 0; i < 20; ++i) {
    const Matrix3d R = random_rotation(random);
    Convex plate{box_corners({1, 1, 4e-8})};
    for (Vector3d& point : plate.points) point = R * point;
    EXPECT_EQ(find_inertia_fault(properties_of(plate).inertia), "");
  }
}

// -------------------------------------------------------------------------------------------------
// Faults

TEST(MassFault, ShapesWithoutVolumeHaveNoMass) {
  const HeightField field{{1, 1}, Eigen::MatrixXd::Zero(2, 2)};
  EXPECT_EQ(find_mass_fault(Plane{}), "plane is unbounded, expected a shape with a volume");
  EXPECT_EQ(find_mass_fault(field), "height-field is unbounded, expected a shape with a volume");
  EXPECT_FALSE(compute_mass_properties(Plane{}, 1));
  EXPECT_FALSE(compute_mass_properties(field, 1));
}

TEST(MassFault, OpenMeshesHaveNoMass) {
  Mesh mesh = box_mesh({1, 1, 1});
  mesh.triangles.pop_back();
  EXPECT_EQ(find_mass_fault(mesh), find_closure_fault(mesh));
  EXPECT_FALSE(compute_mass_properties(mesh, 1));
}

TEST(MassFault, MeshesInsideOutHaveNoMass) {
  Mesh mesh = box_mesh({1, 1, 1});
  for (Triangle& triangle : mesh.triangles) std::swap(triangle[0], triangle[1]);
  EXPECT_EQ(find_mass_fault(mesh),
            "mesh is inside out, expected triangles counterclockwise seen from outside");
  EXPECT_FALSE(compute_mass_properties(mesh, 1));
}

TEST(MassFault, ClosedMeshesWithoutVolumeHaveNoMass) {
  Random random(13);
  for (int i = 0; i < 20; ++i) {
    const Vector3d a = random_vector(random), b = random_vector(random), c = random_vector(random);
    const Mesh mesh{{a, b, c, 0.3 * a + 0.6 * b + 0.1 * c},
                    {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}, {0, 2, 1}}};
    ASSERT_EQ(find_closure_fault(mesh), "");
    EXPECT_EQ(find_mass_fault(mesh),
              "mesh encloses no volume: all its triangles lie on each other or in one plane");
  }
  const Mesh point{{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, {{0, 1, 2}}};
  EXPECT_FALSE(compute_mass_properties(point, 1));
}

TEST(MassFault, FaultyShapesAndDensitiesAreInputErrors) {
  EXPECT_THROW((void)compute_mass_properties(Sphere{-1}, 1), InputError);
  EXPECT_THROW((void)compute_mass_properties(Convex{}, 1), InputError);
  for (const double density : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW((void)compute_mass_properties(Sphere{1}, density), InputError);
  }
}

TEST(MassFault, SizesBeyondTheRangeOfDoublesAreInputErrors) {
  for (const double unit : {0x1p-1000, 0x1p-300, 0x1p300, 0x1p1000}) {
    for (const Shape& shape : solids(unit)) {
      EXPECT_EQ(find_fault(shape), "") << name_of(shape) << " " << unit;
      EXPECT_THROW((void)compute_mass_properties(shape, 1), InputError) << name_of(shape) << unit;
    }
  }
}

TEST(InertiaFault, OfPossibleInertiasIsEmpty) {
  EXPECT_EQ(find_inertia_fault(Matrix3d::Identity()), "");
  EXPECT_EQ(find_inertia_fault(1e-30 * Matrix3d::Identity()), "");
  EXPECT_EQ(find_inertia_fault(Vector3d(1, 2, 3).asDiagonal()), "") << "a thin plate";
  EXPECT_EQ(find_inertia_fault(Vector3d(1, 2, 3 * (1 + 0.9e-9)).asDiagonal()), "");
}

TEST(InertiaFault, NamesThePrincipalMoments) {
  EXPECT_EQ(
      find_inertia_fault(Vector3d(4, 1, 2).asDiagonal()),
      "inertia belongs to no rigid body: principal moments 1, 2, 4, expected none larger than "
      "the sum of the other two");
  EXPECT_EQ(find_inertia_fault(Vector3d(1, 0, 2).asDiagonal()),
            "inertia is not positive definite: principal moments 0, 1, 2, expected all > 0");
  EXPECT_NE(find_inertia_fault(Vector3d(1, -1, 2).asDiagonal()), "");
  EXPECT_NE(find_inertia_fault(Matrix3d::Zero()), "");
  EXPECT_NE(find_inertia_fault(Vector3d(1, 2, 3 * (1 + 1.1e-9)).asDiagonal()), "");
}

TEST(InertiaFault, IsFoundInAnyAxesAndUnits) {
  Random random(14);
  for (int i = 0; i < 50; ++i) {
    const double unit = std::pow(10, random.uniform(-30, 30));
    const Matrix3d R = random_rotation(random);
    const Matrix3d possible = unit * R * Vector3d(1, 2, 2.9).asDiagonal() * R.transpose();
    const Matrix3d impossible = unit * R * Vector3d(1, 2, 3.1).asDiagonal() * R.transpose();
    EXPECT_EQ(find_inertia_fault(possible), "");
    EXPECT_NE(find_inertia_fault(impossible), "");
  }
}

TEST(InertiaFault, OfMatricesThatAreNotSymmetricOrNotFinite) {
  Matrix3d inertia = Matrix3d::Identity();
  inertia(0, 1) = 0.1;
  EXPECT_EQ(find_inertia_fault(inertia),
            "inertia is not symmetric: entries across the diagonal differ by 0.1");
  inertia(1, 0) = 0.1 * (1 + 1e-10);
  EXPECT_EQ(find_inertia_fault(inertia), "");
  inertia(2, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(find_inertia_fault(inertia), "inertia has entries that are not finite");
}

}  // namespace
}  // namespace stiction
