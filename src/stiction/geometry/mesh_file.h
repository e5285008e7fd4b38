// Triangle meshes from files: Wavefront OBJ and STL, the latter as text or binary.
//
// Of OBJ only `v` and `f` lines count; texture, normals, groups and materials are passed over.
// Polygons are cut into triangles, convex ones as fans, others by cutting off ears. STL repeats the
// corners of every triangle: corners at exactly the same place become one vertex, and its normals,
// which many writers leave wrong, are not read. Numbers are taken as metres. Nothing is repaired
// here, see mesh_repair.h; but polygons that have lost corners and STL triangles without a third
// corner are left out with a warning, since no Mesh can hold them.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "stiction/base/diagnostics.h"
#include "stiction/geometry/shape.h"

namespace stiction {

/// Reads the mesh in a file by its ending, .obj or .stl. Throws IoError if it cannot be read and
/// InputError, with all faults found (the first 20 of them), if it holds no valid mesh.
Mesh read_mesh_file(const std::filesystem::path& path);

/// The mesh in a text, or none with the reasons in `diagnostics`, each with its line. Faults are
/// collected up to 20, then reading ends.
std::optional<Mesh> parse_obj(std::string_view text, Diagnostics& diagnostics);
/// Text or binary. Of binary faults the message has the offset in bytes.
std::optional<Mesh> parse_stl(std::string_view bytes, Diagnostics& diagnostics);

}  // namespace stiction
