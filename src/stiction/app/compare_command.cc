// stiction compare SCENE: schemes, solvers and steps against a fine reference, as table and plot.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "stiction/app/commands.h"
#include "stiction/app/compare_report.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/app/scene_loading.h"
#include "stiction/app/work_precision.h"
#include "stiction/base/atomic_file.h"
#include "stiction/base/text.h"
#include "stiction/scheme/scheme.h"
#include "stiction/solve/solvers.h"

namespace stiction {
namespace {

/// The reference's step is the shortest one divided by this: even with a scheme of first order its
/// own error is then 6 % of the smallest measured one.
constexpr double kReferenceRefinement = 16;

/// Steps compared by default, as multiples of the scene's.
constexpr double kDefaultSteps[] = {4, 2, 1, 0.5, 0.25};

struct CompareOptions {
  std::string scene;
  std::string schemes, solvers, steps;  // lists with commas; empty: from the scene
  std::string reference_scheme, reference_solver;
  std::optional<double> reference_h, duration, tolerance;
  std::optional<std::string> friction;
  std::string error = "q-mean";
  int phases = 1;
  int threads = 1;
  std::string out, csv;
  bool has_no_plot = false;
  bool is_json = false;
};

/// What is between the commas, without blanks around it.
std::vector<std::string> split(const std::string& option, const std::string& list) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string item = CLI::detail::trim_copy(list.substr(begin, end - begin));
    if (item.empty())
      throw InputError(fmt::format("{} is '{}', expected a list such as A,B", option, list));
    if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
    begin = end + 1;
  }
  return items;
}

/// Throws InputError that names every unknown name and the nearest known one.
void check_names(const std::string& option, const std::vector<std::string>& names,
                 const std::vector<std::string>& known) {
  std::vector<std::string> faults;
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      faults.push_back(fmt::format("unknown name '{}', {}", name, suggestion(name, known)));
  if (!faults.empty()) throw InputError(fmt::format("{}: {}", option, fmt::join(faults, "; ")));
}

std::vector<std::string> read_names(const std::string& option, const std::string& list,
                                    const std::string& by_default,
                                    const std::vector<std::string>& known) {
  std::vector<std::string> names = list.empty() ? std::vector{by_default} : split(option, list);
  check_names(option, names, known);
  return names;
}

/// Longest first, none twice.
std::vector<double> read_steps(const std::string& list, double scene_h) {
  std::vector<double> steps;
  if (list.empty())
    for (const double factor : kDefaultSteps) steps.push_back(factor * scene_h);
  else
    for (const std::string& item : split("--h", list)) {
      double h = 0;
      if (!CLI::detail::lexical_cast(item, h) || !std::isfinite(h) || !(h > 0))
        throw InputError(fmt::format("--h: is '{}', must be a finite number > 0", item));
      steps.push_back(h);
    }
  std::sort(steps.begin(), steps.end(), std::greater<>());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

ErrorKind to_error_kind(const std::string& name) {
  for (const ErrorKind kind : {ErrorKind::kQEnd, ErrorKind::kVMean})
    if (to_text(kind) == name) return kind;
  return ErrorKind::kQMean;
}

/// A scheme of first order, even at a sixteenth of the step, would show its own error where those
/// of second order are compared.
std::string best_reference(const std::vector<std::string>& schemes) {
  const auto found = std::find_if(schemes.begin(), schemes.end(), [](const std::string& name) {
    return name.starts_with("trapezoidal");
  });
  return found != schemes.end() ? *found : schemes.front();
}

/// The scene's settings with those of the command line on top.
ComparisonPlan make_plan(const Scene& scene, const CompareOptions& options) {
  ComparisonPlan plan;
  plan.base = to_simulation_options(scene.simulate);
  if (options.tolerance) plan.base.tolerance = *options.tolerance;
  if (options.friction) plan.base.friction = *try_parse_friction_section(*options.friction);
  plan.schemes = read_names("--schemes", options.schemes, plan.base.scheme, scheme_names());
  plan.solvers = read_names("--solvers", options.solvers, plan.base.solver, all_solver_names());
  plan.steps = read_steps(options.steps, plan.base.h);
  plan.duration = options.duration.value_or(scene.simulate.duration);
  plan.reference_scheme =
      options.reference_scheme.empty() ? best_reference(plan.schemes) : options.reference_scheme;
  plan.reference_solver =
      options.reference_solver.empty() ? plan.solvers.front() : options.reference_solver;
  check_names("--reference-scheme", {plan.reference_scheme}, scheme_names());
  check_names("--reference-solver", {plan.reference_solver}, all_solver_names());
  plan.reference_h = options.reference_h.value_or(plan.steps.back() / kReferenceRefinement);
  plan.phases = options.phases;
  plan.error = to_error_kind(options.error);
  return plan;
}

/// The plot's file: as asked for, or the name of the scene, which is no path.
std::string plot_path(const CompareOptions& options, std::string scene_name) {
  if (options.has_no_plot) return {};
  if (!options.out.empty()) return options.out;
  for (char& c : scene_name)
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
  return scene_name + ".svg";
}

/// Before the time is spent: outputs can be written, and destroy neither each other nor the scene.
void check_outputs(const CompareOptions& options, const std::string& plot) {
  const auto place = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  const auto check = [&](const std::string& path, const std::string& other) {
    if (!path.empty() && !other.empty() && place(path) == place(other))
      throw InputError(fmt::format("'{}' would be overwritten by '{}'", other, path));
  };
  check(plot, options.scene);
  check(options.csv, options.scene);
  check(options.csv, plot);
  for (const std::string& path : {plot, options.csv}) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    // A pipe or device has nothing to check, and opening it twice would end its reader.
    if (!path.empty() && !std::filesystem::is_other(status)) PendingFile{path};
  }
}

