#include "stiction/view/view_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "stiction/geometry/convex_hull.h"
#include "stiction/model/joint_geometry.h"
#include "stiction/record/step_row.h"

namespace stiction {
namespace {

using nlohmann::json;

json to_json(const Eigen::Vector3d& v) { return {v[0], v[1], v[2]}; }

/// x, y, z, qw, qx, qy, qz.
json to_json(const Eigen::Vector3d& p, const Eigen::Quaterniond& turn) {
  return {p[0], p[1], p[2], turn.w(), turn.x(), turn.y(), turn.z()};
}
json to_json(const Pose& pose) {
  return to_json(pose.position, Eigen::Quaterniond(pose.rotation).normalized());
}

const char* name_of_kind(PictureFrame::Kind kind) {
  switch (kind) {
    case PictureFrame::Kind::kDynamic:
      return "dynamic";
    case PictureFrame::Kind::kStatic:
      return "static";
    case PictureFrame::Kind::kKinematic:
      return "kinematic";
    case PictureFrame::Kind::kView:
      return "view";
    case PictureFrame::Kind::kLink:
      break;
  }
  return "link";
}

json make_frames(const Picture& picture) {
  json frames = json::array();
  for (const PictureFrame& frame : picture.frames())
    frames.push_back({{"name", frame.name},
                      {"kind", name_of_kind(frame.kind)},
                      {"pose", frame.pose},
                      {"link", frame.link},
                      {"start", to_json(frame.position, frame.orientation)},
                      {"mass", frame.mass}});
  return frames;
}

json make_shapes(const Picture& picture) {
  json shapes = json::array();
  for (const PictureShape& shape : picture.shapes()) {
    json one = {{"frame", shape.frame},
                {"geometry", shape.geometry},
                {"pose", to_json(shape.pose)},
                {"touches", shape.touches}};
    if (!shape.color.empty()) one["color"] = shape.color;
    shapes.push_back(std::move(one));
  }
  return shapes;
}

json make_geometry(const PictureGeometry& geometry, std::size_t index) {
  if (geometry.kind == PictureGeometry::Kind::kRod)
    return {{"type", "rod"}, {"radius", geometry.radius}};
  if (geometry.kind == PictureGeometry::Kind::kSpring)
    return {{"type", "spring"}, {"radius", geometry.radius}};
  if (has_triangles(geometry))
    return {{"type", "triangles"},
            {"of", name_of(geometry.shape)},
            {"resource", fmt::format("geometry/{}", index)}};
  json one = {{"type", name_of(geometry.shape)}};
  if (const auto* sphere = std::get_if<Sphere>(&geometry.shape)) one["radius"] = sphere->radius;
  if (const auto* box = std::get_if<Box>(&geometry.shape)) one["size"] = to_json(box->size);
  if (const auto* ellipsoid = std::get_if<Ellipsoid>(&geometry.shape))
    one["radii"] = to_json(ellipsoid->radii);
  if (const auto* capsule = std::get_if<Capsule>(&geometry.shape)) {
    one["radius"] = capsule->radius;
    one["length"] = capsule->length;
  }
  if (const auto* cylinder = std::get_if<Cylinder>(&geometry.shape)) {
    one["radius"] = cylinder->radius;
    one["length"] = cylinder->length;
  }
  if (const auto* plane = std::get_if<Plane>(&geometry.shape)) {
    one["normal"] = to_json(plane->normal);
    one["offset"] = plane->offset;
  }
  return one;
}

/// Joints with their frames, and which columns of "joints/K" are theirs.
json make_joints(const Recording& description, const Picture& picture, const HeaderFacts& facts) {
  json joints = json::array();
  if (picture.bodies() == nullptr) return joints;
  const auto& all = picture.bodies()->joints;
  const bool has_reactions = description.reaction_names.size() == 12 * all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    json efforts = json::array();
    for (std::size_t k = 0; k < facts.effort_columns.size(); ++k) {
      const std::string& row =
          description.joint_names[static_cast<std::size_t>(facts.effort_columns[k])];
      if (row.size() > all[i].name.size() && row.starts_with(all[i].name) &&
          row[all[i].name.size()] == '.' && row.rfind('.') == all[i].name.size())
        efforts.push_back({{"name", row}, {"column", k}});
    }
    joints.push_back({{"name", all[i].name},
                      {"type", name_of(all[i].type)},
                      {"a", all[i].bodies[0]},
                      {"b", all[i].bodies[1]},
                      {"frameA", to_json(all[i].frames[0])},
                      {"frameB", to_json(all[i].frames[1])},
                      {"reaction", has_reactions ? static_cast<int>(12 * i) : -1},
                      {"efforts", std::move(efforts)}});
  }
  return joints;
}

/// Springs between points of bodies.
json make_springs(const Picture& picture) {
  json springs = json::array();
  if (picture.bodies() == nullptr) return springs;
  for (const BodySpringDescription& spring : picture.bodies()->springs)
    if (is_drawn(spring))
      springs.push_back({{"name", spring.name},
                         {"a", spring.bodies[0]},
                         {"b", spring.bodies[1]},
                         {"pointA", to_json(spring.frames[0].position)},
                         {"pointB", to_json(spring.frames[1].position)}});
  return springs;
}

void put_height_field(const HeightField& field, Triangles& out) {
  const Eigen::Index rows = field.heights.rows(), columns = field.heights.cols();
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < columns; ++j) {
      const double x = (static_cast<double>(i) / static_cast<double>(rows - 1) - 0.5);
      const double y = (static_cast<double>(j) / static_cast<double>(columns - 1) - 0.5);
      out.vertices.push_back(static_cast<float>(x * field.size[0]));
      out.vertices.push_back(static_cast<float>(y * field.size[1]));
      out.vertices.push_back(static_cast<float>(field.heights(i, j)));
    }
  for (Eigen::Index i = 0; i + 1 < rows; ++i)
    for (Eigen::Index j = 0; j + 1 < columns; ++j) {
      const auto at = [&](Eigen::Index k, Eigen::Index l) {
        return static_cast<std::uint32_t>(k * columns + l);
      };
      for (const std::uint32_t corner :
           {at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j), at(i + 1, j + 1), at(i, j + 1)})
        out.indices.push_back(corner);
    }
}

