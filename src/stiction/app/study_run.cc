#include "stiction/app/study_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "stiction/app/simulation_options.h"
#include "stiction/base/text.h"

namespace stiction {
namespace {

/// Least, greatest and mean values of some columns of a recording. The mean is over time, by the
/// values at the ends of steps.
class Watch final : public StepObserver {
 public:
  Watch(const Model& model, const std::vector<std::string>& names) : model_(model) {
    std::vector<std::string> all = model.q_names();
    for (std::string& name : model.v_names()) all.push_back(std::move(name));
    for (const std::string& name : names)
      columns_.push_back(std::find(all.begin(), all.end(), name) - all.begin());
    least_.assign(names.size(), std::numeric_limits<double>::infinity());
    greatest_.assign(names.size(), -std::numeric_limits<double>::infinity());
    sum_.assign(names.size(), 0.0);
  }

  void on_step(const StepRecord& record) override {
    model_.record(record.state, q_, v_);
    time_ += record.h;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const double x = value(columns_[i]);
      least_[i] = std::min(least_[i], x);
      greatest_[i] = std::max(greatest_[i], x);
      sum_[i] += record.h * x;
    }
  }

  void append(std::vector<std::string>& fields) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      fields.push_back(to_text(least_[i]));
      fields.push_back(to_text(greatest_[i]));
      fields.push_back(to_text(time_ > 0 ? sum_[i] / time_ : value(columns_[i])));
    }
  }

 private:
  double value(std::ptrdiff_t column) const {
    return column < q_.size() ? q_[column] : v_[column - q_.size()];
  }

  const Model& model_;
  std::vector<std::ptrdiff_t> columns_;
  std::vector<double> least_, greatest_, sum_;
  double time_ = 0;
  VectorXd q_, v_;
};

/// A JSON value as a field: texts lose their quotes.
std::string to_field(const std::string& json) {
  Diagnostics ignored("");
  const std::optional<JsonNode> node = parse_json(json, ignored);
  return node && node->is_string() ? node->string : json;
}

std::vector<std::string> begin_row(const Study& study, std::int64_t run) {
  std::vector<std::string> fields{fmt::format("{}", run)};
  for (const std::string& value : study.values_of(run)) fields.push_back(to_field(value));
  return fields;
}

void append_results(const Study& study, const Simulation& simulation,
                    std::vector<std::string>& fields) {
  const RunSummary& summary = simulation.summary();
  const EnergyLedger& energy = simulation.energy();
  fields.emplace_back(summary.steps_above_tolerance > 0 ? "above tolerance" : "complete");
  for (const std::int64_t count : {summary.steps, summary.steps_above_tolerance, summary.retries,
                                   static_cast<std::int64_t>(summary.contacts_max)})
    fields.push_back(fmt::format("{}", count));
  for (const double x : {simulation.state().t, summary.residual_max, summary.gap_min,
                         summary.joint_error_max, energy.start, energy.now.total(), energy.applied,
                         energy.motor, energy.friction, energy.impact, energy.numerical})
    fields.push_back(to_text(x));
  for (int i = 0; i < kNumEventKinds; ++i)
    fields.push_back(fmt::format("{}", summary.count(static_cast<EventKind>(i))));
  VectorXd q, v;
  const Model& model = simulation.model();
  model.record(simulation.state(), q, v);
  std::vector<std::string> names = model.q_names();
  for (std::string& name : model.v_names()) names.push_back(std::move(name));
  for (const std::string& name : study.finals) {
    const auto i = std::find(names.begin(), names.end(), name) - names.begin();
    fields.push_back(to_text(i < q.size() ? q[i] : v[i - q.size()]));
  }
}

StudyRow simulate(const Study& study, std::int64_t run) {
  Diagnostics diagnostics(study.scene_path + " (varied)");  // lines are not those of the file
  const auto text = study.scene_of(run, diagnostics);
  const auto scene = text ? read_scene(*text, known_names(), diagnostics) : std::nullopt;
  if (!scene) return make_failure(study, run, "bad input", diagnostics.to_text());
  Simulation simulation(scene->model, to_simulation_options(scene->simulate));
  Watch watch(simulation.model(), study.watch);
  if (!study.watch.empty()) simulation.add_observer(watch);
  try {
    simulation.run(scene->simulate.duration);
  } catch (const StepRejected& rejected) {
    return make_failure(study, run, "rejected", rejected.what());
  }
  std::vector<std::string> fields = begin_row(study, run);
  append_results(study, simulation, fields);
  watch.append(fields);
  return {.run = run, .is_done = true, .text = to_csv_row(fields)};
}

StudyRow try_simulate(const Study& study, std::int64_t run) {
  try {
    return simulate(study, run);
  } catch (const InputError& error) {
    return make_failure(study, run, "bad input", error.what());
  } catch (const std::bad_alloc&) {
    return make_failure(study, run, "out of memory", "the run does not fit into memory");
  } catch (const std::exception& error) {
    return make_failure(study, run, "error", error.what());
  }
}

}  // namespace

std::vector<std::string> result_columns(const Study& study) {
  std::vector<std::string> columns{"run"};
  for (const StudyAxis& axis : study.axes) columns.push_back(axis.path);
  for (const char* name :
       {"status", "steps", "steps_above_tolerance", "retries", "contacts_max", "simulated_s",
        "residual_max", "gap_min", "joint_error_max", "energy_start", "energy_end",
        "energy_applied", "energy_motor", "energy_friction", "energy_impact", "energy_numerical"})
    columns.emplace_back(name);
  for (int i = 0; i < kNumEventKinds; ++i)
    columns.push_back(fmt::format("events_{}", to_text(static_cast<EventKind>(i))));
  for (const std::string& name : study.finals) columns.push_back("final." + name);
  for (const std::string& name : study.watch)
    for (const char* what : {"min.", "max.", "mean."}) columns.push_back(what + name);
  return columns;
}

std::vector<std::string> failure_columns(const Study& study) {
  std::vector<std::string> columns{"run"};
  for (const StudyAxis& axis : study.axes) columns.push_back(axis.path);
  columns.insert(columns.end(), {"kind", "message"});
  return columns;
}

StudyRow make_failure(const Study& study, std::int64_t run, const std::string& kind,
                      const std::string& message) {
  std::vector<std::string> fields = begin_row(study, run);
  fields.push_back(kind);
  std::string line = message;
  while (line.ends_with('\n')) line.pop_back();
  // A row is a line, whatever was said.
  for (std::size_t at = line.find('\n'); at != std::string::npos; at = line.find('\n', at))
    line.replace(at, 1, " | ");
  fields.push_back(line);
  return {.run = run, .is_done = false, .text = to_csv_row(fields)};
}

StudyRow execute_run(const Study& study, std::int64_t run) noexcept {
  const auto began = std::chrono::steady_clock::now();
  StudyRow row = try_simulate(study, run);
  row.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return row;
}

std::string to_csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) row += ',';
    if (field.find_first_of(",\"\n") == std::string::npos) {
      row += field;
      continue;
    }
    row += '"';
    for (const char c : field) row.append(c == '"' ? 2 : 1, c);
    row += '"';
  }
  return row;
}

std::vector<std::string> split_csv_row(const std::string& row) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (is_quoted && row[i] == '"' && i + 1 < row.size() && row[i + 1] == '"')
      fields.back() += row[++i];
    else if (row[i] == '"')
      is_quoted = !is_quoted;
    else if (row[i] == ',' && !is_quoted)
      fields.emplace_back();
    else
      fields.back() += row[i];
  }
  return fields;
}

}  // namespace stiction
