// Friction sections (problem/friction_section.h): the polygon approaches the disc that it is
// inscribed in, the box contains it, in the plane all are one interval, and a solver that does not
// take a section says so instead of solving for another one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/problem/cone_projection.h"
#include "stiction/solve/solvers.h"
#include "tests/fitted_slope.h"
#include "tests/solve/problem_families.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using testing::FamilyMaker;

constexpr double kTolerance = 1e-10;

const FrictionSection kSections[] = {FrictionSection::disc(), FrictionSection::box(),
                                     FrictionSection::polygon(4), FrictionSection::polygon(8),
                                     FrictionSection::polygon(12)};

void set_section(StepProblem& problem, const FrictionSection& section) {
  for (FrictionSection& s : problem.section) s = section;
}

/// Independent rows and small friction: one solution for every section.
StepProblem regular_problem(std::uint64_t seed, int num_tangents) {
  FamilyMaker maker(seed);
  maker.style = {num_tangents, FrictionSection::disc()};
  maker.add_bodies(3, 6);
  for (int j = 0; j < 3; ++j) maker.add_contact(maker.random.uniform(0.05, 0.2));
  maker.push_bodies();
  for (double& b : maker.problem.contact_bias) b = maker.random.normal();
  return maker.problem;
}

/// A unit mass that hits a plane with speed 1 while it moves along it with velocity (x, y).
StepProblem particle(double mu, double x, double y, const FrictionSection& section) {
  StepProblem problem;
  problem.add_mass_block(3).setIdentity();
  problem.p = {-1, x, y};
  problem.add_contact({.num_tangents = 2, .mu = mu, .section = section, .key = 0});
  problem.contacts.add_entry(0, 3).setIdentity();
  return problem;
}

VectorXd impulses(const StepSolution& solution) {
  return ConstVectorMap(solution.r.data(), static_cast<Eigen::Index>(solution.r.size()));
}

VectorXd solve_by_auto(const StepProblem& problem) {
  StepSolution solution;
  const SolverReport report = make_solver("auto", kTolerance)->solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kConverged);
  EXPECT_LE(certify(problem, solution).residual(), kTolerance);
  return impulses(solution);
}

// ---------------------------------------------------------------------------------- convergence

/// Error of the impulses of k-gons against the disc, averaged over problems.
std::vector<double> polygon_errors(const std::vector<double>& sides, std::uint64_t num_problems) {
  std::vector<double> errors(sides.size(), 0);
  for (std::uint64_t seed = 0; seed < num_problems; ++seed) {
    StepProblem problem = regular_problem(seed, 2);
    const VectorXd disc = solve_by_auto(problem);
    for (std::size_t i = 0; i < sides.size(); ++i) {
      set_section(problem, FrictionSection::polygon(static_cast<int>(sides[i])));
      errors[i] += (solve_by_auto(problem) - disc).norm() / static_cast<double>(num_problems);
    }
  }
  return errors;
}

// A contact that slides in direction φ gets the friction of the vertex nearest to −φ, up to π/k
// beside it: the impulse is off by O(1/k), not by the sagitta 1 − cos(π/k) of the section.
TEST(FrictionSections, PolygonImpulsesConvergeToTheDiscWithOrderOne) {
  const std::vector<double> sides = {4, 8, 16, 32, 64, 128};
  const double order = testing::fitted_order(sides, polygon_errors(sides, 40));
  RecordProperty("order", fmt::format("{:.3f}", order));
  EXPECT_NEAR(order, -1, 0.15);
}

// The same friction dissipates μν σ_B(−u_T) ≥ μν cos(π/k)‖u_T‖: the velocity lost is off by
// O(1/k²). For one particle nothing else enters.
TEST(FrictionSections, PolygonDissipationConvergesToThatOfTheDiscWithOrderTwo) {
  constexpr int kNumDirections = 64;
  const std::vector<double> sides = {4, 8, 16, 32, 64, 128};
  std::vector<double> errors;
  for (const double k : sides) {
    double error = 0;
    for (int i = 0; i < kNumDirections; ++i) {
      // Spread over one side of the polygon at hand, so that every k sees the same mixture.
      const double angle = 2 * std::numbers::pi / k * (i + 0.5) / kNumDirections;
      const double x = 2 * std::cos(angle), y = 2 * std::sin(angle);
      const VectorXd r =
          solve_by_auto(particle(0.3, x, y, FrictionSection::polygon(static_cast<int>(k))));
      const double loss = -(x * r[1] + y * r[2]), disc_loss = 0.3 * 2;
      EXPECT_LE(loss, disc_loss * (1 + 1e-12));  // inscribed
      EXPECT_GE(loss, disc_loss * std::cos(std::numbers::pi / k) * (1 - 1e-12));
      error += (disc_loss - loss) / kNumDirections;
    }
    errors.push_back(error);
  }
  EXPECT_NEAR(testing::fitted_order(sides, errors), -2, 0.05);
}