void put_triangles(const std::vector<Eigen::Vector3d>& vertices,
                   const std::vector<Triangle>& triangles, Triangles& out) {
  for (const Eigen::Vector3d& vertex : vertices)
    for (int k = 0; k < 3; ++k) out.vertices.push_back(static_cast<float>(vertex[k]));
  for (const Triangle& triangle : triangles)
    for (const int corner : triangle) out.indices.push_back(static_cast<std::uint32_t>(corner));
}

/// Texts come from files: bytes that are no UTF-8 are replaced, not passed on.
std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

bool has_triangles(const PictureGeometry& geometry) {
  return geometry.kind == PictureGeometry::Kind::kShape &&
         (std::holds_alternative<Convex>(geometry.shape) ||
          std::holds_alternative<HeightField>(geometry.shape) ||
          std::holds_alternative<Mesh>(geometry.shape));
}

Triangles triangles_of(const Shape& shape) {
  Triangles out;
  if (const auto* convex = std::get_if<Convex>(&shape)) {
    if (const auto hull = compute_convex_hull(convex->points))
      put_triangles(convex->points, *hull, out);
  } else if (const auto* field = std::get_if<HeightField>(&shape)) {
    put_height_field(*field, out);
  } else if (const auto* mesh = std::get_if<Mesh>(&shape)) {
    put_triangles(mesh->vertices, mesh->triangles, out);
  }
  return out;
}

std::string make_view_header(const Recording& description, const Picture& picture,
                             const HeaderFacts& facts) {
  json series = json::array();
  for (const HeaderSeries& one : facts.series)
    series.push_back({{"name", one.name}, {"unit", one.unit}, {"group", one.group}});
  json geometries = json::array();
  for (std::size_t i = 0; i < picture.geometries().size(); ++i)
    geometries.push_back(make_geometry(picture.geometries()[i], i));
  json header = {{"protocol", 1},
                 {"file", std::filesystem::path(description.path).filename().string()},
                 {"name", description.name},
                 {"scheme", description.scheme},
                 {"solver", description.solver},
                 {"version", description.version},
                 {"h", description.h},
                 {"rows", facts.rows},
                 {"rowsPerChunk", facts.rows_per_chunk},
                 {"stride", facts.stride},
                 {"up", to_json(picture.up())},
                 {"follow", picture.followed_frame()},
                 {"frames", make_frames(picture)},
                 {"shapes", make_shapes(picture)},
                 {"geometries", std::move(geometries)},
                 {"joints", make_joints(description, picture, facts)},
                 {"springs", make_springs(picture)},
                 {"series", std::move(series)},
                 {"contactNames", description.contact_names},
                 {"certificateNames", kCertificateNames},
                 {"eventKinds", description.events.kinds},
                 {"numPoses", picture.num_poses()},
                 {"numLinks", picture.num_links()},
                 {"numReactions", description.reaction_names.size()},
                 {"numEfforts", facts.effort_columns.size()}};
  if (picture.scene()) {
    header["tolerance"] = picture.scene()->simulate.tolerance;
    header["duration"] = picture.scene()->simulate.duration;
  }
  if (picture.bodies() != nullptr) header["gravity"] = to_json(picture.bodies()->gravity);
  if (!picture.fault().empty()) header["fault"] = picture.fault();
  return dump(header);
}

std::string make_view_extent(const ExtentFacts& facts) {
  return dump({{"rows", facts.rows},
               {"status", facts.status},
               {"growing", facts.is_growing},
               {"above", facts.num_above},
               {"worst",
                {{"row", facts.worst_row},
                 {"law", facts.worst_law},
                 {"value", std::isfinite(facts.worst_value) ? json(facts.worst_value) : json()}}}});
}

}  // namespace stiction
