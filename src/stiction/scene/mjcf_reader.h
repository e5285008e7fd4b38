// MJCF, the format of MuJoCo, to the tree of an imported robot.
#pragma once

#include <filesystem>

#include "stiction/scene/import_model.h"
#include "stiction/scene/import_robot.h"
#include "stiction/scene/xml_element.h"

namespace stiction {

/// The robot below <mujoco>; faults are reported, as is what became of every element.
ImportModel read_mjcf(XmlElement& root, const std::filesystem::path& path,
                      const ImportOptions& options, ImportReport& report);

}  // namespace stiction
