#include "stiction/scene/mjcf_constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/text.h"
#include "stiction/scene/import_kinematics.h"

namespace stiction {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;
using Kind = ImportJoint::Kind;

constexpr int kMany = std::numeric_limits<int>::max();

int num_positions(Kind kind) { return kind == Kind::kFree ? 7 : kind == Kind::kBall ? 4 : 1; }
int num_velocities(Kind kind) { return kind == Kind::kFree ? 6 : kind == Kind::kBall ? 3 : 1; }

}  // namespace

// -------------------------------------------------------------------------------------------------
// Start

void MjcfConstraintReader::read_keyframes(XmlElement& root) {
  std::vector<std::string> names;
  bool is_found = options_.keyframe.empty();
  int index = 0;
  for (XmlElement& keyframe : root.children) {
    if (keyframe.name != "keyframe") continue;
    keyframe.is_used = true;
    for (XmlElement& key : keyframe.children) {
      if (key.name != "key") continue;
      key.is_used = true;
      const XmlAttribute* name = key.find("name");
      const std::string number = std::to_string(index++);
      names.push_back(name != nullptr ? name->value : number);
      const bool is_chosen =
          !is_found && (options_.keyframe == number || options_.keyframe == names.back());
      if (is_chosen) {
        is_found = true;
        read_key(settings_.values(key, ""));
        continue;
      }
      report_.add(
          ImportFate::kIgnored, key.place, key.title(),
          fmt::format("a start that was not asked for; --keyframe {} takes it", names.back()));
      key.take_all();
    }
  }
  if (!is_found)
    report_.add(ImportFate::kError, root.place, fmt::format("--keyframe {}", options_.keyframe),
                "there is no such keyframe", suggestion(options_.keyframe, names));
}

void MjcfConstraintReader::read_key(const MjcfValues& values) {
  int num_q = 0, num_v = 0;
  for (const ImportBody& body : robot_.model.bodies)
    for (const ImportJoint& joint : body.joints) {
      num_q += num_positions(joint.kind);
      num_v += num_velocities(joint.kind);
    }
  values.take("name");
  values.number("time", 0);
  if (values.take("qpos") != nullptr)
    if (const auto qpos = values.numbers("qpos", num_q, num_q)) set_qpos(values, *qpos);
  if (values.take("qvel") != nullptr)
    if (const auto qvel = values.numbers("qvel", num_v, num_v)) set_qvel(*qvel);
  if (values.take("ctrl") != nullptr)
    if (const auto ctrl = values.numbers("ctrl", 0, kMany)) controls_ = *ctrl;
  values.note(ImportFate::kTaken, "the start");
}

void MjcfConstraintReader::set_qpos(const MjcfValues& values, const std::vector<double>& qpos) {
  const double* next = qpos.data();
  const auto take_turn = [&] {
    const Quaterniond turn(next[0], next[1], next[2], next[3]);
    next += 4;
    if (turn.norm() > 1e-14 && std::isfinite(turn.norm())) return turn.normalized();
    values.error("qpos has a quaternion of length zero");
    return Quaterniond::Identity();
  };
  for (ImportBody& body : robot_.model.bodies)
    for (ImportJoint& joint : body.joints) {
      if (joint.kind == Kind::kFree) {
        joint.pose.position = Vector3d(next);
        next += 3;
        joint.pose.rotation = take_turn().toRotationMatrix();
      } else if (joint.kind == Kind::kBall) {
        joint.turn = take_turn();
      } else {
        joint.position = *next++;
      }
    }
}

void MjcfConstraintReader::set_qvel(const std::vector<double>& qvel) {
  const double* next = qvel.data();
  for (ImportBody& body : robot_.model.bodies)
    for (ImportJoint& joint : body.joints) {
      if (joint.kind == Kind::kFree) joint.linear_velocity = Vector3d(next);
      if (joint.kind == Kind::kFree) joint.angular_velocity = Vector3d(next + 3);
      if (joint.kind == Kind::kBall) joint.angular_velocity = Vector3d(next);
      if (num_velocities(joint.kind) == 1) joint.velocity = *next;
      next += num_velocities(joint.kind);
    }
}

void MjcfConstraintReader::set_positions(const XmlElement& root) {
  for (const auto& [name, value] : options_.positions) {
    const auto found = robot_.joints.find(name);
    if (found == robot_.joints.end() || num_positions(robot_.joint(found->second).kind) != 1) {
      report_.add(ImportFate::kError, root.place, fmt::format("--position {}", name),
                  "there is no such hinge or slide", suggestion(name, names_of(robot_.joints)));
      continue;
    }
    ImportJoint& joint = robot_.joint(found->second);
    joint.position = value;
    if (value < joint.lower || value > joint.upper)
      report_.add(ImportFate::kError, joint.place, fmt::format("--position {}", name),
                  fmt::format("{} is beyond its range {} to {}", to_text(value),
                              to_text(joint.lower), to_text(joint.upper)));
  }
}

