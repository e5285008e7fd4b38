// Reads a scene of examples/ for a test, or a scene given as text; faults fail the test with their
// text.
#pragma once

#include <stdexcept>
#include <string>

#include "stiction/scene/scene.h"

namespace stiction::testing {

inline Scene example_scene(const std::string& name) {
  const std::string path = std::string(STICTION_SOURCE_DIR) + "/examples/" + name + ".json";
  Diagnostics diagnostics(path);
  auto scene = read_scene_file(path, {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  return *scene;
}

}  // namespace stiction::testing
