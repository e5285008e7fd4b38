// Bodies of MJCF: the tree, joints and inertials.
#pragma once

#include <string>
#include <vector>

#include "stiction/scene/mjcf_geoms.h"
#include "stiction/scene/mjcf_robot.h"
#include "stiction/scene/mjcf_settings.h"

namespace stiction {

class MjcfBodyReader {
 public:
  MjcfBodyReader(const MjcfSettings& settings, MjcfGeomReader& geoms, MjcfRobot& robot,
                 ImportReport& report)
      : settings_(settings), geoms_(geoms), robot_(robot), report_(report) {}

  void read_world(XmlElement& worldbody);
  /// What <compiler> asks of all masses; after all bodies were read.
  void adjust_masses();

 private:
  struct Context {
    int body = kImportWorld;
    Pose frame{};  // of the <frame> elements around
    std::string childclass{};
    std::vector<MassProperties>* geom_masses = nullptr;
  };
  /// Geoms, joints and inertials of one body or of the world.
  void read_parts(XmlElement& element, const Context& context);
  void read_bodies(XmlElement& element, const Context& context);
  void read_body(XmlElement& element, const Context& context);
  void check_joints(const MjcfValues& values, int index, bool is_mocap);
  Context enter_frame(XmlElement& element, const Context& context);
  void read_joint(XmlElement& element, const Context& context);
  void read_joint_numbers(const MjcfValues& values, ImportJoint& joint);
  void read_range(const MjcfValues& values, ImportJoint& joint);
  std::optional<MassProperties> read_inertial(XmlElement& element, const Context& context);
  void set_mass(XmlElement& element, int body, const std::vector<MassProperties>& geom_masses);
  std::string unique_name(std::string wanted, std::set<std::string>& taken);
  std::string childclass_of(XmlElement& element, const Context& context);

  const MjcfSettings& settings_;
  MjcfGeomReader& geoms_;
  MjcfRobot& robot_;
  ImportReport& report_;
  std::map<int, MassProperties> inertials_;
  std::set<std::string> body_names_, joint_names_;
};

}  // namespace stiction