TEST(FrictionSections, SectionsOnlyMatterWhereContactsSlide) {
  for (const FrictionSection& section : kSections) {
    // To stick takes 0.1√2 = 0.14; the square, which allows least here, has 0.35/√2 = 0.25.
    const VectorXd r = solve_by_auto(particle(0.35, 0.1, 0.1, section));
    EXPECT_LT((r - Vector3d(1, -0.1, -0.1)).norm(), 1e-9) << to_text(section);
  }
}

TEST(FrictionSections, BoxIsTheDiscAlongItsAxesAndLargerBetween) {
  const VectorXd along = solve_by_auto(particle(0.3, 2, 0, FrictionSection::box()));
  EXPECT_LT((along - Vector3d(1, -0.3, 0)).norm(), 1e-9);
  const VectorXd between = solve_by_auto(particle(0.3, 2, 1, FrictionSection::box()));
  EXPECT_LT((between - Vector3d(1, -0.3, -0.3)).norm(), 1e-9);
  const VectorXd disc = solve_by_auto(particle(0.3, 2, 1, FrictionSection::disc()));
  EXPECT_LT((disc - Vector3d(1, -0.6 / std::sqrt(5.0), -0.3 / std::sqrt(5.0))).norm(), 1e-9);
}

TEST(FrictionSections, AreNestedPolygonsDiscBox) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const Vector3d u(0, random.normal(), random.normal());
    double smaller = 0;
    for (const FrictionSection& section :
         {FrictionSection::polygon(4), FrictionSection::polygon(8), FrictionSection::polygon(16),
          FrictionSection::disc(), FrictionSection::box()}) {
      const double support = FrictionCone{2, 1, section}.support_against(u);
      EXPECT_GE(support, smaller * (1 - 1e-15)) << to_text(section);
      smaller = support;
    }
  }
}

// ----------------------------------------------------------------------- one solver, all sections

TEST(FrictionSections, InThePlaneAllAreTheSameForEverySolver) {
  for (const std::string& name : solver_names())
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(name + " seed " + std::to_string(seed));
      StepProblem problem = regular_problem(seed, 1);
      StepSolution first;
      const SolverStatus status = make_solver(name, kTolerance)->solve(problem, first).status;
      EXPECT_NE(status, SolverStatus::kUnsupported);
      for (const FrictionSection& section : kSections) {
        set_section(problem, section);
        StepSolution solution;
        EXPECT_EQ(make_solver(name, kTolerance)->solve(problem, solution).status, status);
        // The same algorithm on the same numbers up to how |β| ≤ μν is written: both answers meet
        // the tolerance, in a problem whose condition is below a thousand.
        EXPECT_LE((impulses(solution) - impulses(first)).norm(),
                  1e3 * kTolerance * (1 + impulses(first).norm()))
            << to_text(section);
      }
    }
}

/// Sliding between the axes: no two of the sections have the same answer here.
StepProblem telling_problem(const FrictionSection& section) {
  return particle(0.3, 2, 0.9, section);
}

TEST(FrictionSections, ASolverTakesASectionOrRefusesItAlways) {
  for (const std::string& name : solver_names()) {
    int num_taken = 0;
    for (const FrictionSection& section : kSections) {
      SCOPED_TRACE(name + " with " + to_text(section));
      const StepProblem problem = telling_problem(section);
      StepSolution solution;
      const SolverReport report = make_solver(name, kTolerance)->solve(problem, solution);
      EXPECT_EQ(solution.r.size(), 3u);
      if (report.status == SolverStatus::kConverged) {
        ++num_taken;
        EXPECT_LE(certify(problem, solution).residual(), kTolerance);
        for (const FrictionSection& other : kSections)
          if (other != section) {
            EXPECT_GT(certify(telling_problem(other), solution).residual(), 1e-3)
                << "solved as " << to_text(other);
          }
      }
      StepProblem regular = regular_problem(1, 2);
      set_section(regular, section);
      const bool is_refused = report.status == SolverStatus::kUnsupported;
      EXPECT_EQ(make_solver(name, kTolerance)->solve(regular, solution).status ==
                    SolverStatus::kUnsupported,
                is_refused);
    }
    EXPECT_GE(num_taken, 1) << name;
  }
}

