// What acts on the joints of MJCF beside themselves: equalities, actuators, and the keyframe that
// says where everything starts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stiction/scene/import_robot.h"
#include "stiction/scene/mjcf_robot.h"
#include "stiction/scene/mjcf_settings.h"

namespace stiction {

class MjcfConstraintReader {
 public:
  MjcfConstraintReader(const MjcfSettings& settings, const ImportOptions& options, MjcfRobot& robot,
                       ImportReport& report)
      : settings_(settings), options_(options), robot_(robot), report_(report) {}

  /// Sets positions and velocities of all joints, and the controls.
  void read_keyframes(XmlElement& root);
  /// Positions that the options give, in rad and m.
  void set_positions(const XmlElement& root);
  void read_equality(XmlElement& equality);
  void read_actuators(XmlElement& actuator);
  /// Coordinates beyond their range are moved to its end.
  void check_ranges();

 private:
  void read_key(const MjcfValues& values);
  void set_qpos(const MjcfValues& values, const std::vector<double>& qpos);
  void set_qvel(const std::vector<double>& qvel);
  void read_hold(XmlElement& element, bool is_weld);
  void read_joint_equality(XmlElement& element);
  void read_hold_softness(const MjcfValues& values, ImportHold& hold);
  void read_actuator(XmlElement& element, int index);
  struct Law;
  bool read_law(const MjcfValues& values, const std::string& kind, Law& law);
  void apply_law(const MjcfValues& values, const ImportJointRef& joint, const std::string& name,
                 const Law& law);
  std::optional<int> find_body(const MjcfValues& values, const char* attribute, bool is_required);
  std::optional<ImportJointRef> find_joint(const MjcfValues& values, const char* attribute);

  const MjcfSettings& settings_;
  const ImportOptions& options_;
  MjcfRobot& robot_;
  ImportReport& report_;
  std::vector<double> controls_;
};

}  // namespace stiction
