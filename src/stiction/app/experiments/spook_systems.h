// Lacoursière & Linde's small systems (E9): recurrences, periods, and closed forms to compare with.
#pragma once

#include <vector>

#include "stiction/model/model.h"
#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction::experiments {

inline constexpr double kOscillatorMass = 2;  // [kg]

/// A mass on a spring at x = 1, at rest; `damping_time` is damping over stiffness.
Model spring_oscillator(double frequency, double damping_time = 0);

/// Positions x_0, x_1, … of the first coordinate.
std::vector<double> positions_of(Model model, const SimulationOptions& options, int num_steps);

/// The largest |x_{n+1} − trace·x_n + determinant·x_{n−1}|.
double recurrence_error(const std::vector<double>& x, double trace, double determinant);

/// K(1/√2): a quarter of the period of a pendulum released horizontally is √(l/g) K.
inline constexpr double kPendulumQuarter = 1.8540746773013719;

struct PendulumSwing {
  double period = 0;  // [s] mean of those in 10 s
  double rod = 0;     // [m] largest error of its length
};

/// The scene spook-pendulum at another step.
PendulumSwing swing_pendulum(const Scene& scene, double h);

/// θ̇ of examples/slider-crank.json on the regular branch, from the energy, at the crank angle θ.
double crank_speed(double theta);

}  // namespace stiction::experiments