TEST(FrictionSections, MayDifferFromContactToContact) {
  for (const std::string& name : solver_names())
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(name + " seed " + std::to_string(seed));
      StepProblem problem = regular_problem(seed, 2);
      for (std::size_t j = 0; j < problem.section.size(); ++j)
        problem.section[j] = kSections[(seed + j) % 5];
      StepSolution solution;
      const SolverReport report = make_solver(name, kTolerance)->solve(problem, solution);
      if (report.status == SolverStatus::kConverged) {
        EXPECT_LE(certify(problem, solution).residual(), kTolerance);
      }
    }
}

// ------------------------------------------------------------------------------------ projections

Vector3d random_point(Random& random, int num_tangents) {
  Vector3d z = Vector3d::Zero();
  for (int i = 0; i <= num_tangents; ++i) z[i] = random.chance(0.2) ? 0 : random.normal();
  return z;
}

std::vector<FrictionCone> cones() {
  std::vector<FrictionCone> all;
  for (const double mu : {0.0, 1e-12, 0.3, 1.0, 10.0, 1e6})
    for (const FrictionSection& section : kSections)
      for (const int num_tangents : {0, 1, 2}) all.push_back({num_tangents, mu, section});
  return all;
}

TEST(ProjectionProperties, ProjectionsOfTwoPointsAreNoFartherApartThanThePoints) {
  Random random(21);
  for (const FrictionCone& cone : cones())
    for (int i = 0; i < 50; ++i) {
      const Vector3d a = random_point(random, cone.num_tangents);
      const Vector3d b =
          random.chance(0.2) ? Vector3d(Vector3d::Zero()) : random_point(random, cone.num_tangents);
      // Rounding of the faces of a cone is that of μ.
      EXPECT_LE((cone.project(a) - cone.project(b)).norm(),
                (a - b).norm() + 1e-12 * a.norm() + 1e-15)
          << to_text(cone.section) << " mu " << cone.mu;
    }
}

TEST(ProjectionProperties, ScaleWithThePointOverThreeHundredDecades) {
  Random random(22);
  for (const FrictionCone& cone : cones())
    for (const double scale : {1e-140, 1e-30, 1e30, 1e140}) {
      if (cone.mu > 10 && scale > 1e30) continue;  // the squares of rays overflow
      const Vector3d z = random_point(random, cone.num_tangents);
      const Vector3d expected = cone.project(z);
      EXPECT_LE((cone.project(scale * z) / scale - expected).norm(), 1e-11 * (1 + z.norm()))
          << to_text(cone.section) << " mu " << cone.mu << " scale " << scale;
    }
}

TEST(ProjectionProperties, WithoutFrictionOnlyTheNormalPartRemains) {
  for (const FrictionSection& section : kSections)
    for (const int num_tangents : {0, 1, 2}) {
      const FrictionCone cone{num_tangents, 0, section};
      const Vector3d t(0, num_tangents > 0 ? 3 : 0, num_tangents > 1 ? -4 : 0);
      EXPECT_EQ(cone.project(t + Vector3d(2, 0, 0)), Vector3d(2, 0, 0));
      EXPECT_EQ(cone.project(t), Vector3d::Zero());
      EXPECT_EQ(cone.project(t - Vector3d(2, 0, 0)), Vector3d::Zero());
    }
}

TEST(ProjectionProperties, VanishingFrictionIsTheLimitOfSmallFriction) {
  Random random(23);
  for (const FrictionSection& section : kSections)
    for (int i = 0; i < 100; ++i) {
      const Vector3d z = random_point(random, 2);
      const Vector3d none = FrictionCone{2, 0, section}.project(z);
      const Vector3d little = FrictionCone{2, 1e-9, section}.project(z);
      EXPECT_LE((none - little).norm(), 1e-8 * (1 + z.norm())) << to_text(section);
    }
}

}  // namespace
}  // namespace stiction
