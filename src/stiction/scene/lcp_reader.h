// Linear complementarity problems, plain and mixed, as step problems without bodies. Only
// problem_reader.cc needs this.
//
//   /lcp, /mlcp    M (matrix), q, complementarity: 1 for 0 ≤ z ⊥ w ≥ 0, 0 for w = 0 with z free
//   /solution      z, optional
#pragma once

#include "stiction/scene/fclib_file.h"
#include "stiction/scene/problem_reader.h"

namespace stiction {

/// Reads group /lcp, where every row is a complementarity.
ProblemFile read_lcp(const FclibFile& source);
/// Reads group /mlcp.
ProblemFile read_mlcp(const FclibFile& source);

}  // namespace stiction
