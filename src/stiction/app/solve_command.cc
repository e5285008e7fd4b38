// stiction solve FILE: solve one stored problem and judge the answer.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "stiction/app/commands.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/app/relaxation.h"
#include "stiction/base/atomic_file.h"
#include "stiction/problem/certificate.h"
#include "stiction/scene/problem_reader.h"
#include "stiction/scene/problem_writer.h"
#include "stiction/solve/contradiction.h"
#include "stiction/solve/solvers.h"

namespace stiction {
namespace {

struct SolveOptions {
  std::string problem;
  std::string solver = "auto";
  double tolerance = 1e-8;
  std::optional<std::string> friction;
  std::string out;
  std::string history;
  int sweeps = 1000;
  bool is_json = false;
};

/// One solved problem, as it is reported.
struct Verdict {
  SolverReport report;
  double wall = 0;   // [s]
  double error = 0;  // the published one of the problem's kind
  Certificate certificate;
  bool is_solved = false;
  Offenders offenders;          // only if it is not solved
  Contradiction contradiction;  // likewise
  StepSolution solution;
};

Verdict solve_and_judge(const ProblemFile& file, const SolveOptions& options) {
  const bool is_step = file.kind == ProblemKind::kStepProblem;
  const std::unique_ptr<Solver> solver =
      make_solver(options.solver, options.tolerance,
                  is_step ? StoppingMeasure::kCertificate : StoppingMeasure::kPublished);
  Verdict verdict;
  verdict.solution.resize(file.problem);
  const auto began = std::chrono::steady_clock::now();
  verdict.report = solver->solve(file.problem, verdict.solution);
  verdict.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  verdict.solution.resize(file.problem);  // a solver that does not take the problem answers nothing
  verdict.error = compute_published_error(file.kind, file.problem, verdict.solution);
  Certifier certifier;
  verdict.certificate = certifier.certify(file.problem, verdict.solution);
  verdict.is_solved = verdict.error <= options.tolerance &&
                      (verdict.certificate.meets(options.tolerance) ||
                       !has_inflated_impulses(file.problem, verdict.solution));
  if (!verdict.is_solved) {
    verdict.offenders = certifier.offenders(options.tolerance);
    verdict.contradiction = find_contradiction(file.problem);
  }
  return verdict;
}

/// Infinity and not-a-number have no place in JSON.
nlohmann::ordered_json to_json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

std::string_view status_text(const Verdict& verdict) {
  if (verdict.is_solved) return "solved";
  if (verdict.contradiction.is_found()) return to_text(SolverStatus::kInfeasible);
  if (verdict.report.status == SolverStatus::kConverged) return "above tolerance";
  return to_text(verdict.report.status);
}

std::string verdict_to_json(const ProblemFile& file, const SolveOptions& options,
                            const Verdict& verdict) {
  nlohmann::ordered_json object;
  object["problem"] = file.title;
  object["kind"] = to_text(file.kind);
  object["size"] = file.problem.num_rows();
  object["contacts"] = file.problem.num_contacts();
  object["solver"] = options.solver;
  object["status"] = status_text(verdict);
  object["residual"] = to_json_number(verdict.certificate.residual());
  object["error"] = to_json_number(verdict.error);
  object["certificate"] = {{"momentum", to_json_number(verdict.certificate.momentum)},
                           {"bilateral", to_json_number(verdict.certificate.bilateral)},
                           {"cone", to_json_number(verdict.certificate.cone)},
                           {"motion", to_json_number(verdict.certificate.motion)}};
  if (!verdict.is_solved) {
    object["above_tolerance"] = {{"rows", verdict.offenders.rows},
                                 {"contacts", verdict.offenders.contacts}};
    object["contradiction"] = {{"rows", verdict.contradiction.rows},
                               {"contacts", verdict.contradiction.contacts}};
  }
  object["iterations"] = verdict.report.iterations;
  object["wall_s"] = verdict.wall;
  nlohmann::ordered_json impulses = nlohmann::ordered_json::array();
  for (const double r : impulses_in_file_order(file, verdict.solution))
    impulses.push_back(to_json_number(r));
  object["r"] = impulses;
  return object.dump() + "\n";
}

std::string describe(const ProblemFile& file) {
  const StepProblem& problem = file.problem;
  std::string text =
      fmt::format("{}: {}, {} {}", file.title, to_text(file.kind), problem.num_contacts(),
                  file.row_index.empty() ? "contacts" : "complementarities");
  if (problem.num_bilateral() > 0) text += fmt::format(", {} equations", problem.num_bilateral());
  if (problem.num_dofs() > 0) text += fmt::format(", {} velocities", problem.num_dofs());
  return text;
}

/// "contacts 3, 5, 8 and 12 more"
std::string list_of(std::string_view what, const std::vector<int>& numbers) {
  constexpr std::size_t kMaxListed = 8;
  const std::size_t listed = std::min(numbers.size(), kMaxListed);
  std::string text =
      fmt::format("{} {}", what, fmt::join(numbers.begin(), numbers.begin() + listed, ", "));
  if (numbers.size() > listed) text += fmt::format(" and {} more", numbers.size() - listed);
  return text;
}

/// What is wrong and where, for problems that are not solved; empty otherwise.
std::string explain(const Verdict& verdict) {
  const auto both = [](const std::vector<int>& rows, const std::vector<int>& contacts) {
    std::string text;
    if (!rows.empty()) text += list_of("rows", rows);
    if (!rows.empty() && !contacts.empty()) text += "; ";
    if (!contacts.empty()) text += list_of("contacts", contacts);
    return text;
  };
  std::string text;
  const std::string offenders = both(verdict.offenders.rows, verdict.offenders.contacts);
  if (!offenders.empty()) text += fmt::format("residual above tolerance: {}\n", offenders);
  if (verdict.contradiction.is_found())
    text += fmt::format("contradict each other: {}\n",
                        both(verdict.contradiction.rows, verdict.contradiction.contacts));
  return text;
}

std::string verdict_to_summary(const ProblemFile& file, const SolveOptions& options,
                               const Verdict& verdict) {
  const Certificate& certificate = verdict.certificate;
  return fmt::format(
             "{}\n"
             "{}{} by {} in {} iterations, {:.3g} s\n"
             "error {:.3g} (tolerance {:g}); residual {:.3g}: momentum {:.3g}, bilateral {:.3g}, "
             "cone {:.3g}, motion {:.3g}\n",
             describe(file), verdict.is_solved ? "" : "not solved: ", status_text(verdict),
             options.solver, verdict.report.iterations, verdict.wall, verdict.error,
             options.tolerance, certificate.residual(), certificate.momentum, certificate.bilateral,
             certificate.cone, certificate.motion) +
         explain(verdict);
}

/// Residuals over the sweeps of methods that iterate: a table for a name that ends in .csv, else a
/// picture.
void write_history(const ProblemFile& file, const SolveOptions& options) {
  const bool is_step = file.kind == ProblemKind::kStepProblem;
  const std::vector<Relaxation> all = compute_relaxations(
      file.problem,
      {.tolerance = options.tolerance,
       .measure = is_step ? StoppingMeasure::kCertificate : StoppingMeasure::kPublished,
       .max_sweeps = options.sweeps});
  AtomicFile out(options.history);
  out.write(options.history.ends_with(".csv") ? to_csv(all)
                                              : to_svg(make_relaxation_plot(file.title, all)));
  out.commit();
}

int solve(const SolveOptions& options) {
  std::optional<FrictionSection> friction;
  if (options.friction) friction = try_parse_friction_section(*options.friction);
  const ProblemFile file = read_problem_file(options.problem, friction);
  if (!options.out.empty()) PendingFile(options.out);  // complains before the time is spent
  if (!options.history.empty()) write_history(file, options);
  const Verdict verdict = solve_and_judge(file, options);
  if (!options.out.empty()) write_solution(options.out, options.problem, file, verdict.solution);
  print_result(options.is_json ? verdict_to_json(file, options, verdict)
                               : verdict_to_summary(file, options, verdict));
  return verdict.is_solved ? kDone : kAboveTolerance;
}

void add_options(CLI::App& command, SolveOptions& options) {
  command
      .add_option("problem", options.problem,
                  "problem file: a dump of a step, FCLIB, LCP or MLCP in HDF5")
      ->required();
  command.add_option("--solver", options.solver, "solver (stiction list solvers)")
      ->check(CLI::IsMember(all_solver_names()));
  command.add_option("--tol", options.tolerance, "largest error that counts as solved")
      ->check([](const std::string& text) -> std::string {
        double value = 0;
        const bool is_good = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
        return is_good && value > 0 ? ""
                                    : fmt::format("is '{}', must be a finite number > 0", text);
      });
  command
      .add_option("--friction", options.friction,
                  "disc, box or polygon:K, for spatial contacts; default as in the file")
      ->check([](const std::string& text) -> std::string {
        return try_parse_friction_section(text) ? "" : "expected disc, box or polygon:K, K even";
      });
  command.add_option("--out", options.out,
                     "write a copy of the file with the answer as its group /solution");
  command.add_option("--history", options.history,
                     "write residuals over sweeps of the Gauss–Seidel variants and of the "
                     "splitting: FILE.svg or FILE.csv");
  command.add_option("--sweeps", options.sweeps, "most sweeps of --history; default 1000")
      ->check(CLI::Range(1, 1'000'000));
  command.add_flag("--json", options.is_json, "print one JSON object and nothing else");
}

}  // namespace

void add_solve_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("solve", "Solve a stored problem and judge the answer");
  auto options = std::make_shared<SolveOptions>();
  add_options(*command, *options);
  command->callback([&action, options] { action = [options] { return solve(*options); }; });
}

}  // namespace stiction
