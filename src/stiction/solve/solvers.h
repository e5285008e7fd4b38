// The solvers by name, for options and files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/problem/solver.h"

namespace stiction {

/// Names that make_solver takes. "auto" leaves the choice to the library, which takes Lemke.
std::vector<std::string> solver_names();

/// Throws InputError that lists the names if `name` is none of them.
std::unique_ptr<Solver> make_solver(std::string_view name);

}  // namespace stiction
