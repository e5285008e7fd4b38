// Where the rows of a recording go: a file (RecordingWriter) or memory (RecordingMemory).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stiction/record/step_row.h"

namespace stiction {

/// All that is known before the first step.
struct RecordingLayout {
  std::string name = {};    // of the scene
  std::string scene = {};   // its full text
  std::string scheme = {};  // as in the scene's "simulate"
  std::string solver = {};
  std::string version = {};  // of the program
  double h = 0;              // [s]
  std::vector<std::string> q_names = {};
  std::vector<std::string> v_names = {};
  std::vector<std::string> joint_names = {};     // one per joint row
  std::vector<std::string> reaction_names = {};  // may be empty
  std::vector<std::string> contact_names = {};   // may be empty
  std::vector<std::string> event_kinds = {};     // may be empty
  std::vector<std::string> phase_kinds = {};     // may be empty
  bool has_turning = false;                      // phases have forces of geometric stiffness
  bool has_commands = false;                     // the run may be steered, see CommandRow
  std::string friction = {};                     // "disc", "polygon:8", …
  std::vector<std::pair<std::string, double>> settings = {};  // of the run, by name
};

class RecordingSink {
 public:
  virtual ~RecordingSink() = default;
  /// The spans of the row are read during the call.
  virtual void append(const StepRow& row) = 0;
  /// An event, ahead of the row of its step if that step is recorded.
  virtual void append_event(const EventRow& event) = 0;
  /// How the run ended: "complete", "interrupted", "rejected", …
  virtual void close(std::string_view status) = 0;
};

}  // namespace stiction
