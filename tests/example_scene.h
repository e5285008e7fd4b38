// Reads a scene of examples/ for a test, or a scene given as text; faults fail the test with their
// text.
#pragma once

#include <string>
#include <vector>

#include "stiction/scene/scene.h"

namespace stiction::testing {

Scene example_scene(const std::string& name);

/// Of all of them, sorted.
std::vector<std::string> example_names();

}  // namespace stiction::testing
