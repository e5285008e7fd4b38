// The experiments, each in a file of its own.
#pragma once

#include "stiction/app/experiments/experiment.h"

namespace stiction::experiments {

Result run_woodpecker(Monitor& monitor);
Result run_rod_and_table(Monitor& monitor);
Result run_four_balls(Monitor& monitor);
Result run_damped_pair(Monitor& monitor);
Result run_two_bars(Monitor& monitor);
Result run_double_pendulum_wall(Monitor& monitor);
Result run_cosine_block(Monitor& monitor);
Result run_two_carts(Monitor& monitor);
Result run_spook_oscillator(Monitor& monitor);
Result run_spook_pendulum(Monitor& monitor);
Result run_bouncing_ball(Monitor& monitor);
Result run_slider_crank(Monitor& monitor);
Result run_whiplash_chain(Monitor& monitor);
Result run_log_pile(Monitor& monitor);
Result run_brick_wall(Monitor& monitor);
Result run_squeezed_box(Monitor& monitor);
Result run_wheel_loader(Monitor& monitor);
Result run_rover(Monitor& monitor);
Result run_pawl(Monitor& monitor);
Result run_jacks(Monitor& monitor);

}  // namespace stiction::experiments
