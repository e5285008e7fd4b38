// Records a simulation while it runs: every N-th step, and always the first and the last state.
// Events and the count of flagged steps are kept for all steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stiction/record/recording_writer.h"
#include "stiction/sim/simulation.h"

namespace stiction {

/// What a recording of the simulation tells before its first step.
RecordingLayout make_recording_layout(const Simulation& simulation, const std::string& name,
                                      const std::string& scene_text, int every);

class RecordingObserver final : public StepObserver {
 public:
  /// Creates the file; throws IoError. The observer still has to be added to the simulation.
  RecordingObserver(const std::string& path, const Simulation& simulation, const std::string& name,
                    const std::string& scene_text, int every);

  /// Into any sink, whose layout is make_recording_layout.
  RecordingObserver(std::unique_ptr<RecordingSink> sink, const Simulation& simulation, int every);

  void on_step(const StepRecord& record) override;
  bool wants_phases() const override { return true; }
  /// Writes the last state if it was passed over, and how the run ended.
  void close(const Simulation& simulation, std::string_view status);

 private:
  void take_note(const StepRecord& record);
  void append(const StepRecord& record);
  void read_reactions(const StepRecord& record);
  void read_phases(const StepRecord& record, bool follows_a_row);

  std::unique_ptr<RecordingSink> sink_;
  const Model& model_;  // of the simulation
  VectorXd q_, v_;      // as recordings show them
  VectorXd forces_, reactions_;
  int every_;
  bool is_closing_ = false;
  std::int64_t last_seen_step_ = -1;
  std::int64_t last_step_ = -1;  // recorded
  int flagged_ = 0;              // steps above tolerance since then
  std::vector<ContactRow> contacts_;
  struct RecordedState {
    VectorXd q, v;
  };
  std::vector<PhaseRow> phases_;
  std::vector<RecordedState> phase_states_;  // what they refer to, likewise the next two
  std::vector<PhaseContactRow> phase_contacts_;
  std::vector<double> no_forces_;
};

}  // namespace stiction
