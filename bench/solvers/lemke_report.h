// The comparison of Lemke's methods as a table and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/solvers/lemke_problems.h"

namespace stiction::bench {

struct LemkeTiming {
  double seconds = 0;  // least of many repetitions
  double error = 0;    // compute_lcp_error
  bool is_solved() const { return error <= kSolvedError; }

  static constexpr double kSolvedError = 1e-10;
};

struct LemkeRecord {
  std::string name, family;
  int size = 0, num_contacts = 0;
  int pivots = 0, stage = 0;  // of ours
  LemkeTiming ours;
  std::optional<LemkeTiming> driver, bare;  // of Siconos, see SiconosEntry
};

/// Problems of one family and number of contacts, or the files.
struct LemkeSummary {
  std::string name;
  int problems = 0, solved_by_us = 0, solved_by_rival = 0;
  double mean = 0;   // geometric mean of rival / ours where both solved, 0: nowhere
  double least = 0;  // least of those ratios
};

/// By the driver's time.
std::vector<LemkeSummary> summarize(const std::vector<LemkeRecord>& records);
std::string to_markdown(const std::vector<LemkeRecord>& records);
std::string to_json(const std::vector<LemkeRecord>& records);

}  // namespace stiction::bench
