// stiction export FILE.h5: a recording as a table or a picture.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/app/commands.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/app/plot.h"
#include "stiction/app/recorded_scene.h"
#include "stiction/audit/step_extraction.h"
#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/record/csv.h"
#include "stiction/record/recording_file.h"
#include "stiction/record/recording_reader.h"
#include "stiction/scene/fclib_conversion.h"
#include "stiction/scene/problem_writer.h"
#include "stiction/view/gltf.h"
#include "stiction/view/vtk.h"

namespace stiction {
namespace {

struct ExportOptions {
  std::string recording;
  std::string csv, svg, gltf, vtk, fclib;
  std::vector<std::string> folders;  // of meshes; none: the usual ones
  std::int64_t step = -1;
  double rate = 60;
  std::string x = "time", y;
  double from = 0;
  bool is_logarithmic = false;
};

/// Names of a group of datasets as columns: certificate.joint.
template <class Names>
std::vector<std::string> prefixed(const std::string& group, const Names& names) {
  std::vector<std::string> all;
  all.reserve(std::size(names));
  for (const auto& name : names) all.push_back(group + "." + std::string(name));
  return all;
}

/// One column by its name: of the table, of the energies, of the certificate, or the solver's time.
std::vector<double> column(const Recording& recording, const std::string& name) {
  const auto rows = static_cast<std::size_t>(recording.num_rows());
  std::vector<double> values(rows);
  if (name == "time") return recording.time;
  if (name == "solver.wall") return recording.wall;
  const auto copy_from = [&](const std::vector<std::string>& names, const RowMatrixXd& data) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return false;
    const auto index = found - names.begin();
    for (std::size_t i = 0; i < rows; ++i) values[i] = data(static_cast<Eigen::Index>(i), index);
    return true;
  };
  const std::vector<std::string> energies = prefixed("energy", kEnergyNames);
  const std::vector<std::string> errors = prefixed("certificate", kCertificateNames);
  if (copy_from(recording.q_names, recording.q) || copy_from(recording.v_names, recording.v) ||
      copy_from(energies, recording.energy) || copy_from(errors, recording.certificate))
    return values;
  std::vector<std::string> known{"time", "solver.wall"};
  for (const auto* names : {&recording.q_names, &recording.v_names, &energies, &errors})
    known.insert(known.end(), names->begin(), names->end());
  throw InputError(fmt::format("{}: the recording has no column '{}'; {}", recording.path, name,
                               suggestion(name, known)));
}

void write_plot(const Recording& recording, const ExportOptions& options) {
  if (recording.num_rows() == 0)
    throw InputError(fmt::format("{}: the recording has no complete step", recording.path));
  const std::string y_name = !options.y.empty() ? options.y : recording.q_names.front();
  const std::vector<double> x = column(recording, options.x), y = column(recording, y_name);
  const auto start = std::lower_bound(recording.time.begin(), recording.time.end(), options.from);
  const auto first = static_cast<std::size_t>(start - recording.time.begin());
  if (first >= x.size())
    throw InputError(fmt::format("--from is {} s, but the recording ends at {} s", options.from,
                                 recording.time.back()));
  const std::span x_shown = std::span(x).subspan(first), y_shown = std::span(y).subspan(first);
  AtomicFile file(options.svg);
  if (options.is_logarithmic) {
    PanelPlot plot{
        .title = recording.name, .x_label = options.x, .y_label = y_name, .panels = {{}}};
    plot.panels[0].curves.push_back(
        {"", {x_shown.begin(), x_shown.end()}, {y_shown.begin(), y_shown.end()}});
    file.write(to_svg(plot));
  } else {
    file.write(to_svg(Plot{.title = recording.name,
                           .x_label = options.x,
                           .y_label = y_name,
                           .x = x_shown,
                           .y = y_shown}));
  }
  file.commit();
}

/// A step as a friction problem that other programs read.
bool write_fclib(const ExportOptions& options) {
  RecordingStream stream(options.recording);
  const std::optional<Scene> scene =
      read_recorded_scene(stream.header(), options.folders.empty() ? "" : options.folders.front());
  if (!scene) return false;
  std::vector<std::string> notes;
  const AuditSettings settings =
      read_settings(stream.header(), fallback_settings(scene->simulate), notes);
  const ExtractedStep step = extract_step(stream, scene->model, settings, options.step);
  if (step.num_phases > 1)
    notes.push_back(fmt::format("step {} consists of {} problems; this is the longest one ({})",
                                options.step, step.num_phases, step.kind));
  const ProblemFile file = to_fclib(step.problem, step.solution,
                                    fmt::format("{}, step {}", stream.header().name, options.step));
  if (!file.solution)
    notes.emplace_back(
        "FCLIB's cone is the disc, the run had another one: its answer is a guess in the file");
  write_problem_file(options.fclib, file);
  for (const std::string& note : notes) print_message(fmt::format("stiction: note: {}\n", note));
  return true;
}

/// Rows so thin that no more than `rate` of them come in a second of simulated time.
std::int64_t stride_for(const std::string& path, double rate) {
  const RecordingFile file(path);
  const std::int64_t rows = file.num_rows();
  if (rows < 2) return 1;
  const double seconds =
      file.read<double>("time", rows - 1, 1)[0] - file.read<double>("time", 0, 1)[0];
  if (!(seconds > 0)) return 1;
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::floor(static_cast<double>(rows - 1) / (seconds * rate))));
}

