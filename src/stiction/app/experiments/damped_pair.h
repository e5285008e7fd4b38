// Anitescu & Potra's two bodies and a damper (E4): the limit of a rigid pair, and rests of a run.
#pragma once

#include <vector>

#include "stiction/app/experiments/trace.h"

namespace stiction::experiments {

inline constexpr double kPairStep = 0.05, kPairFriction = 0.4 * 9.81;  // [s], [N] for a mass of 1

/// Lengths, in steps, of the intervals in which |velocity i| stays below 1e-9 m/s; the body must
/// have moved before and move after.
std::vector<int> rests_of(const Trace& trace, int i);

/// The pair as one body of mass 2 by the same scheme: slides against 2F, or sticks.
std::vector<double> rigid_pair_positions(int num_steps);

}  // namespace stiction::experiments
