// stiction sweep STUDY: one scene with many values, on all cores; goes on where it was stopped.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "stiction/app/commands.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/app/study_journal.h"
#include "stiction/app/study_ranks.h"
#include "stiction/app/study_table.h"
#include "stiction/app/study_workers.h"
#include "stiction/base/error.h"

namespace stiction {
namespace {

std::atomic<bool> g_stopped{false};  // written by the signal handler only

struct SweepOptions {
  std::string study;
  std::string out;
  int workers = 0;  // 0: as many as cores
  bool retries_failed = false;
  bool is_quiet = false;
  bool is_json = false;
};

int count_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return 1;
}

struct Counts {
  std::int64_t done = 0, failed = 0, above_tolerance = 0, resumed = 0;
  double run_wall = 0;  // [s] of all runs together
};

void add(const StudyRow& row, Counts& counts) {
  ++(row.is_done ? counts.done : counts.failed);
  if (row.is_done && row.text.find(",above tolerance,") != std::string::npos)
    ++counts.above_tolerance;
  counts.run_wall += row.wall;
}

/// "412 of 1000 runs, 3 failed, 12 s left", on a terminal.
class SweepProgress {
 public:
  SweepProgress(std::int64_t total, std::int64_t before, bool is_wanted)
      : total_(total), before_(before), is_on_(is_wanted && ::isatty(STDERR_FILENO) != 0) {}
  ~SweepProgress() {
    if (is_drawn_) print_message("\r\033[K");
  }
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

  void draw(const Counts& counts) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_on_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    const std::int64_t ended = counts.done + counts.failed;
    const double wall = std::chrono::duration<double>(now - began_).count();
    const double left = wall * static_cast<double>(total_ - ended) /
                        std::max<double>(1, static_cast<double>(ended - before_));
    print_message(fmt::format("\r\033[K{} of {} runs, {} failed, {:.0f} s left", ended, total_,
                              counts.failed, left));
    is_drawn_ = true;
  }

 private:
  std::int64_t total_, before_;
  bool is_on_, is_drawn_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), next_{};
};

struct SweepReport {
  std::string folder;
  Counts counts;
  std::int64_t runs = 0;
  int workers = 0;
  double wall = 0;
  bool is_complete = false;
};

std::string status_of(const SweepReport& report) {
  if (!report.is_complete) return "interrupted";
  if (report.counts.failed > 0) return "failures";
  return report.counts.above_tolerance > 0 ? "above tolerance" : "complete";
}

