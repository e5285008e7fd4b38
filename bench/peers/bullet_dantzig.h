// Dantzig's method in Bullet without its limit on impulses.
#pragma once

#include <BulletDynamics/MLCPSolvers/btDantzigSolver.h>

namespace stiction::bench {

/// Bullet throws answers above 1000 away and sweeps instead; under heavy loads the right impulses
/// are far greater than that.
class UnlimitedDantzigSolver final : public btDantzigSolver {
 public:
  UnlimitedDantzigSolver() { m_acceptableUpperLimitSolution = BT_LARGE_FLOAT; }
};

}  // namespace stiction::bench
