#include "stiction/scene/urdf_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "stiction/base/text.h"
#include "stiction/scene/urdf_link.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using Kind = ImportJoint::Kind;

const std::vector<std::string>& known_elements() {
  static const std::vector<std::string> names = {
      "link",     "joint",        "material",    "transmission",
      "gazebo",   "ros2_control", "mujoco",      "sensor",
      "inertial", "visual",       "collision",   "origin",
      "mass",     "inertia",      "geometry",    "box",
      "sphere",   "cylinder",     "capsule",     "mesh",
      "parent",   "child",        "axis",        "limit",
      "dynamics", "mimic",        "calibration", "safety_controller",
      "color",    "texture",      "contact",     "verbose"};
  return names;
}

/// Extensions of other programs have elements of their own.
bool is_extension(const XmlElement& element) {
  static const std::set<std::string> names = {"transmission", "gazebo", "ros2_control",
                                              "mujoco",       "sensor", "contact"};
  return names.contains(element.name);
}

std::string reason_unused(const XmlElement& element, const std::string& attribute) {
  static const std::map<std::string, std::string> elements = {
      {"transmission", "drives outside of the joints are not simulated"},
      {"gazebo", "for Gazebo alone"},
      {"ros2_control", "for a controller"},
      {"mujoco", "for MuJoCo alone"},
      {"sensor", "sensors are not simulated"},
      {"material", "there is no colour of this name"},
      {"texture", "shapes have one colour"},
      {"color", "a colour of nothing that is seen"},
      {"calibration", "for a controller"},
      {"safety_controller", "for a controller"},
      {"contact", "contact parameters outside of the format"}};
  if (!attribute.empty()) {
    if (element.name == "limit" && attribute == "effort")
      return "there is no motor that it could bound; --hold makes one";
    if (element.name == "limit" && attribute == "velocity")
      return "scenes have no limits of speeds";
    if (element.name == "robot") return "says nothing about motion";
    return {};
  }
  const auto found = elements.find(element.name);
  return found == elements.end() ? "" : found->second;
}

struct UrdfJoint {
  XmlElement* element = nullptr;
  std::string name{}, type{}, parent{}, child{};
  Pose origin{};
  ImportJoint joint{};
  bool is_fixed = false;
  double fixed_at = 0;  // of a revolute or prismatic joint with equal limits
  // Mimic:
  XmlElement* mimic = nullptr;
  std::string master{};
  double multiplier = 1, offset = 0;
};

class UrdfReader {
 public:
  UrdfReader(XmlElement& root, const std::filesystem::path& path, const ImportOptions& options,
             ImportReport& report)
      : root_(root), options_(options), report_(report), links_(path, options, report) {}

  ImportModel read() {
    root_.is_used = true;
    model_.format = "URDF";
    if (const XmlAttribute* name = root_.take("name")) model_.name = name->value;
    root_.take("version");
    if (model_.name.empty()) model_.name = "robot";
    report_unknown_elements(root_, {known_elements(), "URDF", is_extension},
                            !options_.ignore_unknown, report_);
    if (!(options_.friction >= 0))
      error(root_, fmt::format("friction is {}, must be >= 0", options_.friction));
    model_.materials.push_back({.name = "surface", .mu = std::max(options_.friction, 0.0)});
    read_links();
    read_joints();
    note(ImportFate::kChosen, root_,
         fmt::format("gravity of 9.81 m/s² along −z and friction {} of all surfaces: URDF says "
                     "nothing about either",
                     to_text(options_.friction)));
    if (!report_.has_errors() && build_tree()) {
      resolve_positions();
      add_mimics();
      add_motors();
    }
    report_unused(root_, report_, reason_unused);
    return std::move(model_);
  }

 private:
  void error(const XmlElement& element, std::string message, std::string help = {}) {
    report_.add(ImportFate::kError, element.place, element.title(), std::move(message),
                std::move(help));
  }
  void note(ImportFate fate, const XmlElement& element, std::string message) {
    report_.add(fate, element.place, element.title(), std::move(message));
  }

