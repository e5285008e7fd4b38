// What solvers must not do when things are bad: claim a solution of a problem that has none, break
// on a senseless start, or stop at another measure than the one asked for. Over all names that
// make_solver knows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/problem/published_error.h"
#include "stiction/solve/solvers.h"
#include "tests/solve/law_check.h"
#include "tests/solve/problem_families.h"

namespace stiction {
namespace {

using testing::FamilyMaker;
using testing::is_well_formed;

constexpr double kTolerance = 1e-8;

// ---------------------------------------------------------------------- problems without solution

/// A body between two parallel walls that both want it to come towards them (docs/theory.md, "Why
/// it finds a solution"): N w + b_N ≥ 0 from both sides with b_N < 0 has no velocity at all.
StepProblem wedge(double mu, const FrictionSection& section) {
  StepProblem problem;
  problem.add_mass_block(3).setIdentity();
  problem.p = {0.3, 1, 0.5};
  for (const double side : {1.0, -1.0}) {
    problem.add_contact({.num_tangents = 2, .mu = mu, .section = section, .key = 0});
    RowMatrixMap rows = problem.contacts.add_entry(0, 3);
    rows.setIdentity();
    rows(0, 0) = side;
    problem.contact_bias[problem.contacts.row_start(problem.num_contacts() - 1)] = -0.5;
  }
  return problem;
}

/// Two rigid joints along the same row that ask for different velocities.
StepProblem torn_joint(double disagreement) {
  FamilyMaker maker(3);
  maker.add_bodies(2, 3);
  maker.add_joint({.bias = 1});
  const BlockRows rows = maker.problem.bilateral;
  maker.problem.add_bilateral_row({.bias = 1 + disagreement});
  for (int e = rows.entry_start(0); e < rows.entry_start(1); ++e)
    maker.problem.bilateral.add_entry(rows.entry_block(e), rows.entry_columns(e)) =
        rows.entry_matrix(0, e);
  maker.push_bodies();
  return maker.problem;
}

/// A contact and a joint that no impulse can move, and which do not hold by themselves.
StepProblem immovable(bool is_contact) {
  StepProblem problem;
  problem.add_mass_block(2).setIdentity();
  problem.p = {1, 2};
  if (is_contact) {
    problem.add_contact({.num_tangents = 1, .mu = 0.5, .section = {}, .key = 0});
    problem.contact_bias[0] = -1;
  } else {
    problem.add_bilateral_row({.bias = 1});
    problem.bilateral.add_entry(0, 2).setZero();
  }
  return problem;
}

/// Friction in Delassus form: u_N = −ν − 1 whatever else happens.
StepProblem repelled(const FrictionSection& section) {
  StepProblem problem;
  problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = section, .key = 0});
  testing::set_coupling(problem, MatrixXd(Eigen::Vector3d(-1, 1, 1).asDiagonal()));
  problem.contact_bias = {-1, 0.5, 0.5};
  return problem;
}

std::vector<StepProblem> unsolvable_problems() {
  std::vector<StepProblem> all = {torn_joint(1), torn_joint(0.1), immovable(true),
                                  immovable(false)};
  for (const FrictionSection& section :
       {FrictionSection::disc(), FrictionSection::box(), FrictionSection::polygon(6)}) {
    all.push_back(repelled(section));
    for (const double mu : {0.0, 0.5}) all.push_back(wedge(mu, section));
  }
  return all;
}

// Impulses that cancel each other count as scale up to 1e7 times the data (T21), (T22), so that a
// contradiction of 1e-3 of the data is the least that a tolerance of 1e-10 can see.
TEST(SolverHonesty, NoSolverClaimsToSolveWhatHasNoSolution) {
  constexpr double kTolerance = 1e-10;
  const std::vector<StepProblem> problems = unsolvable_problems();
  for (const std::string& name : solver_names())
    for (std::size_t i = 0; i < problems.size(); ++i) {
      SCOPED_TRACE(name + ", problem " + std::to_string(i));
      ASSERT_EQ(find_fault(problems[i]), "");
      StepSolution solution;
      const SolverReport report = make_solver(name, kTolerance)->solve(problems[i], solution);
      EXPECT_NE(to_text(report.status), to_text(SolverStatus::kConverged));
      EXPECT_TRUE(is_well_formed(problems[i], solution));
      EXPECT_GT(certify(problems[i], solution).residual(), kTolerance);
    }
}

