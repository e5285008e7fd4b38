#include "stiction/geometry/separation_search.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// --------------------------------------------------------------------------------------------------
// Where the support function of a shape has kinks

/// A place on the sphere of outward directions of a shape.
struct Stratum {
  int rank = 0;        // 0: anywhere; 1: on the circle ⟂ direction; 2: at `direction`
  Vector3d direction;  // unit, frame of the shape
};

class Strata {
 public:
  void add(int rank, const Vector3d& direction) {
    if (count_ == kMax) return;
    items_[count_].rank = rank;
    items_[count_++].direction = direction;
  }
  const Stratum* begin() const { return items_; }
  const Stratum* end() const { return items_ + count_; }

 private:
  static constexpr int kMax = 24;
  Stratum items_[kMax];
  int count_ = 0;
};

void collect_strata_of_polytope(const Polytope& polytope, const Vector3d& m, int vertex,
                                double angle, Strata& strata) {
  const auto edges = polytope.edges_at(vertex);
  for (const int index : edges) {
    const Polytope::Edge& edge = polytope.edges()[index];
    // Around the vertex every face is once on the left of an edge that leaves it.
    const int face = edge.tail == vertex ? edge.left : edge.right;
    const Vector3d& normal = polytope.faces()[face].normal;
    if ((m - normal).squaredNorm() <= angle * angle) strata.add(2, normal);
  }
  for (const int index : edges) {
    const Vector3d& direction = polytope.edges()[index].direction;
    if (std::abs(m.dot(direction)) <= angle) strata.add(1, direction);
  }
}

/// Kinks within `angle` of the outward unit direction m, the most special first; then the rest of
/// the sphere.
void collect_strata(const CollisionShape& shape, const Vector3d& m, int vertex, double angle,
                    Strata& strata) {
  const Vector3d axis = Vector3d::UnitZ();
  switch (shape.kind()) {
    case ShapeKind::kCapsule:
      if (std::abs(m.z()) <= angle) strata.add(1, axis);
      break;
    case ShapeKind::kCylinder:
      if (std::hypot(m.x(), m.y()) <= angle) strata.add(2, std::copysign(1.0, m.z()) * axis);
      if (std::abs(m.z()) <= angle) strata.add(1, axis);
      break;
    case ShapeKind::kBox:
    case ShapeKind::kConvex:
      collect_strata_of_polytope(*shape.polytope(), m, vertex, angle, strata);
      break;
    default:
      break;
  }
  strata.add(0, m);
}

// --------------------------------------------------------------------------------------------------
// Newton's method on one piece

/// A support function near a direction, continued smoothly across its kinks.
class SmoothSupport {
 public:
  SmoothSupport(const CollisionShape& shape, const Vector3d& m, const Vector3d& support)
      : shape_(shape), fixed_(support), end_(std::copysign(shape.half().z(), m.z())) {}

  bool is_point() const {
    return shape_.kind() != ShapeKind::kCylinder && shape_.kind() != ShapeKind::kEllipsoid;
  }

  Vector3d point(const Vector3d& m) const {
    const Vector3d& half = shape_.half();
    if (shape_.kind() == ShapeKind::kEllipsoid) {
      const Vector3d scaled = half.cwiseProduct(m);
      return half.cwiseProduct(scaled) / scaled.norm();
    }
    if (shape_.kind() == ShapeKind::kCylinder) {
      const double radial = std::hypot(m.x(), m.y());
      if (!(radial > 0)) return {0, 0, end_};
      return {half.x() * m.x() / radial, half.x() * m.y() / radial, end_};
    }
    return fixed_;
  }

  /// ∇²h at a unit vector m.
  Matrix3d curvature(const Vector3d& m) const {
    const Vector3d& half = shape_.half();
    if (shape_.kind() == ShapeKind::kEllipsoid) {
      const Vector3d squares = half.cwiseAbs2();
      const double height = half.cwiseProduct(m).norm();
      const Vector3d point = squares.cwiseProduct(m) / height;
      Matrix3d hessian = -point * point.transpose() / height;
      hessian.diagonal() += squares / height;
      return hessian;
    }
    if (shape_.kind() == ShapeKind::kCylinder) {
      const double radial = std::hypot(m.x(), m.y());
      if (radial > 0) {
        const Vector3d tangent(-m.y() / radial, m.x() / radial, 0);
        return half.x() / radial * tangent * tangent.transpose();
      }
    }
    return Matrix3d::Zero();
  }