  // -----------------------------------------------------------------------------------------------

  void read_links() {
    for (XmlElement& element : root_.children)
      if (element.name == "material") links_.read_material(element);
    for (XmlElement& element : root_.children) {
      if (element.name != "link") continue;
      element.is_used = true;
      const std::string name = read_name(element);
      if (name.empty()) continue;
      if (!link_index_.emplace(name, static_cast<int>(link_elements_.size())).second) {
        const XmlElement& other = *link_elements_[link_index_[name]];
        error(element,
              fmt::format("there is a link of this name already, at line {}", other.place.line));
        continue;
      }
      link_elements_.push_back(&element);
      parsed_links_.push_back(links_.read(element, name));
    }
    if (link_elements_.empty() && !report_.has_errors())
      error(root_, "has no <link>", "a robot has at least one");
  }

  std::string read_name(XmlElement& element) {
    const XmlAttribute* name = element.take("name");
    if (name == nullptr || name->value.empty()) {
      error(element, "required attribute 'name' is missing");
      return {};
    }
    return name->value;
  }

  void read_joints() {
    for (XmlElement& element : root_.children) {
      if (element.name != "joint") continue;
      element.is_used = true;
      UrdfJoint joint{.element = &element};
      joint.name = read_name(element);
      if (joint.name.empty()) continue;
      if (!joint_index_.emplace(joint.name, static_cast<int>(joints_.size())).second) {
        error(element, fmt::format("there is a joint of this name already, at line {}",
                                   joints_[joint_index_[joint.name]].element->place.line));
        continue;
      }
      read_joint(element, joint);
      joints_.push_back(std::move(joint));
    }
  }

  std::string read_link_name(XmlElement& joint, const char* child) {
    XmlElement* element = joint.take_child(child);
    XmlAttribute* link = element != nullptr ? element->take("link") : nullptr;
    if (link == nullptr) {
      error(joint, fmt::format("required <{} link=\"…\"/> is missing", child));
      return {};
    }
    if (!link_index_.contains(link->value)) {
      std::vector<std::string> names;
      for (const auto& [name, index] : link_index_) names.push_back(name);
      report_.add(ImportFate::kError, link->place, joint.title(),
                  fmt::format("{} '{}' is no link", child, link->value),
                  suggestion(link->value, names));
      return {};
    }
    return link->value;
  }

  double read_number(XmlElement& element, const char* attribute, double fallback) {
    XmlAttribute* given = element.take(attribute);
    if (given == nullptr) return fallback;
    const auto numbers = read_numbers(*given, 1, 1, element.title(), report_);
    return numbers ? numbers->front() : fallback;
  }

  void read_joint(XmlElement& element, UrdfJoint& joint) {
    static const std::vector<std::string> types = {"fixed",     "revolute", "continuous",
                                                   "prismatic", "planar",   "floating"};
    const XmlAttribute* type = element.take("type");
    joint.type = type != nullptr ? type->value : "";
    if (std::find(types.begin(), types.end(), joint.type) == types.end())
      return error(element,
                   type != nullptr ? fmt::format("type '{}' is no type of joint", joint.type)
                                   : "required attribute 'type' is missing",
                   type != nullptr ? suggestion(joint.type, types) : "known: " + joined(types));
    joint.parent = read_link_name(element, "parent");
    joint.child = read_link_name(element, "child");
    joint.origin = links_.read_origin(element);
    joint.joint.name = joint.name;
    joint.joint.place = element.place;
    joint.is_fixed = joint.type == "fixed";
    if (joint.is_fixed || joint.type == "floating") return;
    joint.joint.kind = joint.type == "prismatic" ? Kind::kSlide
                       : joint.type == "planar"  ? Kind::kPlanar
                                                 : Kind::kHinge;
    read_axis(element, joint);
    if (joint.type != "planar") {
      read_limits(element, joint);
      read_dynamics(element, joint);
      read_mimic(element, joint);
    }
  }

