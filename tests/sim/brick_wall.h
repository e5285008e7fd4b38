// A wall of bricks on a floor: one large island of contacts.
#pragma once

#include "stiction/model/rigid_body_builder.h"

namespace stiction::testing {

/// Rows of bricks of 0.2 m × 0.1 m × 0.1 m and 2 kg, every second one shifted by half a brick
/// and shorter by one.
inline Model brick_wall(int num_rows, int num_columns) {
  constexpr double kSeat = 1e-9;  // [m] with gaps of 0 rounding would say who is in contact
  const Eigen::Vector3d size(0.2, 0.1, 0.1);
  const double mass = 2, pitch = 1.05 * size.x();  // bricks of a row do not touch
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -9.81});
  const MaterialId material = world.add_material({.name = "brick", .mu = 0.6});
  world.add_shape({.body = kWorld, .shape = Plane{}, .material = material});
  const Eigen::Vector3d squares = size.cwiseAbs2();
  const Eigen::Vector3d inertia = mass / 12 * (Eigen::Vector3d::Constant(squares.sum()) - squares);
  for (int row = 0; row < num_rows; ++row)
    for (int column = 0; column < num_columns - row % 2; ++column) {
      const BodyId brick =
          world.add_body({.name = "brick " + std::to_string(row) + " " + std::to_string(column),
                          .position = {pitch * (column + 0.5 * (row % 2)), 0,
                                       size.z() * (row + 0.5) - kSeat * (row + 1)},
                          .mass = mass,
                          .inertia = inertia.asDiagonal()});
      world.add_shape({.body = brick, .shape = Box{size}, .material = material});
    }
  return world.build_model();
}

}  // namespace stiction::testing
