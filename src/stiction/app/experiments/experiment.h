// What reproducing a published experiment yields: tables beside the printed numbers, figures, and a
// verdict on every statement of the paper. Plain data; the verdicts are made in verdict.h by
// comparing numbers of this run with ranges, never written down.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stiction::experiments {

enum class Verdict { kReproduced, kDiffers, kNotCheckable };

/// "reproduced", "differs", "not checkable".
std::string_view to_text(Verdict verdict);

/// One statement of a paper and what this run says to it.
struct Statement {
  std::string claim;                // in a sentence
  std::string source;               // where in the paper, e.g. "Table 10.1"
  std::string printed;              // what the paper prints, or what follows from its data
  std::string measured;             // in this run
  std::optional<double> value;      // the number behind it, compared with …
  std::optional<double> low, high;  // … this range; none: no bound on that side
  Verdict verdict = Verdict::kNotCheckable;
  bool is_explained = false;  // differs by what the remark says and no more
  std::string remark;         // the erratum, the reason, or why it cannot be checked

  /// Something that should be attainable and is not.
  bool is_failure() const { return verdict == Verdict::kDiffers && !is_explained; }
};

/// A number of a table, or a label.
struct Cell {
  std::string text;                 // measured, formatted; or the label
  std::optional<double> value;      // as measured
  std::string printed;              // beside it; empty if the paper has none
  std::optional<double> deviation;  // value − printed
  std::optional<Verdict> verdict;   // only where there is a printed number
  bool is_explained = false;
};

struct Column {
  std::string title;
  bool has_printed = false;  // shown as three: printed, here, deviation
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

struct Figure {
  std::string name;  // of the file, without folder and ending
  std::string caption;
  std::string svg;
};

struct Result {
  std::vector<Statement> statements;
  std::vector<Table> tables;
  std::vector<Figure> figures;
  std::vector<std::string> notes;
  double wall = 0;      // [s]
  std::string failure;  // what stopped the experiment before its end; empty if nothing did
};

/// Counts of verdicts.
struct Tally {
  int reproduced = 0, explained = 0, failed = 0, not_checkable = 0;
  int all() const { return reproduced + explained + failed + not_checkable; }
  Tally& operator+=(const Tally& other);
};
Tally count_verdicts(const Result& result);

/// Thrown by Monitor::report when the user wants the program to end.
struct Interrupted {};

/// What an experiment knows of its surroundings: how much is asked for, and whom to tell how far it
/// is.
class Monitor {
 public:
  using Listener = std::function<void(double share)>;
  explicit Monitor(bool is_full, Listener listener = {})
      : is_full_(is_full), listener_(std::move(listener)) {}

  /// Fine references and long runs.
  bool is_full() const { return is_full_; }
  /// `share` of the work is done, 0 to 1. May throw Interrupted.
  void report(double share) {
    if (listener_) listener_(from_ + share * (to_ - from_));
  }
  /// Runs are kept as recordings in a folder, which is there.
  void keep_runs_in(std::string folder) { folder_ = std::move(folder); }
  bool keeps_runs() const { return !folder_.empty(); }
  const std::string& folder_of_runs() const { return folder_; }
  /// Where a run is to be recorded; empty: nowhere.
  std::string path_of_recording(const std::string& name) {
    if (folder_.empty()) return {};
    recordings_.push_back(name + ".h5");
    return folder_ + "/" + recordings_.back();
  }
  /// File names of all runs that were kept, in order.
  const std::vector<std::string>& recordings() const { return recordings_; }

  /// Reports from now on count for this part of the work.
  void enter(double from, double to) {
    from_ = from;
    to_ = to;
  }

 private:
  bool is_full_;
  Listener listener_;
  double from_ = 0, to_ = 1;
  std::string folder_;
  std::vector<std::string> recordings_;
};

struct Experiment {
  std::string id;    // E1 … E12
  std::string name;  // of the command line
  std::string title;
  std::string paper;                // authors, year, place in it
  std::string about;                // what is done, and how what the paper leaves open was read
  std::vector<std::string> scenes;  // of examples/
  Result (*run)(Monitor& monitor) = nullptr;
  bool is_long = false;  // takes many times as long as most others: begun first
};

/// In the order of their ids.
const std::vector<Experiment>& all_experiments();

}  // namespace stiction::experiments
