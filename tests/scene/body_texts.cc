#include "tests/scene/body_texts.h"

#include <stdexcept>

namespace stiction {

const RigidBodySystem& bodies_of(const Scene& scene) {
  for (const Model::Part& part : scene.model.parts())
    if (const auto* system = dynamic_cast<const RigidBodySystem*>(part.system.get()))
      return *system;
  throw std::runtime_error("scene has no bodies");
}

RigidBodyDescription described(const std::string& text) {
  return bodies_of(accepted(text)).description();
}

std::string scene_of(const std::string& entries) {
  return "{\"stiction\": 1, \"parameters\": {\"a\": 2},\n" + entries + "}";
}

std::string one_body(const std::string& entries) {
  return "{\"stiction\": 1, \"parameters\": {\"a\": 2}, \"bodies\": [{\n" + entries + "}]}";
}

std::string two_bodies(const std::string& entries) {
  return R"({"stiction": 1, "parameters": {"a": 2}, "bodies": [
{"name": "p", "mass": 1, "inertia": [1, 1, 1], "position": [1, 2, 3], "orientation": {"axis": [1, 2, 2], "angle": 0.7}},
{"name": "q", "mass": 2, "inertia": [2, 2, 3], "position": [-1, 0, 0.5]}]
)" + (entries.empty() ? "" : "," + entries) +
         "}";
}

std::string with_joints(const std::string& joints) {
  return two_bodies("\"joints\": [" + joints + "]");
}

}  // namespace stiction
