// Problems that solvers must admit they cannot do, made the same way for all of them.
#pragma once

#include "stiction/problem/step_problem.h"

namespace stiction::testing {

/// A contact without friction on a body of one degree of freedom.
void add_normal(StepProblem& problem, int block, double direction, double bias);

/// A point of the given mass between two walls that close in on it: no velocity satisfies both.
StepProblem squeezed_point(double mass = 1, double speed = 1);

/// One body that contacts on all sides want to go away from: every one contradicts the others, and
/// their rows all move each other.
StepProblem crowded_body(int num_contacts);

/// What one iteration of Newton's methods costs on the problem, as they estimate it.
double iteration_flops(const StepProblem& problem);

/// One contact in space whose section has corners.
StepProblem square_section();

}  // namespace stiction::testing
