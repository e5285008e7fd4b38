// stiction reproduce [NAME|all]: rerun the papers' experiments, with tables beside the printed
// ones.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <thread>

#include "stiction/app/commands.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/app/experiments/experiment.h"
#include "stiction/app/experiments/html_report.h"
#include "stiction/app/experiments/markdown_report.h"
#include "stiction/app/experiments/result_json.h"
#include "stiction/app/experiments/result_store.h"
#include "stiction/app/experiments/runner.h"
#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"
#include "stiction/base/text.h"

namespace stiction {
namespace {

using experiments::all_experiments;
using experiments::Experiment;
using experiments::Finished;
using experiments::Result;
using experiments::Statement;
using experiments::Tally;

struct ReproduceOptions {
  std::vector<std::string> names;
  std::string out = "reproduce";
  std::string docs;
  int threads = 0;  // 0: as many as the machine has
  bool is_full = false;
  bool is_again = false;
  bool keeps_runs = false;
  bool is_quiet = false;
  bool is_json = false;
};

std::atomic<bool> g_wants_end{false};  // written by the signal handler only
static_assert(std::atomic<bool>::is_always_lock_free);

std::string in_lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// Names, ids such as E9, or all; in the order of the list, none twice.
std::vector<const Experiment*> select(const std::vector<std::string>& names) {
  std::vector<std::string> known{"all"};
  for (const Experiment& one : all_experiments()) known.push_back(one.name);
  for (const std::string& name : names) {
    const bool is_known =
        name == "all" ||
        std::any_of(all_experiments().begin(), all_experiments().end(), [&](const Experiment& one) {
          return one.name == name || in_lower_case(one.id) == in_lower_case(name);
        });
    if (!is_known)
      throw InputError(fmt::format("unknown experiment '{}', {}", name, suggestion(name, known)));
  }
  std::vector<const Experiment*> selected;
  for (const Experiment& one : all_experiments())
    if (names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return name == "all" || one.name == name || in_lower_case(one.id) == in_lower_case(name);
        }))
      selected.push_back(&one);
  return selected;
}

/// "11 reproduced, 1 differs as explained"
std::string describe(const Tally& tally) {
  std::vector<std::string> parts;
  if (tally.reproduced > 0) parts.push_back(fmt::format("{} reproduced", tally.reproduced));
  if (tally.explained > 0)
    parts.push_back(fmt::format("{} {} as explained", tally.explained,
                                tally.explained == 1 ? "differs" : "differ"));
  if (tally.failed > 0)
    parts.push_back(fmt::format("{} {}", tally.failed, tally.failed == 1 ? "DIFFERS" : "DIFFER"));
  if (tally.not_checkable > 0)
    parts.push_back(fmt::format("{} not checkable", tally.not_checkable));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// A bar over experiments with those under way beside it, on a terminal; a line for every one that
/// is done.
class ReproduceProgress {
 public:
  ReproduceProgress(std::vector<const Experiment*> experiments, bool is_wanted)
      : experiments_(std::move(experiments)),
        shares_(experiments_.size(), -1),
        is_wanted_(is_wanted),
        is_on_(is_wanted && isatty(STDERR_FILENO) == 1) {}
  ~ReproduceProgress() { clear(); }

  void on_progress(std::size_t index, double share) {
    shares_[index] = share;
    if (const auto now = Clock::now(); is_on_ && now >= next_draw_) {
      next_draw_ = now + std::chrono::milliseconds(100);
      draw();
    }
  }

  void on_done(std::size_t index, const Result& result) {
    shares_[index] = 2;
    ++num_done_;
    clear();
    if (is_wanted_)
      print_message(fmt::format("{:<4} {:<21} {} ({:.1f} s)\n", experiments_[index]->id,
                                experiments_[index]->name, describe(count_verdicts(result)),
                                result.wall));
    if (is_on_) draw();
  }

  void clear() {
    if (is_drawn_) print_message("\r\x1b[K");
    is_drawn_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void draw() {
    constexpr int kWidth = 20;
    double sum = num_done_;
    std::vector<std::string> running;
    for (std::size_t i = 0; i < shares_.size(); ++i)
      if (shares_[i] >= 0 && shares_[i] <= 1) {
        sum += shares_[i];
        if (running.size() < 3)
          running.push_back(fmt::format("{} {:.0f} %", experiments_[i]->name, 100 * shares_[i]));
      }
    const int filled = static_cast<int>(kWidth * sum / static_cast<double>(shares_.size()));
    print_message(fmt::format("\r\x1b[K[{}{}] {}/{}  {}", std::string(filled, '#'),
                              std::string(kWidth - filled, '.'), num_done_, shares_.size(),
                              fmt::join(running, ", ")));
    is_drawn_ = true;
  }

  std::vector<const Experiment*> experiments_;
  std::vector<double> shares_;  // −1: not begun, 2: done
  bool is_wanted_, is_on_;
  bool is_drawn_ = false;
  int num_done_ = 0;
  Clock::time_point next_draw_ = Clock::now();
};

/// Runs what has no result yet. Whether all are done.
bool run_missing(const std::vector<const Experiment*>& selected, const ReproduceOptions& options,
                 const experiments::ResultStore& store, std::map<std::string, Result>& results) {
  std::vector<const Experiment*> missing;
  for (const Experiment* one : selected) {
    if (!options.is_again)
      if (auto kept = store.load(*one)) {
        results[one->name] = *std::move(kept);
        continue;
      }
    missing.push_back(one);
  }
  const auto handler = [](int) { g_wants_end = true; };
  std::signal(SIGINT, handler);
  std::signal(SIGTERM, handler);
  ReproduceProgress progress(missing, !options.is_quiet && !options.is_json);
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return run_experiments(
      missing,
      {.is_full = options.is_full,
       .threads = options.threads > 0 ? options.threads : cores,
       .folder_of_runs =
           [&](const std::string& name) {
             return options.keeps_runs ? store.make_folder(name) : std::string();
           },
       .is_interrupted = &g_wants_end},
      {.on_progress = [&](std::size_t i, double share) { progress.on_progress(i, share); },
       .on_done =
           [&](std::size_t i, const Result& result) {
             // What broke off is tried again by the next run.
             if (result.failure.empty()) store.save(*missing[i], result);
             results[missing[i]->name] = result;
             progress.on_done(i, result);
           }});
}

nlohmann::ordered_json make_json(const std::vector<Finished>& all,
                                 const experiments::Surroundings& surroundings) {
  Tally sum;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finished& one : all) {
    sum += count_verdicts(one.result);
    list.push_back(to_json(*one.experiment, one.result));
  }
  return {{"version", surroundings.version}, {"variant", surroundings.is_full ? "full" : "quick"},
          {"date", surroundings.date},       {"processor", surroundings.processor},
          {"threads", surroundings.cores},   {"status", sum.failed > 0 ? "differs" : "reproduced"},
          {"verdicts", to_json(sum)},        {"experiments", list}};
}

/// Every statement that should be attainable and is not.
std::string list_failures(const std::vector<Finished>& all) {
  std::string text;
  for (const Finished& one : all) {
    if (!one.result.failure.empty())
      text += fmt::format("{} did not finish: {}\n", one.experiment->name, one.result.failure);
    for (const Statement& statement : one.result.statements)
      if (statement.is_failure())
        text +=
            fmt::format("{} differs: {} ({}): printed {}, here {}\n", one.experiment->name,
                        statement.claim, statement.source, statement.printed, statement.measured);
  }
  return text;
}

std::string summarize(const std::vector<Finished>& asked, const std::string& report) {
  Tally sum;
  for (const Finished& one : asked) sum += count_verdicts(one.result);
  return fmt::format("{}{} statements of {} experiment{}: {}\nreport  {}\n", list_failures(asked),
                     sum.all(), asked.size(), asked.size() == 1 ? "" : "s", describe(sum), report);
}

/// Before the time is spent.
void check_docs(const ReproduceOptions& options, std::size_t num_selected) {
  if (options.docs.empty()) return;
  if (num_selected < all_experiments().size())
    throw InputError("--docs describes all experiments: leave NAME away, or say all");
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.docs, ignored))
    throw InputError(fmt::format("--docs: there is no folder '{}'", options.docs));
}

