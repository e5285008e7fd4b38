// Phases of recorded steps as the equations want them, and where each of them has its rows.
#pragma once

#include <vector>

#include "stiction/audit/audit_report.h"
#include "stiction/audit/phase_problem.h"
#include "stiction/record/recording_stream.h"

namespace stiction {

class PhaseReader {
 public:
  /// Throws InputError if the recording has kinds of phases that are not known here.
  PhaseReader(const Model& model, const RecordingHeader& header);

  /// The phases of row k of the chunk, which ends in the state `end`; `before` is the state of the
  /// row before if the step starts from there, else null. What refers to nothing is reported, and
  /// there are no phases then.
  std::vector<AuditedPhase> read(const RecordedChunk& chunk, std::int64_t k, const State& end,
                                 const State* before, AuditReport& report) const;

 private:
  bool is_pair(const AuditedContact& contact) const;

  const Model& model_;
  std::vector<PhaseName> kinds_;
  int num_shapes_ = 0;
};

/// Where the rows of a phase's contacts were evaluated: t and q of the state; its v is empty.
State rows_of(const Model& model, const AuditSettings& settings, const AuditedPhase& phase);

}  // namespace stiction
