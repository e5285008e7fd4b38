// stiction import FILE: a robot of URDF or MJCF as a scene, and what became of every element.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stiction/app/commands.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/app/scene_loading.h"
#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"
#include "stiction/scene/import_overlaps.h"
#include "stiction/scene/import_robot.h"
#include "stiction/scene/import_scene.h"

namespace stiction {
namespace {

namespace fs = std::filesystem;

struct ImportCommand {
  std::string file, out;
  bool is_strict = false, is_json = false, is_quiet = false;
  std::vector<std::string> positions, package_paths;
  std::vector<double> place;
  ImportOptions options;
};

void read_positions(ImportCommand& command) {
  for (const std::string& text : command.positions) {
    const std::size_t sign = text.rfind('=');
    char* end = nullptr;
    const double value = sign == std::string::npos ? 0 : std::strtod(text.c_str() + sign + 1, &end);
    if (sign == std::string::npos || sign == 0 || end == text.c_str() + sign + 1 || *end != '\0' ||
        !std::isfinite(value))
      throw InputError(fmt::format(
          "--position is '{}', expected JOINT=VALUE with a finite number in rad or m", text));
    command.options.positions[text.substr(0, sign)] = value;
  }
}

/// ROS tells its tools where packages are by this variable.
void add_ros_paths(ImportOptions& options) {
  const char* paths = std::getenv("ROS_PACKAGE_PATH");
  if (paths == nullptr) return;
  std::istringstream stream{std::string(paths)};
  for (std::string path; std::getline(stream, path, ':');)
    if (!path.empty()) options.package_paths.emplace_back(path);
}

/// The first line of why a simulation cannot start; empty if it can. Faults of the scene itself are
/// faults of the importer's input that only the scene reader sees.
std::string find_start_fault(const std::string& text, const std::string& path) {
  Diagnostics diagnostics(path);
  const std::optional<Scene> scene = read_scene(text, known_names(), diagnostics);
  try {
    if (scene) {
      const Simulation simulation(scene->model, to_simulation_options(scene->simulate));
      return {};
    }
  } catch (const Error& error) {
    const std::string what = error.what();
    return what.substr(0, what.find('\n'));
  }
  for (const Diagnostic& fault : diagnostics.all())
    if (fault.severity == Severity::kError) return fault.path + ": " + fault.message;
  return "the scene cannot be read";
}

void make_text_again(const ImportCommand& command, ImportedScene& scene) {
  ImportReport again;  // has been said
  if (const auto text = make_scene_text(scene.model, command.options.scene_folder, again))
    scene.text = *text;
}

/// Bodies of a robot that overlap where it stands are meant to: most files say nothing about it.
bool let_overlaps_pass(const ImportCommand& command, const std::string& path, ImportedScene& scene,
                       ImportReport& report) {
  Diagnostics diagnostics(path);
  const auto read = read_scene(scene.text, known_names(), diagnostics, {.project_start = true});
  if (!read) return false;
  const auto overlaps = find_overlaps(read->model, read->simulate.penetration_tolerance);
  for (const BodyOverlap& overlap : overlaps) {
    scene.model.untouched_names.push_back({overlap.bodies.first, overlap.bodies.second});
    report.add(ImportFate::kApproximated, scene.model.bodies.front().place, "start",
               fmt::format("'{}' and '{}' overlap by {:.3g} m: they pass through each other",
                           overlap.bodies.first, overlap.bodies.second, overlap.depth));
  }
  if (!overlaps.empty()) make_text_again(command, scene);
  return !overlaps.empty();
}

/// A scene that can be started: as the file says, or without contacts of what overlaps, or with the
/// start moved to where it fits.
bool check_scene(const ImportCommand& command, const std::string& path, ImportedScene& scene,
                 ImportReport& report) {
  std::string fault = find_start_fault(scene.text, path);
  if (fault.empty()) return true;
  if (let_overlaps_pass(command, path, scene, report)) fault = find_start_fault(scene.text, path);
  if (fault.empty()) return true;
  scene.model.project_start = true;
  make_text_again(command, scene);
  const std::string remaining = find_start_fault(scene.text, path);
  const SourcePlace place{command.file, 1};
  if (remaining.empty()) {
    report.add(ImportFate::kApproximated, place, "start",
               fmt::format("{}; the simulation starts at the nearest place that fits "
                           "(project_start)",
                           fault));
    return true;
  }
  report.add(ImportFate::kError, place, "scene", fault, remaining != fault ? remaining : "");
  return false;
}

nlohmann::ordered_json import_to_json(const ImportCommand& command, const ImportReport& report,
                                      bool is_written) {
  nlohmann::ordered_json object, entries = nlohmann::ordered_json::array();
  object["file"] = command.file;
  object["scene"] = is_written ? nlohmann::ordered_json(command.out) : nlohmann::ordered_json();
  for (const ImportFate fate : {ImportFate::kTaken, ImportFate::kApproximated, ImportFate::kIgnored,
                                ImportFate::kChosen, ImportFate::kError})
    object["counts"][std::string(name_of(fate))] = report.count(fate);
  for (const ImportEntry& entry : report.entries()) {
    nlohmann::ordered_json item = {{"fate", name_of(entry.fate)},
                                   {"file", entry.place.file},
                                   {"line", entry.place.line},
                                   {"element", entry.element},
                                   {"message", entry.message}};
    if (!entry.help.empty()) item["help"] = entry.help;
    entries.push_back(std::move(item));
  }
  object["entries"] = std::move(entries);
  return object;
}

void print_report(const ImportCommand& command, const ImportReport& report, bool is_written) {
  if (command.is_json)
    return print_result(import_to_json(command, report, is_written)
                            .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                        "\n");
  if (report.has_errors()) return print_message(report.errors_to_text());
  if (!command.is_quiet) print_result(report.to_text());
  print_result(fmt::format(
      "{}: {} taken, {} approximated, {} ignored, {} chosen{}\n", command.file,
      report.count(ImportFate::kTaken), report.count(ImportFate::kApproximated),
      report.count(ImportFate::kIgnored), report.count(ImportFate::kChosen),
      is_written ? fmt::format("; {}", command.out) : "; no scene written, --out FILE writes one"));
}

int import_file(ImportCommand command) {
  read_positions(command);
  for (const std::string& path : command.package_paths)
    command.options.package_paths.emplace_back(path);
  add_ros_paths(command.options);
  if (command.place.size() == 3)
    command.options.base_position = Eigen::Vector3d(command.place.data());
  command.options.scene_folder = fs::path(command.out).parent_path();
  ImportReport report;
  std::optional<ImportedScene> scene = import_robot(command.file, command.options, report);
  const std::string path = command.out.empty() ? "scene.json" : command.out;
  bool is_good = scene && check_scene(command, path, *scene, report);
  const int num_ignored = report.count(ImportFate::kIgnored);
  if (is_good && command.is_strict && num_ignored > 0) {
    for (const ImportEntry& entry : std::vector(report.entries()))
      if (entry.fate == ImportFate::kIgnored)
        report.add(ImportFate::kError, entry.place, entry.element, "ignored: " + entry.message);
    is_good = false;
  }
  report.sort();
  if (is_good && !command.out.empty()) {
    demand_other_file(command.file, command.out);
    AtomicFile file(command.out);
    file.write(scene->text);
    file.commit();
  }
  print_report(command, report, is_good && !command.out.empty());
  return is_good ? kDone : kBadInput;
}

}  // namespace

void add_import_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("import", "Turn a robot, URDF or MJCF, into a scene");
  auto given = std::make_shared<ImportCommand>();
  ImportOptions& options = given->options;
  command->add_option("file", given->file, "robot (URDF or MJCF)")->required();
  command->add_option("--out", given->out, "the scene to write; default: only the report");
  command->add_flag("--strict", given->is_strict, "what is ignored is an error");
  command->add_flag("--json", given->is_json, "print the report as one JSON object");
  command->add_flag("--quiet", given->is_quiet, "print only what was counted");
  command->add_option("--position", given->positions, "JOINT=VALUE at the start [rad, m]");
  command->add_option("--keyframe", options.keyframe, "MJCF: start of this name or number");
  command->add_flag("--fix-base", options.fix_base, "URDF: fix the root to the world");
  command->add_option("--place", given->place, "URDF: X Y Z of the root [m]")->expected(3);
  command->add_flag("--hold", options.hold, "URDF: motors hold the start");
  command->add_flag("--ground", options.add_ground, "add a plane at z = 0");
  command->add_option("--friction", options.friction, "of URDF surfaces and of --ground")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--hulls", options.as_hulls, "URDF: collision meshes become convex hulls");
  command->add_option("--package-path", given->package_paths, "folder with package:// packages");
  command->add_flag("--ignore-unknown", options.ignore_unknown,
                    "elements that the format does not have are no errors");
  command->callback([&action, given] { action = [given] { return import_file(*given); }; });
}

}  // namespace stiction
