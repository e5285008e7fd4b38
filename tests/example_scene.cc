#include "tests/example_scene.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace stiction::testing {

Scene example_scene(const std::string& name) {
  const std::string path = std::string(STICTION_SOURCE_DIR) + "/examples/" + name + ".json";
  Diagnostics diagnostics(path);
  auto scene = read_scene_file(path, {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  return *scene;
}

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(STICTION_SOURCE_DIR) + "/examples"))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stiction::testing
