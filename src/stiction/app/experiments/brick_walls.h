// The walls of the examples: where their bricks are and how far they have moved.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "stiction/sim/simulation.h"

namespace stiction::experiments {

struct Wall {
  const char* name;  // of the example
  int num_bricks;
};
inline constexpr Wall kWalls[] = {{"brick-wall", 33}, {"brick-wall-long", 21}};

std::vector<Eigen::Vector3d> brick_positions(const Simulation& simulation, const Wall& wall);

/// [m] How far the bricks have moved, largest first.
std::vector<double> ways(const std::vector<Eigen::Vector3d>& start,
                         const std::vector<Eigen::Vector3d>& now);

}  // namespace stiction::experiments
