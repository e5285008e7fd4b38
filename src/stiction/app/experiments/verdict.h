// Verdicts: a number of this run lies in the range that a statement of a paper allows, or it does
// not. A deviation with a known cause counts as explained only while the number is what that cause
// makes of it.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stiction/app/experiments/experiment.h"
#include "stiction/app/experiments/published.h"

namespace stiction::experiments {

/// Closed; NaN is in no range.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool contains(double x) const { return low <= x && x <= high; }
  static Range at_most(double high) { return {.high = high}; }
  static Range at_least(double low) { return {.low = low}; }
  static Range around(double middle, double distance) {
    return {middle - distance, middle + distance};
  }
  static Range exactly(double x) { return {x, x}; }
};

/// Why a number differs, and where it must be then.
struct Explanation {
  std::string text;
  Range range;
};

struct Claim {
  std::string claim, source, printed;
  double value = 0;
  std::string measured;  // the number with its unit
  Range expected;
  std::optional<Explanation> explanation{};
};

Statement judge(const Claim& claim);

/// For statements without a number in this run.
Statement not_checkable(std::string claim, std::string source, std::string printed,
                        std::string why);

/// A number beside the printed one. `units` of the last printed digit may lie between them; half a
/// unit means the same digits after rounding.
struct Beside {
  Printed printed;
  double value = 0;
  double units = 1;
  std::optional<Range> explained_by{};  // of a known erratum
  int extra_digits = 1;                 // shown beyond the printed ones
};
Cell beside(const Beside& entry);
Cell label(std::string text);
/// `text` is the formatted value.
Cell number(double value, std::string text);

/// One verdict on all numbers of a table that stand beside printed ones.
Statement judge_table(std::string claim, std::string source, const Table& table,
                      std::string explanation = {});

}  // namespace stiction::experiments
