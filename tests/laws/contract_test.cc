// What every scheme owes its users, whatever the solver: one suite for all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_system.h"
#include "stiction/model/system_builder.h"
#include "stiction/scheme/scheme.h"
#include "stiction/sim/simulation.h"
#include "stiction/solve/solvers.h"
#include "tests/base/temporary_folder.h"
#include "tests/example_scene.h"
#include "tests/gravity.h"
#include "tests/sanitizers.h"

namespace stiction::testing {
namespace {

/// Solvers that have to bring every small problem to the tolerance; the others are iterative and
/// may say that they did not.
bool is_exact(const std::string& solver) { return solver == "auto" || solver == "lemke"; }

class EveryScheme : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Contract, EveryScheme, ::testing::ValuesIn(scheme_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// A block of mass 2 above a floor that it touches with `num_copies` equal contacts.
Model block(double height, double x_velocity, int num_copies, double mu = 0.5) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, x_velocity}),
                   y = system.add_coordinate("y", {height, 0});
  system.set_mass(x, x, 2.0);
  system.set_mass(y, y, 2.0);
  system.set_potential(2.0 * kGravity * y);
  for (int i = 0; i < num_copies; ++i)
    system.add_contact({.gap = y, .tangents = {{1.0, 0.0}}, .mu = mu});
  return system.build_model();
}

TEST_P(EveryScheme, FallsFreelyAsItsFormulaSays) {
  constexpr double h = 0.01;
  const bool is_euler = GetParam() == "stewart-trinkle" || GetParam() == "anitescu-potra" ||
                        GetParam() == "linearly-implicit-euler" || GetParam() == "spook";
  for (const std::string& solver : solver_names()) {
    Simulation simulation(block(100, 3, 0), {.scheme = GetParam(), .solver = solver, .h = h});
    for (int n = 1; n <= 100; ++n) {
      simulation.step();
      // q⁺ = q + h v⁺ in the schemes of Euler type, the parabola itself in the others.
      const double fall = kGravity * h * h * (is_euler ? n * (n + 1) : n * n) / 2.0;
      ASSERT_NEAR(simulation.state().q[0], 3 * n * h, 1e-12) << solver;
      ASSERT_NEAR(simulation.state().q[1], 100 - fall, 1e-11) << solver;
      ASSERT_NEAR(simulation.state().v[1], -kGravity * n * h, 1e-12) << solver;
    }
  }
}

TEST_P(EveryScheme, SlidesToRestOnOneContactAndOnRedundantOnes) {
  std::vector<int> copies{5, 2, 1};
  copies.resize(fewer_sanitized(3, 3));
  for (const std::string& solver : solver_names())
    for (const int num_copies : copies) {
      SCOPED_TRACE(solver + ", " + std::to_string(num_copies));
      Simulation simulation(block(0, 1, num_copies),
                            {.scheme = GetParam(), .solver = solver, .h = 1e-3});
      try {
        simulation.run(0.5);
      } catch (const StepRejected&) {
        EXPECT_FALSE(is_exact(solver));
        continue;
      }
      // Braked by μg over v²/(2μg); schemes of first order are off by half a step's travel.
      EXPECT_NEAR(simulation.state().q[0], 1 / (2 * 0.5 * kGravity), 1.1e-3);
      EXPECT_NEAR(simulation.state().q[1], 0, 1e-12);
      EXPECT_NEAR(simulation.state().v[0], 0, 1e-3);
      double load = 0;
      for (const ContactOutcome& contact : simulation.contacts()) load += contact.impulse[0];
      EXPECT_NEAR(load, 2 * kGravity * 1e-3, 1e-9);
    }
}

TEST_P(EveryScheme, TendsToOneMotionAsTheStepShrinks) {
  // Dropped on a rough floor while sliding: impact, slip, rest.
  const double impact = std::sqrt(2 * 0.1 / kGravity);
  std::vector<double> ends;
  for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
    Simulation simulation(block(0.1, 2, 1), {.scheme = GetParam(), .solver = "lemke", .h = h});
    simulation.run(0.6);
    ends.push_back(simulation.state().q[0]);
  }
  // The impact takes μ times the normal impulse from the slip; the rest is braked.
  const double slip = 2 - 0.5 * kGravity * impact;
  const double exact = 2 * impact + slip * slip / (2 * 0.5 * kGravity);
  EXPECT_NEAR(ends.back(), exact, 4e-3);
  EXPECT_LT(std::abs(ends.back() - exact), std::abs(ends.front() - exact) + 1e-12);
}

