// Geoms of MJCF, with the meshes and height fields that they use.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "stiction/scene/import_mesh.h"
#include "stiction/scene/mjcf_robot.h"
#include "stiction/scene/mjcf_settings.h"

namespace stiction {

class MjcfGeomReader {
 public:
  MjcfGeomReader(const MjcfSettings& settings, std::filesystem::path folder, MjcfRobot& robot,
                 ImportReport& report)
      : settings_(settings), folder_(std::move(folder)), robot_(robot), report_(report) {}

  void read_assets(XmlElement& asset);
  /// Adds the shape to a body, or to the world; `frame` is that of the frames around the geom in
  /// the body. Its mass in the body's frame; none if it has no mass or does not count.
  std::optional<MassProperties> read(XmlElement& element, const std::string& childclass, int body,
                                     const Pose& frame);

 private:
  struct MeshAsset {
    Mesh mesh{};
    std::optional<Convex> hull{};
  };
  void read_mesh(XmlElement& element);
  std::optional<Mesh> read_mesh_file_of(const MjcfValues& values);
  std::optional<Mesh> read_mesh_points(const MjcfValues& values);
  void read_hfield(XmlElement& element);
  std::optional<Eigen::MatrixXd> read_elevations(const MjcfValues& values);
  std::optional<Eigen::MatrixXd> read_hfield_file(const MjcfValues& values,
                                                  const std::string& file);

  std::optional<Shape> read_shape(const MjcfValues& values, const std::string& type, Pose& pose);
  std::optional<Shape> read_sized(const MjcfValues& values, const std::string& type, Pose& pose);
  std::optional<MassProperties> find_mass(const MjcfValues& values, const Shape& shape,
                                          const std::string& type);
  void read_contact(const MjcfValues& values, MjcfGeom& geom);
  void read_softness(const MjcfValues& values, MjcfGeom& geom);
  void read_material(XmlElement& element);
  std::string read_color(const MjcfValues& values);
  std::string color_of(const MjcfValues& geom);

  const MjcfSettings& settings_;
  std::filesystem::path folder_;
  MjcfRobot& robot_;
  ImportReport& report_;
  std::map<std::string, MeshAsset> meshes_;
  std::map<std::string, HeightField> hfields_;
  std::map<std::string, std::string> colors_;  // of materials
  std::set<std::string> missing_;              // assets that were reported
};

}  // namespace stiction
