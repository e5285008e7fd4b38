// Runs over many parameters on all cores.
#pragma once

#include <pybind11/pybind11.h>

namespace stiction::python {

void bind_batch(pybind11::module_& module);

}  // namespace stiction::python
