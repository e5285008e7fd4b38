// What a solver makes of a problem, judged by the certificate alone.
#pragma once

#include <string>

#include "stiction/problem/step_problem.h"

namespace stiction::experiments {

/// The certificate of what a solver answers, found independently of it; 1 if it does not take the
/// problem.
double certified_residual(const StepProblem& problem, const std::string& solver, double tolerance);

}  // namespace stiction::experiments
