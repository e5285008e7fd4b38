// stiction run SCENE --view, and run --replay RECORDING.
#pragma once

#include "stiction/app/run_options.h"

namespace stiction {

/// Simulates in time with the clock on the wall and shows it in the browser, which may steer it.
/// Records all of it. Ends at an interrupt. Returns the exit status of the program.
int run_live(const RunOptions& options);

/// Repeats a recorded run of that kind up to its last recorded step.
int replay_run(const RunOptions& options);

}  // namespace stiction
