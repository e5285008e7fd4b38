#include "stiction/scene/import_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "stiction/scene/import_joints.h"
#include "stiction/scene/import_kinematics.h"
#include "stiction/scene/import_shape_text.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Kind = ImportJoint::Kind;

/// The body of the scene on one side of a joint, with the joint's frame in it.
struct Side {
  std::string body;  // "world" where there is none
  bool is_dynamic = false;
  Pose frame{};
};

/// Where a joint of the robot went.
struct Place {
  std::string joint;  // of the scene; empty: none
  std::string key;    // of its coordinate, empty: none
  double shift = 0;
  bool is_only = true;  // the joint has no other coordinate
  std::array<Side, 2> sides;
};

class SceneMaker {
 public:
  SceneMaker(const ImportModel& model, const std::filesystem::path& folder, ImportReport& report)
      : model_(model),
        folder_(folder),
        report_(report),
        kinematics_(compute_kinematics(model)),
        names_(model.bodies.size()),
        places_(model.bodies.size()) {}

  std::optional<std::string> make() {
    taken_.insert("world");
    add_static_bodies();
    for (std::size_t i = 0; i < model_.bodies.size(); ++i)
      if (is_carrier(static_cast<int>(i))) add_body(static_cast<int>(i));
    name_fixed_bodies();
    add_gears();
    add_holds();
    add_springs();
    add_forces();
    add_untouched();
    if (report_.has_errors()) return std::nullopt;
    return to_json_text(make_root());
  }

 private:
  bool is_carrier(int body) const { return !model_.bodies[body].joints.empty(); }
  const Carrier& carrier(int body) const { return kinematics_.carriers[body]; }

  std::string unique(const std::string& wanted) {
    const std::string base = wanted.empty() ? "body" : wanted;
    std::string name = base;
    for (int k = 2; !taken_.insert(name).second; ++k) name = fmt::format("{} {}", base, k);
    return name;
  }

  // -----------------------------------------------------------------------------------------------
  // Bodies

  /// The body above all others that this static one is fixed to.
  int find_static_root(int body) const {
    while (model_.bodies[body].parent != kImportWorld) body = model_.bodies[body].parent;
    return body;
  }

  void add_static_body(const std::string& name, const Pose& pose, JsonNode shapes) {
    JsonNode node = make_json_object();
    add_member(node, "name", make_json(name));
    add_member(node, "static", make_json(true));
    add_pose(node, pose);
    add_member(node, "shapes", std::move(shapes));
    add_item(bodies_, std::move(node));
  }

  void add_static_bodies() {
    if (!model_.world_shapes.empty()) {
      JsonNode shapes = make_json_array();
      for (const ImportShape& shape : model_.world_shapes)
        add_item(shapes, make_shape(shape, shape.frame, model_.materials, folder_));
      world_name_ = unique("ground");
      add_static_body(world_name_, {}, std::move(shapes));
    }
    std::map<int, JsonNode> shapes;  // by owner
    for (int i = 0; i < static_cast<int>(model_.bodies.size()); ++i) {
      if (carrier(i).body != kImportWorld) continue;
      const int owner = model_.joins_static_bodies ? find_static_root(i) : i;
      const Pose in_owner = inverse(kinematics_.frames[owner].pose) * kinematics_.frames[i].pose;
      for (const ImportShape& shape : model_.bodies[i].shapes) {
        JsonNode& list = shapes.try_emplace(owner, make_json_array()).first->second;
        const Pose frame = owner == i ? shape.frame : in_owner * shape.frame;
        add_item(list, make_shape(shape, frame, model_.materials, folder_));
      }
    }
    for (auto& [owner, list] : shapes) {
      names_[owner] = unique(model_.bodies[owner].name);
      add_static_body(names_[owner], kinematics_.frames[owner].pose, std::move(list));
    }
  }

  /// Bodies that are part of another one are called like that in the scene.
  void name_fixed_bodies() {
    for (int i = 0; i < static_cast<int>(model_.bodies.size()); ++i) {
      if (is_carrier(i) || !names_[i].empty()) continue;
      if (carrier(i).body != kImportWorld)
        names_[i] = names_[carrier(i).body];
      else if (model_.joins_static_bodies)
        names_[i] = names_[find_static_root(i)];
    }
  }

