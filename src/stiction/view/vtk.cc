#include "stiction/view/vtk.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "stiction/base/atomic_file.h"
#include "stiction/base/base64.h"
#include "stiction/base/error.h"
#include "stiction/view/surface_mesh.h"

namespace stiction {
namespace {

using Eigen::Matrix3f;
using Eigen::Vector3f;

constexpr double kPlaneSize = 20;  // [m] side of the square that stands for a plane

/// An element with numbers: their size in bytes, then they themselves.
template <class T>
std::string data_array(const char* type, const char* name, int components,
                       const std::vector<T>& values) {
  std::string bytes(sizeof(std::uint32_t) + values.size() * sizeof(T), '\0');
  const auto size = static_cast<std::uint32_t>(values.size() * sizeof(T));
  std::memcpy(bytes.data(), &size, sizeof size);
  if (size > 0) std::memcpy(bytes.data() + sizeof size, values.data(), size);
  return fmt::format(
      "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"binary\">{}"
      "</DataArray>\n",
      type, name, components, to_base64(bytes));
}

std::string cells(const char* kind, const std::vector<std::int32_t>& connectivity,
                  const std::vector<std::int32_t>& offsets) {
  return fmt::format("<{}>\n{}{}</{}>\n", kind,
                     data_array("Int32", "connectivity", 1, connectivity),
                     data_array("Int32", "offsets", 1, offsets), kind);
}

std::string poly_data(std::size_t num_points, std::size_t num_verts, std::size_t num_polys,
                      const std::string& content) {
  return fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
      "byte_order=\"LittleEndian\" header_type=\"UInt32\">\n<PolyData>\n<Piece "
      "NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"0\" NumberOfStrips=\"0\" "
      "NumberOfPolys=\"{}\">\n{}</Piece>\n</PolyData>\n</VTKFile>\n",
      num_points, num_verts, num_polys, content);
}

/// Shapes as triangles in their frames, made once, and moved for every row.
class BodyMeshes {
 public:
  explicit BodyMeshes(const Picture& picture) : picture_(picture) {
    for (const PictureGeometry& geometry : picture.geometries())
      meshes_.push_back(make_surface_mesh(geometry, kPlaneSize));
  }

  std::string file_of(const DrawnPoses& drawn, std::size_t row) const {
    std::vector<float> points, colors;
    std::vector<std::int32_t> connectivity, offsets, frames;
    for (const PictureShape& shape : picture_.shapes()) {
      const SurfaceMesh& mesh = meshes_[static_cast<std::size_t>(shape.geometry)];
      const PictureFrame& frame = picture_.frames()[static_cast<std::size_t>(shape.frame)];
      const auto [turn, shift] = placement(drawn, row, frame, shape);
      const auto first = static_cast<std::int32_t>(points.size() / 3);
      for (const Vector3f& vertex : mesh.vertices) {
        const Vector3f at = turn * vertex + shift;
        points.insert(points.end(), {at[0], at[1], at[2]});
      }
      const Vector3f color = color_of(shape, frame);
      for (std::size_t i = 0; i < mesh.indices.size(); ++i)
        connectivity.push_back(first + static_cast<std::int32_t>(mesh.indices[i]));
      for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
        frames.push_back(shape.frame);
        offsets.push_back(static_cast<std::int32_t>(connectivity.size() - mesh.indices.size() + i) +
                          3);
        colors.insert(colors.end(), {color[0], color[1], color[2]});
      }
    }
    return poly_data(
        points.size() / 3, 0, offsets.size(),
        fmt::format("<Points>\n{}</Points>\n{}<CellData>\n{}{}</CellData>\n",
                    data_array("Float32", "Points", 3, points),
                    cells("Polys", connectivity, offsets), data_array("Int32", "frame", 1, frames),
                    data_array("Float32", "color", 3, colors)));
  }

 private:
  std::pair<Matrix3f, Vector3f> placement(const DrawnPoses& drawn, std::size_t row,
                                          const PictureFrame& frame,
                                          const PictureShape& shape) const {
    Eigen::Quaterniond turn = frame.orientation;
    Eigen::Vector3d at = frame.position;
    if (frame.pose >= 0) {
      const auto num_poses = static_cast<std::size_t>(picture_.num_poses());
      const float* pose =
          &drawn.poses[7 * (row * num_poses + static_cast<std::size_t>(frame.pose))];
      at = {pose[0], pose[1], pose[2]};
      turn = Eigen::Quaterniond(pose[3], pose[4], pose[5], pose[6]).normalized();
    }
    Eigen::Matrix3d matrix = turn * shape.pose.rotation;
    if (frame.link >= 0)
      matrix.col(2) *= drawn.lengths[row * static_cast<std::size_t>(picture_.num_links()) +
                                     static_cast<std::size_t>(frame.link)];
    return {matrix.cast<float>(), (at + turn * shape.pose.position).cast<float>()};
  }

