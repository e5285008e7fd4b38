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

}  // namespace stiction
