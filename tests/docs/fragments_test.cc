// Code of the reference pages, word for word (reference_test.cc compares), around what it needs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "stiction/problem/step_problem.h"
#include "stiction/solve/lemke_dense.h"
#include "stiction/solve/saddle_ldlt.h"

namespace stiction {
namespace {

/// docs/solvers/lemke.md
TEST(Fragments, LemkeDense) {
  const int n = 2;
  const double M[] = {2, 1, 1, 2}, q[] = {-5, -6};
  double z[2];
  // clang-format off
  LemkeDense lemke({.tolerance = 1e-12});
  const LemkeDenseReport report = lemke.solve(n, M, q, z);   // row-major; MatrixOrder::kColumnMajor as a fifth argument
  if (report.status != LcpStatus::kSolved)
    std::printf("the best z is off by %g\n", report.error);
  // clang-format on
  EXPECT_EQ(report.status, LcpStatus::kSolved);
  EXPECT_NEAR(z[0], 4.0 / 3, 1e-14);
  EXPECT_NEAR(z[1], 7.0 / 3, 1e-14);
}

/// docs/solvers/sparse-direct.md
TEST(Fragments, SaddleLdlt) {
  // Two bodies of 1 and 2 kg on a line, held together twice: one row too many.
  StepProblem problem;
  problem.h = 0.01;
  problem.add_mass_block(1) << 1;
  problem.add_mass_block(1) << 2;
  for (int i = 0; i < 2; ++i) {
    problem.add_bilateral_row({});
    problem.bilateral.add_entry(0, 1) << 1;
    problem.bilateral.add_entry(1, 1) << -1;
  }
  const std::vector<double> f{3, 0}, g{0, 0};
  std::vector<double> w, x;
  int num_redundant = 0;
  const auto leave_out = [&](int) { ++num_redundant; };
  // clang-format off
  SaddleLdlt ldlt;
  std::vector<char> rows(problem.num_rows(), 1);           // one mark per row, bilateral rows first
  if (ldlt.factor(problem, rows) == SaddleLdlt::Status::kFactored) {
    ldlt.solve(f, g, w, x);                                // refined; x of rows without mark is zero
    for (int row : ldlt.redundant_rows()) leave_out(row);  // depend on others, carry nothing
  }
  // clang-format on
  ASSERT_EQ(w.size(), 2U);
  EXPECT_NEAR(w[0], 1, 1e-14);  // 3 N s on 3 kg
  EXPECT_NEAR(w[1], 1, 1e-14);
  EXPECT_EQ(num_redundant, 1);
}

}  // namespace
}  // namespace stiction
