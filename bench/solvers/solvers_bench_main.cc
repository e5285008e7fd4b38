// stiction_bench_solvers FOLDER: our solvers, and those of Siconos where it is installed, on every
// problem file below a folder.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <regex>

#include "bench/solvers/bench_program.h"
#include "bench/solvers/report.h"
#include "stiction/base/error.h"

namespace stiction::bench {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string folder = "problems";
  std::string out = "bench-solvers";
  std::string only = ".*";
  std::string solvers = ".*";
  bool is_ours_only = false;
  TournamentOptions tournament;
};

std::vector<fs::path> find_files(const Options& options) {
  if (!fs::is_directory(options.folder))
    throw InputError(fmt::format("'{}' is not a folder", options.folder));
  const std::regex pattern(options.only);
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(options.folder)) {
    const std::string ending = entry.path().extension().string();
    const bool is_problem = ending == ".hdf5" || ending == ".h5";
    if (entry.is_regular_file() && is_problem && std::regex_search(entry.path().string(), pattern))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Contenders make_contenders(const Options& options) {
  const std::regex pattern(options.solvers);
  Contenders chosen;
  const auto take = [&](Contenders all) {
    for (auto& contender : all)
      if (contender->name() == "auto" || std::regex_match(contender->name(), pattern))
        chosen.push_back(std::move(contender));
  };
  take(make_our_contenders());
  if (!options.is_ours_only) take(make_siconos_contenders());
  return chosen;
}

void print_trial(const ProblemRecord&, const Trial& trial) {
  fmt::print(stderr, "  {:10} {:18} {:6g}  {:10} {:9.3g} s  error {:.1e}\n", trial.library,
             trial.solver, trial.tolerance, to_text(trial.result.status), trial.result.seconds,
             trial.result.error);
}

std::vector<ProblemRecord> run_all(const std::vector<fs::path>& files, const Options& options) {
  const Contenders contenders = make_contenders(options);
  std::vector<ProblemRecord> records;
  for (std::size_t i = 0; i < files.size(); ++i) {
    fmt::print(stderr, "[{}/{}] {}\n", i + 1, files.size(), files[i].stem().string());
    try {
      const ProblemFile file = read_problem_file(files[i].string());
      records.push_back(run_problem(file, files[i].parent_path().filename().string(), contenders,
                                    options.tournament, print_trial));
    } catch (const Error& error) {
      fmt::print(stderr, "  skipped: {}\n", error.what());
    }
  }
  return records;
}

void write_reports(const std::vector<ProblemRecord>& records, const Options& options) {
  const fs::path folder = options.out;
  fs::create_directories(folder);
  write_report(folder / "solvers.md", to_markdown(records, options.tournament));
  write_report(folder / "solvers.json", to_json(records, options.tournament));
  for (const double tolerance : options.tournament.tolerances)
    write_report(folder / fmt::format("profile-{:g}.svg", tolerance),
                 to_profile_svg(records, tolerance));
}

void print_comparisons(const std::vector<ProblemRecord>& records, const Options& options) {
  for (const double tolerance : options.tournament.tolerances) {
    const Comparison c = compare(records, "auto", tolerance);
    fmt::print("tolerance {:g}: auto solved {} of {} problems, a solver of Siconos {}", tolerance,
               c.solved_by_us, c.problems, c.solved_by_them);
    if (c.compared > 0)
      fmt::print("; geometric mean of rival / auto {:.3g} over {}", c.geometric_mean, c.compared);
    if (!c.worst_problem.empty())
      fmt::print("; least above 1 ms {:.3g} ({})", c.worst, c.worst_problem);
    fmt::print("\n");
  }
}

int run(const Options& options) {
  const std::vector<fs::path> files = find_files(options);
  if (files.empty())
    throw InputError(fmt::format("no problem file (.hdf5, .h5) below '{}' matches '{}'",
                                 options.folder, options.only));
  if (!options.is_ours_only && make_siconos_contenders().empty())
    fmt::print(stderr,
               "built without Siconos: only our solvers run. For both install "
               "libsiconos-numerics-dev and build again.\n");
  const std::vector<ProblemRecord> records = run_all(files, options);
  write_reports(records, options);
  print_comparisons(records, options);
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("folder", options.folder,
                 "searched for problem files, folders below included; default: problems");
  app.add_option("--out", options.out, "folder for solvers.md, solvers.json and profiles");
  app.add_option("--only", options.only, "problems whose path matches this regular expression");
  app.add_option("--solvers", options.solvers,
                 "solvers whose name matches this regular expression, beside auto");
  app.add_option("--tol", options.tournament.tolerances, "tolerances")->check(CLI::PositiveNumber);
  app.add_option("--time-limit", options.tournament.time_limit, "seconds per solve")
      ->check(CLI::PositiveNumber);
  app.add_option("--patience", options.tournament.patience,
                 "stop a solver after so many times the best time of its library; 0 never")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--ours", options.is_ours_only, "leave Siconos out");
}

int run_program(int argc, char** argv) {
  CLI::App app{"Compares solvers on stored problems", "stiction_bench_solvers"};
  Options options;
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  return run(options);
}

}  // namespace
}  // namespace stiction::bench

int main(int argc, char** argv) {
  return stiction::bench::run_alone("stiction_bench_solvers", stiction::bench::run_program, argc,
                                    argv);
}