// ------------------------------------------------------------------------------ senseless starts

/// Of a wrong size, not finite, or so large that only the promise to be honest remains.
struct SenselessStart {
  StepSolution solution;
  bool is_ignored = true;  // by every solver, which then starts from zero
};

std::vector<SenselessStart> senseless_starts(const StepProblem& problem) {
  std::vector<SenselessStart> starts(5);
  const auto fill = [&](SenselessStart& start, double value) {
    start.solution.resize(problem);
    for (std::vector<double>* list : {&start.solution.w, &start.solution.lambda, &start.solution.r})
      std::fill(list->begin(), list->end(), value);
  };
  fill(starts[0], std::numeric_limits<double>::quiet_NaN());
  fill(starts[1], std::numeric_limits<double>::infinity());
  fill(starts[2], 0);
  starts[2].solution.r.resize(starts[2].solution.r.size() + 7, 1.0);  // of another problem
  fill(starts[3], -1e9);
  fill(starts[4], 1e300);
  starts[3].is_ignored = starts[4].is_ignored = false;
  return starts;
}

TEST(SolverHonesty, SenselessStartsDoNoHarm) {
  for (const std::string& name : solver_names())
    for (const auto make : {testing::signed_bias, testing::machine, testing::rank_deficient})
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const StepProblem problem = make(seed);
        StepSolution cold;
        const SolverStatus expected = make_solver(name, kTolerance)->solve(problem, cold).status;
        for (auto& [start, is_ignored] : senseless_starts(problem)) {
          SCOPED_TRACE(name + " seed " + std::to_string(seed));
          const SolverStatus status = make_solver(name, kTolerance)->solve(problem, start).status;
          EXPECT_TRUE(is_well_formed(problem, start)) << to_text(status);
          if (is_ignored) {
            EXPECT_EQ(to_text(status), to_text(expected));
          }
          if (status == SolverStatus::kConverged) {
            EXPECT_LE(certify(problem, start).residual(), kTolerance);
          }
        }
      }
}

// ------------------------------------------------------------------------------ the second judge

/// A unit mass that falls with speed 1 and slides with speed 2 along the first tangent, μ = 0.5.
StepProblem sliding_block(const FrictionSection& section) {
  StepProblem problem;
  problem.add_mass_block(3).setIdentity();
  problem.p = {-1, 2, 0};
  problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = section, .key = 0});
  problem.contacts.add_entry(0, 3).setIdentity();
  return problem;
}

double violation_of(const FrictionSection& section, const std::vector<double>& r) {
  StepSolution solution;
  solution.w = {-1 + r[0], 2 + r[1], r[2]};
  solution.r = r;
  return testing::LawCheck(sliding_block(section), solution).violation();
}

TEST(LawCheck, SeesEveryWayOfBeingWrong) {
  constexpr double kNoticed = 5e-3;  // mistakes of a tenth, among terms of about ten
  for (const FrictionSection& section :
       {FrictionSection::disc(), FrictionSection::box(), FrictionSection::polygon(4)}) {
    EXPECT_LE(violation_of(section, {1, -0.5, 0}), 1e-16);  // the solution
    EXPECT_GE(violation_of(section, {0, 0, 0}), kNoticed);  // goes through the floor
    EXPECT_GE(violation_of(section, {1.5, -0.75, 0}),
              kNoticed);                                       // pushed by a floor that it has left
    EXPECT_GE(violation_of(section, {1, -0.6, 0}), kNoticed);  // more friction than allowed
    EXPECT_GE(violation_of(section, {1, -0.4, 0}), kNoticed);  // less than there is
    EXPECT_GE(violation_of(section, {1, 0.5, 0}), kNoticed);   // friction that drives
    EXPECT_GE(violation_of(section, {1, -0.3, 0.3}), kNoticed);  // friction across the slip
  }
  StepSolution solution;
  solution.w = {0, 1.6, 0};  // not what the impulses give
  solution.r = {1, -0.5, 0};
  EXPECT_GE(testing::LawCheck(sliding_block({}), solution).violation(), kNoticed);
}

// ------------------------------------------------------------------------------ stopping measures

