// What one visit of a contact by a Gauss–Seidel sweep costs: nanoseconds per contact and sweep for
// contacts on bodies and in condensed form, in the plane and in space, in packings that fit into
// the caches and in one that does not. The table of docs/solvers/nsgs.md comes from here.
#include <benchmark/benchmark.h>

#include <Eigen/SparseCore>
#include <vector>

#include "bench/solvers/sphere_packing.h"
#include "stiction/base/random.h"
#include "stiction/solve/gauss_seidel_pgs.h"
#include "stiction/solve/nsgs_sweep.h"

namespace {

using stiction::StepProblem;

enum Form { kPlanarBodies, kPlanarCondensed, kSpatialBodies, kSpatialCondensed };

/// Discs of radius 1/2 on a hexagonal grid whose contact normals are turned at random, lying on a
/// floor for one step of 0.01 s under gravity.
StepProblem make_disc_packing(int num_contacts) {
  stiction::Random random(1);
  StepProblem problem;
  int n = 2;
  while (3 * n * (n - 1) < num_contacts) ++n;
  for (int i = 0; i < n * n; ++i) {
    problem.add_mass_block(3).diagonal() << 1, 1, 0.125;
    for (int k = 0; k < 3; ++k) problem.p[3 * i + k] = 0.1 * random.normal();
    problem.p[3 * i + 1] -= 0.0981;
  }
  const auto connect = [&](int a, int b, double angle) {
    const double turned = angle + 0.1 * random.normal(), c = std::cos(turned), s = std::sin(turned);
    problem.add_contact({.num_tangents = 1, .mu = 0.3, .section = {}, .key = 0});
    problem.contacts.add_entry(a, 3) << c, s, 0, -s, c, -0.5;
    if (b >= 0) problem.contacts.add_entry(b, 3) << -c, -s, 0, s, -c, -0.5;
  };
  constexpr double kThird = 1.0471975511965976;  // of a half turn
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      if (y == 0) connect(x, -1, 1.5 * kThird);
      if (x > 0) connect(y * n + x, y * n + x - 1, 0);
      if (y > 0) connect(y * n + x, (y - 1) * n + x, kThird);
      if (y > 0 && x + 1 < n) connect(y * n + x, (y - 1) * n + x + 1, 2 * kThird);
    }
  return problem;
}

/// The same contacts without bodies: W = J M⁻¹Jᵀ as direct coupling, u = J M⁻¹p + W r. Mass blocks
/// must be diagonal.
StepProblem condense(const StepProblem& problem) {
  const int rows = problem.num_contact_rows();
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < problem.num_contacts(); ++j)
    for (int e = problem.contacts.entry_start(j); e < problem.contacts.entry_start(j + 1); ++e) {
      const int body = problem.contacts.entry_block(e);
      const auto piece = problem.contacts.entry_matrix(j, e);
      for (int a = 0; a < piece.rows(); ++a)
        for (int k = 0; k < piece.cols(); ++k)
          entries.emplace_back(problem.contacts.row_start(j) + a, problem.dof_start[body] + k,
                               piece(a, k) / std::sqrt(problem.mass_block(body)(k, k)));
    }
  Eigen::SparseMatrix<double, Eigen::RowMajor> J(rows, problem.num_dofs());
  J.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SparseMatrix<double, Eigen::RowMajor> W = J * J.transpose();
  Eigen::VectorXd free(problem.num_dofs());
  for (int b = 0; b < problem.num_blocks(); ++b)
    for (int k = 0; k < problem.block_size(b); ++k)
      free[problem.dof_start[b] + k] =
          problem.p[problem.dof_start[b] + k] / std::sqrt(problem.mass_block(b)(k, k));
  const Eigen::VectorXd q = J * free;
  StepProblem condensed;
  for (int j = 0; j < problem.num_contacts(); ++j)
    condensed.add_contact({.num_tangents = problem.contacts.num_rows(j) - 1,
                           .mu = problem.mu[j],
                           .section = problem.section[j],
                           .key = 0});
  for (int row = 0; row < rows; ++row) {
    condensed.contact_bias[row] = q[row];
    condensed.coupling.add_row();
    for (decltype(J)::InnerIterator it(W, row); it; ++it)
      condensed.coupling.add_entry(static_cast<int>(it.col()), it.value());
  }
  return condensed;
}

StepProblem make_problem(Form form, int num_contacts) {
  const bool is_planar = form == kPlanarBodies || form == kPlanarCondensed;
  const StepProblem problem =
      is_planar
          ? make_disc_packing(num_contacts)
          : stiction::bench::make_sphere_packing({.num_contacts = num_contacts, .is_pile = true});
  return form == kPlanarCondensed || form == kSpatialCondensed ? condense(problem) : problem;
}

constexpr int kNumSweeps = 30;

/// Nanoseconds are printed as such: 1 n is one of them.
void count_visits(benchmark::State& state, const StepProblem& problem) {
  state.counters["s/visit"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kNumSweeps * problem.num_contacts(),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_NsgsSweeps(benchmark::State& state) {
  const StepProblem problem = make_problem(static_cast<Form>(state.range(0)), state.range(1));
  stiction::ContactBlocks blocks;
  if (!blocks.assemble(problem)) return state.SkipWithError("the problem cannot be assembled");
  stiction::SweepState sweep_state;
  stiction::NsgsSweep sweep;
  for (auto _ : state) {
    sweep_state.start(blocks, {}, false);
    sweep.find_order(blocks);
    sweep.begin(blocks);
    for (int i = 0; i < kNumSweeps; ++i) sweep.run(blocks, {}, sweep_state);
    benchmark::DoNotOptimize(sweep_state.x()[0]);
  }
  count_visits(state, problem);
  int num_closed = 0;
  for (int j = 0; j < problem.num_contacts(); ++j)
    num_closed += sweep_state.x()[problem.contacts.row_start(j)] > 0 ? 1 : 0;
  state.counters["closed"] = static_cast<double>(num_closed) / problem.num_contacts();
}

/// With the layout and with the residual after every sweep, which is how this solver goes.
void BM_PgsSolve(benchmark::State& state) {
  const StepProblem problem = make_problem(static_cast<Form>(state.range(0)), state.range(1));
  stiction::PgsSolver solver({.tolerance = 1e-300, .max_iterations = kNumSweeps});
  for (auto _ : state) {
    stiction::StepSolution solution;
    benchmark::DoNotOptimize(solver.solve(problem, solution));
  }
  count_visits(state, problem);
}

void list_cases(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"form", "contacts"})->Unit(benchmark::kMicrosecond);
  for (const Form form : {kPlanarBodies, kPlanarCondensed, kSpatialBodies, kSpatialCondensed})
    for (const int contacts : {1000, 30000}) bench->Args({form, contacts});
}

BENCHMARK(BM_NsgsSweeps)->Apply(list_cases);
BENCHMARK(BM_PgsSolve)->Apply(list_cases);

}  // namespace
