#include "model_handle.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "arrays.h"
#include "callable_system.h"
#include "stiction/app/simulation_options.h"

namespace stiction::python {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Behind the file in messages about a text that is not that of the file. The folder of a place is
/// where files that the scene names are looked for.
constexpr const char* kVaried = " (varied)";

ModelHandle to_handle(Scene scene, const std::string& place, const Diagnostics& diagnostics) {
  ModelHandle handle{.name = scene.name, .place = place, .text = scene.text, .model = scene.model};
  if (!diagnostics.all().empty()) handle.warnings.push_back(diagnostics.to_text());
  return handle;
}

std::vector<SceneOverride> to_overrides(const Pairs& pairs, const std::string& prefix) {
  std::vector<SceneOverride> overrides;
  for (const auto& [path, value] : pairs) overrides.push_back({prefix + path, value});
  return overrides;
}

std::string override_text(const ModelHandle& model, const std::vector<SceneOverride>& overrides) {
  if (overrides.empty()) return model.text;
  Diagnostics diagnostics(model.place);
  const auto text = override_scene(model.text, overrides, diagnostics);
  if (!text) throw SceneFault(diagnostics);
  return *text;
}

RowFunctions to_rows(const py::dict& given, const std::string& name) {
  const auto get = [&](const std::string& key) {
    return given.contains(key) ? py::object(given[py::str(key)]) : py::object(py::none());
  };
  return {.name = name,
          .value = get(name),
          .gradient = get(name + "_gradient"),
          .drift = get(name + "_drift")};
}

GeneralizedSystem::Layout to_layout(const py::dict& given) {
  GeneralizedSystem::Layout layout;
  layout.coordinates = given["coordinates"].cast<std::vector<std::string>>();
  layout.constraints = given["constraint_names"].cast<std::vector<std::string>>();
  for (const py::handle& spring : given["spring_list"])
    layout.springs.push_back({.name = spring["name"].cast<std::string>(),
                              .stiffness = spring["stiffness"].cast<double>(),
                              .damping = spring["damping"].cast<double>()});
  const int num_tangents = given["num_tangents"].cast<int>();
  for (const py::handle& contact : given["contact_list"])
    layout.contacts.push_back(
        {.name = contact["name"].cast<std::string>(),
         .num_tangents = num_tangents,
         .mu = contact["mu"].cast<double>(),
         .restitution = contact["restitution"].cast<double>(),
         .restitution_tangential = contact["restitution_tangential"].cast<double>()});
  return layout;
}

/// `given` is prepared and checked by generalized() of the package.
ModelHandle make_callable_model(const std::string& name, const py::dict& given) {
  CallableFunctions functions;
  functions.mass = given["mass"];
  functions.mass_gradient = given["mass_gradient"];
  functions.force = given["force"];
  functions.force_jacobians = given["force_jacobians"];
  functions.potential = given["potential"];
  functions.potential_gradient = given["potential_gradient"];
  functions.constraints = to_rows(given, "constraints");
  functions.springs = to_rows(given, "springs");
  functions.gaps = to_rows(given, "gaps");
  functions.tangents = given["tangents"];
  const auto system = std::make_shared<CallableSystem>(to_layout(given), std::move(functions));
  ModelBuilder builder;
  const int n = system->num_coordinates();
  builder.add_system(system, to_vector(given["q"], "q", n), to_vector(given["v"], "v", n));
  return {.name = name, .place = name, .text = "", .model = builder.build()};
}

}  // namespace

ModelHandle read_model(const std::string& text, const std::string& place) {
  Diagnostics diagnostics(place);
  std::optional<Scene> scene =
      read_scene(text, known_names(), diagnostics, {.project_start = true});
  if (!scene) throw SceneFault(diagnostics);
  if (scene->name.empty()) scene->name = "scene";
  return to_handle(std::move(*scene), place, diagnostics);
}

ModelHandle load_model(const std::string& path) {
  Diagnostics diagnostics(path);
  std::optional<Scene> scene =
      read_scene_file(path, known_names(), diagnostics, {.project_start = true});
  if (!scene) throw SceneFault(diagnostics);
  return to_handle(std::move(*scene), path, diagnostics);
}

ModelHandle vary_model(const ModelHandle& model, const std::vector<SceneOverride>& overrides) {
  if (!model.is_scene())
    throw InputError("a model of Python functions has no values to vary: build it anew");
  if (overrides.empty()) return model;
  ModelHandle varied = read_model(override_text(model, overrides), model.place + kVaried);
  varied.place = model.place;
  varied.name = model.name;
  return varied;
}

Scene make_scene(const ModelHandle& model, const Pairs& simulate) {
  // Lines and columns are those of the text that is read.
  Diagnostics diagnostics(simulate.empty() ? model.place : model.place + kVaried);
  if (model.is_scene()) {
    std::optional<Scene> scene = read_scene(
        override_text(model, to_overrides(simulate, "simulate.")), known_names(), diagnostics);
    if (!scene) throw SceneFault(diagnostics);
    scene->name = model.name;
    return *scene;
  }
  std::string text;
  for (const auto& [key, value] : simulate)
    text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", key, value);
  const auto settings = read_settings("{" + text + "}", known_names(), diagnostics);
  if (!settings) throw SceneFault(diagnostics);
  return {.name = model.name, .text = "", .simulate = *settings, .model = model.model};
}

void bind_model(py::module_& module) {
  py::class_<ModelHandle>(module, "Model")
      .def_readonly("name", &ModelHandle::name)
      .def_readonly("scene", &ModelHandle::text)
      .def_readonly("place", &ModelHandle::place)
      .def_readonly("warnings", &ModelHandle::warnings)
      .def_property_readonly("q_names", [](const ModelHandle& m) { return m.model.q_names(); })
      .def_property_readonly("v_names", [](const ModelHandle& m) { return m.model.v_names(); })
      .def_property_readonly("joint_names",
                             [](const ModelHandle& m) { return m.model.joint_row_names(); })
      .def_property_readonly("contact_names",
                             [](const ModelHandle& m) { return m.model.fixed_contact_names(); })
      .def("varied", [](const ModelHandle& m, const Pairs& pairs) {
        return vary_model(m, to_overrides(pairs, ""));
      });
  module.def("load", &load_model);
  module.def("loads", &read_model);
  module.def("generalized", &make_callable_model);
}

}  // namespace stiction::python
