#include "stiction/scene/import_shape_text.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

JsonNode make_quaternion(const Matrix3d& rotation) {
  Eigen::Quaterniond q(rotation);
  q.normalize();
  if (q.w() < 0) q.coeffs() = -q.coeffs();
  const std::array<double, 4> numbers{q.w(), q.x(), q.y(), q.z()};
  return make_json_array(numbers);
}

JsonNode make_points(const std::vector<Vector3d>& points) {
  JsonNode list = make_json_array();
  for (const Vector3d& point : points) add_item(list, make_json(point));
  return list;
}

/// Adds type and sizes.
struct ShapeWriter {
  const ImportShape& source;
  const std::filesystem::path& folder;
  JsonNode& out;

  void add(const char* key, double value) const { add_member(out, key, make_json(value)); }
  void type(const char* name) const { add_member(out, "type", make_json(name)); }

  void operator()(const Sphere& shape) const {
    type("sphere");
    add("radius", shape.radius);
  }
  void operator()(const Capsule& shape) const {
    type("capsule");
    add("radius", shape.radius);
    add("length", shape.length);
  }
  void operator()(const Box& shape) const {
    type("box");
    add_member(out, "size", make_json(shape.size));
  }
  void operator()(const Cylinder& shape) const {
    type("cylinder");
    add("radius", shape.radius);
    add("length", shape.length);
  }
  void operator()(const Ellipsoid& shape) const {
    type("ellipsoid");
    add_member(out, "radii", make_json(shape.radii));
  }
  void operator()(const Convex& shape) const {
    type("convex");
    add_member(out, "points", make_points(shape.points));
  }
  void operator()(const Plane& shape) const {
    type("plane");
    add_member(out, "normal", make_json(shape.normal));
    add("offset", shape.offset);
  }
  void operator()(const HeightField& shape) const {
    type("heightfield");
    add_member(out, "size", make_json_array(std::span(shape.size.data(), 2)));
    JsonNode rows = make_json_array();
    for (Eigen::Index i = 0; i < shape.heights.rows(); ++i) {
      const Eigen::VectorXd row = shape.heights.row(i);
      add_item(rows, make_json_array(std::span(row.data(), static_cast<std::size_t>(row.size()))));
    }
    add_member(out, "heights", std::move(rows));
  }
  void operator()(const Mesh& shape) const {
    type("mesh");
    if (!source.mesh_file.empty()) {
      namespace fs = std::filesystem;
      const fs::path file = fs::absolute(source.mesh_file).lexically_normal();
      const fs::path near =
          file.lexically_relative(fs::absolute(fs::path(folder) / ".").lexically_normal());
      add_member(out, "file", make_json((near.empty() ? file : near).generic_string()));
      if (source.mesh_scale != 1) add("scale", source.mesh_scale);
    } else {
      add_member(out, "vertices", make_points(shape.vertices));
      JsonNode triangles = make_json_array();
      for (const Triangle& triangle : shape.triangles) {
        const std::array<double, 3> indices{double(triangle[0]), double(triangle[1]),
                                            double(triangle[2])};
        add_item(triangles, make_json_array(indices));
      }
      add_member(out, "triangles", std::move(triangles));
    }
    if (source.needs_repair) add_member(out, "repair", make_json(true));
  }
};

}  // namespace

void add_pose(JsonNode& object, const Pose& pose) {
  if (!pose.position.isZero(0)) add_member(object, "position", make_json(pose.position));
  if (pose.rotation != Matrix3d::Identity())
    add_member(object, "orientation", make_quaternion(pose.rotation));
}

JsonNode make_frame(const Pose& pose) {
  JsonNode frame = make_json_object();
  add_member(frame, "position", make_json(pose.position));
  add_member(frame, "orientation", make_quaternion(pose.rotation));
  return frame;
}

void add_mass(JsonNode& object, const MassProperties& mass) {
  add_member(object, "mass", make_json(mass.mass));
  if (!mass.center.isZero(0)) add_member(object, "center_of_mass", make_json(mass.center));
  const Matrix3d inertia = (mass.inertia + mass.inertia.transpose()) / 2;
  const Vector3d diagonal = inertia.diagonal();
  if (inertia == Matrix3d(diagonal.asDiagonal())) {
    add_member(object, "inertia", make_json(diagonal));
    return;
  }
  JsonNode rows = make_json_array();
  for (int i = 0; i < 3; ++i) add_item(rows, make_json(Vector3d(inertia.row(i))));
  add_member(object, "inertia", std::move(rows));
}

std::string make_color(std::span<const double> rgb) {
  std::string text = "#";
  for (const double value : rgb.first(3))
    text += fmt::format("{:02x}", std::lround(255 * std::clamp(value, 0.0, 1.0)));
  return text;
}

JsonNode make_shape(const ImportShape& shape, const Pose& frame,
                    const std::vector<ImportMaterial>& materials,
                    const std::filesystem::path& folder) {
  JsonNode node = make_json_object();
  std::visit(ShapeWriter{shape, folder, node}, shape.shape);
  add_pose(node, frame);
  if (!shape.color.empty()) add_member(node, "color", make_json(shape.color));
  if (!shape.has_contact) {
    add_member(node, "contact", make_json(false));
    return node;
  }
  if (shape.material >= 0) add_member(node, "material", make_json(materials[shape.material].name));
  if (shape.group != 1) add_member(node, "group", make_json(double(shape.group)));
  if (shape.mask != ~0U) add_member(node, "mask", make_json(double(shape.mask)));
  return node;
}

}  // namespace stiction
