#include "stiction/solve/direct_iterative_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "stiction/base/stopwatch.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/direct_iterative_friction.h"
#include "stiction/solve/lemke_solver.h"
#include "stiction/solve/nsgs_solver.h"
#include "tests/solve/disc_problem.h"
#include "tests/solve/random_problem.h"
#include "tests/solve/saddle_ldlt_problems.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

using History = DirectIterativeSolver::History;

/// Largest number of a history after direct stages.
double worst_after_direct(const History& history, const std::vector<double>& numbers) {
  double worst = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (history.is_direct[i]) worst = std::max(worst, numbers[i]);
  return worst;
}

/// A chain of bodies with ball joints that lies on the ground, two contacts each.
StepProblem chain_on_floor(int num_bodies, double mass_ratio) {
  testing::MechanismMaker maker({.rows_per_joint = 3, .mass_ratio = mass_ratio});
  for (int i = 0; i < num_bodies; ++i) {
    const double x = i;
    maker.add_body({x, 0, 0.5});
    if (i > 0) maker.add_joint(i, i - 1);
    maker.add_contact(i, -1, {x, 0.1, 0});
    maker.add_contact(i, -1, {x, -0.1, 0});
  }
  return maker.problem();
}

TEST(DirectIterative, SolvesMechanismsWithoutContactsInOneDirectStage) {
  for (const double ratio : {1.0, 1e4, 1e8}) {
    const StepProblem problem = testing::make_tree(60, 3, {.mass_ratio = ratio});
    DirectIterativeSolver solver({.tolerance = 1e-12});
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kConverged);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(solver.history().work.back(), 1);
    EXPECT_LE(certify(problem, solution).residual(), 1e-12);
  }
}

TEST(DirectIterative, SolvesFrictionlessContactInOneDirectStage) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const StepProblem pile = testing::sphere_grid({.count = {3, 3, 3}, .mu = 0, .seed = seed});
    DirectIterativeSolver solver({.tolerance = 1e-12});
    StepSolution solution;
    const SolverReport report = solver.solve(pile, solution);
    EXPECT_EQ(report.status, SolverStatus::kConverged);
    EXPECT_EQ(report.iterations, 0);
  }
  DirectIterativeSolver solver({.tolerance = 1e-12});
  StepSolution solution;
  const StepProblem wall =
      testing::make_wall(4, 4, {.num_tangents = 0});  // one row in four redundant
  EXPECT_EQ(solver.solve(wall, solution).status, SolverStatus::kConverged);
}

// Impulses that cancel over the whole chain amplify rounding: 1e-13 is about 500 ulp.
TEST(DirectIterative, KeepsJointsAndNormalsAtRoundingAfterEveryRound) {
  for (const bool moves_normals : {true, false})
    for (const double ratio : {1.0, 1e3, 1e6}) {
      const StepProblem problem = chain_on_floor(20, ratio);
      DirectIterativeSolver solver({.max_rounds = 20, .sweeps_move_normals = moves_normals});
      StepSolution solution;
      (void)solver.solve(problem, solution);
      const History& history = solver.history();
      EXPECT_TRUE(history.is_direct.back());
      EXPECT_LE(worst_after_direct(history, history.joint), 1e-13);
      EXPECT_LE(worst_after_direct(history, history.normal), 1e-13);
    }
}

TEST(DirectIterative, KeepsJointsAndNormalsAtRoundingOnRandomProblems) {
  int num_taken = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    DirectIterativeSolver solver({.tolerance = 1e-10, .max_rounds = 5});
    StepSolution solution;
    if (!solver.solve(testing::random_problem(seed), solution).has_answer) continue;
    ++num_taken;
    const History& history = solver.history();
    EXPECT_LE(worst_after_direct(history, history.joint), 1e-13);
    EXPECT_LE(worst_after_direct(history, history.normal), 1e-13);
  }
  EXPECT_GT(num_taken, 200);
}

