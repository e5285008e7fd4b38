// Contacts: limits of joints, and shapes that touch. Where two shapes touch at the point x with the
// normal n, the gap changes with the velocities of the two bodies at x: the point slides along the
// surfaces, which changes nothing to first order.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "stiction/base/pair.h"
#include "stiction/base/worker_pool.h"
#include "stiction/model/rigid_body_poses.h"

namespace stiction {

using Eigen::Matrix3d;
using Eigen::Vector3d;

// -------------------------------------------------------------------------------------------------
// Building

namespace {

std::size_t law_index(int a, int b) {
  const auto [low, high] = std::minmax(a, b);
  return static_cast<std::size_t>(high) * (high + 1) / 2 + low;
}

std::string name_of_pair(const MaterialDescription& a, const MaterialDescription& b) {
  return fmt::format("{} on {}", a.name, b.name);
}

MaterialDescription combine(const MaterialDescription& a, const MaterialDescription& b) {
  return {.name = name_of_pair(a, b),
          .mu = std::sqrt(a.mu * b.mu),
          .restitution = std::min(a.restitution, b.restitution),
          .restitution_tangential = std::min(a.restitution_tangential, b.restitution_tangential),
          .compliance = a.compliance + b.compliance,
          .impact = a.impact == ImpactLaw::kOfScheme ? b.impact : a.impact};
}

/// All of a material but its name.
using MaterialValues = std::tuple<double, double, double, double, ImpactLaw>;
MaterialValues values_of(const MaterialDescription& material) {
  return {material.mu, material.restitution, material.restitution_tangential, material.compliance,
          material.impact};
}

/// In space, and where all motion is in a plane.
std::array<ContactInfo, 2> make_law(const MaterialDescription& material) {
  const bool has_friction = material.mu > 0 || material.restitution_tangential > 0;
  ContactInfo law{.name = material.name,
                  .num_tangents = has_friction ? 2 : 0,
                  .mu = material.mu,
                  .restitution = material.restitution,
                  .restitution_tangential = material.restitution_tangential,
                  .compliance = material.compliance,
                  .impact = material.impact};
  std::array<ContactInfo, 2> laws{law, law};
  laws[1].num_tangents = has_friction ? 1 : 0;
  return laws;
}

/// Shapes that meet the same others by the same law, but for those of their own bodies and of
/// bodies that theirs passes through.
struct SurfaceClass {
  enum class Extent { kConvex, kPlane, kSurface };
  int material = 0;  // kind
  std::uint32_t group = 1, mask = ~0U;
  bool is_static = false;
  Extent extent = Extent::kConvex;
  auto operator<=>(const SurfaceClass&) const = default;

  /// Planes and surfaces have no contacts among themselves.
  bool may_meet(const SurfaceClass& other) const {
    return !(is_static && other.is_static) && (group & other.mask) != 0 &&
           (other.group & mask) != 0 && (extent == Extent::kConvex || extent != other.extent);
  }
};

SurfaceClass::Extent extent_of(const CollisionShape& shape) {
  if (!shape.is_convex()) return SurfaceClass::Extent::kSurface;
  return shape.kind() == ShapeKind::kPlane ? SurfaceClass::Extent::kPlane
                                           : SurfaceClass::Extent::kConvex;
}

using BodyPairs = std::vector<std::pair<int, int>>;

/// Whether one of some bodies may touch one of others: ends after as many pairs as are untouched.
bool has_touching_pair(const std::set<int>& bodies, const std::set<int>& others,
                       const BodyPairs& untouched) {
  for (const int a : bodies)
    for (const int b : others)
      if (a != b && !std::binary_search(untouched.begin(), untouched.end(),
                                        std::pair(std::min(a, b), std::max(a, b))))
        return true;
  return false;
}

/// Largest distance of a point of the shape from the origin of `frame`'s parent; 0 if unbounded.
double radius_about_parent(const CollisionShape& shape, const Pose& frame) {
  const double radius = (frame * shape.center()).norm() + shape.bounding_radius();
  return std::isfinite(radius) ? radius : 0;
}

/// Shapes that one task takes.
constexpr int kShapeGrain = 128;

/// [m] Largest distance of a point of a bounded shape from the origin of a body: as far out as a
/// plane on that body can meet anything when it turns.
template <typename BodyShapes>
double radius_of_surroundings(const std::vector<CollisionObject>& objects, const BodyShapes& shapes,
                              int body, PoseCache& poses) {
  const Vector3d origin = poses[body].position;
  double radius = 0;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (objects[i].shape->kind() == ShapeKind::kPlane) continue;
    radius = std::max(radius, (poses[objects[i].body].position - origin).norm() + shapes[i].radius);
  }
  return radius;
}

}  // namespace

