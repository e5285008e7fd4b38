#include "stiction/geometry/symmetric_directions.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

void keep_better(const DirectedSeparation& candidate, DirectedSeparation& best) {
  if (candidate.value > best.value) best = candidate;
}

// --------------------------------------------------------------------------------------------------
// A polytope and a round body

/// Directions at which the separation of a polytope and a round body that is much larger, and round
/// in all directions or about an axis, can be largest: ∓ the normals of its faces, and across an
/// edge and an axis of the round body. All others leave the polytope a direction to turn to.
template <typename Visit>
void visit_kinks_of_polytope(const Polytope& polytope, const Matrix3d& axes, int num_axes,
                             const Visit& visit) {
  for (const Polytope::Face& face : polytope.faces()) {
    visit(face.normal);
    visit(-face.normal);
  }
  for (const Polytope::Edge& edge : polytope.edges()) {
    for (int i = 0; i < num_axes; ++i) {
      const Vector3d across = edge.direction.cross(axes.col(2 - i));
      const double sine = across.norm();
      if (!(sine > 1e-6)) continue;
      visit(across / sine);
      visit(-across / sine);
    }
  }
}

/// The best of the kinks, searched around.
DirectedSeparation best_of_kinks(ConvexPair& pair) {
  const bool is_a_flat = pair.a().polytope() != nullptr;
  const CollisionShape &flat = is_a_flat ? pair.a() : pair.b(),
                       &round = is_a_flat ? pair.b() : pair.a();
  DirectedSeparation best{Vector3d::UnitX(), -std::numeric_limits<double>::infinity()};
  const Matrix3d& R = pair.rotation();
  const Matrix3d axes = is_a_flat ? R : Matrix3d(R.transpose());
  visit_kinks_of_polytope(*flat.polytope(), axes, round.kind() == ShapeKind::kCylinder ? 1 : 3,
                          [&](const Vector3d& m) {
                            const Vector3d n = is_a_flat ? m : Vector3d(R * m);
                            keep_better({n, pair.separation(n)}, best);
                          });
  return maximize_separation(pair, best.normal, {.angle = 0.05});
}

// --------------------------------------------------------------------------------------------------
// Bodies with axes

/// Axes of both bodies, and the line of centres where there is one: unit vectors in the frame of a.
struct Axes {
  std::array<Vector3d, 7> directions;
  int count = 0;

  void add(const Vector3d& direction) { directions[count++] = direction; }
  const Vector3d* begin() const { return directions.data(); }
  const Vector3d* end() const { return directions.data() + count; }
};

void add_axes(const CollisionShape& shape, const Matrix3d& rotation, Axes& axes) {
  if (shape.polytope() != nullptr) return;
  const int first = shape.kind() == ShapeKind::kEllipsoid ? 0 : 2;
  for (int i = first; i < 3; ++i) axes.add(rotation.col(i));
}

/// s on the circle of directions across an axis, at places in order.
class CircleOfDirections {
 public:
  explicit CircleOfDirections(const Vector3d& axis)
      : axis_(axis), x_(axis.unitOrthogonal()), y_(axis.cross(x_)) {
    for (int i = 0; i < kNumEven; ++i) {
      const double angle = (2 * i + 1 - kNumEven) * (std::numbers::pi / kNumEven);
      places_[count_++] = {angle, std::cos(angle) * x_ + std::sin(angle) * y_};
    }
  }

  /// The places nearest to a direction and across it.
  void add(const Vector3d& direction) {
    add_across(direction - axis_ * axis_.dot(direction));
    add_across(axis_.cross(direction));
  }

  /// Visits the places where s is larger than before and not smaller than after.
  template <typename Visit>
  void visit_peaks(ConvexPair& pair, double rounding, const Visit& visit) {
    std::sort(places_.begin(), places_.begin() + count_,
              [](const Place& one, const Place& other) { return one.angle < other.angle; });
    for (int i = 0; i < count_; ++i) places_[i].value = pair.separation(places_[i].normal);
    for (int i = 0; i < count_; ++i) {
      const double before = places_[(i + count_ - 1) % count_].value, here = places_[i].value,
                   after = places_[(i + 1) % count_].value;
      if (here > before + rounding && here >= after - rounding) visit(places_[i].normal);
    }
  }

 private:
  struct Place {
    double angle = 0;
    Vector3d normal;
    double value = 0;  // [m] s(normal)
  };

  static constexpr int kNumEven = 32;

  /// Rounding is all that is left of what is parallel to the axis.
  void add_across(const Vector3d& across) {
    const double length = across.norm();
    if (!(length > 1e-14)) return;
    for (const double sign : {-1.0, 1.0}) {
      const Vector3d n = (sign / length) * across;
      places_[count_++] = {std::atan2(n.dot(y_), n.dot(x_)), n};
    }
  }

  Vector3d axis_, x_, y_;
  std::array<Place, kNumEven + 28> places_;
  int count_ = 0;
};

DirectedSeparation search_across_axes(ConvexPair& pair) {
  Axes axes;
  add_axes(pair.a(), Matrix3d::Identity(), axes);
  add_axes(pair.b(), pair.rotation(), axes);
  const int num_circles = axes.count;
  const Vector3d difference = pair.center_difference();
  const double distance = difference.norm();
  if (distance > 0) axes.add(difference / distance);
  DirectedSeparation best{Vector3d::UnitX(), -std::numeric_limits<double>::infinity()};
  const auto search_from = [&](const Vector3d& n) {
    keep_better(maximize_separation(pair, n, {.angle = 0.1}), best);
  };
  for (const Vector3d& axis : axes) {
    search_from(axis);
    search_from(-axis);
  }
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * (pair.size() + distance);
  for (int i = 0; i < num_circles; ++i) {
    CircleOfDirections circle(axes.directions[i]);
    for (const Vector3d& axis : axes) circle.add(axis);
    circle.visit_peaks(pair, rounding, search_from);
  }
  return best;
}

}  // namespace

DirectedSeparation search_symmetric_directions(ConvexPair& pair) {
  DirectedSeparation best = search_across_axes(pair);
  const bool has_polytope = pair.a().polytope() != nullptr || pair.b().polytope() != nullptr;
  if (has_polytope) keep_better(best_of_kinks(pair), best);
  return best;
}

}  // namespace stiction
