#include "tests/example_scene.h"

#include <stdexcept>

namespace stiction::testing {

Scene example_scene(const std::string& name) {
  const std::string path = std::string(STICTION_SOURCE_DIR) + "/examples/" + name + ".json";
  Diagnostics diagnostics(path);
  auto scene = read_scene_file(path, {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  return *scene;
}

}  // namespace stiction::testing
