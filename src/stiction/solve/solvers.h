// The solvers by name, for options and files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/base/worker_pool.h"
#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"

namespace stiction {

/// Names of methods that make_solver takes. "auto" leaves the choice to the library
/// (auto_solver.h).
std::vector<std::string> solver_names();

/// Further names that it takes: methods as the literature has them, for comparisons. Most of them
/// reach no tolerance, so that steps have to be accepted as they are.
std::vector<std::string> published_solver_names();

/// Both of them.
std::vector<std::string> all_solver_names();

/// Iterative solvers stop when `measure` falls below `tolerance`; direct ones solve to rounding.
/// `acceptable` is what "auto" takes before it tries its slowest methods; 0: the tolerance. It
/// shares out its work to `workers`; others use one thread. Throws InputError that lists the names
/// if `name` is none of them.
std::unique_ptr<Solver> make_solver(std::string_view name, double tolerance = 1e-10,
                                    StoppingMeasure measure = StoppingMeasure::kCertificate,
                                    double acceptable = 0,
                                    std::shared_ptr<WorkerPool> workers = nullptr);

}  // namespace stiction