/// The scheme of the paper: one direct solve, fifteen sweeps, a second direct solve.
TEST(DirectIterative, IsTheFixedSchemeOfThePaperAtLooseSettings) {
  const StepProblem problem = chain_on_floor(10, 100);
  DirectIterativeSolver solver({.tolerance = 1e-15,
                                .max_rounds = 1,
                                .sweeps_per_round = 15,
                                .acceleration = Acceleration::kNone});
  StepSolution solution;
  const SolverReport report = solver.solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kMaxIterations);
  EXPECT_EQ(report.iterations, 1);
  const History& history = solver.history();
  EXPECT_EQ(history.is_direct, (std::vector<char>{0, 1, 0, 1}));
  EXPECT_EQ(history.work[2], 15);
  EXPECT_LT(history.residual[3], history.residual[1]);
  EXPECT_GT(history.joint[2], history.joint[3]);  // the sweeps break joints, the direct solve mends
  EXPECT_EQ(history.joint.size(), 4u);
  EXPECT_EQ(history.normal.size(), 4u);
  EXPECT_EQ(history.energy.size(), 4u);
}

TEST(DirectIterative, TellsHowLongItsStagesTook) {
  const StepProblem problem = chain_on_floor(10, 100);
  StepSolution solution;
  DirectIterativeSolver direct({.max_rounds = 0});
  Stopwatch watch;
  const SolverReport once = direct.solve(problem, solution);
  EXPECT_GT(once.direct_wall, 0);
  EXPECT_EQ(once.sweeps_wall, 0);
  EXPECT_LE(once.direct_wall, watch.lap());
  DirectIterativeSolver paper({.tolerance = 1e-15, .max_rounds = 1});
  const SolverReport round = paper.solve(problem, solution);
  EXPECT_GT(round.direct_wall, 0);
  EXPECT_GT(round.sweeps_wall, 0);
  EXPECT_LE(round.direct_wall + round.sweeps_wall, watch.lap());
}

/// Particles on a floor, joined by rods in the plane of the floor: friction does not reach the
/// normals.
StepProblem rods_on_floor(int num_particles, double mu, std::uint64_t seed) {
  Random random(seed + 3);
  StepProblem problem;
  for (int i = 0; i < num_particles; ++i) {
    problem.add_mass_block(3) = RowMatrixXd::Identity(3, 3) * (i % 2 == 0 ? 1 : 20);
    for (double& p : problem.block_p(i)) p = random.normal();
    problem.block_p(i)[2] = -1;
  }
  for (int i = 0; i + 1 < num_particles; ++i) {
    problem.add_bilateral_row({});
    const double angle = random.uniform(0, 6);
    for (int k = 0; k < 2; ++k)
      problem.bilateral.add_entry(i + k, 3) << (1 - 2 * k) * std::cos(angle),
          (1 - 2 * k) * std::sin(angle), 0;
  }
  for (int i = 0; i < num_particles; ++i) {
    problem.add_contact({.num_tangents = 2, .mu = mu, .section = {}});
    problem.contacts.add_entry(i, 3) << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  }
  return problem;
}

// For given β the direct stage minimises the energy over λ and ν, for given ν tangential sweeps
// lower it over β. As long as the bounds μν do not change, every stage is a step down.
TEST(DirectIterative, LowersTheEnergyInEveryStageIfFrictionDoesNotReachTheNormals) {
  for (const double mu : {0.1, 0.5, 2.0})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const StepProblem problem = rods_on_floor(8, mu, seed);
      DirectIterativeSolver solver(
          {.tolerance = 1e-9, .sweeps_move_normals = false, .acceleration = Acceleration::kNone});
      StepSolution solution;
      (void)solver.solve(problem, solution);
      const std::vector<double>& energy = solver.history().energy;
      for (std::size_t i = 1; i < energy.size(); ++i)
        EXPECT_LE(energy[i], energy[i - 1] + 1e-13 * std::abs(energy[i - 1])) << i;
    }
}

// Sticking contacts and rods correct each other over many rounds; extrapolation shortens that.
TEST(DirectIterative, AccelerationSolvesWhatPlainRoundsDoNotReach) {
  int plain_rounds = 0, rounds = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const StepProblem problem = rods_on_floor(8, 0.5, seed);
    DirectIterativeSolver plain({.tolerance = 1e-9, .acceleration = Acceleration::kNone});
    DirectIterativeSolver solver({.tolerance = 1e-9});
    StepSolution solution, other;
    EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
    solution = {};
    rounds += solver.solve(problem, solution).iterations;
    plain_rounds += plain.solve(problem, other).iterations;
  }
  EXPECT_LT(3 * rounds, plain_rounds);
}

