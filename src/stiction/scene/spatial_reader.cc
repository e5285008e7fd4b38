#include "stiction/scene/spatial_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/base/text.h"
#include "stiction/model/symbol_table.h"

namespace stiction {

using Eigen::Quaterniond;
using Eigen::Vector3d;

namespace {

constexpr std::size_t kMaxListedNames = 20;  // in a help

}  // namespace

Pose relative_to(const Pose& outer, const Pose& inner) {
  return {outer.rotation.transpose() * (inner.position - outer.position),
          outer.rotation.transpose() * inner.rotation};
}

SpatialReader::SpatialReader(const std::shared_ptr<ExpressionPool>& pool,
                             const SymbolTable& parameters, Diagnostics& diagnostics)
    : diagnostics_(diagnostics),
      quantities_(pool, diagnostics),
      constants_(parameters),
      in_t_(make_symbol_table(pool, {}, {.has_velocities = false})) {
  for (const std::string& name : constants_.names())
    if (name != "pi" && name != "t") in_t_.add(name, *constants_.find(name));
}

Vector3d SpatialReader::read_vector(const SceneValue& value, const Vector3d& fallback) const {
  if (!value.is_array() || value.node->items.size() != 3) return fallback;
  Vector3d vector;
  for (std::size_t i = 0; i < 3; ++i) vector[i] = read_number(value.item(i), fallback[i]);
  return vector;
}

std::vector<Vector3d> SpatialReader::read_points(const SceneValue& value) const {
  std::vector<Vector3d> points;
  if (!value.is_array()) return points;
  for (std::size_t i = 0; i < value.node->items.size(); ++i)
    if (const SceneValue point = value.item(i); point.is_array() && point.node->items.size() == 3)
      points.push_back(read_vector(point));
  return points;
}

Vector3d SpatialReader::read_axis(const SceneValue& value, const Vector3d& fallback) const {
  if (!value.is_array() || value.node->items.size() != 3 || is_faulty(value)) return fallback;
  // stableNorm: lengths whose squares leave the range of double are lengths all the same.
  const Vector3d axis = read_vector(value, fallback);
  const double length = axis.stableNorm();
  if (length > 0 && std::isfinite(length)) return axis.stableNormalized();
  if (!is_faulty(value))
    fault(value, "is a vector of length zero, which has no direction",
          "write for example [0, 0, 1]; the length does not matter");
  return fallback;
}

Quaterniond SpatialReader::read_orientation(const SceneValue& value) const {
  if (value.is_object()) {
    const Vector3d axis = read_axis(value["axis"], Vector3d::UnitZ());
    const SceneValue angle = value["angle"], angle_deg = value["angle_deg"];
    if (bool(angle) == bool(angle_deg))
      fault(value, angle ? "has both 'angle' and 'angle_deg'" : "has no angle",
            "give one of 'angle' [rad] and 'angle_deg'");
    const double radians =
        angle ? read_number(angle, 0) : read_number(angle_deg, 0) * std::numbers::pi / 180;
    return Quaterniond(Eigen::AngleAxisd(radians, axis));
  }
  if (!value.is_array() || value.node->items.size() != 4) return Quaterniond::Identity();
  Eigen::Vector4d wxyz;
  for (std::size_t i = 0; i < 4; ++i) wxyz[i] = read_number(value.item(i), i == 0 ? 1 : 0);
  const double length = wxyz.stableNorm();
  if (!(length > 0) || !std::isfinite(length)) {
    if (!is_faulty(value))
      fault(value, "is a quaternion of length zero, which is no orientation",
            "[w, x, y, z]; [1, 0, 0, 0] is no rotation");
    return Quaterniond::Identity();
  }
  wxyz = wxyz.stableNormalized();
  return {wxyz[0], wxyz[1], wxyz[2], wxyz[3]};
}

Pose SpatialReader::read_pose(const SceneValue& value) const {
  return {read_vector(value["position"]),
          read_orientation(value["orientation"]).toRotationMatrix()};
}

std::array<Expression, 3> SpatialReader::read_functions(const SceneValue& value) const {
  std::array<Expression, 3> functions{0.0, 0.0, 0.0};
  if (value.is_array() && value.node->items.size() == 3)
    for (std::size_t i = 0; i < 3; ++i) functions[i] = read_function(value.item(i));
  return functions;
}

bool SpatialReader::is_faulty(const SceneValue& value) const {
  const std::string& path = value.path;
  const auto& all = diagnostics_.all();
  return std::any_of(all.begin(), all.end(), [&](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::kError && diagnostic.path.starts_with(path) &&
           (diagnostic.path.size() == path.size() || diagnostic.path[path.size()] == '.' ||
            diagnostic.path[path.size()] == '[');
  });
}

void SpatialReader::check_keys(const SceneValue& value, const std::string& what,
                               std::span<const std::string_view> required,
                               std::span<const std::string_view> optional) const {
  std::vector<std::string> known(required.begin(), required.end());
  known.insert(known.end(), optional.begin(), optional.end());
  const std::string help = fmt::format("{} has: {}", what, joined(known));
  for (const JsonMember& member : value.node->members) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    const bool is_reported =
        std::any_of(diagnostics_.all().begin(), diagnostics_.all().end(), [&](const auto& other) {
          return other.where.line == member.key_position.line &&
                 other.where.column == member.key_position.column;
        });
    if (!is_reported)
      diagnostics_.error(member.key_position, value.path,
                         fmt::format("'{}' does not belong to {}", excerpt(member.key), what),
                         help);
  }
  for (const std::string_view key : required)
    if (value.node->find(key) == nullptr)
      fault(value, fmt::format("required key '{}' of {} is missing", key, what), help);
}

std::string NameList::add(const SceneValue& item, std::string default_name,
                          Diagnostics& diagnostics) {
  const SceneValue given = item["name"];
  std::string name = given.is_string() ? given.node->string : std::move(default_name);
  const auto [found, is_new] = index_.emplace(name, static_cast<int>(names_.size()));
  if (!is_new)
    diagnostics.error(given ? given.node->position : item.node->position, given.path,
                      fmt::format("the name '{}' is already taken", excerpt(name)),
                      fmt::format("every {} needs a name of its own", kind_));
  names_.push_back(name);
  return name;
}

std::optional<int> NameList::try_find(const std::string& name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

std::optional<int> NameList::find(const SceneValue& value, Diagnostics& diagnostics) const {
  if (!value.is_string()) return std::nullopt;
  const std::optional<int> index = try_find(value.node->string);
  if (index) return index;
  std::string help = fmt::format("the scene has no {}", kind_);
  if (names_.size() > kMaxListedNames && !nearest_name(value.node->string, names_))
    help = fmt::format("none of the {} names is similar", names_.size());
  else if (!names_.empty())
    help = suggestion(value.node->string, names_);
  diagnostics.error(value.node->position, value.path,
                    fmt::format("unknown {} '{}'", kind_, excerpt(value.node->string)),
                    std::move(help));
  return std::nullopt;
}

}  // namespace stiction
