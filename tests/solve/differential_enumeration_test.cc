// Every solver against the list of all solutions of small problems. A solver that calls an answer
// converged must have found one of them, or show by its certificate that it is one where solutions
// are not isolated; where the list is empty no solver may claim to have an answer.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/solvers.h"
#include "tests/solve/law_check.h"
#include "tests/solve/problem_families.h"
#include "tests/solve/state_enumeration.h"

namespace stiction {
namespace {

using testing::all_impulses;
using testing::ContactStyle;
using testing::Enumeration;
using testing::FamilyMaker;
using testing::StateEnumerator;

constexpr double kTolerance = 1e-9;

/// How many problems of a set had what, and how many answers were compared.
struct Tally {
  int none = 0, one = 0, several = 0, continuum = 0;
  int compared = 0;
  int hidden = 0;  // converged without a solution, behind impulses that cancel each other
};

/// Speeds that the problem starts with over the mobility: the size of impulses it calls for.
double impulse_scale(const testing::DenseProblem& dense) {
  double scale = 1e-3;  // at rest, impulses far below those of the other problems are zero
  for (int i = 0; i < dense.a.size(); ++i)
    scale = std::max(scale, std::abs(dense.a[i]) / std::max(1e-3, std::abs(dense.W(i, i))));
  return scale;
}

void expect_one_of(const Enumeration& all, const StepProblem& problem, const StepSolution& solution,
                   Tally& tally) {
  EXPECT_LE(certify(problem, solution).residual(), kTolerance);
  if (all.has_continuum) return;  // the certificate is all that can be asked for
  ++tally.compared;
  // The residual is relative to impulses, of one contact, in units of its mobility: a factor of a
  // hundred covers those norms, `sensitivity` the conditioning of the state.
  const double scale = impulse_scale(testing::DenseProblem(problem));
  EXPECT_LE(all.relative_distance(all_impulses(solution), scale, kTolerance), 100)
      << all.solutions.size() << " solutions; answer " << all_impulses(solution).transpose();
}

/// Impulses that cancel each other count as scale up to 1e7 times the data (T21), (T22). An answer
/// that is wrong by a hundredth of the data can pass at 1e-9 behind such impulses, and only so.
void expect_hidden(const StepProblem& problem, const StepSolution& solution, Tally& tally) {
  ++tally.hidden;
  EXPECT_LE(certify(problem, solution).residual(), kTolerance);
  EXPECT_GE(all_impulses(solution).norm(), 1e4 * impulse_scale(testing::DenseProblem(problem)))
      << "converged, but no solution exists; answer " << all_impulses(solution).transpose();
}

void expect_solvers_to_agree(const StepProblem& problem, Tally& tally) {
  ASSERT_EQ(find_fault(problem), "");
  const Enumeration all = StateEnumerator(problem).run();
  // To call a problem unsolvable, solutions that miss by a millionth must be missing too.
  const bool has_none =
      all.solutions.empty() && StateEnumerator(problem, 1e-6).run().proves_that_none_exists();
  if (has_none) ++tally.none;
  if (all.has_continuum) ++tally.continuum;
  if (!all.has_continuum && all.solutions.size() == 1) ++tally.one;
  if (!all.has_continuum && all.solutions.size() > 1) ++tally.several;
  for (const std::string& name : solver_names()) {
    SCOPED_TRACE(name);
    StepSolution solution;
    const SolverReport report = make_solver(name, kTolerance)->solve(problem, solution);
    if (report.status != SolverStatus::kConverged) continue;
    has_none ? expect_hidden(problem, solution, tally)
             : expect_one_of(all, problem, solution, tally);
  }
}

template <class Make>
Tally compare(std::uint64_t num_seeds, const Make& make) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_solvers_to_agree(make(seed), tally);
  }
  return tally;
}

/// Up to four planar contacts and a motor; every third problem has biases of any sign, every third
/// entries −1, 0, 1.
StepProblem small_planar(std::uint64_t seed) {
  FamilyMaker maker(seed);
  maker.style = {1, {}};
  maker.is_integer = seed % 3 == 1;
  maker.add_bodies(2, 3);
  if (seed % 2 == 0) maker.add_joint({.bias = maker.number(), .lower = -0.5, .upper = 1});
  const int num_contacts = maker.random.integer(1, 4);
  for (int j = 0; j < num_contacts; ++j)
    maker.add_contact(maker.is_integer ? 0.5 * maker.random.integer(0, 3)
                                       : maker.random.uniform(0, 2));
  maker.push_bodies();
  if (seed % 3 == 2)
    for (double& b : maker.problem.contact_bias) b = maker.random.normal();
  return maker.problem;
}

/// Friction in Delassus form with any matrix at all: none, one, or several solutions.
StepProblem small_wild(std::uint64_t seed, const ContactStyle& style, int max_contacts) {
  Random random(seed + 2000);
  StepProblem problem;
  const int num_contacts = random.integer(1, max_contacts);
  for (int j = 0; j < num_contacts; ++j)
    problem.add_contact({.num_tangents = style.num_tangents,
                         .mu = random.uniform(0, 1.5),
                         .section = style.section,
                         .key = 0});
  const int n = problem.num_contact_rows();
  MatrixXd W(n, n);
  for (double& x : W.reshaped()) x = random.normal();
  if (seed % 2 == 0) W.diagonal().array() += 1.5;
  testing::set_coupling(problem, W);
  for (double& b : problem.contact_bias) b = random.normal();
  return problem;
}

