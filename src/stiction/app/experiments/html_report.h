// All results as one HTML page: no scripts, nothing from elsewhere, figures inside; for screens in
// light and dark, and for paper.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stiction/app/experiments/experiment.h"
#include "stiction/app/experiments/surroundings.h"

namespace stiction::experiments {

struct Finished {
  const Experiment* experiment = nullptr;
  Result result;
};

std::string to_html(const std::vector<Finished>& all, const Surroundings& surroundings);

/// Text for HTML, inside of elements and of attributes.
std::string escaped_html(std::string_view text);

}  // namespace stiction::experiments
