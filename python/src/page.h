// The page of the viewer with a recording in it, for notebooks.
#pragma once

#include <pybind11/pybind11.h>

namespace stiction::python {

void bind_page(pybind11::module_& module);

}  // namespace stiction::python
