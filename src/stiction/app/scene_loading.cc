#include "stiction/app/scene_loading.h"

#include "stiction/app/console.h"
#include "stiction/scheme/scheme.h"
#include "stiction/solve/solvers.h"

namespace stiction {

KnownNames known_names() { return {.schemes = scheme_names(), .solvers = solver_names()}; }

std::optional<Scene> load_scene(const std::string& path) {
  Diagnostics diagnostics(path);
  std::optional<Scene> scene = read_scene_file(path, known_names(), diagnostics);
  print_message(diagnostics.to_text());
  return scene;
}

}  // namespace stiction