void MjcfConstraintReader::check_ranges() {
  for (ImportBody& body : robot_.model.bodies)
    for (ImportJoint& joint : body.joints) {
      if (joint.position >= joint.lower && joint.position <= joint.upper) continue;
      const double moved = std::clamp(joint.position, joint.lower, joint.upper);
      report_.add(ImportFate::kApproximated, joint.place, fmt::format("joint '{}'", joint.name),
                  fmt::format("starts at {}, the end of its range, not at {} beyond it",
                              to_text(moved), to_text(joint.position)));
      joint.position = moved;
    }
}

// -------------------------------------------------------------------------------------------------
// Equalities

std::optional<int> MjcfConstraintReader::find_body(const MjcfValues& values, const char* attribute,
                                                   bool is_required) {
  const XmlAttribute* given = values.take(attribute);
  if (given == nullptr) {
    if (!is_required) return kImportWorld;
    values.error(fmt::format("required attribute '{}' is missing", attribute));
    return std::nullopt;
  }
  if (given->value == "world") return kImportWorld;
  const auto found = robot_.bodies.find(given->value);
  if (found != robot_.bodies.end()) return found->second;
  values.error(fmt::format("{} '{}' is no body", attribute, given->value),
               suggestion(given->value, names_of(robot_.bodies)));
  return std::nullopt;
}

std::optional<ImportJointRef> MjcfConstraintReader::find_joint(const MjcfValues& values,
                                                               const char* attribute) {
  const std::string name = values.text(attribute);
  const auto found = robot_.joints.find(name);
  if (found == robot_.joints.end()) {
    values.error(fmt::format("{} '{}' is no joint", attribute, name),
                 suggestion(name, names_of(robot_.joints)));
    return std::nullopt;
  }
  if (num_positions(robot_.joint(found->second).kind) == 1) return found->second;
  values.error(fmt::format("{} '{}' is a {} joint, expected a hinge or slide", attribute, name,
                           robot_.joint(found->second).kind == Kind::kBall ? "ball" : "free"));
  return std::nullopt;
}

void MjcfConstraintReader::read_equality(XmlElement& equality) {
  equality.is_used = true;
  for (XmlElement& child : equality.children) {
    if (child.name != "connect" && child.name != "weld" && child.name != "joint") continue;
    const MjcfValues values = settings_.values(child, "");
    if (!values.boolean("active", true)) {
      values.note(ImportFate::kIgnored, "is not active");
      child.take_all();
      continue;
    }
    if (child.name == "joint")
      read_joint_equality(child);
    else
      read_hold(child, child.name == "weld");
  }
}

/// In stiffness form solref is an acceleration per error: stiffness is that times the mass.
void MjcfConstraintReader::read_hold_softness(const MjcfValues& values, ImportHold& hold) {
  const XmlAttribute* given = values.take("solref");
  const auto solref = values.numbers("solref", 1, 2);
  if (const XmlAttribute* solimp = values.take("solimp"))
    values.note(ImportFate::kIgnored,
                fmt::format("solimp=\"{}\": joints have no impedance", solimp->value));
  if (!solref) return;
  double mass = 0;  // of the lighter body
  for (const int body : hold.bodies)
    if (body != kImportWorld && robot_.model.bodies[body].mass)
      mass = mass > 0 ? std::min(mass, robot_.model.bodies[body].mass->mass)
                      : robot_.model.bodies[body].mass->mass;
  if (solref->size() == 2 && solref->front() < 0 && mass > 0) {
    hold.compliance = -1 / (solref->front() * mass);
    hold.damping_time = std::max(solref->back() / solref->front(), 0.0);
    values.note(ImportFate::kApproximated,
                fmt::format("solref in stiffness form: a compliance of {:.4g} m/N and a damping "
                            "time of {:.4g} s, for the mass of the lighter body",
                            hold.compliance, hold.damping_time));
  } else {
    values.note(
        ImportFate::kApproximated,
        fmt::format("is rigid: solref=\"{}\" does not have the stiffness form", given->value));
  }
}

