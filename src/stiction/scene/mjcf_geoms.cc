#include "stiction/scene/mjcf_geoms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/base/whole_file.h"
#include "stiction/scene/import_shape_text.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int kMany = std::numeric_limits<int>::max();
constexpr int kMaxFieldSide = 10000;

/// Values between 0 and 1, as MuJoCo makes them.
void normalize(Eigen::MatrixXd& values) {
  const double low = values.minCoeff(), range = values.maxCoeff() - low;
  values.array() -= low;
  if (range > 0) values /= range;
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Assets

void MjcfGeomReader::read_assets(XmlElement& asset) {
  asset.is_used = true;
  for (XmlElement& child : asset.children) {
    if (child.name == "mesh") read_mesh(child);
    if (child.name == "hfield") read_hfield(child);
    if (child.name == "material") read_material(child);
  }
}

std::optional<Mesh> MjcfGeomReader::read_mesh_file_of(const MjcfValues& values) {
  std::filesystem::path file = values.text("file");
  if (settings_.compiler().strips_path) file = file.filename();
  const std::filesystem::path path = folder_ / settings_.compiler().mesh_folder / file;
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) {
    values.error(fmt::format("there is no file '{}'", path.string()));
    return std::nullopt;
  }
  if (!is_mesh_format_known(path)) {
    values.note(
        ImportFate::kIgnored,
        fmt::format("'{}' is neither .obj nor .stl: geoms of it are left out", path.string()));
    return std::nullopt;
  }
  std::string reason;
  auto loaded = load_mesh(path, Vector3d::Ones(), reason);
  if (!loaded) {
    values.error(reason);
    return std::nullopt;
  }
  return std::move(loaded->mesh);
}

std::optional<Mesh> MjcfGeomReader::read_mesh_points(const MjcfValues& values) {
  const auto numbers = values.numbers("vertex", 12, kMany);
  if (!numbers || numbers->size() % 3 != 0) {
    values.error("has neither a file nor a vertex list of three numbers for each of four points");
    return std::nullopt;
  }
  Mesh mesh;
  for (std::size_t i = 0; i + 2 < numbers->size(); i += 3)
    mesh.vertices.emplace_back(numbers->data() + i);
  const auto faces = values.numbers("face", 3, kMany);
  for (std::size_t i = 0; faces && i + 2 < faces->size(); i += 3) {
    Triangle triangle{};
    for (std::size_t k = 0; k < 3; ++k)
      triangle[k] = static_cast<int>(std::clamp((*faces)[i + k], -1.0, 2e9));
    mesh.triangles.push_back(triangle);
  }
  if (mesh.triangles.empty()) return mesh;  // the hull of the points
  if (const std::string fault = find_fault(mesh); !fault.empty()) {
    values.error(fault);
    return std::nullopt;
  }
  return mesh;
}

void MjcfGeomReader::read_mesh(XmlElement& element) {
  const MjcfValues values = settings_.values(element, "");
  const std::string file = values.text("file");
  const std::string name = values.text("name", std::filesystem::path(file).stem().string());
  if (name.empty()) return values.error("has neither a name nor a file");
  if (meshes_.contains(name) || missing_.contains(name))
    return values.error(fmt::format("there is a mesh '{}' already", name));
  auto mesh = file.empty() ? read_mesh_points(values) : read_mesh_file_of(values);
  if (!mesh) {
    missing_.insert(name);
    return;
  }
  const Vector3d origin = values.vector("refpos", Vector3d::Zero());
  Matrix3d turn = Matrix3d::Identity();
  if (const auto q = values.numbers("refquat", 4, 4)) {
    const Eigen::Quaterniond quaternion((*q)[0], (*q)[1], (*q)[2], (*q)[3]);
    if (quaternion.norm() > 1e-14) turn = quaternion.normalized().toRotationMatrix();
  }
  // MuJoCo scales last. A mirror turns every triangle the other way round.
  const Vector3d scale = values.vector("scale", Vector3d::Ones());
  for (Vector3d& vertex : mesh->vertices)
    vertex = (turn.transpose() * (vertex - origin)).cwiseProduct(scale);
  if (scale.prod() < 0)
    for (Triangle& triangle : mesh->triangles) std::swap(triangle[1], triangle[2]);
  MeshAsset asset{.mesh = std::move(*mesh)};
  asset.hull = make_hull(asset.mesh.vertices);
  if (!asset.hull) return values.error("its points lie in one plane");
  values.note(ImportFate::kTaken,
              fmt::format("mesh '{}': its convex hull of {} points touches, as in MuJoCo", name,
                          asset.hull->points.size()));
  meshes_.emplace(name, std::move(asset));
}

