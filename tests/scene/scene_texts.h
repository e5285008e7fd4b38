// Scenes as texts for tests of the reader: what it must accept, and what it says when it refuses.
#pragma once

#include <string>

#include "stiction/scene/scene.h"

namespace stiction {

inline const KnownNames kKnown{.schemes = {"moreau", "spook"}, .solvers = {"auto", "lemke"}};

/// The messages of a scene that must be refused.
std::string refusal(const std::string& text);

/// A scene that must be accepted without a word.
Scene accepted(const std::string& text);

/// A scene with x and y. Everything before the entries of `generalized` that a test adds stands in
/// the first two lines, so that those begin at line 3, column 1.
struct SceneParts {
  std::string simulate{};  // entries of "simulate"
  std::string start = "\"x\": {}, \"y\": {}";
  std::string mass = "[[1, 0], [0, 1]]";
};

std::string scene_with(const std::string& entries, const SceneParts& parts = {});

std::string with_simulate(const std::string& entries);

}  // namespace stiction