int reproduce(const ReproduceOptions& options) {
  const std::vector<const Experiment*> selected = select(options.names);
  check_docs(options, selected.size());
  const experiments::ResultStore store(
      options.out, experiments::make_result_key(options.is_full, options.keeps_runs));
  std::map<std::string, Result> results;
  if (!run_missing(selected, options, store, results)) {
    print_message(fmt::format(
        "stiction: interrupted with {} of {} experiments done; the same command goes on there\n",
        results.size(), selected.size()));
    return kInterrupted;
  }
  // The report has everything that is in the folder, also of other calls.
  std::vector<Finished> asked, all;
  for (const Experiment& one : all_experiments()) {
    if (const auto found = results.find(one.name); found != results.end()) {
      asked.push_back({&one, found->second});
      all.push_back({&one, found->second});
    } else if (auto kept = store.load(one)) {
      all.push_back({&one, *std::move(kept)});
    }
  }
  const experiments::Surroundings surroundings = experiments::find_surroundings(options.is_full);
  store.write("index.html", to_html(all, surroundings));
  store.write("results.json", make_json(all, surroundings).dump(1) + "\n");
  if (!options.docs.empty()) {
    AtomicFile file(options.docs + "/experiments.md");
    file.write(to_markdown(all, surroundings));
    file.commit();
  }
  if (options.is_json)
    print_result(make_json(asked, surroundings).dump(1) + "\n");
  else if (!options.is_quiet)
    print_result(summarize(asked, store.path("index.html")));
  return list_failures(asked).empty() ? kDone : kAboveTolerance;
}

}  // namespace

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const Experiment& one : all_experiments()) names.push_back(one.name);
  return names;
}

void add_reproduce_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("reproduce", "Rerun the papers' experiments, beside what they print");
  auto options = std::make_shared<ReproduceOptions>();
  command->add_option("names", options->names,
                      "experiments (stiction list experiments), ids such as E9, or all");
  command->add_option("--out", options->out, "folder of the report")->capture_default_str();
  command->add_flag("--full", options->is_full, "fine references and long runs");
  command->add_flag("--again", options->is_again, "also what the folder has results of");
  command->add_flag("--recordings", options->keeps_runs,
                    "keep runs as NAME/*.h5 and say what verify finds in them");
  command->add_option("--docs", options->docs,
                      "write tables as experiments.md to this folder, too");
  command
      ->add_option("--threads", options->threads,
                   "experiments at once; default: as many as the machine has threads")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--quiet", options->is_quiet, "no progress, no summary");
  command->add_flag("--json", options->is_json, "print one JSON object and nothing else");
  command->callback([&action, options] { action = [options] { return reproduce(*options); }; });
}

}  // namespace stiction
