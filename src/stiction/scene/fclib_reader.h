// FCLIB friction problems, local and global, as step problems. Only problem_reader.cc needs this.
#pragma once

#include "stiction/scene/fclib_file.h"
#include "stiction/scene/problem_reader.h"

namespace stiction {

/// Reads group /fclib_local with its /solution and /guesses.
ProblemFile read_fclib_local(const FclibFile& source);
/// Reads group /fclib_global with its /solution and /guesses.
ProblemFile read_fclib_global(const FclibFile& source);

}  // namespace stiction
