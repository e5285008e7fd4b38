// What somebody did to a run while it was recorded: without it the scene alone does not explain the
// motion.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stiction/base/hdf5_file.h"

namespace stiction {

struct RecordedCommand {
  std::int64_t step = 0;  // after which it acted
  double time = 0;        // [s] then
  std::string text{};     // a JSON object
};

/// Those that are complete, in order; none where the run could not be steered. Throws IoError if
/// the file contradicts itself.
std::vector<RecordedCommand> read_recorded_commands(const Hdf5File& file);

/// Throws InputError if anything was done to the recorded run: its scene does not explain it then.
void refuse_steered_run(const std::string& path);

}  // namespace stiction
