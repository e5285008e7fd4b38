// stiction verify FILE: re-derive every law from a recording, or of a stored answer to a problem.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "stiction/app/commands.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/app/recorded_scene.h"
#include "stiction/audit/auditor.h"
#include "stiction/base/error.h"
#include "stiction/base/hdf5_file.h"
#include "stiction/record/recorded_commands.h"
#include "stiction/record/recording_format.h"
#include "stiction/scene/problem_reader.h"

namespace stiction {
namespace {

struct VerifyOptions {
  std::string file;
  std::string meshes;  // folder of files that the scene names
  std::optional<double> tolerance;
  std::optional<std::string> friction;
  bool is_json = false;
  bool is_quiet = false;
};

/// What was verified, in a line.
struct Subject {
  std::string title;
  nlohmann::ordered_json json;
};

bool is_recording(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path, Hdf5File::CutFiles::kTake);
  if (!file.has_attribute("/", "format")) return false;
  const std::string format = file.read_text_attribute("/", "format");
  if (format == "stiction checkpoint")
    throw InputError(
        fmt::format("'{}' is a checkpoint: it holds one state and nothing to verify", path));
  return format == recording_format::kFormat;
}

class Counter {
 public:
  explicit Counter(bool is_wanted) : is_on_(is_wanted && isatty(STDERR_FILENO) != 0) {}
  ~Counter() {
    if (is_drawn_) print_message("\r\033[K");
  }
  void show(std::int64_t done, std::int64_t all) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_on_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    is_drawn_ = true;
    print_message(fmt::format("\rrow {} of {}", done, all));
  }