  std::optional<MassProperties> find_mass(int body) {
    std::vector<MassProperties> parts;
    for (int i = body; i < static_cast<int>(model_.bodies.size()); ++i)
      if (carrier(i).body == body && model_.bodies[i].mass)
        parts.push_back(transformed(*model_.bodies[i].mass, carrier(i).frame.rotation,
                                    carrier(i).frame.position));
    const ImportBody& source = model_.bodies[body];
    if (parts.empty()) {
      report_.add(ImportFate::kError, source.place, fmt::format("body '{}'", source.name),
                  "moves but has no mass", "give it an inertial, or fix it to a body that has one");
      return std::nullopt;
    }
    const MassProperties whole = combined(parts);
    if (const std::string fault = find_inertia_fault(whole.inertia); !fault.empty()) {
      report_.add(ImportFate::kError, source.place, fmt::format("body '{}'", source.name), fault);
      return std::nullopt;
    }
    return whole;
  }

  void add_dynamic_body(const std::string& name, const MovingFrame& frame,
                        const MassProperties& mass, JsonNode shapes) {
    JsonNode node = make_json_object();
    add_member(node, "name", make_json(name));
    add_pose(node, frame.pose);
    if (!frame.velocity.isZero(0)) add_member(node, "velocity", make_json(frame.velocity));
    if (!frame.angular_velocity.isZero(0))
      add_member(node, "angular_velocity", make_json(frame.angular_velocity));
    add_mass(node, mass);
    if (!shapes.items.empty()) add_member(node, "shapes", std::move(shapes));
    add_item(bodies_, std::move(node));
  }

  void add_body(int index) {
    const ImportBody& body = model_.bodies[index];
    places_[index].resize(body.joints.size());
    auto mass = find_mass(index);
    if (!mass) return;
    names_[index] = unique(body.name);
    const std::vector<ImportedJoint> joints = make_joints(body);
    // Bodies between the joints, each with its share.
    const int num_between = std::max(static_cast<int>(joints.size()) - 1, 0);
    std::vector<Side> sides{parent_side(body)};
    for (int k = 0; k < num_between; ++k) {
      MassProperties share = *mass;
      share.mass *= kShareOfMass;
      share.inertia *= kShareOfMass;
      const std::string name = unique(fmt::format("{} after {}", body.name, body.joints[k].name));
      add_dynamic_body(name, kinematics_.stages[index][k], share, make_json_array());
      sides.push_back({name, true, {}});
    }
    if (num_between > 0) report_between(body, num_between);
    mass->mass *= 1 - num_between * kShareOfMass;
    mass->inertia *= 1 - num_between * kShareOfMass;
    add_dynamic_body(names_[index], kinematics_.frames[index], *mass, make_shapes(index));
    sides.push_back({names_[index], true, {}});
    for (std::size_t k = 0; k < joints.size(); ++k)
      add_joint(index, joints[k], sides[k], sides[k + 1]);
    if (num_between > 0 && !model_.neighbours_touch && sides.front().body != "world")
      add_pair(sides.front().body, sides.back().body);
  }

  void report_between(const ImportBody& body, int num_between) {
    std::string joints;
    for (const ImportJoint& joint : body.joints)
      joints += fmt::format("{}'{}'", joints.empty() ? "" : ", ", joint.name);
    report_.add(ImportFate::kApproximated, body.place, fmt::format("body '{}'", body.name),
                fmt::format("joints {} are one after the other, with {} {} between them that {} "
                            "{} % of its mass and inertia",
                            joints, num_between, num_between == 1 ? "body" : "bodies",
                            num_between == 1 ? "takes" : "take each", 100 * kShareOfMass));
  }

  JsonNode make_shapes(int body) {
    JsonNode shapes = make_json_array();
    for (int i = body; i < static_cast<int>(model_.bodies.size()); ++i) {
      if (carrier(i).body != body) continue;
      for (const ImportShape& shape : model_.bodies[i].shapes) {
        const Pose frame = i == body ? shape.frame : carrier(i).frame * shape.frame;
        add_item(shapes, make_shape(shape, frame, model_.materials, folder_));
      }
    }
    return shapes;
  }

  // -----------------------------------------------------------------------------------------------
  // Joints

  /// The body of the scene that the frame of a body of the robot is fixed to.
  Side side_of(int body) const {
    if (body == kImportWorld) return {"world", false, {}};
    const Carrier& fixed = carrier(body);
    if (fixed.body != kImportWorld) return {names_[fixed.body], true, fixed.frame};
    if (model_.joins_static_bodies) {
      const int root = find_static_root(body);
      if (!names_[root].empty())
        return {names_[root], false,
                inverse(kinematics_.frames[root].pose) * kinematics_.frames[body].pose};
    }
    return {"world", false, kinematics_.frames[body].pose};
  }

