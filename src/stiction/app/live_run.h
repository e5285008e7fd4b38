// A simulation that is steered while it runs: between steps its settings change, gravity and
// friction of its scene, and a spring pulls at a body. The same commands after the same steps give
// the same bits, which is how `run --replay` repeats a recorded run.
//
// The spring is a row of the step problem like any other (T14), implicit in all schemes but
// anitescu-potra, so that neither its strength nor a small mass makes it unstable.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "stiction/app/live_scene.h"
#include "stiction/model/rigid_body_description.h"
#include "stiction/sim/simulation.h"

namespace stiction {

class LiveRun {
 public:
  /// `text` is that of make_live_text, `place` as in read_live_scene. Throws InputError.
  LiveRun(std::string text, std::string place, int threads);

  const std::string& name() const { return scene_name_; }
  const std::string& text() const { return text_; }
  const SimulateSettings& settings() const { return settings_; }
  const WorldChanges& world() const { return world_; }
  Eigen::Vector3d gravity() const;
  bool can_pull() const { return pull_spring_ >= 0; }
  Simulation& simulation() { return *simulation_; }
  const Simulation& simulation() const { return *simulation_; }

  /// One of
  ///   {"set": {"h", "scheme", "solver", "friction", "duration", "gravity", "friction_factor",
  ///            "parameters": {NAME: VALUE}}}    any of these
  ///   {"pull": {"body", "point", "target", "strength" or "stiffness" and "damping"}}
  ///   {"release": true}
  ///   {"restart": true}                          the solver forgets a step that failed
  /// Returns the command with all numbers in it, for the recording. Throws InputError; nothing is
  /// changed then.
  nlohmann::json apply(const nlohmann::json& command);

  bool is_at_end() const { return next_step() <= 0; }
  /// Steps by h, or less at the end of the duration. Throws StepRejected.
  void step();

 private:
  void set(const nlohmann::json& changes);
  nlohmann::json pull(const nlohmann::json& how);
  void hold(const std::optional<BodySpringDescription>& pull);
  double next_step() const;
  Model with_pull(const Model& model, const std::optional<BodySpringDescription>& pull) const;

  std::string text_, place_, scene_name_;
  SimulateSettings settings_;
  WorldChanges world_{};
  Model model_;  // without pulling
  int pull_spring_ = -1;
  std::optional<BodySpringDescription> pull_{};
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace stiction
