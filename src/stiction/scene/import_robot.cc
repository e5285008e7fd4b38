#include "stiction/scene/import_robot.h"

#include <fmt/format.h>

#include <set>

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

}  // namespace

std::optional<ImportedScene> import_robot(const std::filesystem::path& path,
                                          const ImportOptions& options, ImportReport& report) {
  auto root = read_xml_file(path, report);
  if (!root || report.has_errors()) return std::nullopt;
  ImportedScene scene;
  if (root->name == "robot") {
    scene.model = read_urdf(*root, path, options, report);
  } else if (root->name == "mujoco") {
    scene.model = read_mjcf(*root, path, options, report);
  } else {
    report.add(ImportFate::kError, root->place, root->title(),
               fmt::format("the root element is <{}>, expected <robot> (URDF) or <mujoco> (MJCF)",
                           excerpt(root->name)));
  }
  if (report.has_errors()) return std::nullopt;
  add_ground(options, scene.model, report, root->place);
  report_meshes(scene.model, report);
  auto text = make_scene_text(scene.model, options.scene_folder, report);
  if (!text) return std::nullopt;
  scene.text = std::move(*text);
  return scene;
}

}  // namespace stiction
