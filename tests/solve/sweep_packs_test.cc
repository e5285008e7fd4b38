// Sweeps in packs: who may be packed, who goes where, and the same motion as visits one by one.
#include "stiction/solve/sweep_packs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "stiction/problem/certificate.h"
#include "stiction/solve/nsgs_solver.h"
#include "stiction/solve/nsgs_sweep.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

/// What a sweep works on.
template <class Real>
struct Bench {
  explicit Bench(StepProblem given) : problem(std::move(given)) {
    EXPECT_TRUE(blocks.assemble(problem));
    sweep.find_order(blocks);
    sweep.begin(blocks);
    is_packed = packs.lay_out(problem, blocks, sweep.order());
    state.start(blocks, {}, false);
  }
  StepProblem problem;
  ContactBlocks blocks;
  NsgsSweep sweep;
  SweepPacks<Real> packs;
  SweepState state;
  bool is_packed = false;
};

StepProblem pile(double mu = 0.3) { return testing::sphere_grid({.count = {7, 6, 9}, .mu = mu}); }

/// Axes of inertia that are not those of the coordinates; normals of spheres do not turn them, so
/// that still nothing slides.
StepProblem pile_with_full_inertia() {
  StepProblem problem = pile(1e9);
  for (int b = 0; b < problem.num_blocks(); ++b)
    for (int i = 3; i < 6; ++i)
      for (int j = 3; j < i; ++j)
        problem.mass_block(b)(i, j) = problem.mass_block(b)(j, i) =
            0.3 * problem.mass_block(b)(i, i) * std::cos(i + j + b);
  return problem;
}

double largest_difference(const SweepState& a, const SweepState& b, int num_rows) {
  double largest = 0;
  for (int row = 0; row < num_rows; ++row)
    largest = std::max(largest, std::abs(a.x()[row] - b.x()[row]));
  return largest;
}

double largest_impulse(const SweepState& state, int num_rows) {
  double largest = 0;
  for (int row = 0; row < num_rows; ++row) largest = std::max(largest, std::abs(state.x()[row]));
  return largest;
}

/// What rounding amounts to after some sums of ten to twenty terms, relative to the largest.
template <class Real>
constexpr double kRounding = 400 * static_cast<double>(std::numeric_limits<Real>::epsilon());

template <class Real>
class SweepPacksOf : public ::testing::Test {};
using Precisions = ::testing::Types<double, float>;
TYPED_TEST_SUITE(SweepPacksOf, Precisions);

TYPED_TEST(SweepPacksOf, HoldEveryContactOnceAndNoBodyTwice) {
  const Bench<TypeParam> bench(pile());
  ASSERT_TRUE(bench.is_packed);
  std::vector<int> count(bench.blocks.num_units(), 0);
  for (const SweepPack<TypeParam>& pack : bench.packs.packs()) {
    std::vector<int> bodies;
    for (const int contact : pack.contact) {
      if (contact < 0) continue;
      ++count[contact];
      for (int e = bench.blocks.unit(contact).entry_begin;
           e < bench.blocks.unit(contact + 1).entry_begin; ++e)
        bodies.push_back(bench.blocks.entry(e).block);
    }
    std::sort(bodies.begin(), bodies.end());
    EXPECT_EQ(std::adjacent_find(bodies.begin(), bodies.end()), bodies.end());
  }
  EXPECT_EQ(std::count(count.begin(), count.end(), 1), bench.blocks.num_units());
}

TYPED_TEST(SweepPacksOf, KeepTheOrderOfContactsThatShareABody) {
  const Bench<TypeParam> bench(pile());
  ASSERT_TRUE(bench.is_packed);
  std::vector<int> pack_of(bench.blocks.num_units()), place(bench.blocks.num_units());
  for (int p = 0; p < bench.packs.num_packs(); ++p)
    for (const int contact : bench.packs.packs()[p].contact)
      if (contact >= 0) pack_of[contact] = p;
  int number = 0;
  for (const int unit : bench.sweep.order().units()) place[unit] = number++;
  for (int b = 0; b < bench.blocks.num_blocks(); ++b)
    for (const auto& one : bench.blocks.meetings(b))
      for (const auto& other : bench.blocks.meetings(b))
        EXPECT_EQ(place[one.unit] < place[other.unit], pack_of[one.unit] < pack_of[other.unit]);
}

