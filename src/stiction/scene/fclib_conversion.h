// A step problem with its answer as a friction problem of FCLIB: global where nothing yields, else
// local, with joints and bodies condensed into the matrix W of the contacts.
#pragma once

#include <string>

#include "stiction/scene/problem_reader.h"

namespace stiction {

/// Contacts get as many tangents as the one with most has, at least one; those added have rows of
/// zeros. FCLIB has no bounds on joint rows: a row that is at its bound keeps its impulse, one that
/// is not is an equation. Its cone is the disc: an answer with another section of the plane is a
/// guess, not a solution. Throws InputError if there are no contacts, if there are more than
/// `max_rows` rows to condense, or if the joint rows depend on each other and none yields.
ProblemFile to_fclib(const StepProblem& problem, const StepSolution& solution,
                     const std::string& title, int max_rows = 6000);

}  // namespace stiction
