// How a scene is to be shown, beside the shapes of its bodies that touch: the block "view". Shapes
// stand in frames, and frames are placed by formulas in the coordinates of a generalised system and
// in t. Nothing here changes what is simulated.
#pragma once

#include <Eigen/Core>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "stiction/geometry/pose.h"
#include "stiction/geometry/shape.h"
#include "stiction/model/expression.h"

namespace stiction {

/// A shape that is only looked at.
struct ViewShape {
  Shape shape{};
  Pose pose{};          // in its frame or body
  std::string color{};  // "#rrggbb", or empty
};

/// Moves as its formulas say: a turn by `angle` about `axis`, then a shift by `position`.
struct ViewFrame {
  std::string name{};
  std::array<Expression, 3> position{0.0, 0.0, 0.0};  // [m]
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();    // unit length
  Expression angle = 0.0;                             // [rad]
  std::vector<ViewShape> shapes{};
};

/// A rod or a coil spring between two points that move.
struct ViewLink {
  std::string name{};
  bool is_spring = false;
  std::array<Expression, 3> from{0.0, 0.0, 0.0}, to{0.0, 0.0, 0.0};  // [m]
  double radius = 0;                                                 // [m]
  std::string color{};
};

/// Where a contact of the generalised system is, so that its impulses can be drawn.
struct ViewContact {
  int contact = 0;                                    // index among those of the system
  std::array<Expression, 3> position{0.0, 0.0, 0.0};  // [m]
  Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  // unit length
  std::array<Eigen::Vector3d, 2> tangents{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
};

/// A shape of a rigid body that takes no part in contact.
struct BodyViewShape {
  int body = 0;
  ViewShape shape{};
};

struct SceneView {
  std::shared_ptr<ExpressionPool> pool{};
  std::vector<std::string> coordinates{};  // which the formulas use, beside t
  std::vector<ViewFrame> frames{};
  std::vector<ViewLink> links{};
  std::vector<ViewContact> contacts{};
  std::vector<BodyViewShape> body_shapes{};
  std::vector<std::string> colors{};  // of the shapes that touch, in the order of the description
  Eigen::Vector3d up = Eigen::Vector3d::UnitZ();
  int follow = -1;  // the frame that the camera goes along with, or −1
};

}  // namespace stiction