/// Up to three contacts in space with independent rows and biases of any sign.
StepProblem small_spatial(std::uint64_t seed, const FrictionSection& section) {
  FamilyMaker maker(seed);
  maker.style = {2, section};
  maker.add_bodies(2, 6);
  const int num_contacts = maker.random.integer(1, 3);
  for (int j = 0; j < num_contacts; ++j) maker.add_contact(maker.random.uniform(0, 1.5));
  maker.push_bodies();
  for (double& b : maker.problem.contact_bias) b = maker.random.normal();
  return maker.problem;
}

TEST(Enumeration, FindsTheKnownSolutionsOfOneBlock) {
  // A unit mass that falls on a floor with speed 1 and slides with speed v: it sticks if v ≤ μ.
  const auto slide = [](double mu, double v) {
    StepProblem problem;
    problem.add_mass_block(2).setIdentity();
    problem.p = {-1, v};
    problem.add_contact({.num_tangents = 1, .mu = mu, .section = {}, .key = 0});
    problem.contacts.add_entry(0, 2).setIdentity();
    return StateEnumerator(problem).run();
  };
  const Enumeration sticks = slide(0.5, 0.25), slides = slide(0.5, 2);
  ASSERT_EQ(sticks.solutions.size(), 1u);
  EXPECT_LT((sticks.solutions[0].x - Eigen::Vector2d(1, -0.25)).norm(), 1e-14);
  ASSERT_EQ(slides.solutions.size(), 1u);
  EXPECT_LT((slides.solutions[0].x - Eigen::Vector2d(1, -0.5)).norm(), 1e-14);
}

TEST(Enumeration, KnowsProblemsWithNoneAndWithSeveralSolutions) {
  const auto scalar = [](double W, double q) {
    StepProblem problem;
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
    problem.contact_bias[0] = q;
    testing::set_coupling(problem, MatrixXd::Constant(1, 1, W));
    return StateEnumerator(problem).run();
  };
  EXPECT_TRUE(scalar(-1, -1).proves_that_none_exists());
  EXPECT_TRUE(scalar(0, -1).proves_that_none_exists());
  EXPECT_EQ(scalar(-1, 1).solutions.size(), 2u);
  EXPECT_TRUE(scalar(0, 0).has_continuum);
}

/// Every friction impulse is less than half of what its contact could bear.
bool sticks_or_is_open(const StepProblem& problem, const VectorXd& x) {
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int row = problem.num_bilateral() + problem.contacts.row_start(j);
    if (x.segment<2>(row + 1).norm() > 0.5 * problem.mu[j] * x[row]) return false;
  }
  return true;
}

TEST(Enumeration, PolygonAndDiscAgreeWhereTheContactSticks) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    StepProblem problem = small_spatial(seed, FrictionSection::disc());
    for (double& mu : problem.mu) mu *= 4;
    const Enumeration disc = StateEnumerator(problem).run();
    for (FrictionSection& section : problem.section) section = FrictionSection::polygon(4);
    const Enumeration polygon = StateEnumerator(problem).run();
    for (const Enumeration::Solution& s : disc.solutions)
      if (sticks_or_is_open(problem, s.x)) {
        EXPECT_LE(polygon.relative_distance(s.x, 1, 1e-12), 1) << "seed " << seed;
      }
  }
}

TEST(Differential, PlanarAnswersAreAmongAllSolutions) {
  const Tally tally = compare(120, small_planar);
  EXPECT_GE(tally.one, 40);
  EXPECT_GE(tally.continuum, 5);
  EXPECT_GE(tally.compared, 200);
  EXPECT_EQ(tally.hidden, 0);
}

TEST(Differential, WildPlanarMatricesAreSolvedOnlyWhereASolutionExists) {
  const Tally tally = compare(60, [](std::uint64_t seed) { return small_wild(seed, {1, {}}, 4); });
  EXPECT_GE(tally.none, 5);
  EXPECT_GE(tally.several, 5);
  EXPECT_GE(tally.compared, 50);
  EXPECT_EQ(tally.hidden, 0);
}

TEST(Differential, PolygonAnswersAreAmongAllSolutions) {
  const Tally tally = compare(20, [](std::uint64_t seed) {
    return small_spatial(seed, FrictionSection::polygon(seed % 2 == 0 ? 4 : 6));
  });
  EXPECT_GE(tally.compared, 20);
}

TEST(Differential, BoxAnswersAreAmongAllSolutions) {
  const Tally tally =
      compare(20, [](std::uint64_t seed) { return small_spatial(seed, FrictionSection::box()); });
  EXPECT_GE(tally.compared, 20);
}

TEST(Differential, WildBoxesAreSolvedOnlyWhereASolutionExists) {
  const Tally tally = compare(20, [](std::uint64_t seed) {
    return small_wild(seed, {2, FrictionSection::box()}, 2);
  });
  EXPECT_GE(tally.none, 1);
}

TEST(Differential, DiscAnswersAreAmongAllSolutions) {
  const Tally tally =
      compare(20, [](std::uint64_t seed) { return small_spatial(seed, FrictionSection::disc()); });
  EXPECT_GE(tally.one, 15);
  EXPECT_GE(tally.compared, 40);
}

TEST(SlowDifferential, AnswersAreAmongAllSolutions) {
  compare(3000, small_planar);
  compare(3000, [](std::uint64_t seed) { return small_wild(seed, {1, {}}, 4); });
  for (const FrictionSection& section :
       {FrictionSection::box(), FrictionSection::polygon(4), FrictionSection::disc()}) {
    compare(300, [&](std::uint64_t seed) { return small_spatial(seed, section); });
    if (section.kind != FrictionSection::Kind::kDisc)
      compare(300, [&](std::uint64_t seed) { return small_wild(seed, {2, section}, 2); });
  }
}

}  // namespace
}  // namespace stiction
