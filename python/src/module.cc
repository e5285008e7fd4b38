// The compiled half of the Python package: names and types of the engine, mapped one to one. What
// is pleasant to use is made of it in Python, in stiction/.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.h"
#include "batch.h"
#include "model_handle.h"
#include "page.h"
#include "problems.h"
#include "simulation_handle.h"
#include "stiction/base/version.h"
#include "stiction/scheme/scheme.h"
#include "stiction/solve/solvers.h"

namespace stiction::python {
namespace {

py::object make_error(const char* name, const std::string& text) {
  return py::module_::import("stiction.errors").attr(name)(text);
}

void raise(const py::object& error) {
  PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
}

void raise_scene_fault(const SceneFault& fault) {
  const py::object error = make_error("SceneError", fault.what());
  py::list list;
  for (const Diagnostic& one : fault.diagnostics.all()) {
    py::dict entry;
    entry["severity"] = one.severity == Severity::kError ? "error" : "warning";
    entry["line"] = one.where.line;
    entry["column"] = one.where.column;
    entry["path"] = one.path;
    entry["message"] = one.message;
    entry["help"] = one.help;
    list.append(entry);
  }
  error.attr("diagnostics") = list;
  raise(error);
}

void raise_rejected(const StepRejected& rejected) {
  const py::object error = make_error("StepRejected", rejected.what());
  error.attr("time") = rejected.time;
  error.attr("certificate") = rejected.certificate;
  error.attr("status") = std::string(to_text(rejected.report.status));
  raise(error);
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const SceneFault& fault) {
    raise_scene_fault(fault);
  } catch (const StepRejected& rejected) {
    raise_rejected(rejected);
  } catch (const InputError& error) {
    raise(make_error("InputError", error.what()));
  } catch (const IoError& error) {
    raise(make_error("IoError", error.what()));
  } catch (const Error& error) {
    raise(make_error("Error", error.what()));
  }
}

}  // namespace
}  // namespace stiction::python

PYBIND11_MODULE(_engine, module) {
  using namespace stiction;
  module.doc() = "The engine, as compiled; use the package stiction.";
  python::register_records();
  pybind11::register_exception_translator(&python::translate);
  python::bind_model(module);
  python::bind_simulation(module);
  python::bind_batch(module);
  python::bind_problems(module);
  python::bind_page(module);
  module.def("version", [] { return std::string(version()); });
  module.def("scheme_names", &scheme_names);
  module.def("solver_names", &solver_names);
}