  void read_axis(XmlElement& element, UrdfJoint& joint) {
    joint.joint.axis = Vector3d::UnitX();
    XmlElement* axis = element.take_child("axis");
    XmlAttribute* xyz = axis != nullptr ? axis->take("xyz") : nullptr;
    if (xyz == nullptr) return;
    const auto numbers = read_numbers(*xyz, 3, 3, element.title(), report_);
    if (!numbers) return;
    const Vector3d vector(numbers->data());
    if (!(vector.norm() > 0) || !std::isfinite(vector.norm()))
      return error(*axis, fmt::format("axis of joint '{}' is \"{}\", which has no direction",
                                      joint.name, xyz->value));
    joint.joint.axis = vector.normalized();
  }

  void read_limits(XmlElement& element, UrdfJoint& joint) {
    const bool is_limited = joint.type == "revolute" || joint.type == "prismatic";
    XmlElement* limit = element.take_child("limit");
    if (limit == nullptr) {
      if (is_limited)
        report_.add(ImportFate::kChosen, element.place, element.title(),
                    "has no <limit>: it moves without limits");
      return;
    }
    if (!is_limited) return;
    joint.joint.lower = read_number(*limit, "lower", 0);
    joint.joint.upper = read_number(*limit, "upper", 0);
    if (joint.joint.lower > joint.joint.upper)
      error(*limit,
            fmt::format("limits of joint '{}' are {} and {}, the lower must not be larger",
                        joint.name, to_text(joint.joint.lower), to_text(joint.joint.upper)));
    else if (joint.joint.lower == joint.joint.upper) {
      joint.is_fixed = true;
      joint.fixed_at = joint.joint.lower;
    }
  }

  void read_dynamics(XmlElement& element, UrdfJoint& joint) {
    XmlElement* dynamics = element.take_child("dynamics");
    if (dynamics == nullptr) return;
    joint.joint.damping = read_number(*dynamics, "damping", 0);
    joint.joint.friction = read_number(*dynamics, "friction", 0);
    for (const auto& [what, value] :
         {std::pair("damping", joint.joint.damping), std::pair("friction", joint.joint.friction)})
      if (value < 0)
        error(*dynamics, fmt::format("{} of joint '{}' is {}, must be >= 0", what, joint.name,
                                     to_text(value)));
  }

  void read_mimic(XmlElement& element, UrdfJoint& joint) {
    joint.mimic = element.take_child("mimic");
    if (joint.mimic == nullptr) return;
    XmlAttribute* master = joint.mimic->take("joint");
    if (master == nullptr) return error(*joint.mimic, "required attribute 'joint' is missing");
    joint.master = master->value;
    joint.multiplier = read_number(*joint.mimic, "multiplier", 1);
    joint.offset = read_number(*joint.mimic, "offset", 0);
  }

  // -----------------------------------------------------------------------------------------------
  // The tree

  bool build_tree() {
    std::vector<int> parent_joint(link_elements_.size(), -1);
    std::vector<std::vector<int>> below(link_elements_.size());
    bool is_tree = true;
    for (int j = 0; j < static_cast<int>(joints_.size()); ++j) {
      const int child = link_index_.at(joints_[j].child);
      if (parent_joint[child] >= 0) {
        error(*joints_[j].element,
              fmt::format("link '{}' is the child of joint '{}' already, at line {}: a robot is a "
                          "tree, it has no loops",
                          joints_[j].child, joints_[parent_joint[child]].name,
                          joints_[parent_joint[child]].element->place.line));
        is_tree = false;
        continue;
      }
      parent_joint[child] = j;
      below[link_index_.at(joints_[j].parent)].push_back(j);
    }
    std::vector<int> roots;
    for (int i = 0; i < static_cast<int>(link_elements_.size()); ++i)
      if (parent_joint[i] < 0) roots.push_back(i);
    if (is_tree && roots.size() != 1) {
      std::string names;
      for (const int i : roots) names += fmt::format(" '{}'", parsed_links_[i].name);
      error(root_, roots.empty()
                       ? "every link is the child of a joint: there is no root, only loops"
                       : fmt::format("has {} links that are no child of a joint:{}, "
                                     "expected one, the root",
                                     roots.size(), names));
      is_tree = false;
    }
    if (!is_tree) return false;
    return add_links(roots.front(), below);
  }