double measured(StoppingMeasure measure, const StepProblem& problem, const StepSolution& solution) {
  const double certificate = certify(problem, solution).residual();
  const double published = compute_published_error(collection_kind(problem), problem, solution);
  if (measure == StoppingMeasure::kCertificate) return certificate;
  return measure == StoppingMeasure::kPublished ? published : std::max(certificate, published);
}

/// The collections have no bounded rows, and their error takes all bilateral rows for equations.
bool fits_a_collection(const StepProblem& problem) {
  return std::all_of(problem.lower.begin(), problem.lower.end(),
                     [](double x) { return x == -StepProblem::kUnbounded; }) &&
         std::all_of(problem.upper.begin(), problem.upper.end(),
                     [](double x) { return x == StepProblem::kUnbounded; });
}

/// The error of the collections by a formula of this test's own, which covers condensed problems
/// with discs. Rounding of u, summed in another order, is the slack.
void expect_formula(const StepProblem& problem, const StepSolution& solution, double tolerance) {
  if (problem.num_blocks() > 0 || problem.num_bilateral() > 0) return;
  for (int j = 0; j < problem.num_contacts(); ++j)
    if (problem.contacts.num_rows(j) == 3 &&
        problem.section[j].kind != FrictionSection::Kind::kDisc)
      return;
  EXPECT_LE(testing::error_of_collections(problem, solution), tolerance + 1e-14);
}

TEST(SolverHonesty, ConvergedMeansTheMeasureThatWasAskedFor) {
  for (const StoppingMeasure measure :
       {StoppingMeasure::kCertificate, StoppingMeasure::kPublished, StoppingMeasure::kBoth})
    for (const double tolerance : {1e-4, 1e-8, 1e-12})
      for (const std::string& name : solver_names())
        for (const testing::ProblemFamily& family : testing::problem_families())
          for (std::uint64_t seed = 0; seed < 8; ++seed) {
            const StepProblem problem = family.make(seed);
            if (measure != StoppingMeasure::kCertificate && !fits_a_collection(problem)) continue;
            StepSolution solution;
            const SolverReport report =
                make_solver(name, tolerance, measure)->solve(problem, solution);
            EXPECT_TRUE(is_well_formed(problem, solution));
            if (report.status != SolverStatus::kConverged) continue;
            SCOPED_TRACE(fmt::format("{}, {} seed {}, measure {}", name, family.name, seed,
                                     static_cast<int>(measure)));
            EXPECT_LE(measured(measure, problem, solution), tolerance);
            if (measure != StoppingMeasure::kCertificate)
              expect_formula(problem, solution, tolerance);
            // μ up to 10 multiplies errors of normal impulses; the rest is rounding of dense sums.
            if (measure != StoppingMeasure::kPublished) {
              EXPECT_LE(testing::LawCheck(problem, solution).violation(), 10 * tolerance + 1e-14);
            }
          }
}

/// LCPs with matrices of any sort, every third with rows and columns in units of their own.
StepProblem plain_lcp(std::uint64_t seed) {
  Random random(seed + 7001);
  const int n = random.integer(1, 10);
  MatrixXd M(n, n);
  for (double& x : M.reshaped()) x = random.normal();
  if (seed % 2 == 0) M.diagonal().array() += 2;
  StepProblem problem;
  for (int i = 0; i < n; ++i) {
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
    const double unit = seed % 3 == 0 ? std::pow(10.0, random.integer(-6, 6)) : 1;
    M.row(i) *= unit;
    M.col(i) *= unit;
    problem.contact_bias[i] = unit * random.normal();
  }
  testing::set_coupling(problem, M);
  return problem;
}

// Plain LCPs have a path of their own through some solvers, beside the assembled problem.
TEST(SolverHonesty, AnswersToPlainLcpsPassTheJudge) {
  int num_solved = 0;
  for (const StoppingMeasure measure :
       {StoppingMeasure::kCertificate, StoppingMeasure::kPublished, StoppingMeasure::kBoth})
    for (const std::string& name : solver_names())
      for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(fmt::format("{} seed {}, measure {}", name, seed, static_cast<int>(measure)));
        const StepProblem problem = plain_lcp(seed);
        StepSolution solution;
        const SolverReport report =
            make_solver(name, kTolerance, measure)->solve(problem, solution);
        if (report.status != SolverStatus::kConverged) continue;
        ++num_solved;
        EXPECT_TRUE(Acceptance(kTolerance, measure).accepts(problem, solution));
        if (measure != StoppingMeasure::kCertificate) expect_formula(problem, solution, kTolerance);
      }
  EXPECT_GE(num_solved, 500);
}