void MjcfConstraintReader::read_hold(XmlElement& element, bool is_weld) {
  const MjcfValues values = settings_.values(element, "");
  const auto first = find_body(values, "body1", true), second = find_body(values, "body2", false);
  if (!first || !second) return;
  if (*first == *second) return values.error("holds a body to itself");
  ImportHold hold{.is_weld = is_weld, .bodies = {*first, *second}};
  hold.name = values.text(
      "name", fmt::format("{} {}", is_weld ? "weld" : "connect", robot_.model.holds.size() + 1));
  const std::vector<Pose> poses = compute_reference_poses(robot_.model);
  const auto pose = [&](int body) { return body == kImportWorld ? Pose{} : poses[body]; };
  const Pose between = inverse(pose(*first)) * pose(*second);  // of the second in the first
  if (is_weld) {
    hold.frames[0] = between;
    if (const auto given = values.numbers("relpose", 7, 7)) {
      const Quaterniond turn((*given)[3], (*given)[4], (*given)[5], (*given)[6]);
      if (turn.norm() > 1e-14)
        hold.frames[0] = {Vector3d(given->data()), turn.normalized().toRotationMatrix()};
    }
    values.take("anchor");  // decides about the softness of a weld alone
    values.take("torquescale");
  } else {
    const auto anchor = values.numbers("anchor", 3, 3);
    if (!anchor) {
      if (element.find("anchor") == nullptr) values.error("required attribute 'anchor' is missing");
      return;
    }
    hold.frames[0].position = Vector3d(anchor->data());
    hold.frames[1] = inverse(between) * hold.frames[0];
    hold.frames[1].rotation.setIdentity();
  }
  read_hold_softness(values, hold);
  const ImportKinematics kinematics = compute_kinematics(robot_.model);
  const auto carrier = [&](int body) {
    return body == kImportWorld ? kImportWorld : kinematics.carriers[body].body;
  };
  if (carrier(*first) == carrier(*second))
    return values.note(ImportFate::kTaken, "the two bodies are one rigid body in any case");
  robot_.model.holds.push_back(std::move(hold));
  values.note(ImportFate::kTaken, is_weld ? "fixed joint" : "ball joint");
}

/// joint1 − its reference = polynomial of (joint2 − its reference).
void MjcfConstraintReader::read_joint_equality(XmlElement& element) {
  const MjcfValues values = settings_.values(element, "");
  const auto first = find_joint(values, "joint1");
  if (!first) return;
  std::vector<double> terms = values.numbers("polycoef", 1, 5).value_or(std::vector<double>{0, 1});
  terms.resize(5, 0);
  for (const char* name : {"solref", "solimp"})
    if (const XmlAttribute* given = values.take(name))
      values.note(ImportFate::kApproximated,
                  fmt::format("is rigid: {}=\"{}\" is left out", name, given->value));
  const std::string name =
      values.text("name", fmt::format("equality {}", robot_.model.gears.size() + 1));
  ImportJoint& follower = robot_.joint(*first);
  follower.stands_alone = true;
  std::optional<ImportJointRef> second;
  if (values.take("joint2") != nullptr) {
    second = find_joint(values, "joint2");
    if (!second) return;
    if (second->body == first->body && second->joint == first->joint)
      return values.error("couples a joint to itself");
  }
  const double x = second ? robot_.joint(*second).position - robot_.joint(*second).reference : 0;
  double value = 0, slope = 0;
  for (int k = 4; k >= 0; --k) {
    slope = slope * x + value;
    value = value * x + terms[k];
  }
  const double wanted = follower.reference + value;
  if (std::abs(wanted - follower.position) > 1e-9)
    values.note(ImportFate::kChosen,
                fmt::format("joint '{}' starts at {}, where the equality holds", follower.name,
                            to_text(wanted)));
  follower.position = wanted;
  if (!second || slope == 0) {
    robot_.model.motors.push_back({*first, wanted});
    return values.note(ImportFate::kTaken, "a motor holds the joint");
  }
  robot_.joint(*second).stands_alone = true;
  robot_.model.gears.push_back({name, *second, *first, slope});
  if (terms[2] != 0 || terms[3] != 0 || terms[4] != 0)
    values.note(ImportFate::kApproximated,
                fmt::format("a gear with the ratio {} of the start: polynomials of higher order "
                            "are not in scenes",
                            to_text(slope)));
  else
    values.note(ImportFate::kTaken, fmt::format("gear, ratio {}", to_text(slope)));
}

// -------------------------------------------------------------------------------------------------
// Actuators

/// The force of an actuator: gain · control + bias · (1, length, rate of length).
struct MjcfConstraintReader::Law {
  double gain = 1;
  std::array<double, 3> bias{0, 0, 0};
  double gear = 1;
  double control = 0;
  bool is_bounded = false;
  std::array<double, 2> bounds{0, 0};
};

void MjcfConstraintReader::read_actuators(XmlElement& actuator) {
  actuator.is_used = true;
  int index = 0;
  for (XmlElement& child : actuator.children) read_actuator(child, index++);
}

