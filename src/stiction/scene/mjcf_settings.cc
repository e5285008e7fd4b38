#include "stiction/scene/mjcf_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "stiction/base/text.h"

namespace stiction {
namespace {

using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Attributes that say how something is turned; an element has one of them.
constexpr std::array<std::string_view, 5> kOrientations = {"quat", "axisangle", "euler", "xyaxes",
                                                           "zaxis"};

}  // namespace

Matrix3d turn_from_z(const Vector3d& direction) {
  const Vector3d unit = direction.normalized();
  const Vector3d across = Vector3d::UnitZ().cross(unit);
  const double sine = across.norm();
  if (sine < 1e-10)
    return unit.z() > 0 ? Matrix3d(Matrix3d::Identity())
                        : AngleAxisd(std::numbers::pi, Vector3d::UnitX()).toRotationMatrix();
  return AngleAxisd(std::atan2(sine, unit.z()), across / sine).toRotationMatrix();
}

// -------------------------------------------------------------------------------------------------

void MjcfValues::error(std::string message, std::string help) const {
  report_.add(ImportFate::kError, element_.place, element_.title(), std::move(message),
              std::move(help));
}

void MjcfValues::note(ImportFate fate, std::string message) const {
  report_.add(fate, element_.place, element_.title(), std::move(message));
}

XmlAttribute* MjcfValues::take(std::string_view name) const {
  for (XmlElement* level : levels_)
    if (XmlAttribute* found = level->take(name)) return found;
  return nullptr;
}

std::string MjcfValues::text(std::string_view name, const std::string& fallback) const {
  const XmlAttribute* found = take(name);
  return found != nullptr ? found->value : fallback;
}

std::optional<std::vector<double>> MjcfValues::numbers(std::string_view name, int min_count,
                                                       int max_count) const {
  const XmlAttribute* found = take(name);
  if (found == nullptr) return std::nullopt;
  return read_numbers(*found, min_count, max_count, element_.title(), report_);
}

double MjcfValues::number(std::string_view name, double fallback) const {
  const auto found = numbers(name, 1, 1);
  return found ? found->front() : fallback;
}

int MjcfValues::integer(std::string_view name, int fallback) const {
  const auto found = numbers(name, 1, 1);
  if (!found) return fallback;
  const double value = found->front();
  if (value == std::floor(value) && std::abs(value) < 2147483648.0) return static_cast<int>(value);
  error(fmt::format("{} is {}, expected a whole number", name, to_text(value)));
  return fallback;
}

bool MjcfValues::boolean(std::string_view name, bool fallback) const {
  const XmlAttribute* found = take(name);
  if (found == nullptr) return fallback;
  if (found->value == "true") return true;
  if (found->value != "false")
    error(fmt::format("{} is \"{}\", expected \"true\" or \"false\"", name, found->value));
  return false;
}

Vector3d MjcfValues::vector(std::string_view name, const Vector3d& fallback) const {
  const auto found = numbers(name, 3, 3);
  return found ? Vector3d(found->data()) : fallback;
}

bool MjcfValues::is_limited(std::string_view name, std::string_view range) const {
  const XmlAttribute* found = take(name);
  if (found != nullptr && found->value == "true") return true;
  if (found != nullptr && found->value == "false") return false;
  if (found != nullptr && found->value != "auto")
    error(
        fmt::format("{} is \"{}\", expected \"true\", \"false\" or \"auto\"", name, found->value));
  return compiler_.limits_are_automatic && take(range) != nullptr;
}

Matrix3d MjcfValues::read_rotation(const XmlAttribute& attribute) const {
  const int count = attribute.name == "zaxis" || attribute.name == "euler" ? 3
                    : attribute.name == "xyaxes"                           ? 6
                                                                           : 4;
  const auto found = read_numbers(attribute, count, count, element_.title(), report_);
  if (!found) return Matrix3d::Identity();
  const std::vector<double>& n = *found;
  const double unit = compiler_.is_degree ? std::numbers::pi / 180 : 1;
  const auto no_direction = [&] {
    error(fmt::format("{} is \"{}\", which has no direction", attribute.name, attribute.value));
    return Matrix3d(Matrix3d::Identity());
  };
  if (attribute.name == "quat") {
    const Eigen::Quaterniond q(n[0], n[1], n[2], n[3]);
    if (!(q.norm() > 1e-14) || !std::isfinite(q.norm())) return no_direction();
    return q.normalized().toRotationMatrix();
  }
  if (attribute.name == "axisangle") {
    const Vector3d axis(n.data());
    if (!(axis.norm() > 1e-14) || !std::isfinite(axis.norm())) return no_direction();
    return AngleAxisd(n[3] * unit, axis.normalized()).toRotationMatrix();
  }
  if (attribute.name == "zaxis") {
    const Vector3d axis(n.data());
    if (!(axis.norm() > 1e-14) || !std::isfinite(axis.norm())) return no_direction();
    return turn_from_z(axis);
  }
  if (attribute.name == "xyaxes") {
    const Vector3d x(n.data());
    Vector3d y(n.data() + 3);
    if (!(x.norm() > 1e-14) || !(x.norm() < 1e150)) return no_direction();
    y -= x * (x.dot(y) / x.squaredNorm());
    if (!(y.norm() > 1e-14) || !(y.norm() < 1e150)) return no_direction();
    Matrix3d rotation;
    rotation.col(0) = x.normalized();
    rotation.col(1) = y.normalized();
    rotation.col(2) = rotation.col(0).cross(rotation.col(1));
    return rotation;
  }
  // Letters in lower case turn about axes that turn along, in upper case about fixed ones.
  Matrix3d rotation = Matrix3d::Identity();
  for (int i = 0; i < 3; ++i) {
    const char letter = compiler_.euler_sequence[i];
    const bool is_fixed = letter < 'a';
    const int axis = letter - (is_fixed ? 'X' : 'x');
    const Matrix3d turn = AngleAxisd(n[i] * unit, Vector3d::Unit(axis)).toRotationMatrix();
    rotation = is_fixed ? Matrix3d(turn * rotation) : Matrix3d(rotation * turn);
  }
  return rotation;
}

Matrix3d MjcfValues::rotation() const {
  for (XmlElement* level : levels_) {
    XmlAttribute* given = nullptr;
    for (const std::string_view name : kOrientations)
      if (XmlAttribute* found = level->take(name)) {
        if (given != nullptr)
          error(fmt::format("has {} and {}, expected one orientation", given->name, name));
        given = found;
      }
    if (given != nullptr) return read_rotation(*given);
  }
  return Matrix3d::Identity();
}

Pose MjcfValues::pose() const { return {vector("pos", Vector3d::Zero()), rotation()}; }

// -------------------------------------------------------------------------------------------------

MjcfSettings::MjcfSettings(XmlElement& root, ImportReport& report) : report_(report) {
  for (XmlElement& element : root.children)
    if (element.name == "compiler") read_compiler(element);
  classes_[main_] = {};
  for (XmlElement& element : root.children)
    if (element.name == "default") read_defaults(element, "", true);
}

void MjcfSettings::read_compiler(XmlElement& element) {
  element.is_used = true;
  const MjcfValues values(element, {&element}, compiler_, report_);
  const auto expect = [&](const char* name, const std::string& value,
                          const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), value) == known.end())
      values.error(fmt::format("{} is \"{}\"", name, value), suggestion(value, known));
  };
  const std::string angle = values.text("angle", compiler_.is_degree ? "degree" : "radian");
  expect("angle", angle, {"degree", "radian"});
  compiler_.is_degree = angle != "radian";
  const std::string coordinate = values.text("coordinate", "local");
  if (coordinate != "local")
    values.error(fmt::format("coordinate is \"{}\", only \"local\" is read", coordinate),
                 "MuJoCo itself writes models with local coordinates: mj_saveLastXML");
  const std::string sequence = values.text("eulerseq", compiler_.euler_sequence);
  if (sequence.size() == 3 && sequence.find_first_not_of("xyzXYZ") == std::string::npos)
    compiler_.euler_sequence = sequence;
  else
    values.error(fmt::format("eulerseq is \"{}\", expected three letters of xyz or XYZ", sequence));
  compiler_.limits_are_automatic = values.boolean("autolimits", compiler_.limits_are_automatic);
  using From = MjcfCompiler::InertiaFromGeoms;
  const std::string from = values.text("inertiafromgeom", "auto");
  expect("inertiafromgeom", from, {"auto", "true", "false"});
  if (element.find("inertiafromgeom") != nullptr)
    compiler_.inertia_from_geoms = from == "true"    ? From::kYes
                                   : from == "false" ? From::kNo
                                                     : From::kAuto;
  compiler_.balances_inertia = values.boolean("balanceinertia", compiler_.balances_inertia);
  compiler_.min_mass = values.number("boundmass", compiler_.min_mass);
  compiler_.min_inertia = values.number("boundinertia", compiler_.min_inertia);
  compiler_.total_mass = values.number("settotalmass", compiler_.total_mass);
  if (const auto range = values.numbers("inertiagrouprange", 2, 2))
    compiler_.inertia_groups = {static_cast<int>(std::clamp((*range)[0], -1e6, 1e6)),
                                static_cast<int>(std::clamp((*range)[1], -1e6, 1e6))};
  for (const char* name : {"assetdir", "meshdir"})
    if (const XmlAttribute* folder = values.take(name)) compiler_.mesh_folder = folder->value;
  compiler_.strips_path = values.boolean("strippath", compiler_.strips_path);
  values.take("fusestatic");  // bodies without joints become part of others in any case
  values.note(ImportFate::kTaken, "settings of the file");
}