 private:
  bool is_on_, is_drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

std::optional<Subject> verify_run(const VerifyOptions& options, AuditReport& report) {
  refuse_steered_run(options.file);
  Counter counter(!options.is_json && !options.is_quiet);
  std::optional<VerifiedRecording> verified = verify_recording(
      {.file = options.file,
       .meshes = options.meshes,
       .tolerance = options.tolerance,
       .progress = [&](std::int64_t done, std::int64_t all) { counter.show(done, all); }});
  if (!verified) return std::nullopt;
  report = std::move(verified->report);
  const RecordingHeader& header = verified->header;
  Subject subject;
  subject.title = fmt::format("{}: {}, {}, {} rows, recorded by version {}", header.name,
                              header.scheme, header.solver, header.num_rows, header.version);
  subject.json["recording"] = options.file;
  subject.json["scene"] = header.name;
  subject.json["scheme"] = header.scheme;
  subject.json["solver"] = header.solver;
  subject.json["version"] = header.version;
  subject.json["rows"] = header.num_rows;
  subject.json["tolerance"] = verified->settings.tolerance;
  return subject;
}

Subject verify_problem(const VerifyOptions& options, AuditReport& report) {
  std::optional<FrictionSection> friction;
  if (options.friction) friction = try_parse_friction_section(*options.friction);
  const ProblemFile file = read_problem_file(options.file, friction);
  if (!file.solution)
    throw InputError(fmt::format(
        "problem file '{}' has no group /solution with all of v, l and r: nothing to verify",
        options.file));
  const ProblemNames names{.block = [](int b) { return fmt::format("mass block {}", b); },
                           .row = [](int i) { return fmt::format("row {}", i); },
                           .contact = [](int j) { return fmt::format("contact {}", j); }};
  const double tolerance = options.tolerance.value_or(1e-8);
  check_problem_laws(file.problem, *file.solution, {}, tolerance, names, report);
  Subject subject;
  subject.title = fmt::format("{}: {}, {} contacts, {} rows", file.title, to_text(file.kind),
                              file.problem.num_contacts(), file.problem.num_bilateral());
  subject.json["problem"] = file.title;
  subject.json["kind"] = to_text(file.kind);
  subject.json["contacts"] = file.problem.num_contacts();
  subject.json["tolerance"] = tolerance;
  return subject;
}

/// Laws about which nothing could be said though they concern this file.
std::vector<std::string> unchecked_laws(const AuditReport& report) {
  std::vector<std::string> names;
  for (int i = 0; i < kNumLaws; ++i) {
    const auto law = static_cast<Law>(i);
    if (report[law].checks == 0 && !report[law].unchecked.empty()) names.emplace_back(to_text(law));
  }
  return names;
}

std::string verdict_of(const AuditReport& report) {
  if (report.is_broken()) return "broken";
  return unchecked_laws(report).empty() ? "verified" : "verified in part";
}

nlohmann::ordered_json finding_to_json(const Finding& finding) {
  const auto number = [](double x) {
    return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json();
  };
  return {{"figure", number(finding.figure)},
          {"tolerance", number(finding.tolerance)},
          {"step", finding.step},
          {"time", number(finding.time)},
          {"where", finding.where}};
}

std::string audit_to_json(const Subject& subject, const AuditReport& report) {
  nlohmann::ordered_json object = subject.json;
  object["status"] = verdict_of(report);
  object["laws"] = nlohmann::ordered_json::array();
  for (int i = 0; i < kNumLaws; ++i) {
    const auto law = static_cast<Law>(i);
    const LawOutcome& outcome = report[law];
    nlohmann::ordered_json entry{
        {"law", to_text(law)}, {"checks", outcome.checks}, {"broken", outcome.broken}};
    if (outcome.checks > 0) entry["worst"] = finding_to_json(outcome.worst);
    if (outcome.broken > 0) entry["first_broken"] = finding_to_json(outcome.first_broken);
    for (const auto& [reason, steps] : outcome.unchecked) entry["not_checked"][reason] = steps;
    object["laws"].push_back(entry);
  }
  object["not_checked"] = unchecked_laws(report);
  object["notes"] = report.notes;
  return object.dump() + "\n";
}

std::string place_of(const Finding& finding) {
  if (finding.step < 0) return finding.where;
  return fmt::format("step {}, t = {:.6g} s: {}", finding.step, finding.time, finding.where);
}

std::string audit_to_summary(const Subject& subject, const AuditReport& report) {
  std::string text = subject.title + "\n";
  for (const std::string& note : report.notes) text += fmt::format("note: {}\n", note);
  for (int i = 0; i < kNumLaws; ++i) {
    const auto law = static_cast<Law>(i);
    const LawOutcome& outcome = report[law];
    if (outcome.checks == 0 && outcome.unchecked.empty()) continue;
    const Finding& worst = outcome.worst;
    if (outcome.checks == 0)
      text += fmt::format("  -       {:16} not checked\n", to_text(law));
    else
      text += fmt::format(
          "  {:7} {:16} {:9.3g} of {:9.3g}  {}\n", outcome.broken > 0 ? "BROKEN" : "holds",
          to_text(law), worst.figure, worst.tolerance,
          worst.figure > 0 ? place_of(worst) : fmt::format("in {} checks", outcome.checks));
    if (outcome.broken > 0)
      text += fmt::format("          {} of {} checks failed, first at {}: {:.3g} of {:.3g}\n",
                          outcome.broken, outcome.checks, place_of(outcome.first_broken),
                          outcome.first_broken.figure, outcome.first_broken.tolerance);
    for (const auto& [reason, steps] : outcome.unchecked)
      text += fmt::format("          not checkable in {} rows: {}\n", steps, reason);
  }
  text += verdict_of(report);
  const std::vector<std::string> unchecked = unchecked_laws(report);
  if (!unchecked.empty()) text += fmt::format("; not checked: {}", fmt::join(unchecked, ", "));
  return text + "\n";
}

int verify(const VerifyOptions& options) {
  AuditReport report;
  std::optional<Subject> subject;
  if (is_recording(options.file))
    subject = verify_run(options, report);
  else
    subject = verify_problem(options, report);
  if (!subject) return kBadInput;
  if (options.is_json)
    print_result(audit_to_json(*subject, report));
  else if (!options.is_quiet)
    print_result(audit_to_summary(*subject, report));
  return report.is_broken() ? kNotVerified : kDone;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("verify", "Re-derive every law from a recording or a stored answer");
  auto options = std::make_shared<VerifyOptions>();
  command->add_option("file", options->file, "recording, or problem file with a /solution (HDF5)")
      ->required();
  command
      ->add_option("--tol", options->tolerance,
                   "tolerance on residuals; default that of the run, 1e-8 for problems")
      ->check([](const std::string& text) -> std::string {
        double value = 0;
        const bool is_good =
            CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value > 0;
        return is_good ? "" : fmt::format("is '{}', must be a finite number > 0", text);
      });
  command
      ->add_option("--friction", options->friction,
                   "disc, box or polygon:K, for problems; default as in the file")
      ->check([](const std::string& text) -> std::string {
        return try_parse_friction_section(text) ? "" : "expected disc, box or polygon:K, K even";
      });
  command->add_option("--meshes", options->meshes,
                      "folder of the files that the scene names; default that of the recording");
  command->add_flag("--quiet", options->is_quiet, "say it with the exit status only");
  command->add_flag("--json", options->is_json, "print one JSON object and nothing else");
  command->callback([&action, options] { action = [options] { return verify(*options); }; });
}

}  // namespace stiction
