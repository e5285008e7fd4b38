#include "stiction/app/recorded_scene.h"

#include <fmt/format.h>

#include <filesystem>

#include "stiction/app/console.h"
#include "stiction/app/scene_loading.h"
#include "stiction/base/error.h"

namespace stiction {

std::optional<Scene> read_recorded_scene(const RecordingHeader& header, const std::string& meshes) {
  if (header.scene.empty())
    throw InputError(fmt::format(
        "recording '{}' does not contain its scene: without it no law can be re-derived",
        header.path));
  const std::filesystem::path folder = meshes.empty()
                                           ? std::filesystem::path(header.path).parent_path()
                                           : std::filesystem::path(meshes);
  Diagnostics diagnostics((folder / fmt::format("scene of {}", header.name)).string());
  std::optional<Scene> scene =
      read_scene(header.scene, known_names(), diagnostics, {.project_start = true});
  if (!scene) print_message(diagnostics.to_text());
  return scene;
}

AuditSettings fallback_settings(const SimulateSettings& scene) {
  return {.tolerance = scene.tolerance,
          .friction = scene.friction,
          .stepping = scene.stepping,
          .every = scene.every};
}

namespace {

void note_extent(const RecordingHeader& header, double end, AuditReport& report) {
  if (header.was_left_open)
    report.notes.push_back(
        fmt::format("the file was never closed: verified up to the last step "
                    "that is complete, t = {:.6g} s",
                    end));
  if (header.bytes_lost > 0)
    report.notes.push_back(fmt::format(
        "the file has lost its end, {} of {} bytes are there: verified up to the last step that is "
        "complete, t = {:.6g} s",
        header.bytes, header.bytes + header.bytes_lost, end));
  if (header.num_stored > header.num_rows)
    report.notes.push_back(fmt::format("{} more rows are not complete and were left out",
                                       header.num_stored - header.num_rows));
  if (header.status == "rejected" || header.status == "interrupted")
    report.notes.push_back(fmt::format("the run ended '{}'", header.status));
}

}  // namespace

std::optional<VerifiedRecording> verify_recording(const VerifyRequest& request) {
  RecordingStream stream(request.file);
  VerifiedRecording verified{.header = stream.header(), .settings = {}, .report = {}};
  const RecordingHeader& header = verified.header;
  if (header.num_rows == 0)
    throw InputError(fmt::format(
        "recording '{}' has no complete step{}: there is nothing to verify", request.file,
        header.bytes_lost > 0 ? fmt::format(" in the {} of {} bytes that are there", header.bytes,
                                            header.bytes + header.bytes_lost)
                              : std::string()));
  const std::optional<Scene> scene = read_recorded_scene(header, request.meshes);
  if (!scene) return std::nullopt;
  AuditReport& report = verified.report;
  verified.settings = read_settings(header, fallback_settings(scene->simulate), report.notes);
  if (request.tolerance) verified.settings.tolerance = *request.tolerance;
  audit_recording(stream, scene->model, verified.settings, report, request.progress);
  note_extent(header, report.time(), report);
  return verified;
}

}  // namespace stiction
