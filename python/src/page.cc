#include "page.h"

#include <pybind11/stl.h>

#include "stiction/app/view_page.h"

namespace stiction::python {
namespace {

namespace py = pybind11;

/// (html, stride, has_all_series). The interpreter is not needed while files are read and packed.
py::tuple make_page(const std::string& page, const std::vector<std::string>& recordings,
                    const std::vector<std::string>& folders, std::int64_t max_bytes) {
  SelfContainedPage made;
  {
    const py::gil_scoped_release unlocked;
    made = make_self_contained_page(
        {.recordings = recordings, .folders = folders, .max_bytes = max_bytes, .page = page},
        "view");
  }
  return py::make_tuple(made.html, made.stride, made.has_all_series);
}

}  // namespace

void bind_page(py::module_& module) {
  module.def("make_page", &make_page, py::arg("page"), py::arg("recordings"), py::arg("folders"),
             py::arg("max_bytes"));
}

}  // namespace stiction::python