/// Five sweeps of both kinds. Friction is so strong that nothing slides (normals do not turn
/// spheres): visits are linear, and equal up to rounding, which sums of some ten terms in another
/// order amount to; sweeps that contract do not make it grow. All velocities belong to the
/// impulses.
template <class Real>
void expect_the_same_motion(const StepProblem& problem) {
  Bench<Real> bench(problem);
  ASSERT_TRUE(bench.is_packed);
  SweepState packed = bench.state;
  bench.packs.load(packed);
  for (int number = 0; number < 5; ++number) {
    bench.sweep.run(bench.blocks, {}, bench.state);
    (void)bench.packs.run();
  }
  bench.packs.store(packed);
  const int n = bench.blocks.num_rows();
  const double rounding = kRounding<Real> * largest_impulse(packed, n);
  EXPECT_LT(largest_difference(packed, bench.state, n), rounding);
  SweepState anew = packed;
  anew.refresh(bench.blocks);
  for (int k = 0; k < bench.blocks.num_dofs(); ++k)
    EXPECT_NEAR(packed.w()[k], anew.w()[k], rounding);
  for (int row = 0; row < n; ++row) EXPECT_NEAR(packed.u()[row], anew.u()[row], rounding);
}

TYPED_TEST(SweepPacksOf, MoveAsVisitsOneByOne) {
  expect_the_same_motion<TypeParam>(pile(1e9));
  expect_the_same_motion<TypeParam>(pile_with_full_inertia());
}

TYPED_TEST(SweepPacksOf, KnowCompliance) {
  StepProblem problem = pile(1e9);
  for (double& compliance : problem.contact_compliance) compliance = 0.3;
  expect_the_same_motion<TypeParam>(problem);
}

TYPED_TEST(SweepPacksOf, HaveTheSameBitsWithNarrowVectors) {
  Bench<TypeParam> wide(pile()), narrow(pile());
  ASSERT_TRUE(wide.is_packed);
  wide.packs.load(wide.state);
  narrow.packs.load(narrow.state);
  const std::span<TypeParam> values = narrow.packs.values();
  TypeParam* velocities = values.data() + narrow.packs.first_velocity();
  const std::vector<double> scale(wide.blocks.num_units(), 0.1);
  wide.packs.set_scales(scale);
  narrow.packs.set_scales(scale);
  // All packs one after the other are what run() makes of them with one thread.
  for (int number = 0; number < 20; ++number) {
    const double a = wide.packs.run();
    const double b =
        visit_packs_by_halves<TypeParam>(narrow.packs.packs(), {values.data(), velocities});
    EXPECT_EQ(a, b);
    EXPECT_GT(a, 0);
  }
  EXPECT_TRUE(std::equal(values.begin(), values.end(), wide.packs.values().begin()));
}

/// Micrograms or tons, micrometres or kilometres a second: numbers of single precision are relative
/// to what moves. Powers of two leave all bits of the others as they are.
TEST(SweepPacks, HaveNoUnitsInSinglePrecision) {
  Bench<float> plain(pile());
  ASSERT_TRUE(plain.is_packed);
  plain.packs.load(plain.state);
  for (int number = 0; number < 20; ++number) (void)plain.packs.run();
  for (const double mass : {0x1p-80, 0x1p80})
    for (const double speed : {0x1p-40, 0x1p60}) {
      StepProblem problem = pile();
      for (double& m : problem.mass_values) m *= mass;
      for (double& p : problem.p) p *= mass * speed;
      Bench<float> other(problem);
      ASSERT_TRUE(other.is_packed);
      other.packs.load(other.state);
      for (int number = 0; number < 20; ++number) (void)other.packs.run();
      const std::span<float> values = plain.packs.values();
      EXPECT_TRUE(std::equal(values.begin(), values.end(), other.packs.values().begin()));
    }
}

/// A rod that contacts turn much more easily than they shift it: W⁻¹ is worth nothing in single
/// precision.
TEST(SweepPacks, AreRefusedInSinglePrecisionWhereTurnsOutweighShifts) {
  StepProblem problem = pile();
  for (int b = 0; b < problem.num_blocks(); ++b)
    for (int i = 3; i < 6; ++i) problem.mass_block(b)(i, i) *= 1e-7;
  EXPECT_TRUE(Bench<double>(problem).is_packed);
  EXPECT_FALSE(Bench<float>(problem).is_packed);
}

