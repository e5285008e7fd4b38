// The results of a study as files: results.csv and results.h5 of runs that came to an end,
// failures.csv of those that did not. Ordered by run; nothing in them depends on who ran what when.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "stiction/app/study_run.h"

namespace stiction {

/// Writes all three, each whole or not at all. Throws IoError.
void write_study_tables(const std::string& folder, const Study& study,
                        const std::map<std::int64_t, StudyRow>& rows);

}  // namespace stiction