TEST_P(EveryScheme, ContinuesFromACheckpointWithTheSameBits) {
  const TemporaryFolder folder;
  for (const std::string& solver : solver_names()) {
    SCOPED_TRACE(solver);
    const SimulationOptions options{
        .scheme = GetParam(), .solver = solver, .h = 3e-3, .on_failure = OnFailure::kAcceptAndFlag};
    Simulation whole(block(0.05, 2, 2), options), first(block(0.05, 2, 2), options),
        second(block(0.05, 2, 2), options);
    whole.run(0.3);
    first.run(0.15);
    first.save(folder.file("state.h5"));
    second.restore(folder.file("state.h5"));
    second.run(0.15);
    EXPECT_EQ(whole.state().q, second.state().q);
    EXPECT_EQ(whole.state().v, second.state().v);
    EXPECT_EQ(whole.state().t, second.state().t);
    EXPECT_EQ(whole.energy().impact, second.energy().impact);
    EXPECT_EQ(whole.summary().events, second.summary().events);
  }
}

bool has_compliant_contacts(const Scene& scene) {
  const auto* bodies = dynamic_cast<const RigidBodySystem*>(scene.model.parts()[0].system.get());
  if (bodies == nullptr) return false;
  const auto& materials = bodies->description().materials;
  return std::any_of(materials.begin(), materials.end(),
                     [](const auto& material) { return material.compliance > 0; });
}

TEST_P(EveryScheme, RunsEveryExampleWithEverySolver) {
  // Solvers other than auto have dense matrices in them: large mechanisms take them long, see
  // contract_examples_test.cc.
  // Piles, whose authors ask for no more than 1e-6, have tests of their own; here a few steps show
  // that they run.
  constexpr int kNumSteps = kHasSanitizers ? 20 : 200, kFewSteps = kHasSanitizers ? 5 : 30,
                kFewestSteps = kHasSanitizers ? 1 : 3;
  constexpr std::size_t kManyBlocks = 8;
  constexpr double kSmallStep = 5e-4;
  const bool has_compliance = GetParam() == "spook" || GetParam() == "stewart-trinkle";
  int num_iterative = 0, num_rejected = 0;
  const std::vector<std::string> schemes = scheme_names(), names = example_names();
  // Under sanitizers every third example, another third in the next scheme.
  const int stride = kHasSanitizers ? 3 : 1;
  const auto first = std::find(schemes.begin(), schemes.end(), GetParam()) - schemes.begin();
  for (std::size_t i = first % stride; i < names.size(); i += stride) {
    const std::string& name = names[i];
    const Scene scene = example_scene(name);
    if (!has_compliance && has_compliant_contacts(scene)) continue;  // refused, and rightly so
    const bool is_large = scene.model.blocks().size() > kManyBlocks;
    const bool is_pile = scene.simulate.tolerance >= 1e-6;
    for (const std::string& solver : solver_names()) {
      if (is_large && solver != "auto") continue;
      SCOPED_TRACE(name + ", " + solver);
      // Only spook with its stiffness of turning forces steps heavy chains at 1/60 s.
      SimulationOptions options{
          .scheme = GetParam(),
          .solver = solver,
          .h = is_large ? std::min(scene.simulate.h, kSmallStep) : scene.simulate.h,
          .penetration_tolerance = scene.simulate.penetration_tolerance,
          .stepping = scene.simulate.stepping};
      if (is_pile) {
        options.tolerance = scene.simulate.tolerance;
        options.friction = scene.simulate.friction;
      }
      try {
        Simulation simulation(scene.model, options);
        const int num_steps = is_pile ? kFewestSteps : is_large ? kFewSteps : kNumSteps;
        for (int k = 0; k < num_steps; ++k) simulation.step();
        EXPECT_LE(simulation.summary().residual_max, options.tolerance);
      } catch (const StepRejected& rejected) {
        EXPECT_FALSE(is_exact(solver)) << rejected.what();
        ++num_rejected;
      } catch (const InputError&) {  // a section or masses that the solver does not take
        EXPECT_NE(solver, "auto");
        continue;
      }
      num_iterative += is_exact(solver) ? 0 : 1;
    }
  }
  // Redundant contacts of boxes and joints with motors are hard for sweeps.
  EXPECT_LE(num_rejected, num_iterative / 3) << "of " << num_iterative;
}

}  // namespace
}  // namespace stiction::testing