 private:
  const CollisionShape& shape_;
  Vector3d fixed_;
  double end_;
};

class PieceSearch {
 public:
  PieceSearch(ConvexPair& pair, const Vector3d& n, const DifferencePoint& at_n)
      : pair_(pair),
        w_(at_n.w),
        a_(pair.a(), -n, at_n.a),
        b_(pair.b(), pair.rotation().transpose() * n,
           pair.rotation().transpose() * (at_n.b - pair.position())) {}

  /// Whether s(n) = n·w here, with the same w for all n.
  bool is_linear() const { return a_.is_point() && b_.is_point(); }

  /// The maximum of n·w on the sphere, or on the circle ⟂ d if d is not 0. False where it is on the
  /// far side, as of bodies that overlap.
  bool try_linear(const Vector3d& n, const Vector3d& d, Vector3d& candidate) const {
    candidate = w_ - d * d.dot(w_);
    const double length = candidate.norm();
    if (!(n.dot(candidate) > 0) || !(length > 0)) return false;
    candidate /= length;
    candidate = (candidate - d * d.dot(candidate)).normalized();
    return true;
  }

  /// On the whole sphere.
  Vector3d search_sphere(Vector3d n) const {
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      const Vector3d w = difference(n);
      const double s = n.dot(w);
      const Vector3d t1 = n.unitOrthogonal(), t2 = n.cross(t1);
      const Matrix3d hessian = curvature(n);
      const double g1 = t1.dot(w), g2 = t2.dot(w);
      double h11 = t1.dot(hessian * t1) + s, h22 = t2.dot(hessian * t2) + s;
      const double h12 = t1.dot(hessian * t2);
      // Where s is not concave the shift turns Newton's step into one uphill.
      const double mean = 0.5 * (h11 + h22), spread = std::hypot(0.5 * (h11 - h22), h12);
      const double floor = 1e-3 * (std::abs(mean) + spread);
      const double shift = std::max(0.0, floor * 1e-9 - (mean - spread));
      if (shift > 0) {
        h11 += shift + floor;
        h22 += shift + floor;
      }
      const double determinant = h11 * h22 - h12 * h12;
      if (!(determinant > 0)) return n;
      const Vector3d step =
          ((h22 * g1 - h12 * g2) / determinant) * t1 + ((h11 * g2 - h12 * g1) / determinant) * t2;
      if (!advance(n, step, s)) return n;
    }
    return n;
  }

  /// On the circle of directions ⟂ d.
  Vector3d search_circle(const Vector3d& n0, const Vector3d& d) const {
    Vector3d n = n0 - d * d.dot(n0);
    const double length = n.norm();
    if (!(length > 0)) return n0;
    n /= length;
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      const Vector3d w = difference(n);
      const double s = n.dot(w);
      const Vector3d t = d.cross(n);
      const double g = t.dot(w);
      double h = t.dot(curvature(n) * t) + s;
      if (!(h > 0)) h = std::max(std::abs(h), pair_.size() * 1e-3);
      if (!advance(n, (g / h) * t, s)) break;
      n = (n - d * d.dot(n)).normalized();
    }
    return n;
  }

 private:
  static constexpr int kMaxIterations = 20;
  static constexpr double kMaxStep = 0.3;

  Vector3d difference(const Vector3d& n) const {
    const Matrix3d& R = pair_.rotation();
    return a_.point(-n) - pair_.position() - R * b_.point(R.transpose() * n);
  }
  Matrix3d curvature(const Vector3d& n) const {
    const Matrix3d& R = pair_.rotation();
    Matrix3d sum = a_.is_point() ? Matrix3d::Zero() : a_.curvature(-n);
    if (!b_.is_point()) sum += R * b_.curvature(R.transpose() * n) * R.transpose();
    return sum;
  }

  /// Goes along `step`, less far if s falls; false when there is no more to gain.
  bool advance(Vector3d& n, const Vector3d& step, double s) const {
    const double length = step.norm();
    if (!(length > kEpsilon)) return false;
    const Vector3d t = step / length;
    double angle = std::min(length, kMaxStep);
    const double lowest = s - 8 * kEpsilon * (pair_.size() + std::abs(s));
    Vector3d next = (n + angle * t).normalized();
    if (next.dot(difference(next)) < lowest && !find_rise(n, t, lowest, angle, next)) return false;
    n = next;
    return length > 4 * kEpsilon;
  }

  /// Between n and n + angle t, where s is too low, there is a maximum. Of bodies that are almost
  /// flat it is almost a kink, much narrower than the step: halving on the sign of the slope finds
  /// it, until s is no lower than at n and the slope less than a tenth.
  bool find_rise(const Vector3d& n, const Vector3d& t, double lowest, double angle,
                 Vector3d& next) const {
    const double first = t.dot(difference(n));
    double low = 0, high = angle;
    for (int trial = 0; trial < 50; ++trial) {
      const double middle = 0.5 * (low + high);
      next = (n + middle * t).normalized();
      const Vector3d w = difference(next);
      const double slope = t.dot(w - next * next.dot(w));
      const bool is_high = next.dot(w) >= lowest;
      if (is_high && std::abs(slope) <= 0.1 * first) return true;
      (is_high && slope > 0 ? low : high) = middle;
    }
    return low > 0;
  }

  ConvexPair& pair_;
  Vector3d w_;
  SmoothSupport a_, b_;
};

