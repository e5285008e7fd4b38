// How the time and memory of Gauss–Seidel sweeps grow with the number of contacts: sphere packings
// from a thousand to a hundred thousand contacts, solved by `nsgs` from nothing. Writes
// scaling.md, scaling.json and scaling.svg. Every case runs in a process of its own, so that its
// peak memory is its own.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/solvers/bench_program.h"
#include "bench/solvers/sphere_packing.h"
#include "stiction/base/error.h"
#include "stiction/solve/nsgs_solver.h"

namespace stiction::bench {
namespace {

struct Options {
  std::vector<int> sizes = {1000, 2000, 5000, 10000, 20000, 50000, 100000};
  double tolerance = 1e-4;
  int max_sweeps = 20000;
  int seed = 1;
  std::string out = "bench-scaling";
};

/// Plain numbers: sent through a pipe.
struct Measurement {
  int num_spheres = 0, num_contacts = 0;
  int sweeps = 0;
  int is_solved = 0;
  double seconds = 0;      // of the processor; of the clock below 50 ms
  double error = 0;        // of the public collections, global form
  double certificate = 0;  // [-] (T20)–(T22)
  double megabytes = 0;    // largest memory of the process, problem included
};

struct Case {
  bool is_pile = false;
  Measurement result;
};

constexpr const char* family(bool is_pile) { return is_pile ? "pile" : "collisions"; }

double process_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The least of a few repetitions, each with a new solver.
void time_solves(const StepProblem& problem, const Options& options, StepSolution& solution,
                 Measurement& result) {
  constexpr double kEnoughSeconds = 1, kShortSeconds = 0.05;
  double total = 0;
  result.seconds = INFINITY;
  for (int i = 0; i < 10 && total < kEnoughSeconds; ++i) {
    NsgsSolver solver({.tolerance = options.tolerance,
                       .measure = StoppingMeasure::kPublished,
                       .max_iterations = options.max_sweeps});
    solution = {};
    const double start = process_seconds();
    const auto clock_start = std::chrono::steady_clock::now();
    const SolverReport report = solver.solve(problem, solution);
    const std::chrono::duration<double> clock = std::chrono::steady_clock::now() - clock_start;
    const double seconds =
        clock.count() < kShortSeconds ? clock.count() : process_seconds() - start;
    result.seconds = std::min(result.seconds, seconds);
    result.sweeps = report.iterations;
    result.is_solved = report.status == SolverStatus::kConverged ? 1 : 0;
    total += clock.count();
  }
}

Measurement measure(const SpherePacking& packing, const Options& options) {
  const StepProblem problem = make_sphere_packing(packing);
  Measurement result;
  result.num_spheres = problem.num_blocks();
  result.num_contacts = problem.num_contacts();
  StepSolution solution;
  time_solves(problem, options, solution, result);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  result.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
  result.error = compute_published_error(ProblemKind::kGlobalFriction, problem, solution);
  result.certificate = certify(problem, solution).residual();
  return result;
}

Measurement measure_apart(const SpherePacking& packing, const Options& options) {
  int ends[2];
  if (::pipe(ends) != 0) throw IoError("cannot make a pipe");
  const pid_t child = ::fork();
  if (child < 0) throw IoError("cannot start a process");
  if (child == 0) {
    const Measurement result = measure(packing, options);
    ::_exit(::write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  ::close(ends[1]);
  Measurement result;
  const bool is_read = ::read(ends[0], &result, sizeof result) == sizeof result;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  if (!is_read) throw IoError(fmt::format("no result for {} contacts", packing.num_contacts));
  return result;
}

/// Slope and offset of log seconds over log contacts, by least squares.
struct Fit {
  double slope = 0, offset = 0;
};

Fit fit_power(const std::vector<Case>& cases, bool is_pile) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const Case& one : cases) {
    if (one.is_pile != is_pile) continue;
    const double x = std::log(one.result.num_contacts), y = std::log(one.result.seconds);
    n += 1;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  const double slope = n > 1 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : 0;
  return {slope, n > 0 ? (sy - slope * sx) / n : 0};
}

std::string to_markdown(const std::vector<Case>& cases, const Options& options) {
  std::string text = fmt::format(
      "# Time of `nsgs` against the number of contacts\n\n"
      "Sphere packings, seed {}, solved to {:g} in the measure of the public collections, cold "
      "start, one thread. Memory is the peak of the process, the problem included.\n\n"
      "| packing | contacts | spheres | solved | seconds | sweeps | µs per contact | µs per "
      "contact "
      "and sweep | MB | error | certificate |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
      options.seed, options.tolerance);
  for (const Case& one : cases) {
    const Measurement& m = one.result;
    const double per_contact = 1e6 * m.seconds / m.num_contacts;
    text += fmt::format(
        "| {} | {} | {} | {} | {:.3g} | {} | {:.3g} | {:.3g} | {:.0f} | {:.1e} | {:.1e} |\n",
        family(one.is_pile), m.num_contacts, m.num_spheres, m.is_solved ? "yes" : "no", m.seconds,
        m.sweeps, per_contact, per_contact / std::max(1, m.sweeps), m.megabytes, m.error,
        m.certificate);
  }
  for (const bool is_pile : {false, true})
    text += fmt::format("\nSeconds of {} grow with contacts to the power {:.2f}.\n",
                        family(is_pile), fit_power(cases, is_pile).slope);
  return text;
}

std::string to_json(const std::vector<Case>& cases, const Options& options) {
  nlohmann::json json;
  json["tolerance"] = options.tolerance;
  json["seed"] = options.seed;
  for (const bool is_pile : {false, true})
    json["slope"][family(is_pile)] = fit_power(cases, is_pile).slope;
  for (const Case& one : cases) {
    const Measurement& m = one.result;
    json["cases"].push_back({{"packing", family(one.is_pile)},
                             {"contacts", m.num_contacts},
                             {"spheres", m.num_spheres},
                             {"solved", m.is_solved == 1},
                             {"seconds", m.seconds},
                             {"sweeps", m.sweeps},
                             {"seconds_per_contact", m.seconds / m.num_contacts},
                             {"megabytes", m.megabytes},
                             {"error", m.error},
                             {"certificate", m.certificate}});
  }
  return json.dump(2) + "\n";
}

/// A plot of log seconds over log contacts, with whole decades on both axes.
class Plot {
 public:
  explicit Plot(const std::vector<Case>& cases) : cases_(cases) {
    for (const Case& one : cases) {
      const double x = std::log10(one.result.num_contacts), y = std::log10(one.result.seconds);
      left_ = std::min(left_, std::floor(x));
      right_ = std::max(right_, std::ceil(x));
      bottom_ = std::min(bottom_, std::floor(y));
      top_ = std::max(top_, std::ceil(y));
    }
  }

  std::string draw() const {
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        "<text x=\"60\" y=\"22\" font-size=\"15\">Seconds of nsgs against contacts</text>\n",
        kWidth, kHeight);
    for (double x = left_; x <= right_; ++x)
      text += draw_line(x, bottom_, x, top_, "#ccc") +
              draw_text(place_x(x), kHeight - 32, "middle", fmt::format("{:g}", std::pow(10, x)));
    for (double y = bottom_; y <= top_; ++y)
      text += draw_line(left_, y, right_, y, "#ccc") +
              draw_text(52, place_y(y) + 4, "end", fmt::format("{:g} s", std::pow(10, y)));
    text += draw_text(0.5 * kWidth, kHeight - 12, "middle", "contacts");
    return text + draw_family(false, "#1f77b4", 56) + draw_family(true, "#d62728", 74) + "</svg>\n";
  }

 private:
  static constexpr double kWidth = 640, kHeight = 440;

  double place_x(double x) const {
    return 60 + (x - left_) / std::max(1.0, right_ - left_) * (kWidth - 90);
  }
  double place_y(double y) const {
    return kHeight - 50 - (y - bottom_) / std::max(1.0, top_ - bottom_) * (kHeight - 90);
  }
  std::string draw_line(double x1, double y1, double x2, double y2, const char* colour) const {
    return fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n",
        place_x(x1), place_y(y1), place_x(x2), place_y(y2), colour);
  }
  static std::string draw_text(double x, double y, const char* anchor, const std::string& text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, text);
  }