  bool add_links(int root, const std::vector<std::vector<int>>& below) {
    body_of_link_.assign(link_elements_.size(), -1);
    add_root(root);
    std::vector<int> open{root};
    while (!open.empty()) {
      const int link = open.back();
      open.pop_back();
      for (const int j : below[link]) {
        const int child = link_index_.at(joints_[j].child);
        add_link(child, body_of_link_[link], &joints_[j]);
        open.push_back(child);
      }
    }
    for (std::size_t i = 0; i < link_elements_.size(); ++i)
      if (body_of_link_[i] < 0)
        error(*link_elements_[i], "is not connected to the root: its joints make a loop");
    return !report_.has_errors();
  }

  /// Whether anything fixed to the root has a mass.
  bool root_has_mass(int root) const {
    std::vector<std::string> group{parsed_links_[root].name};
    for (std::size_t k = 0; k < group.size(); ++k) {
      if (parsed_links_[link_index_.at(group[k])].mass) return true;
      for (const UrdfJoint& joint : joints_)
        if (joint.is_fixed && joint.parent == group[k] && group.size() <= joints_.size())
          group.push_back(joint.child);
    }
    return false;
  }

  void add_root(int root) {
    XmlElement& element = *link_elements_[root];
    add_link(root, kImportWorld, nullptr);
    ImportBody& body = model_.bodies.back();
    const Vector3d position = options_.base_position.value_or(Vector3d::Zero());
    if (options_.fix_base)
      note(ImportFate::kChosen, element, "the root is fixed to the world, as --fix-base asks");
    else if (parsed_links_[root].name == "world")
      note(ImportFate::kChosen, element, "the root is fixed to the world, since that is its name");
    else if (!root_has_mass(root))
      note(ImportFate::kChosen, element,
           "the root is fixed to the world: it has no mass and could not move freely");
    else {
      note(ImportFate::kChosen, element, "the root moves freely; --fix-base fixes it to the world");
      body.joints.push_back({.kind = Kind::kFree,
                             .name = "root",
                             .place = element.place,
                             .pose = {position, Eigen::Matrix3d::Identity()}});
      return;
    }
    body.frame.position = position;
  }

  void add_link(int link, int parent, UrdfJoint* joint) {
    ImportBody body = parsed_links_[link];
    body.parent = parent;
    body_of_link_[link] = static_cast<int>(model_.bodies.size());
    if (joint != nullptr) {
      body.frame = joint->origin;
      describe_joint(*joint, body);
    }
    model_.bodies.push_back(std::move(body));
  }

  void describe_joint(UrdfJoint& joint, ImportBody& body) {
    XmlElement& element = *joint.element;
    if (joint.type == "floating") {
      joint.joint.kind = Kind::kFree;
      body.joints.push_back(joint.joint);
      note(ImportFate::kTaken, element, "its child moves freely");
      return;
    }
    if (joint.is_fixed) {
      if (joint.type == "prismatic")
        body.frame =
            body.frame * Pose{joint.joint.axis * joint.fixed_at, Eigen::Matrix3d::Identity()};
      else if (joint.type == "revolute")
        body.frame = body.frame *
                     Pose{Vector3d::Zero(),
                          Eigen::AngleAxisd(joint.fixed_at, joint.joint.axis).toRotationMatrix()};
      note(ImportFate::kTaken, element,
           joint.type == "fixed"
               ? fmt::format("link '{}' is part of the body of '{}'", joint.child, joint.parent)
               : fmt::format("both limits are {}: link '{}' is part of the body of '{}'",
                             to_text(joint.fixed_at), joint.child, joint.parent));
      return;
    }
    std::string what = joint.type == "prismatic" ? "slider"
                       : joint.type == "planar"  ? "planar joint"
                                                 : "hinge";
    if (std::isfinite(joint.joint.lower)) what += ", limits";
    if (joint.joint.friction > 0) what += ", friction";
    if (joint.joint.damping > 0) what += ", damping";
    note(ImportFate::kTaken, element, what);
    body.joints.push_back(joint.joint);
  }