/// Laws are of pairs of kinds: materials that differ in nothing but their names are of one kind, so
/// that a scene may have a material for every body. Kind 0 is a surface without material, which
/// leaves the law to the other one.
void RigidBodySystem::add_laws() {
  const auto& materials = description_.materials;
  std::vector<char> has_own_laws(materials.size(), 0);
  for (const MaterialPairDescription& pair : description_.material_pairs)
    for (const int material : pair.materials) has_own_laws[material] = 1;
  std::vector<char> is_used(materials.size(), 0);
  for (const BodyShapeDescription& shape : description_.shapes)
    if (shape.material >= 0) is_used[shape.material] = 1;
  std::map<MaterialValues, int> known;
  std::vector<int> first_of_kind{-1};
  material_kind_.assign(1, 0);
  for (int i = 0; i < static_cast<int>(materials.size()); ++i) {
    const int next = static_cast<int>(first_of_kind.size());
    const int kind =
        has_own_laws[i] ? next : known.try_emplace(values_of(materials[i]), next).first->second;
    if (kind == next)
      first_of_kind.push_back(i);
    else if (is_used[first_of_kind[kind]] == 0 && is_used[i] != 0)
      first_of_kind[kind] = i;  // for its name
    material_kind_.push_back(kind);
  }
  for (int i = 0; i < static_cast<int>(first_of_kind.size()); ++i)
    for (int j = 0; j <= i; ++j)
      laws_.push_back(
          make_law(i == 0   ? MaterialDescription{}
                   : j == 0 ? materials[first_of_kind[i]]
                            : combine(materials[first_of_kind[i]], materials[first_of_kind[j]])));
  for (const MaterialPairDescription& pair : description_.material_pairs) {
    MaterialDescription law = pair.law;
    law.name = name_of_pair(materials[pair.materials[0]], materials[pair.materials[1]]);
    laws_[law_index(material_kind_[pair.materials[0] + 1], material_kind_[pair.materials[1] + 1])] =
        make_law(law);
  }
}

void RigidBodySystem::add_shapes() {
  add_laws();
  list_untouched_bodies();
  for (const BodyShapeDescription& description : description_.shapes) {
    const int body = description.body;
    const bool is_static = motion_of(body) == BodyDescription::Motion::kStatic;
    auto shape = std::make_shared<const CollisionShape>(description.shape);
    BodyShape placed{.frame = from_center(body, description.frame),
                     .material = material_kind_[description.material + 1]};
    placed.is_centered = placed.frame.position.isZero(0) && placed.frame.rotation.isIdentity(0);
    placed.radius = radius_about_parent(*shape, placed.frame);
    placed.surface_velocity = placed.frame.rotation * description.surface_velocity;
    placed.has_belt = !description.surface_velocity.isZero(0);
    shapes_.push_back(placed);
    touchings_.push_back(touching_of(placed, body));
    objects_.push_back({.shape = std::move(shape),
                        .body = body,
                        .group = description.group,
                        .mask = description.mask,
                        .is_static = is_static});
  }
}

BodyDescription::Motion RigidBodySystem::motion_of(int body) const {
  return body == kWorld ? BodyDescription::Motion::kStatic : description_.bodies[body].motion;
}

