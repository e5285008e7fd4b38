#include "stiction/app/scene_loading.h"

#include <fmt/format.h>

#include "stiction/app/console.h"

namespace stiction {

std::optional<Scene> load_scene(const std::string& path, const SceneOverrides& overrides) {
  Diagnostics diagnostics(path);
  std::optional<Scene> scene = read_scene_file(path, known_names(), diagnostics, overrides);
  print_message(diagnostics.to_text());
  return scene;
}

void print_notes(const Simulation& simulation) {
  for (const std::string& note : simulation.notes())
    print_message(fmt::format("stiction: note: {}\n", note));
}

}  // namespace stiction