  ImportJoint* find_joint(const UrdfJoint& joint) {
    ImportBody& body = model_.bodies[body_of_link_[link_index_.at(joint.child)]];
    return body.joints.empty() || body.joints[0].kind == Kind::kFree ? nullptr : &body.joints[0];
  }
  ImportJointRef ref(const UrdfJoint& joint) const {
    return {body_of_link_[link_index_.at(joint.child)], 0};
  }

  // -----------------------------------------------------------------------------------------------
  // Start

  void resolve_positions() {
    for (const auto& [name, value] : options_.positions) {
      const auto found = joint_index_.find(name);
      if (found == joint_index_.end() || find_joint(joints_[found->second]) == nullptr) {
        std::vector<std::string> names;
        for (UrdfJoint& joint : joints_)
          if (find_joint(joint) != nullptr && joint.mimic == nullptr) names.push_back(joint.name);
        report_.add(ImportFate::kError, root_.place, fmt::format("--position {}", name),
                    "there is no such joint that moves", suggestion(name, names));
      } else if (joints_[found->second].mimic != nullptr) {
        error(*joints_[found->second].element,
              fmt::format("--position {}: it mimics joint '{}', which decides where it is", name,
                          joints_[found->second].master));
      } else if (joints_[found->second].type == "planar") {
        error(*joints_[found->second].element,
              fmt::format("--position {}: a planar joint has no position of one number", name));
      }
    }
    for (UrdfJoint& joint : joints_) {
      ImportJoint* target = find_joint(joint);
      if (target == nullptr || joint.mimic != nullptr) continue;
      const auto given = options_.positions.find(joint.name);
      const double wanted = given != options_.positions.end() ? given->second : 0;
      target->position = std::clamp(wanted, target->lower, target->upper);
      if (given != options_.positions.end() && target->position != wanted)
        error(*joint.element,
              fmt::format("--position {}: {} is beyond its limits {} and {}", joint.name,
                          to_text(wanted), to_text(target->lower), to_text(target->upper)));
      else if (target->position != wanted)
        note(
            ImportFate::kChosen, *joint.element,
            fmt::format("starts at its limit {}, since 0 is beyond it", to_text(target->position)));
    }
  }

  /// Masters before those that mimic them; a circle has no first one.
  void add_mimics() {
    std::map<std::string, int> state;  // 1: being looked at, 2: done
    for (UrdfJoint& joint : joints_)
      if (joint.mimic != nullptr) add_mimic(joint, state);
  }

  bool add_mimic(UrdfJoint& joint, std::map<std::string, int>& state) {
    // Chains are followed upwards one by one, without recursion: a file may have thousands.
    std::vector<UrdfJoint*> chain;
    for (UrdfJoint* next = &joint; next->mimic != nullptr && state[next->name] != 2;) {
      if (state[next->name] == 1) {
        report_cycle(chain, next);
        for (UrdfJoint* done : chain) state[done->name] = 2;
        return false;
      }
      state[next->name] = 1;
      chain.push_back(next);
      const auto master = joint_index_.find(next->master);
      if (master == joint_index_.end()) {
        std::vector<std::string> names;
        for (const auto& [name, index] : joint_index_) names.push_back(name);
        error(*next->mimic,
              fmt::format("joint '{}' mimics '{}', which is no joint", next->name, next->master),
              suggestion(next->master, names));
        for (UrdfJoint* done : chain) state[done->name] = 2;
        return false;
      }
      next = &joints_[master->second];
    }
    for (auto next = chain.rbegin(); next != chain.rend(); ++next) {
      make_gear(**next, joints_[joint_index_.at((*next)->master)]);
      state[(*next)->name] = 2;
    }
    return true;
  }