void RigidBodySystem::list_untouched_bodies() {
  using Motion = BodyDescription::Motion;
  std::set<std::pair<int, int>> pairs;
  for (const JointDescription& joint : description_.joints)
    pairs.insert(std::minmax(joint.bodies[0], joint.bodies[1]));
  for (const JointDescription& joint : description_.joints)
    if (joint.bodies_touch) pairs.erase(std::minmax(joint.bodies[0], joint.bodies[1]));
  // After the joints: no joint makes touch what is said to pass.
  for (const std::array<int, 2>& pair : description_.untouched_bodies)
    pairs.insert(std::minmax(pair[0], pair[1]));
  // Driven bodies go their way whatever they meet, other than what can be moved.
  for (const BodyShapeDescription& driven : description_.shapes) {
    if (motion_of(driven.body) != Motion::kKinematic) continue;
    for (const BodyShapeDescription& other : description_.shapes)
      if (motion_of(other.body) != Motion::kDynamic)
        pairs.insert(std::minmax(driven.body, other.body));
  }
  untouched_bodies_.assign(pairs.begin(), pairs.end());
}

std::string RigidBodySystem::name_of_object(int object) const {
  const BodyShapeDescription& shape = description_.shapes[object];
  if (!shape.name.empty()) return shape.name;
  const std::string body =
      shape.body == kWorld ? std::string("world") : description_.bodies[shape.body].name;
  int index = 0, count = 0;
  for (int i = 0; i < num_objects(); ++i) {
    if (description_.shapes[i].body != shape.body) continue;
    index += i < object ? 1 : 0;
    ++count;
  }
  return count == 1 ? body : fmt::format("{}[{}]", body, index);
}

// -------------------------------------------------------------------------------------------------
// Where shapes are

void RigidBodySystem::place_objects(double t, const ConstVectorRef& q, std::span<Pose> poses,
                                    WorkerPool* workers) const {
  run_numbers(workers, num_objects(), kShapeGrain, [&](int begin, int end) {
    PoseCache bodies(*this, t, q);
    for (int i = begin; i < end; ++i) poses[i] = place_shape(bodies[objects_[i].body], shapes_[i]);
  });
}

void RigidBodySystem::bound_motion(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                   double h, std::span<double> distances,
                                   WorkerPool* workers) const {
  const double fall = h * h * description_.gravity.norm();
  run_numbers(workers, num_objects(), kShapeGrain, [&](int begin, int end) {
    PoseCache poses(*this, t, q);
    for (int i = begin; i < end; ++i) {
      distances[i] = 0;
      const int body = objects_[i].body;
      if (motion_of(body) == BodyDescription::Motion::kStatic) continue;
      const Vector6d velocity = velocity_of(t, v, body);
      const double turning = velocity.tail<3>().norm();
      const bool sweeps = turning > 0 && objects_[i].shape->kind() == ShapeKind::kPlane;
      const double radius =
          sweeps ? radius_of_surroundings(objects_, shapes_, body, poses) : shapes_[i].radius;
      distances[i] = h * (velocity.head<3>().norm() + radius * turning) +
                     (bodies_[body].block >= 0 ? fall : 0);
    }
  });
}

void RigidBodySystem::bound_displacement(double t_from, const ConstVectorRef& from, double t_to,
                                         const ConstVectorRef& to, std::span<double> distances,
                                         WorkerPool* workers) const {
  run_numbers(workers, num_objects(), kShapeGrain, [&](int begin, int end) {
    PoseCache old_poses(*this, t_from, from), new_poses(*this, t_to, to);
    for (int i = begin; i < end; ++i) {
      distances[i] = 0;
      const int body = objects_[i].body;
      if (motion_of(body) == BodyDescription::Motion::kStatic) continue;
      // A turn by θ has ‖R − I‖ = 2 sin(θ/2) and moves points by that times their distance.
      double turn = 0;
      if (bodies_[body].block >= 0) {
        const double *a = from.data() + bodies_[body].q_offset,
                     *b = to.data() + bodies_[body].q_offset;
        double moved = 0, turned = 0;  // squared; unit quaternions differ by 2 sin(θ/4)
        for (int k = 0; k < 3; ++k) moved += (b[k] - a[k]) * (b[k] - a[k]);
        for (int k = 3; k < 7; ++k) turned += (b[k] - a[k]) * (b[k] - a[k]);
        distances[i] = std::sqrt(moved);
        turn = std::sqrt(std::max(turned * (4 - turned), 0.0));
      } else {
        const Pose &a = old_poses[body], &b = new_poses[body];
        turn = (b.rotation - a.rotation).norm() / std::sqrt(2.0);
        distances[i] = (b.position - a.position).norm();
      }
      const bool sweeps = turn > 0 && objects_[i].shape->kind() == ShapeKind::kPlane;
      distances[i] +=
          turn * (sweeps ? radius_of_surroundings(objects_, shapes_, objects_[i].body, old_poses)
                         : shapes_[i].radius);
    }
  });
}