std::string study_to_json(const Study& study, const SweepReport& report) {
  const nlohmann::ordered_json object = {{"study", study.name},
                                         {"runs", report.runs},
                                         {"done", report.counts.done},
                                         {"failed", report.counts.failed},
                                         {"above_tolerance", report.counts.above_tolerance},
                                         {"resumed", report.counts.resumed},
                                         {"workers", report.workers},
                                         {"wall_s", report.wall},
                                         {"run_wall_s", report.counts.run_wall},
                                         {"out", report.folder},
                                         {"status", status_of(report)}};
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string study_to_summary(const Study& study, const SweepReport& report) {
  const Counts& counts = report.counts;
  std::string text = fmt::format("{}: {}\n  runs       {} of {} done, {} failed", study.name,
                                 status_of(report), counts.done, report.runs, counts.failed);
  if (counts.above_tolerance > 0)
    text += fmt::format(", {} with steps above tolerance", counts.above_tolerance);
  if (counts.resumed > 0) text += fmt::format(", {} of them before", counts.resumed);
  text += fmt::format("\n  time       {:.3g} s with {} workers\n", report.wall, report.workers);
  const std::filesystem::path folder(report.folder);
  if (!report.is_complete) return text + "  the same command goes on from here\n";
  text += fmt::format("  results    {}, {}\n", (folder / "results.csv").string(),
                      (folder / "results.h5").string());
  if (counts.failed > 0)
    text += fmt::format("  failures   {}\n", (folder / "failures.csv").string());
  return text;
}

std::vector<std::int64_t> find_missing(const Study& study, const StudyJournal& journal) {
  std::vector<std::int64_t> missing;
  for (std::int64_t run = 0; run < study.num_runs(); ++run)
    if (!journal.rows().contains(run)) missing.push_back(run);
  return missing;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
}

SweepReport run_study(const Study& study, const SweepOptions& options, Ranks* ranks) {
  SweepReport report;
  report.folder = options.out.empty() ? study.name + "-study" : options.out;
  report.runs = study.num_runs();
  make_folder(report.folder);
  StudyJournal journal((std::filesystem::path(report.folder) / "journal.txt").string(), study);
  if (options.retries_failed) journal.forget_failures();
  for (const auto& [run, row] : journal.rows()) add(row, report.counts);
  report.counts.resumed = report.counts.done + report.counts.failed;
  const std::vector<std::int64_t> missing = find_missing(study, journal);

  SweepProgress progress(report.runs, report.counts.resumed, !options.is_quiet && !options.is_json);
  const StudyWork work{.study = study,
                       .runs = missing,
                       .deliver =
                           [&](const StudyRow& row) {
                             journal.append(row);
                             add(row, report.counts);
                             progress.draw(report.counts);
                           },
                       .should_stop = [] { return g_stopped.load(); }};
  const auto began = std::chrono::steady_clock::now();
  report.workers = ranks != nullptr      ? ranks->size()
                   : options.workers > 0 ? options.workers
                                         : count_cores();
  report.is_complete =
      missing.empty() ||
      (ranks != nullptr ? ranks->run(work) : run_in_processes(work, report.workers));
  report.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (report.is_complete) write_study_tables(report.folder, study, journal.rows());
  return report;
}

int to_exit_status(const SweepReport& report) {
  if (!report.is_complete) return kInterrupted;
  return report.counts.failed + report.counts.above_tolerance > 0 ? kAboveTolerance : kDone;
}

Ranks::Agreement agree(const std::optional<Study>& study, std::optional<Ranks>& ranks) {
  if (ranks) return ranks->agree_on(study ? study->fingerprint() : 0);
  return {.is_good_on_first = study.has_value(), .is_same_on_all = study.has_value()};
}

int sweep(const SweepOptions& options) {
  std::optional<Ranks> ranks;
  if (is_one_of_ranks()) ranks.emplace();
  const bool is_first = !ranks || ranks->is_first();
  Diagnostics diagnostics(options.study), scene_diagnostics("");
  const std::optional<Study> study = read_study(options.study, diagnostics, scene_diagnostics);
  const Ranks::Agreement agreed = agree(study, ranks);
  // A rank that does not see what the first one sees says so itself.
  if (is_first || (!study && agreed.is_good_on_first))
    print_message(diagnostics.to_text() + scene_diagnostics.to_text());
  if (study && is_first && !agreed.is_same_on_all)
    print_message(fmt::format(
        "stiction: error: not all ranks read the same study and scene from '{}'\n", options.study));
  if (!agreed.is_same_on_all) return kBadInput;
  const auto handler = [](int) { g_stopped = true; };
  std::signal(SIGINT, handler);
  std::signal(SIGTERM, handler);
  if (!is_first) {
    ranks->serve(*study);
    return kDone;
  }
  const SweepReport report = run_study(*study, options, ranks ? &*ranks : nullptr);
  if (options.is_json)
    print_result(study_to_json(*study, report));
  else if (!options.is_quiet)
    print_result(study_to_summary(*study, report));
  return to_exit_status(report);
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("sweep", "Run a scene with many values, on all cores; resumable");
  auto options = std::make_shared<SweepOptions>();
  command->add_option("study", options->study, "study file (JSON, comments allowed)")->required();
  command->add_option("--out", options->out, "folder of the results; default NAME-study");
  command->add_option("--workers", options->workers, "processes at once; default: one per core")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--retry-failed", options->retries_failed, "run again what failed before");
  command->add_flag("--quiet", options->is_quiet, "no progress, no summary");
  command->add_flag("--json", options->is_json, "print one JSON object and nothing else");
  command->callback([&action, options] { action = [options] { return sweep(*options); }; });
}

}  // namespace stiction