/// One block that sticks, every number of its problem and its answer times `size`.
double error_at_size(double size, double mistake) {
  StepProblem problem;
  problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = {}, .key = 0});
  testing::set_coupling(problem, MatrixXd::Identity(3, 3));
  problem.contact_bias = {-size, 0.1 * size, 0};
  StepSolution solution;
  solution.r = {size * (1 + mistake), -0.1 * size, 0};
  return compute_published_error(ProblemKind::kLocalFriction, problem, solution);
}

// Squares of numbers above 1e154 overflow. The error may then give up and be infinite; it must not
// become a NaN or, divided by an infinite norm, a zero.
TEST(SolverHonesty, ThePublishedErrorOfHugeNumbersIsNeverSmallByOverflow) {
  for (const double size : {1.0, 1e100, 1e150, 1e160, 1e200, 1e300}) {
    const double right = error_at_size(size, 0), wrong = error_at_size(size, 0.01);
    EXPECT_FALSE(std::isnan(right) || std::isnan(wrong)) << size;
    EXPECT_GE(wrong, 0.005) << size;
    EXPECT_TRUE(right == 0 || std::isinf(right)) << size;
    EXPECT_TRUE(size > 1e150 || right == 0) << size;
  }
}

// ------------------------------------------------------------------------------------- not finite

TEST(SolverHonesty, NumbersThatAreNotFiniteAreNeverSolved) {
  for (const std::string& name : solver_names())
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      SCOPED_TRACE(name);
      const StepProblem good = testing::machine(0);
      for (int place = 0; place < 4; ++place) {
        StepProblem problem = good;
        (place == 0   ? problem.p[1]
         : place == 1 ? problem.contact_bias[0]
         : place == 2 ? problem.bias[0]
                      : problem.mass_values[0]) = bad;
        StepSolution solution;
        const SolverReport report = make_solver(name, kTolerance)->solve(problem, solution);
        EXPECT_NE(to_text(report.status), to_text(SolverStatus::kConverged)) << "place " << place;
        EXPECT_TRUE(is_well_formed(problem, solution)) << "place " << place;
      }
    }
}

// ------------------------------------------------------------------------------- extreme numbers

/// One number of the problem, wherever it is, becomes huge, tiny, zero or its own negative.
void spoil_one_number(StepProblem& problem, Random& random) {
  std::vector<double>* const lists[] = {
      &problem.p,  &problem.bias,       &problem.contact_bias, &problem.contact_compliance,
      &problem.mu, &problem.mass_values};
  std::vector<double>& list = *lists[random.integer(0, 5)];
  if (list.empty()) return;
  double& number = list[random.next() % list.size()];
  const double extremes[] = {1e300, -1e300, 1e150, 1e-150, 1e-308, 0, -number, 1e16 * number};
  number = extremes[random.integer(0, 7)];
}

void expect_honest_answers(std::uint64_t num_seeds) {
  for (const testing::ProblemFamily& family : testing::problem_families())
    for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
      StepProblem problem = family.make(seed);
      Random random(seed + 31);
      spoil_one_number(problem, random);
      if (!find_fault(problem).empty()) continue;
      for (const std::string& name : solver_names()) {
        SCOPED_TRACE(name + ", " + family.name + " seed " + std::to_string(seed));
        StepSolution solution;
        const SolverReport report = make_solver(name, kTolerance)->solve(problem, solution);
        EXPECT_TRUE(is_well_formed(problem, solution)) << to_text(report.status);
        if (report.status == SolverStatus::kConverged) {
          EXPECT_LE(certify(problem, solution).residual(), kTolerance);
        }
      }
    }
}

TEST(SolverHonesty, OneExtremeNumberNeverMakesAWrongAnswer) { expect_honest_answers(25); }
TEST(SlowSolverHonesty, OneExtremeNumberNeverMakesAWrongAnswer) { expect_honest_answers(1000); }

}  // namespace
}  // namespace stiction