// -------------------------------------------------------------------------------------------------
// What happens where they touch

RigidBodySystem::Touching RigidBodySystem::touching_of(const BodyShape& shape, int body) const {
  Touching touching{.material = shape.material, .has_belt = shape.has_belt};
  if (body == kWorld) return touching;
  const Body& carrier = bodies_[body];
  touching.block = carrier.block;
  touching.is_simple = carrier.block < 0 ? carrier.motion < 0 : carrier.num_dofs == 6;
  touching.planar_axes = static_cast<unsigned char>(carrier.planar_axes);
  return touching;
}

/// The world axis along which neither of two bodies moves and about which alone they turn; −1 if
/// there is none.
int RigidBodySystem::find_plane_of(int a, int b) const {
  const unsigned axes = touchings_[a].planar_axes & touchings_[b].planar_axes;
  return axes == 0 ? -1 : std::countr_zero(axes);
}

/// Of materials whose shapes may meet: not all pairs of the materials that there are.
std::vector<const ContactInfo*> RigidBodySystem::laws() const {
  std::map<SurfaceClass, std::set<int>> classes;  // and the bodies that have shapes of each
  for (int i = 0; i < num_objects(); ++i) {
    const CollisionObject& object = objects_[i];
    classes[{.material = shapes_[i].material,
             .group = object.group,
             .mask = object.mask,
             .is_static = object.is_static,
             .extent = extent_of(*object.shape)}]
        .insert(object.body);
  }
  std::vector<char> is_met(laws_.size(), 0);
  for (auto one = classes.begin(); one != classes.end(); ++one)
    for (auto other = classes.begin(); other != std::next(one); ++other) {
      char& is_it = is_met[law_index(one->first.material, other->first.material)];
      if (is_it == 0 && one->first.may_meet(other->first) &&
          has_touching_pair(one->second, other->second, untouched_bodies_))
        is_it = 1;
    }
  std::vector<const ContactInfo*> laws;
  for (std::size_t k = 0; k < laws_.size(); ++k)
    if (is_met[k] != 0) laws.push_back(laws_[k].data());
  return laws;
}

const ContactInfo& RigidBodySystem::law_of(int a, int b, const Vector3d& normal) const {
  constexpr double kInPlane = 1e-9;
  const int axis = find_plane_of(a, b);
  const bool is_planar = axis >= 0 && std::abs(normal[axis]) < kInPlane;
  return laws_[law_index(touchings_[a].material, touchings_[b].material)][is_planar ? 1 : 0];
}

/// Normal and tangents. Tangents as in Stewart–Trinkle 1996, §4: t₁ = n × e_z and t₂ = t₁ × n, on a
/// table x and y; in the plane the one tangent that lies in it.
RigidBodySystem::Directions RigidBodySystem::directions_of(const TouchingPair& pair,
                                                           int num_tangents) const {
  constexpr double kUpright = 1e-9;
  const Vector3d& n = pair.touch.normal;
  Directions directions{n, Vector3d::Zero(), Vector3d::Zero()};
  if (num_tangents == 1) {
    const int axis = find_plane_of(pair.a, pair.b);
    directions[1] = Vector3d::Unit(axis).cross(n).normalized();
  } else if (num_tangents == 2) {
    const double size = std::sqrt(n.y() * n.y() + n.x() * n.x());  // of n × e_z
    if (size > kUpright) {
      directions[1] = Vector3d(n.y() / size, -n.x() / size, 0);
      directions[2] = directions[1].cross(n);
    } else {
      directions[1] = n.cross(-Vector3d::UnitY()).normalized();
      directions[2] = n.cross(directions[1]);
    }
  }
  return directions;
}

