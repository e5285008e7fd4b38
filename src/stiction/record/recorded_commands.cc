#include "stiction/record/recorded_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "stiction/base/error.h"

namespace stiction {

std::vector<RecordedCommand> read_recorded_commands(const Hdf5File& file) {
  std::vector<RecordedCommand> commands;
  if (!file.has("commands")) return commands;
  const auto steps = file.read<std::int64_t>("commands/step");
  const auto times = file.read<double>("commands/time");
  std::vector<std::string> texts = file.read_texts("commands/text");
  // A writer that was killed may have left a text without its step.
  if (texts.size() < steps.size() || times.size() < steps.size() ||
      !std::is_sorted(steps.begin(), steps.end()))
    throw IoError(fmt::format("'{}': its commands are damaged", file.path()));
  for (std::size_t i = 0; i < steps.size(); ++i)
    commands.push_back({steps[i], times[i], std::move(texts[i])});
  return commands;
}

void refuse_steered_run(const std::string& path) {
  const std::vector<RecordedCommand> commands =
      read_recorded_commands(Hdf5File::open(path, Hdf5File::CutFiles::kTake));
  if (commands.empty()) return;
  throw InputError(fmt::format(
      "recording '{}' is of a run that was steered: {} {} acted on it, the first at t = {} s. No "
      "law was checked, since its scene alone does not say what happened. 'stiction run --replay' "
      "repeats it step by step, and every step carries its certificate",
      path, commands.size(), commands.size() == 1 ? "command" : "commands", commands.front().time));
}

}  // namespace stiction
