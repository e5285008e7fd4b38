// Mesh files that a robot names: where they are, and what they become.
#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stiction/geometry/shape.h"

namespace stiction {

/// A file name of a URDF. `package://NAME/…` and `model://NAME/…` are looked for below every folder
/// of `package_paths` and below every folder above `folder`; others are relative to `folder`. None
/// if there is no such file; `tried` then has the places.
std::optional<std::filesystem::path> find_resource(
    const std::string& name, const std::filesystem::path& folder,
    std::span<const std::filesystem::path> package_paths, std::vector<std::string>& tried);

/// Whether files with this ending can be read: .obj and .stl.
bool is_mesh_format_known(const std::filesystem::path& path);

struct LoadedMesh {
  Mesh mesh{};                // scaled
  bool needs_repair = false;  // it has faults that a repair mends
  std::string repair{};       // what is repaired
};
/// None, with the reason, if the file holds no usable mesh.
std::optional<LoadedMesh> load_mesh(const std::filesystem::path& path, const Eigen::Vector3d& scale,
                                    std::string& reason);

/// The corners of the convex hull of points; none if they lie in one plane.
std::optional<Convex> make_hull(std::span<const Eigen::Vector3d> points);

}  // namespace stiction
