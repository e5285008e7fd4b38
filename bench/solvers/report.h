// What a comparison leaves behind: a table for people (Markdown), all numbers for programs (JSON)
// and performance profiles after Dolan and Moré (SVG): for every solver the share of problems that
// it solved within τ times the fastest time, over τ.
#pragma once

#include "bench/solvers/tournament.h"

namespace stiction::bench {

/// Summary, then one line per problem with auto, our fastest and the fastest rival.
std::string to_markdown(const std::vector<ProblemRecord>& records,
                        const TournamentOptions& options);

std::string to_json(const std::vector<ProblemRecord>& records, const TournamentOptions& options);

/// The profile of one tolerance. Of the rivals the eight that solved most are drawn, and their best
/// of each problem taken together.
std::string to_profile_svg(const std::vector<ProblemRecord>& records, double tolerance);

}  // namespace stiction::bench