  std::string draw_family(bool is_pile, const char* colour, double legend) const {
    std::string text;
    double first = INFINITY, last = -INFINITY;
    for (const Case& one : cases_) {
      if (one.is_pile != is_pile) continue;
      const double x = std::log10(one.result.num_contacts), y = std::log10(one.result.seconds);
      first = std::min(first, x);
      last = std::max(last, x);
      text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", place_x(x),
                          place_y(y), one.result.is_solved ? colour : "none");
    }
    if (first > last) return text;
    const Fit fit = fit_power(cases_, is_pile);
    const auto fitted = [&](double x) { return fit.slope * x + fit.offset / std::log(10.0); };
    text += draw_line(first, fitted(first), last, fitted(last), colour);
    return text +
           fmt::format("<circle cx=\"76\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", legend - 4,
                       colour) +
           draw_text(86, legend, "start",
                     fmt::format("{}, slope {:.2f}", family(is_pile), fit.slope));
  }

  const std::vector<Case>& cases_;
  double left_ = INFINITY, right_ = -INFINITY, bottom_ = INFINITY, top_ = -INFINITY;
};

int run(const Options& options) {
  std::vector<Case> cases;
  for (const bool is_pile : {false, true})
    for (const int size : options.sizes) {
      const Measurement result = measure_apart({.num_contacts = size,
                                                .seed = static_cast<std::uint64_t>(options.seed),
                                                .is_pile = is_pile},
                                               options);
      cases.push_back({is_pile, result});
      fmt::print(stderr, "{:10s} {:7d} contacts {:9.3g} s {:6d} sweeps {:5.0f} MB error {:.1e}{}\n",
                 family(is_pile), result.num_contacts, result.seconds, result.sweeps,
                 result.megabytes, result.error, result.is_solved ? "" : " not solved");
    }
  const std::filesystem::path folder = options.out;
  std::filesystem::create_directories(folder);
  const std::string table = to_markdown(cases, options);
  fmt::print("{}", table);
  write_report(folder / "scaling.md", table);
  write_report(folder / "scaling.json", to_json(cases, options));
  write_report(folder / "scaling.svg", Plot(cases).draw());
  const bool all_solved =
      std::all_of(cases.begin(), cases.end(), [](const Case& one) { return one.result.is_solved; });
  return all_solved ? 0 : 3;
}

int run_program(int argc, char** argv) {
  CLI::App app{"Time of nsgs against the number of contacts", "stiction_bench_scaling"};
  Options options;
  app.add_option("--sizes", options.sizes, "contacts wanted")->check(CLI::PositiveNumber);
  app.add_option("--tol", options.tolerance, "tolerance")->check(CLI::PositiveNumber);
  app.add_option("--max-sweeps", options.max_sweeps, "limit")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "of the packings")->check(CLI::NonNegativeNumber);
  app.add_option("--out", options.out, "folder for scaling.md, scaling.json and scaling.svg");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}

}  // namespace
}  // namespace stiction::bench

int main(int argc, char** argv) {
  return stiction::bench::run_alone("stiction_bench_scaling", stiction::bench::run_program, argc,
                                    argv);
}
