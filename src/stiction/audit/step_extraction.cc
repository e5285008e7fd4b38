#include "stiction/audit/step_extraction.h"

#include <fmt/format.h>

#include <algorithm>

#include "stiction/audit/phase_reader.h"
#include "stiction/base/error.h"

namespace stiction {
namespace {

void restore(const Model& model, const RecordedChunk& chunk, std::int64_t k, State& state) {
  state.t = chunk.time[k];
  model.restore(chunk.q.row(k).transpose(), chunk.v.row(k).transpose(), state);
}

ExtractedStep extract(const Model& model, const AuditSettings& settings,
                      const std::vector<AuditedPhase>& phases, const RecordingHeader& header,
                      std::int64_t step) {
  if (phases.empty())
    throw InputError(
        fmt::format("recording '{}': the phases of step {} are not there", header.path, step));
  const auto longest = std::max_element(
      phases.begin(), phases.end(),
      [](const AuditedPhase& a, const AuditedPhase& b) { return a.length <= b.length; });
  PhaseProblem problem(model, settings);
  const bool follows = longest->kind == PhaseName::kDecompression && longest != phases.begin();
  const std::string reason = problem.assemble(*longest, follows ? &longest[-1] : nullptr);
  if (!reason.empty())
    throw InputError(fmt::format("recording '{}', step {}: {}", header.path, step, reason));
  return {.problem = problem.problem,
          .solution = problem.solution,
          .kind = std::string(to_text(longest->kind)),
          .num_phases = static_cast<int>(phases.size())};
}

}  // namespace

ExtractedStep extract_step(RecordingStream& stream, const Model& model,
                           const AuditSettings& settings, std::int64_t step) {
  const RecordingHeader& header = stream.header();
  const PhaseReader reader(model, header);
  RecordedChunk chunk;
  State last, state;
  std::int64_t last_step = -1;
  AuditReport report;
  while (stream.next(chunk)) {
    for (std::int64_t k = 0; k < chunk.num_rows(); ++k) {
      if (chunk.step[k] != step) continue;
      if (k > 0) {
        restore(model, chunk, k - 1, last);
        last_step = chunk.step[k - 1];
      }
      restore(model, chunk, k, state);
      return extract(model, settings,
                     reader.read(chunk, k, state, last_step == step - 1 ? &last : nullptr, report),
                     header, step);
    }
    restore(model, chunk, chunk.num_rows() - 1, last);  // of the next chunk
    last_step = chunk.step.back();
  }
  throw InputError(fmt::format("recording '{}' has no step {}", header.path, step));
}

}  // namespace stiction
