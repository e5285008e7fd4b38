#include "stiction/scene/mjcf_reader.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "stiction/base/text.h"
#include "stiction/scene/mjcf_bodies.h"
#include "stiction/scene/mjcf_constraints.h"
#include "stiction/scene/mjcf_contact.h"
#include "stiction/scene/mjcf_geoms.h"
#include "stiction/scene/mjcf_settings.h"

namespace stiction {
namespace {

const std::vector<std::string>& known_elements() {
  static const std::vector<std::string> names = {
      "compiler",  "option",    "size",        "visual",      "statistic", "default",    "custom",
      "extension", "asset",     "worldbody",   "contact",     "equality",  "deformable", "tendon",
      "actuator",  "sensor",    "keyframe",    "lengthrange", "flag",      "mesh",       "hfield",
      "skin",      "texture",   "material",    "model",       "body",      "inertial",   "joint",
      "freejoint", "geom",      "site",        "camera",      "light",     "composite",  "flexcomp",
      "frame",     "replicate", "attach",      "plugin",      "pair",      "exclude",    "connect",
      "weld",      "flex",      "fixed",       "spatial",     "pulley",    "general",    "motor",
      "position",  "velocity",  "intvelocity", "damper",      "cylinder",  "muscle",     "adhesion",
      "key",       "include"};
  return names;
}

/// What is left out as a whole may hold anything.
bool is_closed(const XmlElement& element) {
  static const std::set<std::string> names = {"size",      "visual",     "statistic",  "custom",
                                              "extension", "deformable", "tendon",     "sensor",
                                              "skin",      "composite",  "flexcomp",   "replicate",
                                              "attach",    "plugin",     "lengthrange"};
  return names.contains(element.name);
}

std::string reason_unused(const XmlElement& element, const std::string& attribute) {
  static const std::map<std::string, std::string> elements = {
      {"visual", "has no effect on motion"},
      {"light", "has no effect on motion"},
      {"camera", "has no effect on motion"},
      {"texture", "has no effect on motion"},
      {"material", "has no effect on motion"},
      {"skin", "has no effect on motion"},
      {"site", "a place without effect on motion"},
      {"statistic", "has no effect on motion"},
      {"size", "sizes of MuJoCo's memory"},
      {"custom", "for other programs"},
      {"sensor", "sensors are not simulated"},
      {"tendon", "there are no tendons in scenes"},
      {"deformable", "bodies are rigid"},
      {"composite", "is not expanded; MuJoCo writes it in full: mj_saveLastXML"},
      {"flexcomp", "bodies are rigid"},
      {"replicate", "is not expanded; MuJoCo writes it in full: mj_saveLastXML"},
      {"attach", "is not expanded; MuJoCo writes it in full: mj_saveLastXML"},
      {"plugin", "plugins of MuJoCo are not run"},
      {"extension", "plugins of MuJoCo are not run"}};
  static const std::set<std::string> seen = {
      "rgba",     "material",    "group",     "user",     "texture",  "texrepeat", "texuniform",
      "specular", "reflectance", "shininess", "emission", "metallic", "roughness"};
  if (attribute.empty()) {
    const auto found = elements.find(element.name);
    return found == elements.end() ? "" : found->second;
  }
  if (seen.contains(attribute)) return "has no effect on motion";
  if (element.name == "option") return "a setting of MuJoCo's own method";
  return {};
}

class MjcfReader {
 public:
  MjcfReader(XmlElement& root, const std::filesystem::path& path, const ImportOptions& options,
             ImportReport& report)
      : root_(root), path_(path), options_(options), report_(report) {}

