// Scenes of examples/ for the experiments of the papers: with parameters changed, and with their
// own settings as options of a simulation.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "stiction/app/experiments/example_scene.h"

namespace stiction::testing {

using experiments::options_of;

/// The scene after `edit(document)` has changed its JSON.
inline Scene edited_scene(const std::string& name, const experiments::SceneEdit& edit) {
  return experiments::edited_example(name, edit);
}

/// The scene with other values for some parameters of its system; parameters that it does not have
/// fail the test.
inline Scene scene_variant(const std::string& name, std::map<std::string, double> values) {
  return experiments::edited_example(name, experiments::with_parameters(std::move(values)));
}

}  // namespace stiction::testing