/// Rows of a point of two bodies along some directions, six numbers each: those of the first body,
/// then those of the second. Both bodies are computed at once, in the order of operations that a
/// product Rᵀ (x × d) has.
void RigidBodySystem::fill_touch_rows(const std::array<const Pose*, 2>& carriers,
                                      const Vector3d& point, std::span<const Vector3d> directions,
                                      double* values) {
  const Pose &a = *carriers[0], &b = *carriers[1];
  std::array<Pair, 3> arm;
  std::array<Pair, 9> R;
  for (int i = 0; i < 3; ++i)
    arm[i] = Pair{point[i], point[i]} - Pair{a.position[i], b.position[i]};
  for (int i = 0; i < 9; ++i) R[i] = Pair{a.rotation.data()[i], b.rotation.data()[i]};
  double *of_a = values, *of_b = values + 6 * directions.size();
  for (const Vector3d& d : directions) {
    const Pair x{d[0], d[0]}, y{d[1], d[1]}, z{d[2], d[2]};
    const std::array<Pair, 3> cross{arm[1] * z - arm[2] * y, arm[2] * x - arm[0] * z,
                                    arm[0] * y - arm[1] * x};
    for (int k = 0; k < 3; ++k) {
      const Pair turn = R[3 * k] * cross[0] + R[3 * k + 1] * cross[1] + R[3 * k + 2] * cross[2];
      of_a[k] = d[k];
      of_a[3 + k] = turn[0];
      of_b[k] = -d[k];
      of_b[3 + k] = -turn[1];
    }
    of_a += 6;
    of_b += 6;
  }
}

/// Those of one of the two bodies: of the first one where `side` is 1, of the second where it is
/// −1.
void RigidBodySystem::fill_touch_rows_of(const Pose& carrier, double side, const Vector3d& point,
                                         std::span<const Vector3d> directions, double* values) {
  const Vector3d& at = carrier.position;
  const double x = point[0] - at[0], y = point[1] - at[1], z = point[2] - at[2];
  const double* R = carrier.rotation.data();
  for (const Vector3d& d : directions) {
    const double cross[] = {y * d[2] - z * d[1], z * d[0] - x * d[2], x * d[1] - y * d[0]};
    for (int k = 0; k < 3; ++k) {
      values[k] = side * d[k];
      values[3 + k] =
          side * (R[3 * k] * cross[0] + R[3 * k + 1] * cross[1] + R[3 * k + 2] * cross[2]);
    }
    values += 6;
  }
}

/// Appends rows on two bodies as one row block; what driven bodies do to them is their drift.
void RigidBodySystem::append_rows_of_pair(double t, const std::array<int, 2>& bodies, int num_rows,
                                          const double* values, int first_block,
                                          RowSet& out) const {
  out.rows.add_row_block(num_rows);
  const std::size_t first_drift = out.drift.size();
  out.drift.resize(first_drift + num_rows, 0.0);
  for (const int side : {0, 1}) {
    if (bodies[side] == kWorld) continue;
    const Body& body = bodies_[bodies[side]];
    const auto row = [&](int i) -> Vector6d {
      return Eigen::Map<const Vector6d>(values + 6 * (side * num_rows + i));
    };
    if (body.motion >= 0) {
      const Vector6d velocity = velocity_of(t, VectorXd(), bodies[side]);
      for (int i = 0; i < num_rows; ++i) out.drift[first_drift + i] += row(i).dot(velocity);
    }
    if (body.block < 0) continue;
    RowMatrixMap entry = out.rows.add_entry(first_block + body.block, body.num_dofs);
    for (int i = 0; i < num_rows; ++i) project(body, row(i), entry.row(i).data());
  }
}

/// The same for bodies that have all six coordinates or none, and rest in the latter case. Returns
/// where the rows of those that have any go: they are written there, since a copy of numbers just
/// written would wait for them.
double* RigidBodySystem::add_rows_of_free_pair(const TouchingPair& pair, int num_rows,
                                               int first_block, RowSet& out) const {
  std::array<BlockRows::Piece, 2> pieces;
  int count = 0;
  for (const int shape : {pair.a, pair.b})
    if (touchings_[shape].block >= 0) pieces[count++] = {first_block + touchings_[shape].block, 6};
  out.drift.resize(out.drift.size() + num_rows);
  return out.rows.add_row_block(num_rows, std::span(pieces).first(count));
}

