// Scenes with rigid bodies as texts for tests of their readers.
#pragma once

#include <stdexcept>
#include <string>

#include "stiction/model/rigid_body_system.h"
#include "tests/scene/scene_texts.h"

namespace stiction {

/// The rigid bodies of a scene that has some.
inline const RigidBodySystem& bodies_of(const Scene& scene) {
  for (const Model::Part& part : scene.model.parts())
    if (const auto* system = dynamic_cast<const RigidBodySystem*>(part.system.get()))
      return *system;
  throw std::runtime_error("scene has no bodies");
}

/// What a scene that must be accepted describes.
inline RigidBodyDescription described(const std::string& text) {
  return bodies_of(accepted(text)).description();
}

/// A scene with these entries at its top level, which begin at line 2, column 1.
inline std::string scene_of(const std::string& entries) {
  return "{\"stiction\": 1, \"parameters\": {\"a\": 2},\n" + entries + "}";
}

/// A scene with one body, whose entries begin at line 2, column 1.
inline std::string one_body(const std::string& entries) {
  return "{\"stiction\": 1, \"parameters\": {\"a\": 2}, \"bodies\": [{\n" + entries + "}]}";
}

/// A scene with bodies "p", a turned one at (1, 2, 3), and "q" at (−1, 0, 0.5), and with further
/// entries that begin at line 4, column 1.
inline std::string two_bodies(const std::string& entries) {
  return R"({"stiction": 1, "parameters": {"a": 2}, "bodies": [
{"name": "p", "mass": 1, "inertia": [1, 1, 1], "position": [1, 2, 3], "orientation": {"axis": [1, 2, 2], "angle": 0.7}},
{"name": "q", "mass": 2, "inertia": [2, 2, 3], "position": [-1, 0, 0.5]}]
)" + (entries.empty() ? "" : "," + entries) +
         "}";
}

/// The two bodies with these joints, the first of which begins at line 4, column 13.
inline std::string with_joints(const std::string& joints) {
  return two_bodies("\"joints\": [" + joints + "]");
}

}  // namespace stiction
