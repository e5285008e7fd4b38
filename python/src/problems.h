// Complementarity and friction problems from matrices.
#pragma once

#include <pybind11/pybind11.h>

namespace stiction::python {

void bind_problems(pybind11::module_& module);

}  // namespace stiction::python
