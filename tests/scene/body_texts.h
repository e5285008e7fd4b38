// Scenes with rigid bodies as texts for tests of their readers.
#pragma once

#include <string>

#include "stiction/model/rigid_body_system.h"
#include "tests/scene/scene_texts.h"

namespace stiction {

/// The rigid bodies of a scene that has some.
const RigidBodySystem& bodies_of(const Scene& scene);

/// What a scene that must be accepted describes.
RigidBodyDescription described(const std::string& text);

/// A scene with these entries at its top level, which begin at line 2, column 1.
std::string scene_of(const std::string& entries);

/// A scene with one body, whose entries begin at line 2, column 1.
std::string one_body(const std::string& entries);

/// A scene with bodies "p", a turned one at (1, 2, 3), and "q" at (−1, 0, 0.5), and with further
/// entries that begin at line 4, column 1.
std::string two_bodies(const std::string& entries);

/// The two bodies with these joints, the first of which begins at line 4, column 13.
std::string with_joints(const std::string& joints);

}  // namespace stiction