void write_file(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// One line on a terminal that is written over and over; nothing elsewhere.
ComparisonProgress make_progress(bool is_wanted) {
  if (!is_wanted || isatty(STDERR_FILENO) != 1) return {};
  return [](int done, int all, const std::string& next) {
    print_message(fmt::format("\r\x1b[K[{}/{}] {}", done + 1, all, next));
  };
}

int compare_scene(const CompareOptions& options) {
  const std::optional<Scene> scene = load_scene(options.scene);
  if (!scene) return kBadInput;
  const ComparisonPlan plan = make_plan(*scene, options);
  const std::string plot_file = plot_path(options, scene->name);
  check_outputs(options, plot_file);
  const ComparisonProgress progress = make_progress(!options.is_json);
  const Comparison comparison = compare(scene->model, plan, progress);
  if (progress) print_message("\r\x1b[K");

  CompareReport report{scene->name, "", "", plan, comparison};
  const LogLogPlot plot = make_work_precision_plot(scene->name, plan, comparison);
  if (!plot_file.empty() && has_points(plot)) {
    write_file(plot_file, to_svg(plot));
    report.plot = plot_file;
  }
  if (!options.csv.empty() && !comparison.lines.empty()) {
    write_file(options.csv, to_csv(report));
    report.csv = options.csv;
  }
  print_result(options.is_json ? to_json(report) : to_table(report));
  return comparison.has_failures() ? kAboveTolerance : kDone;
}

/// Checks a number of the command line. (CLI11's own checks let NaN pass.)
std::string check_positive(const std::string& text) {
  double value = 0;
  const bool is_good = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value > 0;
  return is_good ? "" : fmt::format("is '{}', must be a finite number > 0", text);
}

void add_what_to_compare(CLI::App& command, CompareOptions& options) {
  command.add_option("scene", options.scene, "scene file (JSON, comments allowed)")->required();
  command.add_option("--schemes", options.schemes, "schemes, A,B,…; default: the scene's");
  command.add_option("--solvers", options.solvers, "solvers, X,Y,…; default: the scene's");
  command.add_option("--h", options.steps,
                     "steps [s], H1,H2,…; default: the scene's times 4, 2, 1, 1/2, 1/4");
  command.add_option("--duration", options.duration, "simulated time [s]")->check(check_positive);
  command.add_option("--tol", options.tolerance, "tolerance on every step's residual")
      ->check(check_positive);
  command
      .add_option("--friction", options.friction, "disc, box or polygon:K, for spatial contacts")
      ->check([](const std::string& text) -> std::string {
        return try_parse_friction_section(text) ? "" : "expected disc, box or polygon:K, K even";
      });
  command
      .add_option("--phases", options.phases,
                  "average over N runs at h, 1.03 h, 1.06 h, …: orders of impacts are noise else")
      ->check(CLI::Range(1, kMaxPhases));
}

void add_how_to_compare(CLI::App& command, CompareOptions& options) {
  command.add_option("--reference-scheme", options.reference_scheme,
                     "scheme of the reference; default: the first of --schemes that is "
                     "trapezoidal, else the first");
  command.add_option("--reference-solver", options.reference_solver,
                     "solver of the reference; default: the first of --solvers");
  command
      .add_option("--reference-h", options.reference_h,
                  "step of the reference [s]; default: the shortest of --h / 16")
      ->check(check_positive);
  command
      .add_option("--error", options.error,
                  "what orders and plot are made of: q-mean, q-end or v-mean")
      ->check(CLI::IsMember({"q-mean", "q-end", "v-mean"}))
      ->capture_default_str();
  CLI::Option* out =
      command.add_option("--out", options.out, "plot; default NAME.svg in the current folder");
  command.add_flag("--no-plot", options.has_no_plot, "draw no plot")->excludes(out);
  command.add_option("--csv", options.csv, "write the table as CSV too");
  command
      .add_option("--threads", options.threads,
                  "accepted for symmetry with run; runs are timed one after the other")
      ->check(CLI::PositiveNumber);
  command.add_flag("--json", options.is_json, "print one JSON object and nothing else");
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("compare", "Compare schemes, solvers and steps: error against time");
  auto options = std::make_shared<CompareOptions>();
  add_what_to_compare(*command, *options);
  add_how_to_compare(*command, *options);
  command->callback([&action, options] { action = [options] { return compare_scene(*options); }; });
}

}  // namespace stiction