  Side parent_side(const ImportBody& body) const {
    Side side = side_of(body.parent);
    side.frame = side.frame * body.frame;
    return side;
  }

  std::string joint_name(const ImportBody& body, const ImportedJoint& joint) {
    std::string name;
    for (const ImportedCoordinate& coordinate : joint.coordinates)
      name += (name.empty() ? "" : "+") + body.joints[coordinate.joint].name;
    return name;
  }

  void add_joint(int index, const ImportedJoint& joint, Side first, Side second) {
    const ImportBody& body = model_.bodies[index];
    first.frame = first.frame * joint.frames[0];
    second.frame = second.frame * joint.frames[1];
    const std::string name = joint_name(body, joint);
    const auto num_keys =
        std::count_if(joint.coordinates.begin(), joint.coordinates.end(),
                      [](const ImportedCoordinate& coordinate) { return !coordinate.key.empty(); });
    JsonNode node = make_json_object();
    add_member(node, "type", make_json(joint.type));
    add_member(node, "name", make_json(name));
    JsonNode bodies = make_json_array(), frames = make_json_array();
    for (const Side* side : {&first, &second}) {
      add_item(bodies, make_json(side->body));
      add_item(frames, make_frame(side->frame));
    }
    add_member(node, "bodies", std::move(bodies));
    add_member(node, "frames", std::move(frames));
    if (model_.neighbours_touch) add_member(node, "collide", make_json(true));
    for (const ImportedCoordinate& coordinate : joint.coordinates)
      places_[index][coordinate.joint] = {
          name, coordinate.key, coordinate.shift, num_keys == 1, {first, second}};
    add_drives(index, joint, num_keys > 1, node);
    add_item(joints_, std::move(node));
  }

  /// Limits, friction and motors: by coordinate where there are several.
  void add_drives(int index, const ImportedJoint& joint, bool has_several, JsonNode& node) {
    JsonNode limits = make_json_object(), friction = make_json_object(),
             motors = make_json_object();
    for (const ImportedCoordinate& coordinate : joint.coordinates) {
      const ImportJoint& source = model_.bodies[index].joints[coordinate.joint];
      if (source.kind == Kind::kBall && source.friction > 0)
        add_member(node, "friction", make_json(source.friction));
      if (coordinate.key.empty()) continue;
      const auto bound = [&](double value) {
        return std::isfinite(value) ? make_json(value - coordinate.shift) : JsonNode{};
      };
      if (std::isfinite(source.lower) || std::isfinite(source.upper)) {
        JsonNode pair = make_json_array();
        add_item(pair, bound(source.lower));
        add_item(pair, bound(source.upper));
        add_member(limits, coordinate.key, std::move(pair));
      }
      if (source.friction > 0) add_member(friction, coordinate.key, make_json(source.friction));
      for (const ImportMotor& motor : model_.motors)
        if (motor.joint.body == index && motor.joint.joint == coordinate.joint &&
            motors.find(coordinate.key) == nullptr)
          add_member(motors, coordinate.key, make_motor(motor, coordinate.shift));
    }
    for (auto& [key, object] : {std::pair<const char*, JsonNode&>{"limits", limits},
                                {"friction", friction},
                                {"motor", motors}})
      if (!object.members.empty())
        add_member(node, key, has_several ? object : object.members.front().node);
  }

  static JsonNode make_motor(const ImportMotor& motor, double shift) {
    JsonNode node = make_json_object();
    add_member(node, "position", make_json(motor.position - shift));
    if (std::isfinite(motor.max_effort))
      add_member(node, "max_effort", make_json(motor.max_effort));
    return node;
  }

  const Place& place_of(const ImportJointRef& joint) const {
    return places_[joint.body][joint.joint];
  }

  void add_gears() {
    for (const ImportGear& gear : model_.gears) {
      const Place &first = place_of(gear.first), &second = place_of(gear.second);
      if (first.key.empty() || second.key.empty()) continue;
      JsonNode node = make_json_object(), joints = make_json_array();
      add_member(node, "type", make_json("gear"));
      add_member(node, "name", make_json(gear.name));
      add_item(joints, make_json(first.joint));
      add_item(joints, make_json(second.joint));
      add_member(node, "joints", std::move(joints));
      add_member(node, "ratio", make_json(gear.ratio));
      add_item(joints_, std::move(node));
    }
  }