void MjcfSettings::read_defaults(XmlElement& element, const std::string& parent, bool is_top) {
  element.is_used = true;
  const XmlAttribute* given = element.take("class");
  const MjcfValues values(element, {&element}, compiler_, report_);
  if (given == nullptr && !is_top)
    return values.error("a default inside another one needs a 'class'");
  const std::string name = given != nullptr ? given->value : main_;
  const auto before = classes_.find(name);
  if (before != classes_.end() && !is_top)
    return values.error(fmt::format("class '{}' is given twice", name));
  if (is_top && name != main_ && classes_.size() == 1) {
    classes_.erase(main_);
    main_ = name;
  }
  DefaultClass& made = classes_[name];
  if (!is_top) made.parent = parent;
  for (XmlElement& child : element.children)
    if (child.name != "default") {
      child.is_used = true;
      made.elements.push_back(&child);
    }
  values.note(ImportFate::kTaken, fmt::format("defaults of class '{}'", name));
  for (XmlElement& child : element.children)
    if (child.name == "default") read_defaults(child, name, false);
}

MjcfValues MjcfSettings::values(XmlElement& element, const std::string& childclass) const {
  element.is_used = true;
  std::vector<XmlElement*> levels{&element};
  std::string name = childclass.empty() ? main_ : childclass;
  if (const XmlAttribute* own = element.take("class")) {
    name = own->value;
    if (!classes_.contains(name)) {
      std::vector<std::string> names;
      for (const auto& [known, unused] : classes_) names.push_back(known);
      report_.add(ImportFate::kError, own->place, element.title(),
                  fmt::format("there is no default class '{}'", name), suggestion(name, names));
      name = main_;
    }
  }
  // Actuators of all kinds are made from one set of defaults, most generally given as <general>.
  const bool is_actuator =
      element.name == "motor" || element.name == "position" || element.name == "velocity";
  for (auto found = classes_.find(name); found != classes_.end();
       found = classes_.find(found->second.parent)) {
    const auto& list = found->second.elements;
    for (auto item = list.rbegin(); item != list.rend(); ++item)
      if ((*item)->name == element.name) levels.push_back(*item);
    if (is_actuator)
      for (auto item = list.rbegin(); item != list.rend(); ++item)
        if ((*item)->name == "general") levels.push_back(*item);
    if (found->second.parent.empty()) break;
  }
  return {element, std::move(levels), compiler_, report_};
}

}  // namespace stiction