/// All tolerances at which sweeps begin in single precision, whether they end in it or not.
TEST(SweepPacks, ReachTolerancesThatBeginInSinglePrecision) {
  const StepProblem problem = pile();
  for (const double tolerance : {1e-3, 1e-5, 1e-7}) {
    StepSolution solution;
    const SolverReport report = NsgsSolver({.tolerance = tolerance}).solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kConverged) << tolerance;
    EXPECT_TRUE(certify(problem, solution).meets(tolerance)) << tolerance;
  }
}

/// Rounding that sweeps in place collect is taken out every 100 sweeps. Momentum that went on from
/// a point with that rounding would bring it back several times as large: to 10²⁰ after 3,000.
TEST(SweepPacks, DoNotGatherRoundingByMomentum) {
  const StepProblem problem = pile();
  for (const double tolerance : {1e-3, 1e-6, 1e-8}) {
    StepSolution solution;
    const SolverReport report =
        NsgsSolver(
            {.tolerance = tolerance, .acceleration = Acceleration::kMomentum, .least_sweeps = 3000})
            .solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kConverged) << tolerance;
    EXPECT_EQ(report.iterations, 3000) << tolerance;
  }
}

/// One sweep from nothing: what sticks or opens is where it would be, what slides has gone three
/// quarters of its way, and later contacts find velocities that belong to that.
/// Contacts that go on changing between stick and slip. With the momentum of the first sweeps and
/// without holding back what slides, one of these five piles does not end within 3,000 sweeps and
/// the others take 300 to 1,200; at the fine tolerance none of the three ends within 3,000.
TEST(SweepPacks, SettleWhatGoesOnChanging) {
  const auto expect_done = [](const testing::SphereGridOptions& pile, double tolerance,
                              int most_sweeps) {
    const StepProblem problem = testing::sphere_grid(pile);
    StepSolution solution;
    const SolverReport report = NsgsSolver({.tolerance = tolerance, .max_iterations = most_sweeps})
                                    .solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kConverged) << "seed " << pile.seed;
    EXPECT_LE(certify(problem, solution).residual(), tolerance);
  };
  for (const std::uint64_t seed : {3, 4, 5, 8, 10})
    expect_done({.count = {10, 10, 10}, .mu = 0.8, .jitter = 0.9, .agitation = 3, .seed = seed},
                1e-3, 100);
  for (const std::uint64_t seed : {5, 8, 9})
    expect_done({.count = {6, 6, 10}, .mu = 0.5, .jitter = 0.6, .agitation = 1, .seed = seed}, 1e-6,
                1500);
}

TYPED_TEST(SweepPacksOf, HoldBackWhatSlides) {
  constexpr double kHold = 0.25, kMu = 0.3;
  Bench<TypeParam> bench(testing::sphere_grid({.count = {30, 3, 1}, .mu = kMu}));
  ASSERT_TRUE(bench.is_packed);
  SweepState held = bench.state, free = bench.state;
  bench.packs.load(bench.state);
  (void)bench.packs.run();
  bench.packs.store(free);
  bench.packs.set_hold(kHold);
  bench.packs.load(bench.state);
  (void)bench.packs.run();
  bench.packs.store(held);
  // The contacts of the first pack: nothing has moved their bodies before.
  int num_sliding = 0;
  for (const int contact : bench.packs.packs()[0].contact) {
    if (contact < 0) continue;
    const double *x = free.x() + 3 * contact, *y = held.x() + 3 * contact;
    const bool slides = x[0] > 0 && std::hypot(x[1], x[2]) > (1 - 1e-4) * kMu * x[0];
    num_sliding += slides ? 1 : 0;
    for (int a = 0; a < 3; ++a)
      EXPECT_NEAR(y[a], (slides ? 1 - kHold : 1) * x[a], 1e-6 * std::abs(x[0]));
  }
  EXPECT_GT(num_sliding, 0);
  SweepState fresh = held;
  fresh.refresh(bench.blocks);
  for (int k = 0; k < bench.blocks.num_dofs(); ++k)
    EXPECT_NEAR(held.w()[k], fresh.w()[k], kRounding<TypeParam>);
}