bool MjcfConstraintReader::read_law(const MjcfValues& values, const std::string& kind, Law& law) {
  if (kind == "position") {
    law.gain = values.number("kp", 1);
    law.bias = {0, -law.gain, -values.number("kv", 0)};
  } else if (kind == "velocity") {
    law.gain = values.number("kv", 1);
    law.bias = {0, 0, -law.gain};
  } else if (kind == "general") {
    const std::string dynamics = values.text("dyntype", "none");
    const std::string gain = values.text("gaintype", "fixed");
    const std::string bias = values.text("biastype", "none");
    if (dynamics != "none" || gain != "fixed" || (bias != "none" && bias != "affine")) {
      values.note(ImportFate::kIgnored,
                  fmt::format("dyntype {}, gaintype {}, biastype {}", dynamics, gain, bias));
      return false;
    }
    if (const auto numbers = values.numbers("gainprm", 1, 10)) law.gain = numbers->front();
    if (const auto numbers = values.numbers("biasprm", 1, 10); numbers && bias == "affine")
      for (std::size_t k = 0; k < std::min<std::size_t>(3, numbers->size()); ++k)
        law.bias[k] = (*numbers)[k];
  }
  if (const auto gear = values.numbers("gear", 1, 6)) law.gear = gear->front();
  const auto clamp_control = values.numbers("ctrlrange", 2, 2);
  if (values.is_limited("ctrllimited", "ctrlrange") && clamp_control &&
      (*clamp_control)[0] <= (*clamp_control)[1])
    law.control = std::clamp(law.control, (*clamp_control)[0], (*clamp_control)[1]);
  const auto bounds = values.numbers("forcerange", 2, 2);
  law.is_bounded = values.is_limited("forcelimited", "forcerange") && bounds;
  if (law.is_bounded) law.bounds = {(*bounds)[0], (*bounds)[1]};
  if (law.bias[1] > 0 || law.bias[2] > 0) {
    values.note(ImportFate::kIgnored,
                "pushes away from its target: springs of scenes have no negative stiffness");
    return false;
  }
  return true;
}

void MjcfConstraintReader::read_actuator(XmlElement& element, int index) {
  if (element.name != "motor" && element.name != "position" && element.name != "velocity" &&
      element.name != "general")
    return;
  const MjcfValues values = settings_.values(element, "");
  const std::string name = values.text("name", fmt::format("{} {}", element.name, index + 1));
  if (values.element().find("joint") == nullptr) {
    values.note(ImportFate::kIgnored, "does not act on a joint");
    element.take_all();
    return;
  }
  const std::string joint_name = values.text("joint");
  const auto found = robot_.joints.find(joint_name);
  if (found == robot_.joints.end())
    return values.error(fmt::format("joint '{}' is no joint", joint_name),
                        suggestion(joint_name, names_of(robot_.joints)));
  if (num_positions(robot_.joint(found->second).kind) != 1) {
    values.note(ImportFate::kIgnored,
                fmt::format("acts on '{}', which is no hinge or slide", joint_name));
    element.take_all();
    return;
  }
  Law law;
  if (index < static_cast<int>(controls_.size())) law.control = controls_[index];
  if (read_law(values, element.name, law)) apply_law(values, found->second, name, law);
}

/// With the length gear·x: a spring of stiffness −bias₁·gear² with damping −bias₂·gear², and the
/// constant gear·(gain·control + bias₀), which moves the rest of the spring where there is one.
void MjcfConstraintReader::apply_law(const MjcfValues& values, const ImportJointRef& ref,
                                     const std::string& name, const Law& law) {
  ImportJoint& joint = robot_.joint(ref);
  if (joint.kind == Kind::kSlide) joint.stands_alone = true;
  const double stiffness = -law.bias[1] * law.gear * law.gear;
  const double damping = -law.bias[2] * law.gear * law.gear;
  double constant = law.gain * law.control + law.bias[0];
  const bool is_spring = stiffness > 0 || damping > 0;
  if (law.is_bounded && !is_spring && law.bounds[0] <= law.bounds[1])
    constant = std::clamp(constant, law.bounds[0], law.bounds[1]);
  constant *= law.gear;
  const double rest = stiffness > 0 ? constant / stiffness : 0;
  if (is_spring) robot_.model.springs.push_back({name, ref, stiffness, damping, rest});
  if (!(stiffness > 0) && constant != 0) {
    joint.stands_alone = true;
    robot_.model.efforts.push_back({ref, constant});
  }
  if (stiffness > 0)
    values.note(ImportFate::kTaken, fmt::format("a spring of {} at '{}' with its rest at {}",
                                                to_text(stiffness), joint.name, to_text(rest)));
  else
    values.note(ImportFate::kTaken,
                fmt::format("{}a constant effort of {} at '{}', control {}",
                            damping > 0 ? "a damper and " : "", to_text(constant), joint.name,
                            to_text(law.control)));
  if (is_spring && law.is_bounded)
    values.note(ImportFate::kApproximated, "forcerange does not bound the spring");
}

}  // namespace stiction
