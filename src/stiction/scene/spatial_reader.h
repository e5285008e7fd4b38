// Vectors, axes, orientations and functions of time in scenes with rigid bodies. As tolerant as
// QuantityReader: what the schema has reported is passed over, and after a fault the value is one
// that causes no further faults.
#pragma once

#include <Eigen/Geometry>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stiction/model/joint_geometry.h"
#include "stiction/scene/quantity_reader.h"

namespace stiction {

/// The frame `inner` as seen from `outer`, both given in the same frame.
Pose relative_to(const Pose& outer, const Pose& inner);

class SpatialReader {
 public:
  /// `parameters` are those of the whole scene.
  SpatialReader(const std::shared_ptr<ExpressionPool>& pool, const SymbolTable& parameters,
                Diagnostics& diagnostics);

  double read_number(const SceneValue& value, double fallback, const Limits& limits = {}) const {
    return quantities_.read_number(value, constants_, fallback, limits);
  }
  /// Three numbers.
  Eigen::Vector3d read_vector(const SceneValue& value,
                              const Eigen::Vector3d& fallback = Eigen::Vector3d::Zero()) const;
  /// Many vectors of three numbers; others are left out.
  std::vector<Eigen::Vector3d> read_points(const SceneValue& value) const;
  /// A vector of any length but zero, made a unit vector.
  Eigen::Vector3d read_axis(const SceneValue& value, const Eigen::Vector3d& fallback) const;
  /// [w, x, y, z] of any length but zero, {"axis", "angle"} or {"axis", "angle_deg"}.
  Eigen::Quaterniond read_orientation(const SceneValue& value) const;
  /// "position" and "orientation" of an object.
  Pose read_pose(const SceneValue& value) const;
  /// Formulas in t and the parameters.
  Expression read_function(const SceneValue& value) const {
    return quantities_.read_expression(value, in_t_);
  }
  std::array<Expression, 3> read_functions(const SceneValue& value) const;

  /// Reports a fault of a value that is there.
  void fault(const SceneValue& value, std::string message, std::string help = {}) const {
    diagnostics_.error(value.node->position, value.path, std::move(message), std::move(help));
  }
  /// Whether a fault of this value, or of one within it, was reported.
  bool is_faulty(const SceneValue& value) const;
  /// Reports keys of an object that are neither in `required` nor in `optional`, and those of
  /// `required` that are missing. `what` is "a box", which is what has these keys.
  void check_keys(const SceneValue& value, const std::string& what,
                  std::span<const std::string_view> required,
                  std::span<const std::string_view> optional) const;

  Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  Diagnostics& diagnostics_;
  QuantityReader quantities_;
  SymbolTable constants_, in_t_;
};

/// Names of the bodies or joints of a scene, which others refer to.
class NameList {
 public:
  /// `kind` is "body".
  explicit NameList(std::string kind) : kind_(std::move(kind)) {}

  /// Adds the next name, that of `item` if it has one. One that is taken is a fault.
  std::string add(const SceneValue& item, std::string default_name, Diagnostics& diagnostics);
  /// The index of the name that a value holds; none, after a fault, if there is no such name.
  std::optional<int> find(const SceneValue& value, Diagnostics& diagnostics) const;
  std::optional<int> try_find(const std::string& name) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string kind_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> index_;
};

}  // namespace stiction
