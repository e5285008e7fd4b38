// stiction_bench_lemke: Lemke's method for dense complementarity problems, ours (LemkeDense) and
// that of Siconos, on LCP files and on friction problems with polygonal sections.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>

#include "bench/solvers/bench_program.h"
#include "bench/solvers/lemke_problems.h"
#include "bench/solvers/lemke_report.h"
#include "bench/solvers/lemke_rival.h"
#include "stiction/solve/lemke_dense.h"

namespace stiction::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string folder;
  std::string out = "bench-lemke";
  std::vector<int> contacts = {5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 60};
  std::vector<int> sides = {4, 8};
  int num_seeds = 3;
  double seconds = 0.2;  // of repetitions per measurement
};

double time_of(const std::function<void()>& solve, int batch) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < batch; ++i) solve();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Least time of one call. Short ones are timed in batches, since reading the clock takes as long.
double measure_seconds(const std::function<void()>& solve, double enough) {
  constexpr double kShortSeconds = 2e-5;
  constexpr int kMaxBatch = 4096, kMinRepetitions = 3;
  int batch = 1;
  while (batch < kMaxBatch && time_of(solve, batch) < kShortSeconds) batch *= 2;
  double least = std::numeric_limits<double>::infinity(), total = 0;
  for (int i = 0; i < kMinRepetitions || total < enough; ++i) {
    const double seconds = time_of(solve, batch);
    least = std::min(least, seconds / batch);
    total += seconds;
  }
  return least;
}

std::optional<LemkeTiming> run_siconos(const DenseLcp& lcp, SiconosEntry entry, double enough) {
  const std::unique_ptr<LemkeRival> rival = make_siconos_lemke(lcp, entry);
  if (!rival) return {};
  rival->solve();
  const double error = compute_lcp_error(lcp, rival->z());
  return LemkeTiming{measure_seconds([&] { rival->solve(); }, enough), error};
}

LemkeRecord run_problem(const DenseLcp& lcp, double enough) {
  LemkeRecord record;
  record.name = lcp.name;
  record.family = lcp.family;
  record.size = lcp.size;
  record.num_contacts = lcp.num_contacts;
  LemkeDense method;
  std::vector<double> z(lcp.q.size());
  const auto solve = [&] {
    return method.solve(lcp.size, lcp.matrix.data(), lcp.q.data(), z.data());
  };
  const LemkeDenseReport report = solve();
  record.pivots = report.pivots;
  record.stage = report.stage;
  record.ours.error = compute_lcp_error(lcp, z);
  record.ours.seconds = measure_seconds([&] { (void)solve(); }, enough);
  record.driver = run_siconos(lcp, SiconosEntry::kDriver, enough);
  record.bare = run_siconos(lcp, SiconosEntry::kBare, enough);
  return record;
}

std::vector<DenseLcp> collect_problems(const Options& options) {
  std::vector<DenseLcp> problems;
  if (!options.folder.empty()) problems = read_lcp_folder(options.folder);
  for (const int sides : options.sides)
    for (const int contacts : options.contacts)
      for (int seed = 1; seed <= options.num_seeds; ++seed)
        problems.push_back(make_friction_lcp({.num_contacts = contacts,
                                              .num_sides = sides,
                                              .seed = static_cast<std::uint64_t>(seed)}));
  return problems;
}

int run(const Options& options) {
  std::vector<LemkeRecord> records;
  for (const DenseLcp& lcp : collect_problems(options)) {
    records.push_back(run_problem(lcp, options.seconds));
    const LemkeRecord& r = records.back();
    fmt::print(stderr, "{:28} {:6} n = {:3}  ours {:10.4g} µs  {:7.1e}", r.name, r.family, r.size,
               1e6 * r.ours.seconds, r.ours.error);
    if (r.driver)
      fmt::print(stderr, "  Siconos {:10.4g} µs  {:7.1e}", 1e6 * r.driver->seconds,
                 r.driver->error);
    fmt::print(stderr, "\n");
  }
  if (!records.empty() && !records.front().driver)
    fmt::print(stderr, "built without Siconos: only our half has run\n");
  std::filesystem::create_directories(options.out);
  write_report(std::filesystem::path(options.out) / "lemke.md", to_markdown(records));
  write_report(std::filesystem::path(options.out) / "lemke.json", to_json(records));
  for (const LemkeSummary& s : summarize(records))
    fmt::print(
        "{:22} {:3} problems, solved by us {:3}, by Siconos {:3}, ratio mean {:6.3g} least "
        "{:6.3g}\n",
        s.name, s.problems, s.solved_by_us, s.solved_by_rival, s.mean, s.least);
  return 0;
}

int run_program(int argc, char** argv) {
  CLI::App app{"Compares Lemke's methods on dense complementarity problems",
               "stiction_bench_lemke"};
  Options options;
  app.add_option("folder", options.folder, "searched for LCP files; default: none");
  app.add_option("--out", options.out, "folder for lemke.md and lemke.json");
  app.add_option("--contacts", options.contacts, "numbers of contacts of the friction problems")
      ->check(CLI::PositiveNumber);
  app.add_option("--sides", options.sides, "sides of the friction section, even")
      ->check(CLI::Range(4, 64));
  app.add_option("--seeds", options.num_seeds, "problems of each kind and size")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seconds", options.seconds, "of repetitions per measurement")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  return run(options);
}

}  // namespace
}  // namespace stiction::bench

int main(int argc, char** argv) {
  return stiction::bench::run_alone("stiction_bench_lemke", stiction::bench::run_program, argc,
                                    argv);
}