// --------------------------------------------------------------------------------------------------
// Witness points

/// All points of a shape that are furthest along a direction, within an angle: the hull of some
/// vertices, widened across the direction to a disc for the ends of cylinders.
struct FlatSet {
  std::array<Vector3d, 2> ends;  // used where there is no face
  int num_ends = 0;
  const Polytope* polytope = nullptr;
  std::span<const int> face{};
  double radius = 0;  // [m]

  Vector3d support(const Vector3d& direction) const {
    if (polytope == nullptr) {
      return num_ends == 2 && direction.dot(ends[1] - ends[0]) > 0 ? ends[1] : ends[0];
    }
    int best = face[0];
    double highest = direction.dot(polytope->vertices()[best]);
    for (const int vertex : face.subspan(1)) {
      const double height = direction.dot(polytope->vertices()[vertex]);
      if (height > highest) {
        highest = height;
        best = vertex;
      }
    }
    return polytope->vertices()[best];
  }
  bool is_single() const { return polytope == nullptr && num_ends == 1; }
  bool is_segment() const { return polytope == nullptr && num_ends == 2; }
};

FlatSet flat_set_of_polytope(const Polytope& polytope, const Vector3d& m, int vertex,
                             double angle) {
  FlatSet set;
  for (const int index : polytope.edges_at(vertex)) {
    const Polytope::Edge& edge = polytope.edges()[index];
    const int face = edge.tail == vertex ? edge.left : edge.right;
    if ((m - polytope.faces()[face].normal).squaredNorm() > angle * angle) continue;
    set.polytope = &polytope;
    set.face = polytope.vertices_of(face);
    return set;
  }
  set.ends[0] = polytope.vertices()[vertex];
  set.num_ends = 1;
  double flattest = angle;
  const auto edges = polytope.edges_at(vertex);
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const double slope = std::abs(m.dot(polytope.edges()[edges[k]].direction));
    if (slope > flattest) continue;
    flattest = slope;
    set.ends[1] = polytope.vertices()[polytope.neighbors_of(vertex)[k]];
    set.num_ends = 2;
  }
  return set;
}

FlatSet flat_set_of(const CollisionShape& shape, const Vector3d& m, int vertex,
                    const Vector3d& support, double angle) {
  if (shape.polytope() != nullptr) {
    return flat_set_of_polytope(*shape.polytope(), m, vertex, angle);
  }
  FlatSet set;
  set.ends[0] = support;
  set.num_ends = 1;
  const bool has_axis = shape.kind() == ShapeKind::kCapsule || shape.kind() == ShapeKind::kCylinder;
  if (has_axis && std::abs(m.z()) <= angle) {
    set.ends[1] = {support.x(), support.y(), -support.z()};
    set.num_ends = 2;
  } else if (shape.kind() == ShapeKind::kCylinder && std::hypot(m.x(), m.y()) <= angle) {
    set.ends[0] = {0, 0, support.z()};
    set.radius = shape.half().x();
  }
  return set;
}

