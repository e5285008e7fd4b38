// All results as a page of documentation: statements and tables, without figures.
#pragma once

#include <string>
#include <vector>

#include "stiction/app/experiments/html_report.h"

namespace stiction::experiments {

std::string to_markdown(const std::vector<Finished>& all, const Surroundings& surroundings);

/// Text for a cell of a table.
std::string escaped_markdown(std::string_view text);

}  // namespace stiction::experiments
