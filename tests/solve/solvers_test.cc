#include "stiction/solve/solvers.h"

#include <gtest/gtest.h>

#include "stiction/base/error.h"
#include "stiction/base/stopwatch.h"
#include "tests/sanitizers.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

using testing::kHasSanitizers;

TEST(Solvers, EveryNameMakesASolver) {
  for (const std::string& name : solver_names()) {
    const auto solver = make_solver(name);
    ASSERT_NE(solver, nullptr);
    EXPECT_EQ(solver->name(), name);
  }
}

TEST(Solvers, PublishedMethodsHaveNamesOfTheirOwn) {
  for (const std::string& name : published_solver_names()) {
    const auto solver = make_solver(name);
    ASSERT_NE(solver, nullptr);
    EXPECT_TRUE(name.starts_with(solver->name())) << name;  // variants of a method
  }
  EXPECT_EQ(all_solver_names().size(), solver_names().size() + published_solver_names().size());
}

TEST(Solvers, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    make_solver("lemkee");
    FAIL();
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("lemkee"), std::string::npos) << message;
    for (const std::string& name : all_solver_names())
      EXPECT_NE(message.find(name), std::string::npos) << message;
  }
}

TEST(Solvers, ReturnWhatTheyHaveWhenTheirTimeIsUp) {
  // Some 150 contacts: far more than a millisecond for any of them.
  for (const std::string& name : solver_names()) {
    SCOPED_TRACE(name);
    const auto solver = make_solver(name, 1e-14);
    testing::SphereGridOptions grid{.count = {4, 4, 4}};
    if (!solver->takes_section(grid.section)) grid.section = FrictionSection::box();
    const StepProblem problem = testing::sphere_grid(grid);
    StepSolution solution;
    solver->set_time_limit(1e-3);
    Stopwatch watch;
    const SolverReport report = solver->solve(problem, solution);
    // What has been begun is finished: a factorisation, a round of pivots.
    EXPECT_LT(watch.lap(), kHasSanitizers ? 60 : 3);
    EXPECT_NE(report.status, SolverStatus::kUnsupported);
    EXPECT_TRUE(solution.is_finite());
    EXPECT_EQ(report.has_answer, name != "lemke");  // there is none before its last pivot
  }
}

}  // namespace
}  // namespace stiction
