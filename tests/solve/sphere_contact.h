// The contact of two spheres with six degrees of freedom each, or of one with a wall: normal and
// tangents from the normal alone. For packings of spheres in tests and benchmarks.
#pragma once

#include <Eigen/Core>

#include "stiction/problem/step_problem.h"

namespace stiction::testing {

struct SphereContact {
  int upper = 0, lower = -1;  // mass blocks; lower −1: floor or wall
  Eigen::Vector3d normal;     // of length one, from lower to upper
  double radius = 0.5;        // [m] of both
  double mu = 0;
  FrictionSection section = {};
};

/// Appends a contact with two tangents; its key is its number.
void add_sphere_contact(StepProblem& problem, const SphereContact& contact);

}  // namespace stiction::testing
