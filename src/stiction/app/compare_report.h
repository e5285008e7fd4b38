// What a comparison has to say: a table for people, a JSON object for programs, a CSV table for
// both.
#pragma once

#include <string>

#include "stiction/sim/comparison.h"

namespace stiction {

struct CompareReport {
  std::string scene;
  std::string plot;  // file written, empty if none
  std::string csv;   // likewise
  const ComparisonPlan& plan;
  const Comparison& comparison;
};

std::string to_table(const CompareReport& report);
/// Indented, with a line end. Numbers that do not exist are null.
std::string to_json(const CompareReport& report);
/// One line per run after the header. Numbers that do not exist are empty.
std::string to_csv(const CompareReport& report);

}  // namespace stiction
