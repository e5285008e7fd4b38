// A recording as an animated glTF 2.0 scene, for Blender, web viewers and the like: one node per
// frame, moved by the recorded poses. glTF's up is y; a root node turns the scene there.
#pragma once

#include <cstdint>
#include <string>

#include "stiction/view/viewed_recording.h"

namespace stiction {

/// The scene of all rows that are shown; a file ending in .glb is the binary form (`is_binary`),
/// else JSON with its data inside. Throws InputError if there is nothing to draw.
std::string make_gltf(const ViewedRecording& recording, bool is_binary);

}  // namespace stiction