  void add_holds() {
    for (const ImportHold& hold : model_.holds) {
      JsonNode node = make_json_object(), bodies = make_json_array(), frames = make_json_array();
      add_member(node, "type", make_json(hold.is_weld ? "fixed" : "ball"));
      add_member(node, "name", make_json(hold.name));
      for (const int side : {0, 1}) {
        const Side at = side_of(hold.bodies[side]);
        add_item(bodies, make_json(at.body));
        add_item(frames, make_frame(at.frame * hold.frames[side]));
      }
      add_member(node, "bodies", std::move(bodies));
      add_member(node, "frames", std::move(frames));
      if (hold.compliance > 0) add_member(node, "compliance", make_json(hold.compliance));
      if (hold.damping_time > 0) add_member(node, "damping_time", make_json(hold.damping_time));
      add_member(node, "collide", make_json(true));
      add_item(joints_, std::move(node));
    }
  }

  // -----------------------------------------------------------------------------------------------
  // Springs and forces

  void add_spring(const ImportSpring& spring) {
    const Place& place = place_of(spring.joint);
    if (place.key.empty()) return;
    JsonNode node = make_json_object();
    add_member(node, "name", make_json(spring.name));
    add_member(node, "joint", make_json(place.joint));
    if (!place.is_only) add_member(node, "coordinate", make_json(place.key));
    add_member(node, "stiffness", make_json(spring.stiffness));
    if (spring.damping > 0) add_member(node, "damping", make_json(spring.damping));
    if (spring.rest != place.shift && spring.stiffness > 0)
      add_member(node, "rest", make_json(spring.rest - place.shift));
    add_item(springs_, std::move(node));
  }

  /// The damping of a ball joint is the same about all axes: a bushing without stiffness.
  void add_ball_spring(const ImportJoint& joint, const Place& place) {
    JsonNode node = make_json_object(), bushing = make_json_object(), bodies = make_json_array(),
             frames = make_json_array();
    add_member(node, "name", make_json(joint.name + " spring"));
    for (const Side& side : place.sides) {
      add_item(bodies, make_json(side.body));
      add_item(frames, make_frame(side.frame));
    }
    add_member(bushing, "bodies", std::move(bodies));
    add_member(bushing, "frames", std::move(frames));
    add_member(node, "bushing", std::move(bushing));
    for (const auto& [key, value] :
         {std::pair("stiffness", joint.stiffness), std::pair("damping", joint.damping)}) {
      const std::array<double, 6> about{0, 0, 0, value, value, value};
      add_member(node, key, make_json_array(about));
    }
    add_item(springs_, std::move(node));
  }

  void add_springs() {
    for (int i = 0; i < static_cast<int>(model_.bodies.size()); ++i)
      for (int k = 0; k < static_cast<int>(places_[i].size()); ++k) {
        const ImportJoint& joint = model_.bodies[i].joints[k];
        if (joint.stiffness == 0 && joint.damping == 0) continue;
        if (joint.kind == Kind::kBall)
          add_ball_spring(joint, places_[i][k]);
        else
          add_spring({joint.name + " spring", {i, k}, joint.stiffness, joint.damping, joint.rest});
      }
    for (const ImportSpring& spring : model_.springs) add_spring(spring);
  }

  void add_force(const std::string& body, const Vector3d& vector, bool is_torque,
                 const Vector3d& point) {
    JsonNode node = make_json_object();
    add_member(node, "body", make_json(body));
    add_member(node, is_torque ? "torque" : "force", make_json(vector));
    if (!is_torque) add_member(node, "point", make_json(point));
    add_member(node, "frame", make_json("body"));
    add_item(forces_, std::move(node));
  }

  void add_forces() {
    for (const ImportEffort& effort : model_.efforts) {
      const Place& place = place_of(effort.joint);
      if (place.key.empty()) continue;
      const bool is_torque =
          model_.bodies[effort.joint.body].joints[effort.joint.joint].kind == Kind::kHinge;
      for (const int side : {0, 1}) {
        const Side& at = place.sides[side];
        const Vector3d axis = at.frame.rotation.col(2);
        if (at.is_dynamic)
          add_force(at.body, axis * (side == 1 ? effort.effort : -effort.effort), is_torque,
                    at.frame.position);
      }
    }
    for (int i = 0; i < static_cast<int>(model_.bodies.size()); ++i) {
      const ImportBody& body = model_.bodies[i];
      if (body.gravity_compensation == 0 || !body.mass || carrier(i).body == kImportWorld) continue;
      JsonNode node = make_json_object();
      add_member(node, "body", make_json(names_[i]));
      add_member(
          node, "force",
          make_json(Vector3d(-model_.gravity * body.mass->mass * body.gravity_compensation)));
      add_member(node, "point", make_json(Vector3d(carrier(i).frame * body.mass->center)));
      add_item(forces_, std::move(node));
    }
  }