std::optional<Eigen::MatrixXd> MjcfGeomReader::read_elevations(const MjcfValues& values) {
  const int rows = values.integer("nrow", 0), columns = values.integer("ncol", 0);
  if (rows < 2 || columns < 2 || rows > kMaxFieldSide || columns > kMaxFieldSide) {
    values.error(fmt::format("nrow is {} and ncol is {}, both must be from 2 to {}", rows, columns,
                             kMaxFieldSide));
    return std::nullopt;
  }
  Eigen::MatrixXd data = Eigen::MatrixXd::Zero(rows, columns);
  if (values.take("elevation") == nullptr) {
    values.note(ImportFate::kChosen, "has neither a file nor elevations: it is flat");
    return data;
  }
  const auto numbers = values.numbers("elevation", rows * columns, rows * columns);
  if (!numbers) return std::nullopt;
  // The text has the rows from top to bottom, that is from large y to small.
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      data(rows - 1 - i, j) = (*numbers)[static_cast<std::size_t>(i) * columns + j];
  return data;
}

/// MuJoCo's own binary format: two numbers of four bytes, rows and columns, then floats.
std::optional<Eigen::MatrixXd> MjcfGeomReader::read_hfield_file(const MjcfValues& values,
                                                                const std::string& file) {
  std::filesystem::path name = file;
  if (settings_.compiler().strips_path) name = name.filename();
  const std::filesystem::path path = folder_ / settings_.compiler().mesh_folder / name;
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) {
    values.error(fmt::format("there is no file '{}'", path.string()));
    return std::nullopt;
  }
  if (path.extension() == ".png" || path.extension() == ".PNG") {
    values.note(ImportFate::kIgnored,
                fmt::format("'{}' is a picture, which is not read: geoms of it are left out",
                            path.string()));
    return std::nullopt;
  }
  const std::string bytes = try_read_file(path).value_or("");
  std::array<std::int32_t, 2> sizes{};
  if (bytes.size() >= 8) std::memcpy(sizes.data(), bytes.data(), 8);
  const auto [rows, columns] = sizes;
  if (rows < 2 || columns < 2 || rows > kMaxFieldSide || columns > kMaxFieldSide ||
      bytes.size() != 8 + 4 * static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {
    values.error(fmt::format("'{}' is no height field: {} bytes for {} rows and {} columns",
                             path.string(), bytes.size(), rows, columns));
    return std::nullopt;
  }
  std::vector<float> numbers(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  std::memcpy(numbers.data(), bytes.data() + 8, 4 * numbers.size());
  Eigen::MatrixXd data(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      data(i, j) = numbers[static_cast<std::size_t>(i) * columns + j];
  if (data.allFinite()) return data;
  values.error(fmt::format("'{}' has heights that are not finite", path.string()));
  return std::nullopt;
}

void MjcfGeomReader::read_hfield(XmlElement& element) {
  const MjcfValues values = settings_.values(element, "");
  const std::string file = values.text("file");
  const std::string name = values.text("name", std::filesystem::path(file).stem().string());
  if (name.empty()) return values.error("has neither a name nor a file");
  if (hfields_.contains(name) || missing_.contains(name))
    return values.error(fmt::format("there is an hfield '{}' already", name));
  const auto size = values.numbers("size", 4, 4);
  if (!size) {
    if (element.find("size") == nullptr) values.error("required attribute 'size' is missing");
    return;
  }
  if (!(*std::min_element(size->begin(), size->begin() + 3) > 0))
    return values.error(fmt::format("size is \"{}\", all must be > 0", values.text("size")));
  auto data = file.empty() ? read_elevations(values) : read_hfield_file(values, file);
  if (!data) {
    missing_.insert(name);
    return;
  }
  normalize(*data);
  // Rows of MuJoCo run along x for one y; those of scenes along y for one x.
  hfields_.emplace(name, HeightField{.size = {2 * (*size)[0], 2 * (*size)[1]},
                                     .heights = data->transpose() * (*size)[2]});
  values.note(ImportFate::kTaken,
              fmt::format("height field of {} rows and {} columns", data->rows(), data->cols()));
}

// -------------------------------------------------------------------------------------------------
// Geoms

/// Sizes are halves in MJCF, wholes in scenes.
std::optional<Shape> MjcfGeomReader::read_sized(const MjcfValues& values, const std::string& type,
                                                Pose& pose) {
  const int count = type == "sphere" ? 1 : type == "capsule" || type == "cylinder" ? 2 : 3;
  std::vector<double> size = values.numbers("size", 1, 3).value_or(std::vector<double>{});
  if (count > 1 && values.element().find("size") == nullptr && size.empty()) size.clear();
  if (const auto ends = values.numbers("fromto", 6, 6); ends && type != "sphere") {
    const Vector3d from(ends->data()), to(ends->data() + 3);
    const double length = (to - from).norm();
    if (!(length > 1e-14)) {
      values.error("fromto has two points at one place");
      return std::nullopt;
    }
    size.resize(1, 0);
    if (count == 3) size.push_back(size[0]);
    size.push_back(length / 2);
    pose = {(from + to) / 2, turn_from_z(from - to)};
  }
  if (static_cast<int>(size.size()) < count) {
    values.error(fmt::format("a {} needs {} numbers of size, has {}", type, count, size.size()));
    return std::nullopt;
  }
  for (int i = 0; i < count; ++i)
    if (!(size[i] > 0)) {
      values.error(fmt::format("size of a {} is {}, must be > 0", type, to_text(size[i])));
      return std::nullopt;
    }
  if (type == "sphere") return Sphere{size[0]};
  if (type == "capsule") return Capsule{size[0], 2 * size[1]};
  if (type == "cylinder") return Cylinder{size[0], 2 * size[1]};
  if (type == "box") return Box{2 * Vector3d(size.data())};
  return Ellipsoid{Vector3d(size.data())};
}

std::optional<Shape> MjcfGeomReader::read_shape(const MjcfValues& values, const std::string& type,
                                                Pose& pose) {
  if (type == "plane") {
    values.take("size");  // only how much of it is drawn
    return Plane{};
  }
  if (type == "mesh") {
    const std::string name = values.text("mesh");
    const auto found = meshes_.find(name);
    if (found != meshes_.end()) return *found->second.hull;
    if (missing_.contains(name))
      values.note(ImportFate::kIgnored, fmt::format("mesh '{}' could not be read", name));
    else
      values.error(fmt::format("there is no mesh '{}'", name), suggestion(name, names_of(meshes_)));
    return std::nullopt;
  }
  if (type == "hfield") {
    const std::string name = values.text("hfield");
    const auto found = hfields_.find(name);
    if (found != hfields_.end()) return found->second;
    if (missing_.contains(name))
      values.note(ImportFate::kIgnored, fmt::format("hfield '{}' could not be read", name));
    else
      values.error(fmt::format("there is no hfield '{}'", name),
                   suggestion(name, names_of(hfields_)));
    return std::nullopt;
  }
  if (values.take("mesh") != nullptr) {
    values.error(fmt::format("fits a {} to a mesh, which is not done here", type),
                 "give its size, or type=\"mesh\"");
    return std::nullopt;
  }
  return read_sized(values, type, pose);
}

/// In the geom's frame. A mesh that is not closed weighs as much as its hull.
std::optional<MassProperties> MjcfGeomReader::find_mass(const MjcfValues& values,
                                                        const Shape& shape,
                                                        const std::string& type) {
  const auto mass = values.numbers("mass", 1, 1);
  const double density = values.number("density", 1000);
  const int group = values.integer("group", 0);
  const auto [first, last] = settings_.compiler().inertia_groups;
  if (mass ? mass->front() < 0 : density < 0) {
    values.error(fmt::format("{} is {}, must be >= 0", mass ? "mass" : "density",
                             to_text(mass ? mass->front() : density)));
    return std::nullopt;
  }
  if (type == "plane" || type == "hfield" || group < first || group > last) return std::nullopt;
  if (mass ? mass->front() == 0 : density == 0) return std::nullopt;
  try {
    std::optional<MassProperties> properties;
    if (type == "mesh") {
      const Mesh& mesh = meshes_.at(values.text("mesh")).mesh;
      if (!mesh.triangles.empty() && find_mass_fault(mesh).empty())
        properties = compute_mass_properties(mesh, mass ? 1 : density);
      else
        values.note(ImportFate::kChosen, "its mesh is not closed: it weighs as much as the hull");
    }
    if (!properties) properties = compute_mass_properties(shape, mass ? 1 : density);
    if (properties && mass) properties = scaled_to_mass(*properties, mass->front());
    return properties;
  } catch (const InputError& error) {
    values.error(error.what());
    return std::nullopt;
  }
}

/// Softness: solref in the form (−stiffness, −damping) becomes a compliance, else contacts are
/// rigid. Values of a default are told once.
void MjcfGeomReader::read_softness(const MjcfValues& values, MjcfGeom& geom) {
  const XmlAttribute* given = values.take("solref");
  const auto solref = values.numbers("solref", 1, 2);
  const bool has_stiffness = solref && solref->size() == 2 && solref->front() < 0;
  if (has_stiffness) geom.stiffness = -solref->front();
  if (given != nullptr && !has_stiffness && robot_.told.insert(given).second)
    report_.add(ImportFate::kApproximated, given->place, values.element().title(),
                fmt::format("contacts are rigid: solref=\"{}\" does not have the stiffness form",
                            given->value));
  for (const char* name : {"solimp", "solmix"})
    if (const XmlAttribute* other = values.take(name);
        other != nullptr && robot_.told.insert(other).second)
      report_.add(ImportFate::kIgnored, other->place, values.element().title(),
                  fmt::format("{}=\"{}\": contacts have no impedance", name, other->value));
  const XmlAttribute* margin = values.take("margin");
  const auto numbers = values.numbers("margin", 1, 1);
  if (margin != nullptr && numbers && numbers->front() != 0 && robot_.told.insert(margin).second)
    report_.add(ImportFate::kIgnored, margin->place, values.element().title(),
                fmt::format("margin=\"{}\": surfaces touch where they are", margin->value));
  if (const XmlAttribute* gap = values.take("gap");
      gap != nullptr && robot_.told.insert(gap).second)
    report_.add(ImportFate::kIgnored, gap->place, values.element().title(),
                fmt::format("gap=\"{}\": surfaces touch where they are", gap->value));
}

void MjcfGeomReader::read_contact(const MjcfValues& values, MjcfGeom& geom) {
  geom.contype = static_cast<unsigned>(values.integer("contype", 1));
  geom.conaffinity = static_cast<unsigned>(values.integer("conaffinity", 1));
  geom.condim = values.integer("condim", 3);
  geom.priority = values.integer("priority", 0);
  if (geom.condim != 1 && geom.condim != 3 && geom.condim != 4 && geom.condim != 6)
    values.error(fmt::format("condim is {}, expected 1, 3, 4 or 6", geom.condim));
  const XmlAttribute* given = values.take("friction");
  if (const auto friction = values.numbers("friction", 1, 3)) {
    geom.mu = friction->front();
    if (geom.mu < 0) {
      values.error(fmt::format("friction is {}, must be >= 0", to_text(geom.mu)));
      geom.mu = 0;
    }
    if (friction->size() > 1 && geom.condim < 4 && given != nullptr) robot_.told.insert(given);
  }
  if (geom.condim > 3)
    values.note(ImportFate::kApproximated,
                fmt::format("condim {}: friction against spinning{} is left out", geom.condim,
                            geom.condim == 6 ? " and rolling" : ""));
  read_softness(values, geom);
}

/// "#rrggbb" of rgba, or nothing.
std::string MjcfGeomReader::read_color(const MjcfValues& values) {
  const XmlAttribute* given = values.take("rgba");
  const auto numbers = values.numbers("rgba", 4, 4);
  if (!numbers) return {};
  if (numbers->back() < 1 && robot_.told.insert(given).second)
    report_.add(ImportFate::kApproximated, given->place, values.element().title(),
                fmt::format("rgba=\"{}\": is opaque", given->value));
  return make_color(*numbers);
}

void MjcfGeomReader::read_material(XmlElement& element) {
  const MjcfValues values = settings_.values(element, "");
  const std::string color = read_color(values);
  colors_[values.text("name")] = color;
  values.note(
      color.empty() ? ImportFate::kIgnored : ImportFate::kTaken,
      color.empty() ? "has no colour of its own, and textures are not read" : "a colour, " + color);
}

/// A colour of the geom itself wins over that of its material.
std::string MjcfGeomReader::color_of(const MjcfValues& geom) {
  const std::string material = geom.text("material");
  if (const std::string own = read_color(geom); !own.empty()) return own;
  const auto found = colors_.find(material);
  if (found != colors_.end()) return found->second;
  if (!material.empty())
    geom.error(fmt::format("there is no material '{}'", material),
               suggestion(material, names_of(colors_)));
  return {};
}

std::optional<MassProperties> MjcfGeomReader::read(XmlElement& element,
                                                   const std::string& childclass, int body,
                                                   const Pose& frame) {
  static const std::vector<std::string> types = {"plane",     "hfield",   "sphere", "capsule",
                                                 "ellipsoid", "cylinder", "box",    "mesh"};
  const MjcfValues values = settings_.values(element, childclass);
  const std::string type = values.text("type", "sphere");
  if (std::find(types.begin(), types.end(), type) == types.end()) {
    values.error(fmt::format("type '{}' is no type of geom", type), suggestion(type, types));
    return std::nullopt;
  }
  MjcfGeom geom{.element = &element, .name = values.text("name"), .body = body};
  Pose pose = values.pose();
  const auto shape = read_shape(values, type, pose);
  if (!shape) return std::nullopt;
  read_contact(values, geom);
  auto mass = find_mass(values, *shape, type);
  auto& shapes =
      body == kImportWorld ? robot_.model.world_shapes : robot_.model.bodies[body].shapes;
  geom.shape = static_cast<int>(shapes.size());
  pose = frame * pose;
  shapes.push_back({.place = element.place, .shape = *shape, .frame = pose});
  shapes.back().color = color_of(values);
  if (!geom.name.empty() &&
      !robot_.geom_index.emplace(geom.name, static_cast<int>(robot_.geoms.size())).second)
    values.error(fmt::format("there is a geom '{}' already, at line {}", geom.name,
                             robot_.geoms[robot_.geom_index[geom.name]].element->place.line));
  robot_.geoms.push_back(geom);
  if (mass) mass = transformed(*mass, pose.rotation, pose.position);
  values.note(ImportFate::kTaken, type);
  return mass;
}

}  // namespace stiction
