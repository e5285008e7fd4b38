// Shapes, poses and masses of an imported robot as parts of a scene's text.
#pragma once

#include <filesystem>
#include <span>

#include "stiction/scene/import_model.h"
#include "stiction/scene/json_text.h"

namespace stiction {

/// Adds "position" and "orientation" where they are not the default.
void add_pose(JsonNode& object, const Pose& pose);
/// Both always, as the frames of a joint need them.
JsonNode make_frame(const Pose& pose);
/// Adds "mass", "center_of_mass" and "inertia".
void add_mass(JsonNode& object, const MassProperties& mass);
/// "#rrggbb" of red, green and blue from 0 to 1; what is beyond is cut off.
std::string make_color(std::span<const double> rgb);
/// A shape with its place in the frame of its body; a mesh file is named relative to `folder`.
JsonNode make_shape(const ImportShape& shape, const Pose& frame,
                    const std::vector<ImportMaterial>& materials,
                    const std::filesystem::path& folder);

}  // namespace stiction
