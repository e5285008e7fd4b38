// Robot files of other programs as scenes: URDF and MJCF. Every element of the file is taken,
// approximated or ignored, and the report says which; what is wrong is an error, and then there is
// no scene.
#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stiction/scene/import_model.h"
#include "stiction/scene/import_report.h"

namespace stiction {

struct ImportOptions {
  bool fix_base = false;  // URDF: the root link does not move
  bool hold = false;      // URDF: motors hold the start with no more than the effort of the limits
  bool add_ground = false;      // a plane at z = 0
  bool as_hulls = false;        // URDF: collision meshes become their convex hulls
  bool ignore_unknown = false;  // elements that the format does not have are no errors
  double friction = 0.5;        // URDF, and of the ground: coefficient
  std::optional<Eigen::Vector3d> base_position{};  // URDF: of a root that is free
  std::string keyframe{};                          // MJCF: name or number of the start
  std::map<std::string, double> positions{};       // [rad, m] of joints at the start
  std::vector<std::filesystem::path> package_paths{};
  std::filesystem::path scene_folder{};  // where the scene will be: paths of meshes start there
};

struct ImportedScene {
  ImportModel model;
  std::string text;
};

/// Reads the file by its root element, <robot> or <mujoco>. None if the report has errors.
[[nodiscard]] std::optional<ImportedScene> import_robot(const std::filesystem::path& path,
                                                        const ImportOptions& options,
                                                        ImportReport& report);

}  // namespace stiction