  // -----------------------------------------------------------------------------------------------

  void add_pair(const std::string& first, const std::string& second) {
    if (first == second || first.empty() || second.empty()) return;
    const auto key = std::minmax(first, second);
    if (!pairs_.insert({key.first, key.second}).second) return;
    JsonNode pair = make_json_array();
    add_item(pair, make_json(first));
    add_item(pair, make_json(second));
    add_item(no_contact_, std::move(pair));
  }

  void add_untouched() {
    const auto name = [&](int body) { return body == kImportWorld ? world_name_ : names_[body]; };
    for (const auto& [first, second] : model_.untouched_bodies) add_pair(name(first), name(second));
    for (const auto& [first, second] : model_.untouched_names) add_pair(first, second);
  }

  JsonNode make_materials() const {
    JsonNode materials = make_json_object();
    for (const ImportMaterial& material : model_.materials)
      add_member(materials, material.name, make_law(material));
    return materials;
  }

  static JsonNode make_law(const ImportMaterial& law) {
    JsonNode node = make_json_object();
    add_member(node, "mu", make_json(law.mu));
    if (law.compliance > 0) add_member(node, "compliance", make_json(law.compliance));
    return node;
  }

  JsonNode make_material_pairs() const {
    JsonNode pairs = make_json_array();
    for (const ImportMaterialPair& pair : model_.material_pairs) {
      JsonNode node = make_json_object(), between = make_json_array();
      for (const int material : pair.materials)
        add_item(between, make_json(model_.materials[material].name));
      add_member(node, "between", std::move(between));
      const JsonNode law = make_law(pair.law);
      for (const JsonMember& member : law.members) add_member(node, member.key, member.node);
      add_item(pairs, std::move(node));
    }
    return pairs;
  }

  JsonNode make_root() {
    JsonNode root = make_json_object(), simulate = make_json_object();
    add_member(root, "stiction", make_json(1.0));
    add_member(root, "name", make_json(model_.name));
    add_member(root, "description",
               make_json(fmt::format("imported from {} ({})", model_.source, model_.format)));
    const bool is_compliant =
        std::any_of(model_.materials.begin(), model_.materials.end(),
                    [](const ImportMaterial& material) { return material.compliance > 0; });
    // The only scheme of its kind that has compliant contacts.
    if (is_compliant) add_member(simulate, "scheme", make_json("stewart-trinkle"));
    add_member(simulate, "h", make_json(model_.h));
    add_member(simulate, "duration", make_json(2.0));
    add_member(simulate, "friction", make_json("disc"));
    if (model_.project_start) add_member(simulate, "project_start", make_json(true));
    add_member(root, "simulate", std::move(simulate));
    add_member(root, "gravity", make_json(model_.gravity));
    for (auto& [key, value] : {std::pair<const char*, JsonNode>{"materials", make_materials()},
                               {"material_pairs", make_material_pairs()},
                               {"bodies", bodies_},
                               {"joints", joints_},
                               {"springs", springs_},
                               {"forces", forces_},
                               {"no_contact", no_contact_}})
      if (!value.items.empty() || !value.members.empty()) add_member(root, key, value);
    return root;
  }

  const ImportModel& model_;
  const std::filesystem::path& folder_;
  ImportReport& report_;
  ImportKinematics kinematics_;
  std::vector<std::string> names_;          // of the scene's bodies
  std::vector<std::vector<Place>> places_;  // by body and joint
  std::string world_name_;                  // of the body with the shapes of the world
  std::set<std::string> taken_;
  std::set<std::pair<std::string, std::string>> pairs_;
  JsonNode bodies_ = make_json_array(), joints_ = make_json_array(), springs_ = make_json_array(),
           forces_ = make_json_array(), no_contact_ = make_json_array();
};

}  // namespace

std::optional<std::string> make_scene_text(const ImportModel& model,
                                           const std::filesystem::path& folder,
                                           ImportReport& report) {
  return SceneMaker(model, folder, report).make();
}

}  // namespace stiction