TEST(DirectIterative, LowersTheEnergyInEveryDirectStage) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    DirectIterativeSolver solver({.tolerance = 1e-10, .max_rounds = 10});
    StepSolution solution;
    if (!solver.solve(testing::random_problem(seed, {.max_bilateral = 0}), solution).has_answer)
      continue;
    const History& history = solver.history();
    const double size = std::abs(*std::min_element(history.energy.begin(), history.energy.end()));
    for (std::size_t i = 1; i < history.energy.size(); ++i)
      // Stages that begin with every normal inside its bounds, as sweeps leave them.
      if (history.is_direct[i]) {
        EXPECT_LE(history.energy[i], history.energy[i - 1] + 1e-11 * size) << i;
      }
  }
}

// Spheres are far from the multiple solutions that strong coupling of normals and tangents allows.
TEST(DirectIterative, ConvergesToTheAnswersOfLemke) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StepProblem pile = testing::sphere_grid(
        {.count = {2, 2, 1}, .mu = 0.2, .section = FrictionSection::polygon(6), .seed = seed});
    DirectIterativeSolver solver({.tolerance = 1e-11});
    LemkeSolver lemke;
    StepSolution ours, theirs;
    ASSERT_EQ(solver.solve(pile, ours).status, SolverStatus::kConverged);
    ASSERT_EQ(lemke.solve(pile, theirs).status, SolverStatus::kConverged);
    EXPECT_LE((ours.w_vector() - theirs.w_vector()).cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST(DirectIterative, ConvergesToTheAnswersOfGaussSeidelOnPiles) {
  for (const FrictionSection section :
       {FrictionSection::disc(), FrictionSection::box(), FrictionSection::polygon(8)}) {
    const StepProblem pile =
        testing::sphere_grid({.count = {3, 3, 2}, .mu = 0.2, .section = section});
    DirectIterativeSolver solver({.tolerance = 1e-11});
    NsgsSolver nsgs({.tolerance = 1e-11});
    StepSolution ours, theirs;
    ASSERT_EQ(solver.solve(pile, ours).status, SolverStatus::kConverged);
    ASSERT_EQ(nsgs.solve(pile, theirs).status, SolverStatus::kConverged);
    EXPECT_LE((ours.w_vector() - theirs.w_vector()).cwiseAbs().maxCoeff(), 1e-7);
  }
}

TEST(DirectIterative, NeverCallsAWrongAnswerConverged) {
  constexpr double kTolerance = 1e-8;
  for (const bool has_discs : {false, true})
    for (const bool moves_normals : {true, false}) {
      int num_converged = 0;
      for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const StepProblem problem =
            has_discs ? testing::disc_problem(seed) : testing::random_problem(seed);
        DirectIterativeSolver solver(
            {.tolerance = kTolerance, .max_rounds = 100, .sweeps_move_normals = moves_normals});
        StepSolution solution;
        const SolverReport report = solver.solve(problem, solution);
        EXPECT_EQ(solution.w.size(), problem.p.size());
        for (const double value : solution.w) EXPECT_TRUE(std::isfinite(value));
        if (report.status != SolverStatus::kConverged) continue;
        ++num_converged;
        EXPECT_LE(certify(problem, solution).residual(), kTolerance) << "seed " << seed;
      }
      EXPECT_GT(num_converged, 180);  // of 208 with symmetric mass blocks; 196 to 202 in 300 rounds
    }
}

TEST(DirectIterative, RepeatsItselfBitByBitWhateverItSolvedBefore) {
  DirectIterativeSolver used({.max_rounds = 10}), fresh({.max_rounds = 10});
  StepSolution first, second;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    (void)used.solve(testing::random_problem(seed), first);
  const StepProblem problem = chain_on_floor(6, 100);
  first = {};
  (void)used.solve(problem, first);
  (void)fresh.solve(problem, second);
  EXPECT_EQ(first.w, second.w);
  EXPECT_EQ(first.r, second.r);
}

