#include "stiction/scene/import_robot.h"

#include <fmt/format.h>

#include "stiction/base/error.h"
#include "stiction/scene/import_scene.h"
#include "stiction/scene/json_document.h"
#include "stiction/scene/mjcf_reader.h"
#include "stiction/scene/urdf_reader.h"
#include "stiction/scene/xml_element.h"

namespace stiction {
namespace {

/// Two meshes do not touch each other: whoever imports several must know.
void report_meshes(const ImportModel& model, ImportReport& report) {
  std::vector<SourcePlace> places;
  for (const ImportBody& body : model.bodies)
    for (const ImportShape& shape : body.shapes)
      if (shape.has_contact && std::holds_alternative<Mesh>(shape.shape)) {
        places.push_back(shape.place);
        break;
      }
  if (places.size() < 2) return;
  report.add(
      ImportFate::kApproximated, places.front(), "<mesh>",
      fmt::format("{} bodies have meshes: no contacts are found between two meshes", places.size()),
      "--hulls makes convex hulls of them, which touch everything");
}

void add_ground(const ImportOptions& options, ImportModel& model, ImportReport& report,
                const SourcePlace& place) {
  if (!options.add_ground) return;
  ImportMaterial material{.name = "ground", .mu = options.friction};
  for (const ImportMaterial& other : model.materials)
    if (other.name == material.name) material.name += " added";
  model.materials.push_back(material);
  model.world_shapes.push_back(
      {.place = place, .shape = Plane{}, .material = static_cast<int>(model.materials.size()) - 1});
  report.add(ImportFate::kChosen, place, "", "a plane at z = 0, as --ground asks");
}

/// Options that the format has no use for would be dropped silently.
void check_options(const ImportOptions& options, bool is_urdf, const SourcePlace& place,
                   ImportReport& report) {
  const auto refuse = [&](bool is_given, const char* name, const char* format) {
    if (is_given)
      report.add(ImportFate::kError, place, name, fmt::format("is an option for {}", format));
  };
  if (is_urdf) return refuse(!options.keyframe.empty(), "--keyframe", "MJCF");
  refuse(options.fix_base, "--fix-base", "URDF");
  refuse(options.hold, "--hold", "URDF");
  refuse(options.as_hulls, "--hulls", "URDF; meshes of MJCF touch by their hulls in any case");
  refuse(options.base_position.has_value(), "--place", "URDF");
}

bool read_model(XmlElement& root, const std::filesystem::path& path, const ImportOptions& options,
                ImportModel& model, ImportReport& report) {
  const bool is_urdf = root.name == "robot";
  if (!is_urdf && root.name != "mujoco") {
    report.add(ImportFate::kError, root.place, root.title(),
               fmt::format("the root element is <{}>, expected <robot> (URDF) or <mujoco> (MJCF)",
                           excerpt(root.name)));
    return false;
  }
  check_options(options, is_urdf, root.place, report);
  model = is_urdf ? read_urdf(root, path, options, report) : read_mjcf(root, path, options, report);
  model.source = path.filename().string();
  return !report.has_errors();
}

}  // namespace

std::optional<ImportedScene> import_robot(const std::filesystem::path& path,
                                          const ImportOptions& options, ImportReport& report) {
  auto root = read_xml_file(path, report);
  if (!root) return std::nullopt;
  ImportedScene scene;
  try {
    if (!read_model(*root, path, options, scene.model, report)) return std::nullopt;
    add_ground(options, scene.model, report, root->place);
    report_meshes(scene.model, report);
    auto text = make_scene_text(scene.model, options.scene_folder, report);
    if (!text) return std::nullopt;
    scene.text = std::move(*text);
  } catch (const InputError& error) {
    // Numbers that are finite one by one, but not what is made of them.
    report.add(ImportFate::kError, root->place, root->title(), error.what());
    return std::nullopt;
  }
  return scene;
}

}  // namespace stiction