/// With more friction neither kind of sweeps gets this far in this pile.
TEST(SweepPacks, SolveWhatSlides) {
  for (const double mu : {0.05, 0.2, 0.3, 0.4}) {
    const StepProblem problem = pile(mu);
    EXPECT_TRUE(Bench<double>(problem).is_packed);
    StepSolution solution;
    const SolverReport report = NsgsSolver({.tolerance = 1e-8}).solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kConverged) << mu;
    EXPECT_TRUE(certify(problem, solution).meets(1e-8)) << mu;
  }
}

/// What comes back of load and store is what went in, but for rounding.
TYPED_TEST(SweepPacksOf, ReturnTheStateThatTheyWereGiven) {
  Bench<TypeParam> bench(pile_with_full_inertia());
  ASSERT_TRUE(bench.is_packed);
  bench.sweep.run(bench.blocks, {}, bench.state);
  SweepState back = bench.state;
  std::fill(back.w(), back.w() + bench.blocks.num_dofs(), 7.0);
  bench.packs.load(bench.state);
  bench.packs.store(back);
  double speed = 0;
  for (int k = 0; k < bench.blocks.num_dofs(); ++k)
    speed = std::max(speed, std::abs(bench.state.w()[k]));
  const int n = bench.blocks.num_rows();
  const bool is_double = sizeof(TypeParam) == sizeof(double);
  EXPECT_LE(largest_difference(back, bench.state, n),
            is_double ? 0 : 1e-7 * largest_impulse(bench.state, n));
  for (int k = 0; k < bench.blocks.num_dofs(); ++k)
    EXPECT_NEAR(back.w()[k], bench.state.w()[k], kRounding<TypeParam> / 10 * speed);
}

/// Momenta so large that impulses overflow: a clean refusal, and the layout is as good as before
/// for whoever comes next.
TEST(SweepPacks, SurviveNumbersThatOverflow) {
  for (const double factor : {1e160, 1e300}) {
    StepProblem problem = pile();
    for (double& p : problem.p) p *= factor;
    StepSolution solution;
    const SolverReport report = NsgsSolver({.max_iterations = 100}).solve(problem, solution);
    EXPECT_NE(report.status, SolverStatus::kConverged);
  }
  const StepProblem problem = pile();
  const auto workshop = std::make_shared<SweepWorkshop>();
  StepSolution spoilt, after, alone;
  spoilt.set_zero(problem);
  for (std::size_t row = 0; row < spoilt.r.size(); row += 3) spoilt.r[row] = 1e306;
  (void)NsgsSolver({.max_iterations = 100}, workshop).solve(problem, spoilt);
  after.set_zero(problem);
  alone.set_zero(problem);
  const SolverReport second = NsgsSolver({.tolerance = 1e-6}, workshop).solve(problem, after);
  EXPECT_EQ(second.status, SolverStatus::kConverged);
  (void)NsgsSolver({.tolerance = 1e-6}).solve(problem, alone);
  EXPECT_EQ(after.r, alone.r);
}

TYPED_TEST(SweepPacksOf, ReportTheChangeInTheScalesGiven) {
  Bench<TypeParam> bench(pile(1e9));
  ASSERT_TRUE(bench.is_packed);
  const std::vector<double> scale(bench.blocks.num_units(), 2.0);
  bench.packs.set_scales(scale);
  bench.packs.load(bench.state);
  const double change = bench.packs.run();
  bench.packs.store(bench.state);
  double expected = 0;  // from no impulses at all the change is the impulse
  for (int i = 0; i < bench.blocks.num_units(); ++i) {
    const double* x = bench.state.x() + bench.blocks.unit(i).row;
    expected =
        std::max(expected, bench.blocks.omega(i) / 4 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
  }
  EXPECT_NEAR(change, expected, kRounding<TypeParam> / 10 * expected);
}

TYPED_TEST(SweepPacksOf, AreRefusedWhereSomethingElseIsInTheProblem) {
  EXPECT_FALSE(
      Bench<TypeParam>(testing::sphere_grid({.section = {FrictionSection::Kind::kPolygon, 8}}))
          .is_packed);
  StepProblem joined = pile();
  joined.add_bilateral_row({});
  joined.bilateral.add_entry(0, 6).setOnes();
  EXPECT_FALSE(Bench<TypeParam>(joined).is_packed);
  StepProblem turning = pile();
  turning.mass_block(3)(4, 5) = 0.1;
  turning.mass_block(3)(5, 4) = -0.1;
  EXPECT_FALSE(Bench<TypeParam>(turning).is_packed);
}

}  // namespace
}  // namespace stiction
