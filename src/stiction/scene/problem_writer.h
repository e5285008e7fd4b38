// Problems and answers as files that problem_reader.h and other programs read: FCLIB local and
// global, lcp and mlcp. Files appear whole or not at all.
#pragma once

#include <string>

#include "stiction/scene/problem_reader.h"

namespace stiction {

/// Writes a problem of any kind in the format of its kind, matrices as triplets sorted by column,
/// with its stored solution and guesses. Throws IoError if it cannot be written, InputError if the
/// problem is not of the form of its kind: contacts of space_dimension rows, no compliance, no
/// bodies unless the kind is global, no coupling if it is.
void write_problem_file(const std::string& path, const ProblemFile& file);

/// Writes a copy of the problem file `source`, from which `file` was read, whose group /solution
/// holds the answer: r, u and, where the problem has such, v and l; of an lcp or mlcp z and w.
/// `path` may be `source`.
void write_solution(const std::string& path, const std::string& source, const ProblemFile& file,
                    const StepSolution& solution);

}  // namespace stiction