TEST(DirectIterative, StartsWarm) {
  const StepProblem pile = testing::sphere_grid({.count = {3, 3, 2}, .mu = 0.2});
  DirectIterativeSolver solver({.tolerance = 1e-8});
  StepSolution solution;
  ASSERT_EQ(solver.solve(pile, solution).status, SolverStatus::kConverged);
  EXPECT_EQ(solver.solve(pile, solution).iterations, 0);
}

TEST(DirectIterative, RefusesWhatItCannotTake) {
  EXPECT_THROW(DirectIterativeSolver({.tolerance = 0}), InputError);
  EXPECT_THROW(DirectIterativeSolver({.max_rounds = -1}), InputError);
  EXPECT_THROW(DirectIterativeSolver({.sweeps_per_round = 0}), InputError);
  EXPECT_THROW(DirectIterativeSolver({.depth = 17}), InputError);
  DirectIterativeSolver solver;
  StepSolution solution;
  const StepProblem condensed = testing::condensed_problem(1, {.num_contacts = 2, .rank = 6});
  EXPECT_EQ(solver.solve(condensed, solution).status, SolverStatus::kUnsupported);
  StepProblem chain = testing::make_chain(3);
  chain.mass_values[1] += 0.05;
  EXPECT_EQ(solver.solve(chain, solution).status, SolverStatus::kUnsupported);
  EXPECT_EQ(solution.w, std::vector<double>(18, 0.0));
  chain = testing::make_chain(3);
  chain.p[4] = std::nan("");
  EXPECT_EQ(solver.solve(chain, solution).status, SolverStatus::kNonFinite);
  const StepProblem nothing;
  EXPECT_EQ(solver.solve(nothing, solution).status, SolverStatus::kConverged);
}

OneContact contact_with(const PolygonTable* table) {
  const double W[9] = {1, 0, 0, 0, 2, 0.3, 0, 0.3, 1};
  OneContact law;
  law.prepare(W, 3, 0.5, table);
  return law;
}

TEST(DirectIterativeFriction, ProjectsOntoTheSection) {
  const PolygonTable octagon(FrictionSection::polygon(8)), box(FrictionSection::box());
  for (const PolygonTable* table : {static_cast<const PolygonTable*>(nullptr), &octagon, &box}) {
    const OneContact law = contact_with(table);
    Random random(5);
    for (int i = 0; i < 2000; ++i) {
      const double nu = random.chance(0.1) ? 0 : random.uniform();
      double inside[2] = {random.normal(), random.normal()};  // any point of the set
      project_on_section(law, nu, inside);
      double point[2] = {random.normal(), random.normal()}, nearest[2] = {point[0], point[1]};
      project_on_section(law, nu, nearest);
      double again[2] = {nearest[0], nearest[1]};
      project_on_section(law, nu, again);
      for (int k = 0; k < 2; ++k) EXPECT_NEAR(again[k], nearest[k], 1e-14);
      EXPECT_LE(std::hypot(nearest[0], nearest[1]), 0.5 * nu * std::sqrt(2.0) + 1e-15);
      // Nearest: the set lies behind the plane through it, seen from the point.
      const double product = (point[0] - nearest[0]) * (inside[0] - nearest[0]) +
                             (point[1] - nearest[1]) * (inside[1] - nearest[1]);
      EXPECT_LE(product, 1e-14);
    }
  }
}

TEST(DirectIterativeFriction, RelaxationEndsWhereFrictionOpposesSlip) {
  const OneContact law = contact_with(nullptr);
  Random random(6);
  for (int i = 0; i < 200; ++i) {
    const double q[3] = {0, random.normal(), random.normal()};
    double r[3] = {1, 0, 0}, u[3];
    for (int step = 0; step < 30; ++step) {
      for (int a = 0; a < 3; ++a) u[a] = q[a] + law.W(a, 1) * r[1] + law.W(a, 2) * r[2];
      relax_friction(law, u, r);
    }
    for (int a = 1; a < 3; ++a) u[a] = q[a] + law.W(a, 1) * r[1] + law.W(a, 2) * r[2];
    const double slip = std::hypot(u[1], u[2]);
    EXPECT_NEAR(r[1] * u[1] + r[2] * u[2], -0.5 * slip, 1e-10);
  }
}

}  // namespace
}  // namespace stiction
