// One recorded step as the step problem that it solved, with its answer, put together anew from the
// recording.
#pragma once

#include <cstdint>
#include <string>

#include "stiction/audit/phase_problem.h"
#include "stiction/record/recording_stream.h"

namespace stiction {

struct ExtractedStep {
  StepProblem problem;
  StepSolution solution;
  std::string kind;  // of the phase
  int num_phases = 0;
};

/// Of the longest phase of the step, the last one of equals. Throws InputError if the recording has
/// no such step or not its phases.
ExtractedStep extract_step(RecordingStream& stream, const Model& model,
                           const AuditSettings& settings, std::int64_t step);

}  // namespace stiction