  ImportModel read() {
    root_.is_used = true;
    const std::filesystem::path folder = path_.parent_path();
    follow_includes(root_, folder, report_);
    report_unknown_elements(root_, {known_elements(), "MJCF", is_closed}, !options_.ignore_unknown,
                            report_);
    ImportModel& model = robot_.model;
    model.format = "MJCF";
    model.joins_static_bodies = false;
    model.h = 0.002;
    const XmlAttribute* name = root_.take("model");
    model.name = name != nullptr && !name->value.empty() ? name->value : path_.stem().string();
    if (model.name.empty()) model.name = "robot";
    const MjcfSettings settings(root_, report_);
    read_options(settings);
    read_tree(settings, folder);
    report_.add(ImportFate::kApproximated, root_.place, root_.title(),
                "contacts, limits and friction are rigid and exact, where MuJoCo makes them soft");
    report_unused(root_, report_, reason_unused);
    return std::move(model);
  }

 private:
  template <class Read>
  void each(const char* name, const Read& read) {
    for (XmlElement& element : root_.children)
      if (element.name == name) read(element);
  }

  void read_options(const MjcfSettings& settings) {
    each("option", [&](XmlElement& element) {
      const MjcfValues values = settings.values(element, "");
      ImportModel& model = robot_.model;
      model.gravity = values.vector("gravity", model.gravity);
      model.h = values.number("timestep", model.h);
      if (!(model.h > 0)) {
        values.error(fmt::format("timestep is {}, must be > 0", to_text(model.h)));
        model.h = 0.002;
      }
      const std::string cone = values.text("cone", "pyramidal");
      if (cone == "pyramidal" && element.find("cone") != nullptr)
        values.note(ImportFate::kApproximated, "friction cones are round, not pyramids");
      if (XmlElement* flag = element.take_child("flag")) read_flags(settings, *flag);
      values.note(ImportFate::kTaken, "gravity and time step");
    });
  }

  void read_flags(const MjcfSettings& settings, XmlElement& flag) {
    const MjcfValues values = settings.values(flag, "");
    const auto is_off = [&](const char* name) { return values.text(name) == "disable"; };
    if (is_off("gravity")) robot_.model.gravity.setZero();
    if (is_off("filterparent")) robot_.model.neighbours_touch = true;
    has_contacts_ = !is_off("contact");
    has_equalities_ = !is_off("equality");
    has_actuators_ = !is_off("actuation");
  }

  void read_tree(const MjcfSettings& settings, const std::filesystem::path& folder) {
    MjcfGeomReader geoms(settings, folder, robot_, report_);
    each("asset", [&](XmlElement& element) { geoms.read_assets(element); });
    MjcfBodyReader bodies(settings, geoms, robot_, report_);
    each("worldbody", [&](XmlElement& element) { bodies.read_world(element); });
    if (robot_.model.bodies.empty())
      report_.add(ImportFate::kError, root_.place, root_.title(), "has no <body>");
    if (report_.has_errors()) return;
    bodies.adjust_masses();
    MjcfConstraintReader constraints(settings, options_, robot_, report_);
    constraints.read_keyframes(root_);
    constraints.set_positions(root_);
    if (has_equalities_)
      each("equality", [&](XmlElement& element) { constraints.read_equality(element); });
    constraints.check_ranges();
    if (has_actuators_)
      each("actuator", [&](XmlElement& element) { constraints.read_actuators(element); });
    MjcfContactReader contacts(settings, robot_, report_);
    each("contact", [&](XmlElement& element) { contacts.read(element); });
    contacts.assign();
    if (!has_contacts_)
      for (const MjcfGeom& geom : robot_.geoms) robot_.shape(geom).has_contact = false;
  }

  XmlElement& root_;
  const std::filesystem::path& path_;
  const ImportOptions& options_;
  ImportReport& report_;
  MjcfRobot robot_;
  bool has_contacts_ = true, has_equalities_ = true, has_actuators_ = true;
};

}  // namespace

ImportModel read_mjcf(XmlElement& root, const std::filesystem::path& path,
                      const ImportOptions& options, ImportReport& report) {
  return MjcfReader(root, path, options, report).read();
}

}  // namespace stiction
