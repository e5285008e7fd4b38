#include "stiction/scene/urdf_link.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <numbers>

#include "stiction/base/text.h"
#include "stiction/scene/import_mesh.h"
#include "stiction/scene/import_shape_text.h"

namespace stiction {
namespace {

using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Vector3d;

}  // namespace

void UrdfLinkReader::error(const XmlElement& element, std::string message, std::string help) {
  report_.add(ImportFate::kError, element.place, element.title(), std::move(message),
              std::move(help));
}

Pose UrdfLinkReader::read_origin(XmlElement& element) {
  Pose pose;
  XmlElement* origin = element.take_child("origin");
  if (origin == nullptr) return pose;
  if (XmlAttribute* xyz = origin->take("xyz"))
    if (const auto numbers = read_numbers(*xyz, 3, 3, element.title(), report_))
      pose.position = Vector3d(numbers->data());
  if (XmlAttribute* rpy = origin->take("rpy"))
    if (const auto n = read_numbers(*rpy, 3, 3, element.title(), report_))
      pose.rotation =
          (AngleAxisd((*n)[2], Vector3d::UnitZ()) * AngleAxisd((*n)[1], Vector3d::UnitY()) *
           AngleAxisd((*n)[0], Vector3d::UnitX()))
              .toRotationMatrix();
  return pose;
}

ImportBody UrdfLinkReader::read(XmlElement& link, const std::string& name) {
  ImportBody body{.name = name, .place = link.place};
  bool has_inertial = false;
  for (XmlElement& child : link.children) {
    if (child.name == "inertial") {
      child.is_used = true;
      if (has_inertial) error(child, fmt::format("link '{}' has more than one inertial", name));
      has_inertial = true;
      body.mass = read_inertial(child, name);
    } else if (child.name == "collision" || child.name == "visual") {
      child.is_used = true;
      read_shape(child, child.name == "visual", name, body);
    }
  }
  report_.add(ImportFate::kTaken, link.place, link.title(),
              body.mass ? fmt::format("a body of {} kg", to_text(body.mass->mass))
                        : "a frame without mass");
  return body;
}

std::optional<MassProperties> UrdfLinkReader::read_inertial(XmlElement& inertial,
                                                            const std::string& link) {
  const Pose origin = read_origin(inertial);
  XmlElement* mass = inertial.take_child("mass");
  XmlAttribute* value = mass != nullptr ? mass->take("value") : nullptr;
  if (value == nullptr) {
    error(inertial, fmt::format("link '{}' has an inertial without <mass value=\"…\"/>", link));
    return std::nullopt;
  }
  const auto number = read_numbers(*value, 1, 1, inertial.title(), report_);
  if (!number) return std::nullopt;
  MassProperties properties{.mass = number->front()};
  XmlElement* inertia = inertial.take_child("inertia");
  if (inertia != nullptr) {
    constexpr std::array<std::pair<const char*, std::array<int, 2>>, 6> kEntries{{{"ixx", {0, 0}},
                                                                                  {"iyy", {1, 1}},
                                                                                  {"izz", {2, 2}},
                                                                                  {"ixy", {0, 1}},
                                                                                  {"ixz", {0, 2}},
                                                                                  {"iyz", {1, 2}}}};
    for (const auto& [key, at] : kEntries)
      if (XmlAttribute* given = inertia->take(key))
        if (const auto entry = read_numbers(*given, 1, 1, inertial.title(), report_))
          properties.inertia(at[0], at[1]) = properties.inertia(at[1], at[0]) = entry->front();
  }
  if (properties.mass == 0 && properties.inertia.isZero(0)) return std::nullopt;
  if (!(properties.mass > 0)) {
    error(*mass,
          fmt::format("mass of link '{}' is {}, must be > 0", link, to_text(properties.mass)));
    return std::nullopt;
  }
  if (!properties.inertia.isZero(0))
    if (const std::string fault = find_inertia_fault(properties.inertia); !fault.empty()) {
      error(*inertia, fmt::format("link '{}': {}", link, fault));
      return std::nullopt;
    }
  return transformed(properties, origin.rotation, origin.position);
}

/// "#rrggbb", or nothing if the material has no colour of its own.
std::string UrdfLinkReader::read_color(XmlElement& material) {
  XmlElement* color = material.take_child("color");
  XmlAttribute* rgba = color != nullptr ? color->take("rgba") : nullptr;
  if (rgba == nullptr) return {};
  const auto numbers = read_numbers(*rgba, 4, 4, material.title(), report_);
  if (!numbers) return {};
  if (numbers->back() < 1)
    report_.add(
        ImportFate::kApproximated, color->place, material.title(),
        fmt::format("is opaque: its transparency of {} is left out", to_text(1 - numbers->back())));
  return make_color(*numbers);
}

void UrdfLinkReader::read_material(XmlElement& material) {
  const XmlAttribute* name = material.find("name");
  const std::string color = read_color(material);
  if (name == nullptr || color.empty()) return;  // a texture alone: reported as not used
  material.is_used = true;
  material.take("name");
  if (!colors_.emplace(name->value, color).second)
    return error(material, "there is a material of this name already");
  report_.add(ImportFate::kTaken, material.place, material.title(), "a colour, " + color);
}

/// Of a visual: its own, or that of the robot's material of that name.
std::string UrdfLinkReader::color_of(XmlElement& visual) {
  for (XmlElement& child : visual.children) {
    if (child.name != "material") continue;
    std::string color = read_color(child);
    const XmlAttribute* name = child.find("name");
    if (color.empty() && name != nullptr && colors_.contains(name->value))
      color = colors_[name->value];
    if (color.empty()) return {};
    child.is_used = true;
    child.take("name");
    return color;
  }
  return {};
}

double UrdfLinkReader::read_size(XmlElement& element, const char* attribute,
                                 const std::string& link) {
  XmlAttribute* given = element.take(attribute);
  if (given == nullptr) {
    error(element, fmt::format("link '{}': required attribute '{}' is missing", link, attribute));
    return 1;
  }
  const auto number = read_numbers(*given, 1, 1, element.title(), report_);
  if (!number) return 1;
  if (number->front() > 0) return number->front();
  error(element, fmt::format("link '{}': {} is {}, must be > 0", link, attribute, given->value));
  return 1;
}

void UrdfLinkReader::read_shape(XmlElement& element, bool is_visual, const std::string& link,
                                ImportBody& body) {
  element.take("name");
  element.take("group");
  const Pose origin = read_origin(element);
  XmlElement* geometry = element.take_child("geometry");
  if (geometry == nullptr)
    return error(element, fmt::format("link '{}': <geometry> is missing", link));
  auto shape = read_geometry(*geometry, is_visual, link);
  if (!shape) return;
  shape->frame = origin;
  shape->place = element.place;
  shape->has_contact = !is_visual;
  if (!is_visual) shape->material = 0;
  if (is_visual) shape->color = color_of(element);
  report_.add(ImportFate::kTaken, element.place, element.title(),
              fmt::format("{} of '{}'{}", name_of(shape->shape), link,
                          is_visual ? ", to be seen only" : ""));
  body.shapes.push_back(std::move(*shape));
}

std::optional<ImportShape> UrdfLinkReader::read_geometry(XmlElement& geometry, bool is_visual,
                                                         const std::string& link) {
  for (XmlElement& child : geometry.children) {
    ImportShape shape;
    if (child.name == "box") {
      child.is_used = true;
      Vector3d size = Vector3d::Ones();
      XmlAttribute* given = child.take("size");
      if (given == nullptr)
        error(child, fmt::format("link '{}': required attribute 'size' is missing", link));
      else if (const auto numbers = read_numbers(*given, 3, 3, child.title(), report_)) {
        size = Vector3d(numbers->data());
        if (!(size.minCoeff() > 0))
          error(child,
                fmt::format("link '{}': size is \"{}\", all must be > 0", link, given->value));
      }
      shape.shape = Box{size};
    } else if (child.name == "sphere") {
      child.is_used = true;
      shape.shape = Sphere{read_size(child, "radius", link)};
    } else if (child.name == "cylinder" || child.name == "capsule") {
      child.is_used = true;
      const double radius = read_size(child, "radius", link);
      const double length = read_size(child, "length", link);
      if (child.name == "cylinder")
        shape.shape = Cylinder{radius, length};
      else
        shape.shape = Capsule{radius, length};
    } else if (child.name == "mesh") {
      child.is_used = true;
      return read_mesh(child, is_visual, link);
    } else {
      continue;
    }
    return shape;
  }
  error(geometry, fmt::format("link '{}': expected one of <box>, <sphere>, <cylinder>, <capsule> "
                              "and <mesh> inside",
                              link));
  return std::nullopt;
}

std::optional<ImportShape> UrdfLinkReader::read_mesh(XmlElement& mesh, bool is_visual,
                                                     const std::string& link) {
  XmlAttribute* filename = mesh.take("filename");
  if (filename == nullptr) {
    error(mesh, fmt::format("link '{}': required attribute 'filename' is missing", link));
    return std::nullopt;
  }
  Vector3d scale = Vector3d::Ones();
  if (XmlAttribute* given = mesh.take("scale"))
    if (const auto numbers = read_numbers(*given, 1, 3, mesh.title(), report_)) {
      scale = numbers->size() == 3 ? Vector3d(numbers->data())
                                   : Vector3d(Vector3d::Constant(numbers->front()));
      if (!(scale.cwiseAbs().minCoeff() > 0)) {
        error(mesh, fmt::format("link '{}': scale is \"{}\", none may be 0", link, given->value));
        return std::nullopt;
      }
    }
  std::vector<std::string> tried;
  const auto path = find_resource(filename->value, folder_, options_.package_paths, tried);
  const ImportFate unless_needed = is_visual ? ImportFate::kIgnored : ImportFate::kError;
  if (!path) {
    report_.add(unless_needed, filename->place, mesh.title(),
                fmt::format("link '{}': there is no file '{}'; tried {}", link, filename->value,
                            joined(tried)),
                is_visual ? "" : "--package-path FOLDER says where packages are");
    return std::nullopt;
  }
  if (!is_mesh_format_known(*path)) {
    report_.add(ImportFate::kIgnored, filename->place, mesh.title(),
                fmt::format("link '{}': '{}' is neither .obj nor .stl{}", link, filename->value,
                            is_visual ? "" : ": nothing can touch it"));
    return std::nullopt;
  }
  std::string reason;
  const auto loaded = load_mesh(*path, scale, reason);
  if (!loaded) {
    report_.add(unless_needed, filename->place, mesh.title(),
                fmt::format("link '{}': {}", link, reason));
    return std::nullopt;
  }
  ImportShape shape;
  if (options_.as_hulls && !is_visual) {
    auto hull = make_hull(loaded->mesh.vertices);
    if (!hull) {
      error(mesh, fmt::format("link '{}': '{}' is flat and has no hull", link, filename->value));
      return std::nullopt;
    }
    shape.shape = std::move(*hull);
    report_.add(ImportFate::kApproximated, mesh.place, mesh.title(),
                fmt::format("the convex hull of '{}', as --hulls asks", filename->value));
    return shape;
  }
  shape.shape = loaded->mesh;
  shape.needs_repair = loaded->needs_repair;
  if (loaded->needs_repair)
    report_.add(ImportFate::kApproximated, mesh.place, mesh.title(),
                fmt::format("'{}' is repaired: {}", filename->value, loaded->repair));
  if (scale.x() == scale.y() && scale.y() == scale.z() && scale.x() > 0) {
    shape.mesh_file = *path;
    shape.mesh_scale = scale.x();
  }
  return shape;
}

}  // namespace stiction
