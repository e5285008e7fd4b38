// Links of URDF: inertials, collisions and visuals.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "stiction/scene/import_model.h"
#include "stiction/scene/import_robot.h"
#include "stiction/scene/xml_element.h"

namespace stiction {

class UrdfLinkReader {
 public:
  UrdfLinkReader(const std::filesystem::path& path, const ImportOptions& options,
                 ImportReport& report)
      : folder_(path.parent_path()), options_(options), report_(report) {}

  ImportBody read(XmlElement& link, const std::string& name);
  /// The pose in the child <origin>: xyz, then roll, pitch and yaw about fixed axes x, y, z.
  Pose read_origin(XmlElement& element);
  /// A material of the robot, which visuals name.
  void read_material(XmlElement& material);

 private:
  void error(const XmlElement& element, std::string message, std::string help = {});
  double read_size(XmlElement& element, const char* attribute, const std::string& link);
  std::optional<MassProperties> read_inertial(XmlElement& inertial, const std::string& link);
  void read_shape(XmlElement& element, bool is_visual, const std::string& link, ImportBody& body);
  std::optional<ImportShape> read_geometry(XmlElement& geometry, bool is_visual,
                                           const std::string& link);
  std::optional<ImportShape> read_mesh(XmlElement& mesh, bool is_visual, const std::string& link);

  std::string color_of(XmlElement& visual);
  std::string read_color(XmlElement& material);

  std::filesystem::path folder_;
  const ImportOptions& options_;
  ImportReport& report_;
  std::map<std::string, std::string> colors_{};  // of materials by their names
};

}  // namespace stiction
