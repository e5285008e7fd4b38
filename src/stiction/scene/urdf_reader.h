// URDF to the tree of an imported robot.
#pragma once

#include <filesystem>
#include <optional>

#include "stiction/scene/import_model.h"
#include "stiction/scene/import_robot.h"
#include "stiction/scene/xml_element.h"

namespace stiction {

/// The robot below <robot>; faults are reported, as is what became of every element.
ImportModel read_urdf(XmlElement& root, const std::filesystem::path& path,
                      const ImportOptions& options, ImportReport& report);

}  // namespace stiction
