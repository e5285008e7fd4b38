// From the tree of an imported robot to the text of a scene.
//
// Bodies without joints become part of the body they are fixed to. Several joints on one body
// become one joint of the scene where there is one that is the same: two hinges with orthogonal
// axes through one point a universal joint, a hinge and a slide along one line a cylindrical joint,
// two slides and a hinge across them, with nothing acting on the slides, a planar joint. Else a
// body stands between them that takes kShareOfMass of the mass and inertia: mass, centre and
// inertia of the whole are right at the reference, but that share does not follow the last joints.
// This is reported as approximated.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stiction/scene/import_model.h"

namespace stiction {

/// Of the mass of a body, for each body that must stand between its joints.
inline constexpr double kShareOfMass = 0.01;

/// The text, or none after faults (a moving body without mass, an inertia that no body has) were
/// reported. Paths of meshes are written relative to `folder`.
std::optional<std::string> make_scene_text(const ImportModel& model,
                                           const std::filesystem::path& folder,
                                           ImportReport& report);

}  // namespace stiction
