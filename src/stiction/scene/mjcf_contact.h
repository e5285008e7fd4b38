// Which geoms of MJCF touch which, and with what friction: filters, pairs, exclusions, materials.
#pragma once

#include "stiction/scene/mjcf_robot.h"
#include "stiction/scene/mjcf_settings.h"

namespace stiction {

class MjcfContactReader {
 public:
  MjcfContactReader(const MjcfSettings& settings, MjcfRobot& robot, ImportReport& report)
      : settings_(settings), robot_(robot), report_(report) {}

  void read(XmlElement& contact);
  /// Gives every geom its material, group and mask; after all geoms and <contact> were read.
  void assign();

 private:
  struct Pair {
    int first = 0, second = 0;
    std::optional<double> mu{};
    SourcePlace place{};
  };
  void read_pair(XmlElement& element);
  void read_exclude(XmlElement& element);
  std::optional<int> find_body(const MjcfValues& values, const char* attribute);
  void check_pairs();
  bool may_touch(int first, int second) const;
  void assign_groups();
  void assign_materials();
  double compliance_of(const MjcfGeom& geom) const;

  const MjcfSettings& settings_;
  MjcfRobot& robot_;
  ImportReport& report_;
  std::vector<Pair> pairs_;
};

}  // namespace stiction
