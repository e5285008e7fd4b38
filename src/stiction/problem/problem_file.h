// Step problems as HDF5 files: a failed or slow step becomes a test case, and problems travel
// between programs. Lossless: what is read equals what was written, bit by bit.
//
// Group /step_problem, attributes version = 1 and h; datasets block_size, mass, p;
// bilateral/{num_entries, entry_block, entry_columns, values, compliance, bias, lower, upper};
// contacts/{num_rows, num_entries, entry_block, entry_columns, values, compliance, bias, mu,
// section_kind, section_sides, key}. Matrices are stored row by row, one after the other.
#pragma once

#include <string>

#include "stiction/problem/step_problem.h"

namespace stiction {

/// The file appears whole or not at all. Throws IoError if it cannot be written. A problem with a
/// fault (not finite numbers, say) is written as it is.
void write_problem(const std::string& path, const StepProblem& problem);

/// Throws IoError if the file cannot be read or lacks a dataset, InputError naming the file and the
/// fault if its content is not a step problem without fault.
StepProblem read_problem(const std::string& path);

}  // namespace stiction