void write_pictures(const ExportOptions& options) {
  const ViewedRecording recording(
      options.recording,
      {.stride = stride_for(options.recording, options.rate),
       .folders =
           options.folders.empty() ? std::vector<std::string>{".", "examples"} : options.folders});
  if (!options.gltf.empty()) {
    AtomicFile file(options.gltf);
    file.write(make_gltf(recording, options.gltf.ends_with(".glb")));
    file.commit();
  }
  if (!options.vtk.empty()) write_vtk(recording, options.vtk);
}

int export_recording(const ExportOptions& options) {
  for (const std::string& output : {options.csv, options.svg, options.gltf, options.fclib})
    if (!output.empty()) demand_other_file(options.recording, output);
  if (!options.gltf.empty() && !options.gltf.ends_with(".gltf") && !options.gltf.ends_with(".glb"))
    throw InputError(
        fmt::format("--gltf is '{}', must end in .gltf (text) or .glb (binary)", options.gltf));
  if (!options.fclib.empty() && !write_fclib(options)) return kBadInput;
  if (!options.gltf.empty() || !options.vtk.empty()) write_pictures(options);
  if (options.csv.empty() && options.svg.empty()) return kDone;
  const Recording recording = read_recording(options.recording);
  if (!options.csv.empty()) write_csv(recording, options.csv);
  if (!options.svg.empty()) write_plot(recording, options);
  return kDone;
}

}  // namespace

void add_export_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("export", "Turn a recording into a table or a picture");
  auto options = std::make_shared<ExportOptions>();
  command->add_option("recording", options->recording, "recording (HDF5)")->required();
  command->add_option("--csv", options->csv, "write a table: time, coordinates, velocities");
  command->add_option("--svg", options->svg, "draw column --y over column --x");
  CLI::Option* fclib = command->add_option("--fclib", options->fclib,
                                           "write the friction problem of --step, with its answer");
  fclib->needs(
      command->add_option("--step", options->step, "number of the step for --fclib")->needs(fclib));
  command->add_option("--x", options->x, "column for --svg")->capture_default_str();
  command->add_option("--y", options->y, "column for --svg; default: the first coordinate");
  command->add_option("--from", options->from, "leave out what is earlier, for --svg [s]");
  command->add_flag("--log", options->is_logarithmic, "a logarithmic axis of --y, for --svg");
  command->add_option("--gltf", options->gltf, "write an animated scene, .gltf or .glb");
  command->add_option("--vtk", options->vtk, "write bodies and contacts for ParaView to a folder");
  command
      ->add_option("--rate", options->rate, "pictures per simulated second, for --gltf and --vtk")
      ->capture_default_str()
      ->check([](const std::string& text) -> std::string {
        constexpr double kMaxRate = 1e6;
        double value = 0;  // CLI11's own checks let NaN pass
        const bool is_number = CLI::detail::lexical_cast(text, value);
        return is_number && value > 0 && value <= kMaxRate
                   ? ""
                   : fmt::format("is '{}', must be > 0 and <= {:.0e}", text, kMaxRate);
      });
  command->add_option("--meshes", options->folders, "folders of mesh files that the scene names");
  command->callback([&action, options] {
    if (options->csv.empty() && options->svg.empty() && options->gltf.empty() &&
        options->vtk.empty() && options->fclib.empty())
      throw CLI::ValidationError("export", "give --csv, --svg, --gltf, --vtk or --fclib");
    action = [options] { return export_recording(*options); };
  });
}

}  // namespace stiction