void RigidBodySystem::append_touch_rows(double t, const std::array<const Pose*, 2>& carriers,
                                        const TouchingPair& pair, int num_tangents, int first_block,
                                        RowSet& out) const {
  const Directions directions = directions_of(pair, num_tangents);
  const std::size_t first_drift = out.drift.size();
  const int num_rows = 1 + num_tangents;
  const Touching &of_a = touchings_[pair.a], &of_b = touchings_[pair.b];
  const std::span used = std::span(directions).first(num_rows);
  if (of_a.is_simple && of_b.is_simple) {
    double* values = add_rows_of_free_pair(pair, num_rows, first_block, out);
    if (of_a.block >= 0 && of_b.block >= 0)
      fill_touch_rows(carriers, pair.touch.point, used, values);
    else if (of_a.block >= 0)
      fill_touch_rows_of(*carriers[0], 1, pair.touch.point, used, values);
    else if (of_b.block >= 0)
      fill_touch_rows_of(*carriers[1], -1, pair.touch.point, used, values);
  } else {
    std::array<double, 36> values;
    fill_touch_rows(carriers, pair.touch.point, used, values.data());
    append_rows_of_pair(t, {objects_[pair.a].body, objects_[pair.b].body}, num_rows, values.data(),
                        first_block, out);
  }
  out.tangents.push_back({directions[1], directions[2]});
  if (!of_a.has_belt && !of_b.has_belt) return;
  const Vector3d belt = carriers[0]->rotation * shapes_[pair.a].surface_velocity -
                        carriers[1]->rotation * shapes_[pair.b].surface_velocity;
  for (int i = 1; i <= num_tangents; ++i) out.drift[first_drift + i] += directions[i].dot(belt);
}

std::array<Vector3d, 2> RigidBodySystem::tangents_of(const TouchingPair& pair,
                                                     int num_tangents) const {
  const Directions directions = directions_of(pair, num_tangents);
  return {directions[1], directions[2]};
}

void RigidBodySystem::add_touch_stiffness(double t, const ConstVectorRef& q,
                                          const TouchingPair& pair, std::span<const double> force,
                                          const TurningSum& sum) const {
  const Directions directions = directions_of(pair, static_cast<int>(force.size()) - 1);
  Vector3d on_a = Vector3d::Zero();
  for (std::size_t i = 0; i < force.size(); ++i) on_a += force[i] * directions[i];
  for (const int side : {0, 1}) {
    const int body = objects_[side == 0 ? pair.a : pair.b].body;
    const Pose pose = pose_of(t, q, body);
    add_pull(body, pose, side == 0 ? on_a : Vector3d(-on_a),
             pose.rotation.transpose() * (pair.touch.point - pose.position), sum);
  }
}

// -------------------------------------------------------------------------------------------------
// Limits of joints

void RigidBodySystem::evaluate_gaps(double t, const ConstVectorRef& q, VectorRef gaps) const {
  double* out = gaps.data();
  for (const CoordinateRow& limit : limits_)
    *out++ = limit.sign * (coordinate_value(t, q, limit.joint, limit.coordinate) - limit.bound);
}

void RigidBodySystem::append_contact_rows(double t, const ConstVectorRef& q, int index,
                                          int first_block, RowSet& out) const {
  const CoordinateRow& limit = limits_[index];
  const Joint& joint = joints_[limit.joint];
  const PairRow row =
      evaluate_coordinate_row(joint.geometry, limit.coordinate, pose_of(t, q, joint.bodies[0]),
                              pose_of(t, q, joint.bodies[1]));
  std::array<double, 12> values;
  Eigen::Map<Vector6d>(values.data()) = row.a * limit.sign;
  Eigen::Map<Vector6d>(values.data() + 6) = row.b * limit.sign;
  append_rows_of_pair(t, joint.bodies, 1, values.data(), first_block, out);
}

System::ContactPlace RigidBodySystem::locate_contact(double, const ConstVectorRef&,
                                                     int index) const {
  ContactPlace place;
  place.a = joints_[limits_[index].joint].bodies[0];
  place.b = joints_[limits_[index].joint].bodies[1];
  return place;
}

}  // namespace stiction
