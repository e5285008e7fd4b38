// What the parts of the MJCF reader share while a file is read.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "stiction/scene/import_model.h"
#include "stiction/scene/xml_element.h"

namespace stiction {

/// Of a map by names, for suggestions.
template <class Map>
std::vector<std::string> names_of(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

/// How a geom meets others; its shape is in the model.
struct MjcfGeom {
  XmlElement* element = nullptr;
  std::string name{};
  int body = kImportWorld;
  int shape = 0;  // index among the shapes of the body, or of the world
  unsigned contype = 1, conaffinity = 1;
  int condim = 3, priority = 0;
  double mu = 1;
  double stiffness = 0;  // [1/s²] of a solref in stiffness form: force per depth and mass
  bool is_in_pair = false;
};

struct MjcfRobot {
  ImportModel model{};
  std::vector<MjcfGeom> geoms{};
  std::map<std::string, int> bodies{};  // by name, the world excluded
  std::map<std::string, int> geom_index{};
  std::map<std::string, ImportJointRef> joints{};
  std::set<const XmlAttribute*> told{};  // values of defaults that were reported once

  ImportJoint& joint(const ImportJointRef& ref) { return model.bodies[ref.body].joints[ref.joint]; }
  ImportShape& shape(const MjcfGeom& geom) {
    return geom.body == kImportWorld ? model.world_shapes[geom.shape]
                                     : model.bodies[geom.body].shapes[geom.shape];
  }
};

}  // namespace stiction
