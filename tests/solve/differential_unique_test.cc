// Solver against solver where the solution is known to be unique: velocities and energy without
// friction, whatever is redundant among the impulses; and everything where rows are independent and
// friction is small. Every pair of solvers that take a problem has to agree.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stiction/problem/certificate.h"
#include "stiction/solve/solvers.h"
#include "tests/solve/problem_families.h"

namespace stiction {
namespace {

using testing::FamilyMaker;

constexpr double kTolerance = 1e-12;

struct NamedAnswer {
  std::string name;
  StepSolution solution;
};

/// Answers of all solvers that take the problem and reach `tolerance`.
std::vector<NamedAnswer> solve_by_all(const StepProblem& problem, double tolerance) {
  std::vector<NamedAnswer> answers;
  for (const std::string& name : solver_names()) {
    NamedAnswer answer{name, {}};
    const SolverReport report = make_solver(name, tolerance)->solve(problem, answer.solution);
    if (report.status == SolverStatus::kConverged) answers.push_back(answer);
  }
  return answers;
}

/// Every two answers once, and none with itself.
template <class Compare>
void for_each_pair(const std::vector<NamedAnswer>& answers, const Compare& compare) {
  for (std::size_t i = 0; i < answers.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) compare(answers[i], answers[k]);
}

double kinetic_energy(const StepProblem& problem, const StepSolution& solution) {
  double energy = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const ConstVectorMap w(solution.w.data() + problem.dof_start[b], problem.block_size(b));
    energy += 0.5 * w.dot(problem.mass_block(b) * w);
  }
  return energy;
}

/// The difference of two answers to the same problem, as a motion of its own.
StepSolution difference(const StepSolution& a, const StepSolution& b) {
  StepSolution d = a;
  d.w_vector() -= b.w_vector();
  return d;
}

/// Frictionless contacts, many twice, with joints and motors; symmetric mass, so that the velocity
/// minimises a strictly convex function.
StepProblem frictionless(std::uint64_t seed) {
  FamilyMaker maker(seed);
  maker.is_integer = seed % 3 == 0;
  maker.add_bodies(3, 4, seed % 2 == 0 ? 1 : 1e4);
  if (seed % 4 == 1) maker.add_joint({.bias = 0, .lower = -0.2, .upper = 0.4});
  for (int j = 0; j < 4; ++j) maker.add_contact(0);
  for (int j = 0; j < 3; ++j) maker.add_copy(maker.random.integer(0, 3), 0);
  maker.push_bodies();
  return maker.problem;
}

// Two answers whose complementarity is off by ε·|impulses|·|velocities| differ by at most the
// square root of that in the norm of the energy, since the energy is strongly convex.
TEST(Differential, VelocitiesWithoutFrictionAreTheSameForAllSolvers) {
  int num_compared = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const StepProblem problem = frictionless(seed);
    const std::vector<NamedAnswer> answers = solve_by_all(problem, kTolerance);
    ASSERT_GE(answers.size(), 2u) << "seed " << seed;
    StepSolution start;  // p as a velocity: the scale of the problem
    start.resize(problem);
    for (int b = 0; b < problem.num_blocks(); ++b)
      start.w_vector().segment(problem.dof_start[b], problem.block_size(b)) =
          problem.mass_block(b).diagonal().cwiseInverse().cwiseProduct(
              ConstVectorMap(problem.p.data() + problem.dof_start[b], problem.block_size(b)));
    const double scale = kinetic_energy(problem, start);
    for_each_pair(answers, [&](const NamedAnswer& one, const NamedAnswer& other) {
      SCOPED_TRACE(one.name + " against " + other.name + ", seed " + std::to_string(seed));
      const StepSolution gap = difference(one.solution, other.solution);
      EXPECT_LE(kinetic_energy(problem, gap), 1e2 * kTolerance * scale);
      EXPECT_NEAR(kinetic_energy(problem, one.solution), kinetic_energy(problem, other.solution),
                  1e2 * std::sqrt(kTolerance) * scale);
      ++num_compared;
    });
  }
  RecordProperty("compared", num_compared);
  EXPECT_GE(num_compared, 5000);
}

/// Independent rows, little friction, biases of any sign.
StepProblem little_friction(std::uint64_t seed) {
  FamilyMaker maker(seed);
  maker.add_bodies(4, 6);
  maker.add_joint({.bias = maker.random.normal()});
  for (int j = 0; j < 4; ++j) maker.add_contact(maker.random.uniform(0, 0.1));
  maker.push_bodies();
  for (double& b : maker.problem.contact_bias) b = maker.random.normal();
  return maker.problem;
}

/// As a Delassus problem with a W that is not symmetric.
StepProblem little_friction_condensed(std::uint64_t seed) {
  StepProblem problem = testing::nonsymmetric(seed);
  for (double& mu : problem.mu) mu *= 0.1;
  return problem;
}

template <class Make>
void expect_same_answers(std::uint64_t num_seeds, int least, const Make& make) {
  int num_compared = 0;
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
    const StepProblem problem = make(seed);
    const std::vector<NamedAnswer> answers = solve_by_all(problem, kTolerance);
    ASSERT_GE(answers.size(), 2u) << "seed " << seed;
    const auto r = [](const NamedAnswer& answer) {
      return ConstVectorMap(answer.solution.r.data(),
                            static_cast<Eigen::Index>(answer.solution.r.size()));
    };
    for_each_pair(answers, [&](const NamedAnswer& one, const NamedAnswer& other) {
      // The residual times the condition of W; rows of random numbers, six or more per contact,
      // have conditions below 1e5.
      EXPECT_LE((r(one) - r(other)).norm(), 1e5 * kTolerance * (1 + r(other).norm()))
          << one.name << " against " << other.name << ", seed " << seed;
      ++num_compared;
    });
  }
  ::testing::Test::RecordProperty("compared", num_compared);
  EXPECT_GE(num_compared, least);
}

TEST(Differential, ImpulsesAreTheSameForAllSolversWhereFrictionIsSmall) {
  expect_same_answers(100, 1500, little_friction);
}

TEST(Differential, ImpulsesAreTheSameForNonsymmetricMatricesWhereFrictionIsSmall) {
  expect_same_answers(100, 1000, little_friction_condensed);
}

}  // namespace
}  // namespace stiction
