// Random packings of equal spheres of any size, as step problems with six degrees of freedom per
// sphere: face-centred lattices whose centres are moved at random, with a contact wherever two
// spheres then overlap. About half of the twelve neighbours touch, six contacts per sphere as in a
// dense random packing. The same seed gives the same problem everywhere.
#pragma once

#include <cstdint>

#include "stiction/problem/step_problem.h"

namespace stiction::bench {

struct SpherePacking {
  int num_contacts = 1000;  // wanted; the packing that comes out has about as many
  double mu = 0.3;
  std::uint64_t seed = 1;
  /// false: a cloud whose spheres collide at random velocities, nothing else around. true: the
  /// spheres lie still in a box with rough floor and walls and bear their weight for one step, so
  /// that the floor carries what the top weighs.
  bool is_pile = false;
};

StepProblem make_sphere_packing(const SpherePacking& packing);

}  // namespace stiction::bench