  void report_cycle(const std::vector<UrdfJoint*>& chain, const UrdfJoint* start) {
    std::string names;
    bool is_inside = false;
    for (const UrdfJoint* link : chain) {
      is_inside = is_inside || link == start;
      if (is_inside) names += fmt::format("'{}' mimics ", link->name);
    }
    error(*start->mimic,
          fmt::format("joints mimic each other in a circle: {}'{}'", names, start->name),
          "one of them must move on its own");
  }

  void make_gear(UrdfJoint& follower, UrdfJoint& master) {
    ImportJoint* second = find_joint(follower);
    ImportJoint* first = find_joint(master);
    if (second == nullptr) {
      note(ImportFate::kTaken, *follower.mimic, "the joint does not move");
      return;
    }
    const double value_of_master = first != nullptr  ? first->position
                                   : master.is_fixed ? master.fixed_at
                                                     : 0;
    second->position = follower.multiplier * value_of_master + follower.offset;
    second->stands_alone = true;
    if (second->position < second->lower - 1e-12 || second->position > second->upper + 1e-12)
      return error(
          *follower.mimic,
          fmt::format("joint '{}' starts at {} = {} · {} + {}, beyond its limits {} and {}",
                      follower.name, to_text(second->position), to_text(follower.multiplier),
                      to_text(value_of_master), to_text(follower.offset), to_text(second->lower),
                      to_text(second->upper)),
          fmt::format("start elsewhere: --position {}=VALUE", follower.master));
    second->position = std::clamp(second->position, second->lower, second->upper);
    if (first == nullptr || follower.multiplier == 0) {
      model_.motors.push_back({ref(follower), second->position});
      note(ImportFate::kTaken, *follower.mimic,
           fmt::format("held at {} by a motor, since '{}' does not move it",
                       to_text(second->position), master.name));
      return;
    }
    if (first->kind == Kind::kPlanar)
      return error(*follower.mimic,
                   fmt::format("joint '{}' mimics planar joint '{}', expected a joint with one "
                               "coordinate",
                               follower.name, master.name));
    first->stands_alone = true;
    model_.gears.push_back({follower.name + " mimics " + master.name, ref(master), ref(follower),
                            follower.multiplier});
    note(ImportFate::kTaken, *follower.mimic,
         fmt::format("gear from '{}', ratio {}", master.name, to_text(follower.multiplier)));
  }

  /// --hold: motors as strong as the effort of the limits.
  void add_motors() {
    if (!options_.hold) return;
    for (UrdfJoint& joint : joints_) {
      ImportJoint* target = find_joint(joint);
      if (target == nullptr || joint.mimic != nullptr || target->kind == Kind::kPlanar) continue;
      XmlElement* limit = joint.element->take_child("limit");
      XmlAttribute* effort = limit != nullptr ? limit->take("effort") : nullptr;
      ImportMotor motor{.joint = ref(joint), .position = target->position};
      if (effort != nullptr)
        if (const auto number = read_numbers(*effort, 1, 1, limit->title(), report_)) {
          motor.max_effort = number->front();
          if (motor.max_effort < 0)
            error(*limit, fmt::format("effort of joint '{}' is {}, must be >= 0", joint.name,
                                      to_text(motor.max_effort)));
        }
      model_.motors.push_back(motor);
      note(ImportFate::kChosen, *joint.element,
           fmt::format("a motor holds it at {}, as --hold asks", to_text(target->position)));
    }
  }

  XmlElement& root_;
  const ImportOptions& options_;
  ImportReport& report_;
  UrdfLinkReader links_;
  ImportModel model_;
  std::vector<XmlElement*> link_elements_;
  std::vector<ImportBody> parsed_links_;
  std::map<std::string, int> link_index_, joint_index_;
  std::vector<UrdfJoint> joints_;
  std::vector<int> body_of_link_;
};

}  // namespace

ImportModel read_urdf(XmlElement& root, const std::filesystem::path& path,
                      const ImportOptions& options, ImportReport& report) {
  return UrdfReader(root, path, options, report).read();
}

}  // namespace stiction
