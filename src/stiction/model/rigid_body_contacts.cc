// Contacts: limits of joints, and pairs of smooth surfaces with one nearest point. An ellipsoid
// (or ball) with centre c, axes R and radii A has its lowest point above a plane with normal n at
//
//   x = c − R A² Rᵀn / s,   s = ‖A Rᵀn‖,   gap = n·x − d
//
// and the gap changes with the velocities of the two bodies at x: the point slides along the
// surface, which changes nothing to first order.
#include <cmath>

#include "stiction/model/rigid_body_system.h"

namespace stiction {

using Eigen::Vector3d;

RigidBodySystem::Touch RigidBodySystem::touch(const Contact& contact, const Pose& a,
                                              const Pose& b) const {
  const Eigen::Matrix3d axes = a.rotation * contact.frames[0].rotation;
  const Vector3d center = a.position + a.rotation * contact.frames[0].position;
  Touch touch;
  if (contact.is_plane) {
    const Eigen::Matrix3d plane_axes = b.rotation * contact.frames[1].rotation;
    const Vector3d origin = b.position + b.rotation * contact.frames[1].position;
    touch.normal = plane_axes * contact.plane_normal;
    const Vector3d along = contact.radii.cwiseProduct(axes.transpose() * touch.normal);
    touch.point = center - axes * contact.radii.cwiseProduct(along) / along.norm();
    touch.gap = touch.normal.dot(touch.point - origin) - contact.plane_offset;
  } else {
    const Vector3d other = b.position + b.rotation * contact.frames[1].position;
    const double distance = (center - other).norm();
    // Balls with one centre are pushed apart upwards, if anywhere.
    touch.normal =
        distance > 0 ? Vector3d((center - other) / distance) : Vector3d(Vector3d::UnitZ());
    touch.gap = distance - contact.radii[0] - contact.radius;
    touch.point = center - (contact.radii[0] + 0.5 * touch.gap) * touch.normal;
  }
  return touch;
}

/// Normal and tangents at the point of contact. Tangents as in Stewart–Trinkle 1996, §4: t₁ = n ×
/// e_z and t₂ = t₁ × n, on a table x and y; in the plane the one tangent that lies in it.
void RigidBodySystem::fill_contact_rows(const Contact& contact, const Touch& touch, const Pose& a,
                                        const Pose& b, PairRow* rows, int num_rows) const {
  constexpr double kUpright = 1e-9;
  std::array<Vector3d, 3> directions{touch.normal, Vector3d::Zero(), Vector3d::Zero()};
  if (contact.out_of_plane >= 0) {
    directions[1] = Vector3d::Unit(contact.out_of_plane).cross(touch.normal).normalized();
  } else {
    const Vector3d across = touch.normal.cross(Vector3d::UnitZ());
    directions[1] = across.norm() > kUpright ? across.normalized()
                                             : touch.normal.cross(-Vector3d::UnitY()).normalized();
    directions[2] = directions[1].cross(touch.normal);
    if (!(across.norm() > kUpright)) directions[2] = touch.normal.cross(directions[1]);
  }
  const Vector3d arm_a = touch.point - a.position, arm_b = touch.point - b.position;
  for (int i = 0; i < num_rows; ++i) {
    rows[i].a.head<3>() = directions[i];
    rows[i].a.tail<3>() = a.rotation.transpose() * arm_a.cross(directions[i]);
    rows[i].b.head<3>() = -directions[i];
    rows[i].b.tail<3>() = -(b.rotation.transpose() * arm_b.cross(directions[i]));
  }
}

void RigidBodySystem::evaluate_gaps(double t, const ConstVectorRef& q, VectorRef gaps) const {
  double* out = gaps.data();
  for (const CoordinateRow& limit : limits_)
    *out++ = limit.sign * (coordinate_value(t, q, limit.joint, limit.coordinate) - limit.bound);
  for (const Contact& contact : contact_pairs_)
    *out++ = touch(contact, pose_of(t, q, contact.bodies[0]), pose_of(t, q, contact.bodies[1])).gap;
}

void RigidBodySystem::append_contact_rows(double t, const ConstVectorRef& q, int index,
                                          int first_block, RowSet& out) const {
  std::array<PairRow, 3> rows;
  std::array<int, 2> bodies{};
  int num_rows = 1;
  if (const int num_limits = static_cast<int>(limits_.size()); index < num_limits) {
    const CoordinateRow& limit = limits_[index];
    const Joint& joint = joints_[limit.joint];
    bodies = joint.bodies;
    rows[0] = evaluate_coordinate_row(joint.geometry, limit.coordinate, pose_of(t, q, bodies[0]),
                                      pose_of(t, q, bodies[1]));
    rows[0].a *= limit.sign;
    rows[0].b *= limit.sign;
  } else {
    const Contact& contact = contact_pairs_[index - num_limits];
    bodies = contact.bodies;
    num_rows = 1 + contacts()[index].num_tangents;
    const Pose a = pose_of(t, q, bodies[0]), b = pose_of(t, q, bodies[1]);
    fill_contact_rows(contact, touch(contact, a, b), a, b, rows.data(), num_rows);
  }
  out.rows.add_row_block(num_rows);
  const std::size_t first_drift = out.drift.size();
  out.drift.resize(first_drift + num_rows, 0.0);
  for (const int side : {0, 1}) {
    if (bodies[side] == kWorld) continue;
    const Body& body = bodies_[bodies[side]];
    const auto row = [&](int i) -> const Vector6d& { return side == 0 ? rows[i].a : rows[i].b; };
    if (body.motion >= 0) {
      const Vector6d velocity = velocity_of(t, VectorXd(), bodies[side]);
      for (int i = 0; i < num_rows; ++i) out.drift[first_drift + i] += row(i).dot(velocity);
    }
    if (body.block < 0) continue;
    RowMatrixMap entry = out.rows.add_entry(first_block + body.block, body.num_dofs);
    for (int i = 0; i < num_rows; ++i) project(body, row(i), entry.row(i).data());
  }
}

System::ContactPlace RigidBodySystem::locate_contact(double t, const ConstVectorRef& q,
                                                     int index) const {
  ContactPlace place;
  const int num_limits = static_cast<int>(limits_.size());
  if (index < num_limits) {
    place.a = joints_[limits_[index].joint].bodies[0];
    place.b = joints_[limits_[index].joint].bodies[1];
    return place;
  }
  const Contact& contact = contact_pairs_[index - num_limits];
  const Touch at =
      touch(contact, pose_of(t, q, contact.bodies[0]), pose_of(t, q, contact.bodies[1]));
  place.a = contact.bodies[0];
  place.b = contact.bodies[1];
  for (int i = 0; i < 3; ++i) {
    place.position[i] = at.point[i];
    place.normal[i] = at.normal[i];
  }
  return place;
}

}  // namespace stiction
