// What somebody asks of a scheme that it does not have. A scheme reads the options that concern it
// and ignores the rest (stepping_options.h); whoever asked for one of the rest is told.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stiction/base/stepping_options.h"

namespace stiction {

/// One sentence for every option that differs from its default, that the scheme does not read, and
/// that asks for something which the scheme does not do anyway: to locate no collisions is granted
/// by those that locate none. Schemes are the names of scheme_names().
std::vector<std::string> describe_unused_options(std::string_view scheme,
                                                 const SteppingOptions& options);

}  // namespace stiction