  const Picture& picture_;
  std::vector<SurfaceMesh> meshes_;
};

std::string contacts_file(const DrawnContacts& drawn, std::size_t row, double h) {
  std::vector<float> points, normal, friction, force, gap, slip, mu;
  std::vector<std::int32_t> status, a, b, connectivity, offsets;
  for (std::size_t i = drawn.start[row]; i < drawn.start[row + 1]; ++i) {
    if (std::isnan(drawn.position[3 * i])) continue;  // limits of joints have no place
    for (std::size_t k = 0; k < 3; ++k) {
      points.push_back(drawn.position[3 * i + k]);
      normal.push_back(drawn.impulse[3 * i] * drawn.normal[3 * i + k]);
      friction.push_back(drawn.friction[3 * i + k]);
      force.push_back((normal.back() + friction.back()) / static_cast<float>(h));
    }
    gap.push_back(drawn.gap[i]);
    slip.push_back(drawn.slip[i]);
    mu.push_back(std::isnan(drawn.mu[i]) ? -1 : drawn.mu[i]);
    status.push_back(drawn.status[i]);
    a.push_back(drawn.a[i]);
    b.push_back(drawn.b[i]);
    connectivity.push_back(static_cast<std::int32_t>(connectivity.size()));
    offsets.push_back(static_cast<std::int32_t>(connectivity.size()));
  }
  return poly_data(status.size(), status.size(), 0,
                   "<Points>\n" + data_array("Float32", "Points", 3, points) + "</Points>\n" +
                       cells("Verts", connectivity, offsets) + "<PointData>\n" +
                       data_array("Float32", "normal impulse", 3, normal) +
                       data_array("Float32", "friction impulse", 3, friction) +
                       data_array("Float32", "force", 3, force) +
                       data_array("Float32", "gap", 1, gap) +
                       data_array("Float32", "slip", 1, slip) + data_array("Float32", "mu", 1, mu) +
                       data_array("Int32", "status", 1, status) + data_array("Int32", "a", 1, a) +
                       data_array("Int32", "b", 1, b) + "</PointData>\n");
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path.string());
  file.write(text);
  file.commit();
}

}  // namespace

void write_vtk(const ViewedRecording& recording, const std::string& folder) {
  if (!recording.picture().fault().empty())
    throw InputError(fmt::format("{}: its scene cannot be read: {}",
                                 recording.file().description().path, recording.picture().fault()));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  const BodyMeshes meshes(recording.picture());
  constexpr std::int64_t kBlock = 256;  // rows in memory at once
  std::string bodies, contacts;
  for (std::int64_t first = 0; first < recording.num_rows(); first += kBlock) {
    const std::int64_t last = std::min(recording.num_rows(), first + kBlock);
    const DrawnPoses poses = recording.draw_poses(first, last);
    const DrawnContacts touching = recording.draw_contacts(first, last);
    for (std::int64_t row = first; row < last; ++row) {
      const auto local = static_cast<std::size_t>(row - first);
      const auto add = [&](const char* kind, const std::string& text, std::string& list) {
        const std::string name = fmt::format("{}-{:06}.vtp", kind, row);
        write_file(std::filesystem::path(folder) / name, text);
        list += fmt::format("<DataSet timestep=\"{}\" file=\"{}\"/>\n", poses.time[local], name);
      };
      add("bodies", meshes.file_of(poses, local), bodies);
      add("contacts", contacts_file(touching, local, recording.file().description().h), contacts);
    }
  }
  for (const auto& [name, list] : {std::pair("bodies.pvd", &bodies), {"contacts.pvd", &contacts}})
    write_file(std::filesystem::path(folder) / name,
               fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                           "byte_order=\"LittleEndian\">\n<Collection>\n{}</Collection>\n"
                           "</VTKFile>\n",
                           *list));
}

}  // namespace stiction