/// The points where two segments cross as seen along the normal, if they do and if that is nearer.
void cross_segments(const ConvexPair& pair, const FlatSet& set_a, const FlatSet& set_b,
                    CoreDistance& found) {
  const Vector3d& n = found.normal;
  const auto across = [&](const Vector3d& v) -> Vector3d { return v - n * n.dot(v); };
  const double before = across(found.a - found.b).norm();
  if (before <= 1e-14 * pair.size()) return;
  const Vector3d a = set_a.ends[0], along_a = set_a.ends[1] - a;
  const Vector3d b = pair.position() + pair.rotation() * set_b.ends[0];
  const Vector3d along_b = pair.rotation() * (set_b.ends[1] - set_b.ends[0]);
  const double s = n.dot(along_b.cross(a - b)) / n.dot(along_a.cross(along_b));
  if (!(s >= 0 && s <= 1)) return;
  // Where the crossing is, rounding may leave unclear, but not that both points are there.
  const Vector3d on_a = a + s * along_a;
  const double t = across(on_a - b).dot(along_b) / along_b.squaredNorm();
  if (!(t >= 0 && t <= 1)) return;
  const Vector3d on_b = b + t * along_b;
  if (!(across(on_a - on_b).norm() < before)) return;
  found.a = on_a;
  found.b = on_b;
}

CoreDistance match_flat_sets(const ConvexPair& pair, const FlatSet& set_a, const FlatSet& set_b,
                             const DirectedSeparation& separation) {
  const Vector3d& n = separation.normal;
  const Matrix3d& R = pair.rotation();
  CoreDistance found{
      .gap = separation.value, .normal = n, .a = set_a.ends[0], .b = set_b.ends[0], .misfit = 0};
  if (set_a.is_single() && set_b.is_single()) {
    found.b = pair.position() + R * found.b;
  } else {
    const auto support = [&](const Vector3d& v) {
      DifferencePoint point;
      point.a = set_a.support(-v);
      point.b = pair.position() + R * set_b.support(R.transpose() * v);
      point.w = point.a - point.b;
      point.w -= n * n.dot(point.w);
      return point;
    };
    const GjkResult nearest =
        run_gjk(support, n.unitOrthogonal(),
                {.relative = 1e-14, .touching = 1e-16 * pair.size(), .reach = 1e300});
    found.a = nearest.simplex.point_a();
    found.b = nearest.simplex.point_b();
    // A parallelogram that is almost flat has no sides that rounding would leave.
    if (set_a.is_segment() && set_b.is_segment()) cross_segments(pair, set_a, set_b, found);
  }
  Vector3d across = found.a - found.b;
  across -= n * n.dot(across);
  const double distance = across.norm();
  if (distance > 0) {
    const double part_a = std::min(set_a.radius, distance) / distance;
    const double part_b = std::min(set_b.radius / distance, 1 - part_a);
    found.a -= part_a * across;
    found.b += part_b * across;
  }
  found.misfit = (found.a - found.b - found.gap * n).norm();
  return found;
}

/// Apart, the points tell the direction where it leans so little from a more special one that the
/// separation does not.
CoreDistance turn_to_points(ConvexPair& pair, CoreDistance found) {
  constexpr int kMaxTurns = 4;
  for (int turn = 0; turn < kMaxTurns && found.gap > 0; ++turn) {
    const Vector3d way = found.a - found.b;
    const double length = way.norm();
    if (!(length > 0)) break;
    const DirectedSeparation along{way / length, pair.separation(way / length)};
    if (!(along.value >= found.gap - 4 * kEpsilon * (pair.size() + length))) break;
    const CoreDistance turned = find_witnesses(pair, along);
    if (!(turned.misfit < found.misfit)) break;
    found = turned;
  }
  return found;
}

/// The points of both bodies for which a − b comes nearest to gap · normal.
CoreDistance find_nearest_fit(ConvexPair& pair, const CoreDistance& found) {
  const Vector3d offset = found.gap * found.normal;
  const auto support = [&](const Vector3d& v) {
    DifferencePoint point = pair.support(v);
    point.w -= offset;
    return point;
  };
  const GjkResult nearest =
      run_gjk(support, found.normal, {.relative = 1e-2, .touching = 4 * kEpsilon * pair.size()});
  CoreDistance fitting = found;
  fitting.a = nearest.simplex.point_a();
  fitting.b = nearest.simplex.point_b();
  fitting.misfit = (fitting.a - fitting.b - offset).norm();
  return fitting.misfit < found.misfit ? fitting : found;
}

}  // namespace

