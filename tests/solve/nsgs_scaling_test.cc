// Memory and time of NSGS per contact, up to a hundred thousand contacts.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <ctime>
#include <string>

#include "stiction/solve/nsgs_solver.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Largest memory of this process so far.
double megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Of n³ spheres that collide at random: microseconds per contact and sweep, preparation included.
double cost_of_pile(int n) {
  const StepProblem pile =
      testing::sphere_grid({.count = {n, n, n}, .jitter = 1.5, .agitation = 1});
  NsgsSolver solver({.tolerance = 1e-4, .measure = StoppingMeasure::kPublished});
  StepSolution solution;
  const double start = cpu_seconds();
  const SolverReport report = solver.solve(pile, solution);
  const double seconds = cpu_seconds() - start;
  EXPECT_EQ(report.status, SolverStatus::kConverged) << n;
  ::testing::Test::RecordProperty("seconds" + std::to_string(n), std::to_string(seconds));
  ::testing::Test::RecordProperty("sweeps" + std::to_string(n), report.iterations);
  return 1e6 * seconds / pile.num_contacts() / report.iterations;
}

TEST(SlowNsgs, ScalesLinearlyToAHundredThousandContacts) {
  const double small = cost_of_pile(12), medium = cost_of_pile(20);
  const double before = megabytes();
  const double large = cost_of_pile(33);  // 105,633 contacts
  EXPECT_LT(megabytes(), 1000);
  RecordProperty("megabytes", std::to_string(megabytes() - before));
  // What a contact costs may grow only by what the caches no longer hold.
  EXPECT_LT(medium, 4 * small);
  EXPECT_LT(large, 4 * small);
}

}  // namespace
}  // namespace stiction
