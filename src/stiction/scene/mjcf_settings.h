// What holds for a whole MJCF file: the settings of <compiler> and <option>, default classes, and
// how values of attributes are found through them.
#pragma once

#include <Eigen/Geometry>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stiction/geometry/pose.h"
#include "stiction/scene/import_report.h"
#include "stiction/scene/xml_element.h"

namespace stiction {

struct MjcfCompiler {
  bool is_degree = true;
  std::string euler_sequence = "xyz";
  bool limits_are_automatic = true;
  enum class InertiaFromGeoms { kNo, kYes, kAuto } inertia_from_geoms = InertiaFromGeoms::kAuto;
  bool balances_inertia = false;
  double min_mass = 0, min_inertia = 0;
  double total_mass = -1;  // ≤ 0: as it is
  std::array<int, 2> inertia_groups{0, 5};
  std::string mesh_folder{};
  bool strips_path = false;
};

/// The values of one element: its own attributes first, then those of its class and the classes
/// around it.
class MjcfValues {
 public:
  MjcfValues(XmlElement& element, std::vector<XmlElement*> levels, const MjcfCompiler& compiler,
             ImportReport& report)
      : element_(element), levels_(std::move(levels)), compiler_(compiler), report_(report) {}

  XmlElement& element() const { return element_; }
  /// The attribute that counts, now used; null if no level has it.
  XmlAttribute* take(std::string_view name) const;
  std::string text(std::string_view name, const std::string& fallback = {}) const;
  double number(std::string_view name, double fallback) const;
  int integer(std::string_view name, int fallback) const;
  bool boolean(std::string_view name, bool fallback) const;
  /// None if it is not given, or after a fault.
  std::optional<std::vector<double>> numbers(std::string_view name, int min_count,
                                             int max_count) const;
  Eigen::Vector3d vector(std::string_view name, const Eigen::Vector3d& fallback) const;
  /// "true", "false", or "auto": whether `range` is given.
  bool is_limited(std::string_view name, std::string_view range) const;
  /// pos and quat, axisangle, euler, xyaxes or zaxis.
  Pose pose() const;
  Eigen::Matrix3d rotation() const;

  void error(std::string message, std::string help = {}) const;
  void note(ImportFate fate, std::string message) const;

 private:
  Eigen::Matrix3d read_rotation(const XmlAttribute& attribute) const;

  XmlElement& element_;
  std::vector<XmlElement*> levels_;
  const MjcfCompiler& compiler_;
  ImportReport& report_;
};

/// The turn that takes z to a direction, about the axis across both; a half turn about x for −z.
Eigen::Matrix3d turn_from_z(const Eigen::Vector3d& direction);

class MjcfSettings {
 public:
  /// Reads <compiler> and <default> below the root.
  MjcfSettings(XmlElement& root, ImportReport& report);

  const MjcfCompiler& compiler() const { return compiler_; }
  /// `childclass` is that of the bodies around the element, empty if none.
  MjcfValues values(XmlElement& element, const std::string& childclass) const;
  bool has_class(const std::string& name) const { return classes_.contains(name); }

 private:
  struct DefaultClass {
    std::string parent;
    std::vector<XmlElement*> elements;
  };

  void read_compiler(XmlElement& element);
  void read_defaults(XmlElement& element, const std::string& parent, bool is_top);

  ImportReport& report_;
  MjcfCompiler compiler_;
  std::map<std::string, DefaultClass> classes_;
  std::string main_ = "main";
};

}  // namespace stiction
