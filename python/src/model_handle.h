// A model as Python holds it: with the scene that it came from, or with functions of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stiction/base/diagnostics.h"
#include "stiction/base/error.h"
#include "stiction/scene/scene.h"
#include "stiction/scene/scene_override.h"

namespace stiction::python {

namespace py = pybind11;

/// A scene with faults; Python gets them one by one, too.
class SceneFault : public InputError {
 public:
  explicit SceneFault(const Diagnostics& found) : InputError(found.to_text()), diagnostics(found) {}
  Diagnostics diagnostics;
};

struct ModelHandle {
  std::string name;
  std::string place;  // how messages call the scene: its file, or "scene"
  std::string text;   // of the scene; empty if the model has functions of Python
  Model model;
  std::vector<std::string> warnings{};

  bool is_scene() const { return !text.empty(); }
};

/// Both throw SceneFault. A start that does not fit is no fault yet: whether it is moved is decided
/// by the settings of a simulation.
ModelHandle load_model(const std::string& path);
ModelHandle read_model(const std::string& text, const std::string& place);

/// The model with other numbers, see scene_override.h. Throws InputError if it is no scene.
ModelHandle vary_model(const ModelHandle& model, const std::vector<SceneOverride>& overrides);

/// The scene with keys of "simulate" replaced, read anew with all that they imply; or for a model
/// of functions that model, with settings of its own.
Scene make_scene(const ModelHandle& model,
                 const std::vector<std::pair<std::string, std::string>>& simulate);

void bind_model(py::module_& module);

}  // namespace stiction::python
