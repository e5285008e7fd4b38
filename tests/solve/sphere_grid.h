// Spheres of unit mass on a jittered grid, touching their neighbours and the floor, falling for one
// step under gravity: a pile of any size for tests of scaling, with contacts in all directions. The
// same seed gives the same problem everywhere.
#pragma once

#include <array>
#include <cstdint>

#include "stiction/problem/step_problem.h"

namespace stiction::testing {

struct SphereGridOptions {
  std::array<int, 3> count{4, 4, 4};
  double mu = 0.3;
  FrictionSection section = FrictionSection::disc();
  double jitter = 0.3;     // of the contact normals
  double agitation = 0.1;  // [m/s] of the velocities before the step
  double touching = 1;     // share of the contacts that are there
  std::uint64_t seed = 1;
};

StepProblem sphere_grid(const SphereGridOptions& options = {});

}  // namespace stiction::testing
