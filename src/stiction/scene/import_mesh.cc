#include "stiction/scene/import_mesh.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "stiction/base/error.h"
#include "stiction/geometry/convex_hull.h"
#include "stiction/geometry/mesh_file.h"
#include "stiction/geometry/mesh_repair.h"

namespace stiction {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

}  // namespace

std::optional<fs::path> find_resource(const std::string& name, const fs::path& folder,
                                      std::span<const fs::path> package_paths,
                                      std::vector<std::string>& tried) {
  const auto try_path = [&](const fs::path& path) {
    if (is_file(path)) return true;
    tried.push_back(path.lexically_normal().string());
    return false;
  };
  const std::size_t scheme_end = name.find("://");
  const std::string scheme = scheme_end == std::string::npos ? "" : name.substr(0, scheme_end);
  if (scheme == "package" || scheme == "model") {
    const fs::path inside = name.substr(scheme_end + 3);
    const std::string package = inside.empty() ? "" : inside.begin()->string();
    std::vector<fs::path> roots(package_paths.begin(), package_paths.end());
    for (fs::path above = fs::absolute(folder / ".").lexically_normal();;
         above = above.parent_path()) {
      roots.push_back(above);
      if (above == above.parent_path()) break;
    }
    for (const fs::path& root : roots) {
      if (try_path(root / inside)) return root / inside;
      // The folder is the package itself.
      const fs::path clean = root.has_filename() ? root : root.parent_path();
      if (clean.filename() == package) {
        const fs::path rest = inside.lexically_relative(package);
        if (try_path(clean / rest)) return clean / rest;
      }
    }
    return std::nullopt;
  }
  const fs::path path = folder / (scheme == "file" ? name.substr(scheme_end + 3) : name);
  if (try_path(path)) return path;
  return std::nullopt;
}

bool is_mesh_format_known(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".obj" || ending == ".stl";
}

std::optional<LoadedMesh> load_mesh(const fs::path& path, const Eigen::Vector3d& scale,
                                    std::string& reason) {
  LoadedMesh loaded;
  try {
    loaded.mesh = read_mesh_file(path);
  } catch (const Error& error) {
    reason = error.what();
    return std::nullopt;
  }
  for (Eigen::Vector3d& vertex : loaded.mesh.vertices) vertex = vertex.cwiseProduct(scale);
  // A mirror turns every triangle the other way round.
  if (scale.prod() < 0)
    for (Triangle& triangle : loaded.mesh.triangles) std::swap(triangle[1], triangle[2]);
  reason = find_fault(loaded.mesh);
  if (!reason.empty()) return std::nullopt;
  if (const auto faults = find_mesh_faults(loaded.mesh); !faults.empty()) {
    const MeshRepair repair = repaired(loaded.mesh);
    if (!repair.remaining.empty()) {
      reason = repair.remaining.front().message;
      return std::nullopt;
    }
    loaded.needs_repair = true;
    loaded.repair = repair.to_text();
  }
  return loaded;
}

std::optional<Convex> make_hull(std::span<const Eigen::Vector3d> points) {
  const auto triangles = compute_convex_hull(points);
  if (!triangles) return std::nullopt;
  std::set<int> corners;
  for (const Triangle& triangle : *triangles) corners.insert(triangle.begin(), triangle.end());
  Convex hull;
  for (const int corner : corners) hull.points.push_back(points[corner]);
  return hull;
}

}  // namespace stiction