DirectedSeparation maximize_separation(ConvexPair& pair, const Vector3d& n,
                                       const SearchOptions& options) {
  const Matrix3d& R = pair.rotation();
  const Vector3d n_b = R.transpose() * n;
  const DifferencePoint at_n = pair.support(n);
  const double rounding = 4 * kEpsilon * (pair.size() + std::abs(n.dot(at_n.w)));
  const double enough = options.upper - rounding;
  // Of equals up to rounding the most special wins, and n itself only if nothing comes near it.
  DirectedSeparation best{.normal = n, .value = n.dot(at_n.w)};
  bool is_start = true;
  const auto is_done_after = [&](const Vector3d& candidate) {
    const double value = pair.separation(candidate);
    if (value > best.value + (is_start ? -rounding : rounding)) {
      best = {candidate, value};
      is_start = false;
    }
    return best.value >= enough && !is_start;
  };
  Strata strata_a, strata_b;
  collect_strata(pair.a(), -n, pair.hint_a(), options.angle, strata_a);
  collect_strata(pair.b(), n_b, pair.hint_b(), options.angle, strata_b);
  const PieceSearch piece(pair, n, at_n);
  for (const Stratum& a : strata_a) {
    if (a.rank == 2 && is_done_after(-a.direction)) return best;
  }
  for (const Stratum& b : strata_b) {
    if (b.rank == 2 && is_done_after(R * b.direction)) return best;
  }
  for (const Stratum& a : strata_a) {
    for (const Stratum& b : strata_b) {
      if (a.rank > 1 || b.rank > 1) continue;
      Vector3d candidate;
      if (a.rank == 1 && b.rank == 1) {
        const Vector3d d_b = R * b.direction;
        const Vector3d normal = a.direction.cross(d_b);
        const double sine = normal.norm();
        if (sine > 1e-6) {
          candidate = std::copysign(1 / sine, normal.dot(n)) * normal;
        } else {
          candidate = piece.search_circle(n, a.direction);
        }
      } else if (piece.is_linear()) {
        const Vector3d d = a.rank == 1   ? a.direction
                           : b.rank == 1 ? Vector3d(R * b.direction)
                                         : Vector3d(Vector3d::Zero());
        if (!piece.try_linear(n, d, candidate)) continue;
      } else if (a.rank == 1) {
        candidate = piece.search_circle(n, a.direction);
      } else if (b.rank == 1) {
        candidate = piece.search_circle(n, R * b.direction);
      } else {
        candidate = piece.search_sphere(n);
      }
      if (is_done_after(candidate)) return best;
    }
  }
  return best;
}

CoreDistance find_witnesses(ConvexPair& pair, const DirectedSeparation& separation) {
  const Vector3d& n = separation.normal;
  const Vector3d n_b = pair.rotation().transpose() * n;
  const DifferencePoint point = pair.support(n);
  const Vector3d b_local = pair.rotation().transpose() * (point.b - pair.position());
  CoreDistance best;
  // Features count as flat along n within rounding first; nearly parallel edges need more.
  for (const double angle : {1e-13, 1e-10, 1e-7}) {
    const FlatSet set_a = flat_set_of(pair.a(), -n, pair.hint_a(), point.a, angle);
    const FlatSet set_b = flat_set_of(pair.b(), n_b, pair.hint_b(), b_local, angle);
    const CoreDistance found = match_flat_sets(pair, set_a, set_b, separation);
    if (angle == 1e-13 || found.misfit < 0.1 * best.misfit) best = found;
    if (best.misfit <= 1e-14 * pair.size()) break;
  }
  return best;
}

CoreDistance find_fitting_points(ConvexPair& pair, const CoreDistance& found, double tolerance) {
  if (found.misfit <= tolerance) return found;
  const CoreDistance turned = turn_to_points(pair, found);
  if (turned.misfit <= tolerance) return turned;
  return turn_to_points(pair, find_nearest_fit(pair, turned));
}

}  // namespace stiction
