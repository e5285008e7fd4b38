// Velocities that impulses of rows give to rows directly and not through bodies: K x is added to
// the slack s of (T2) and to the velocities u of (T3) and (T4), x all impulses, bilateral rows
// first and then contact rows. A mechanical step has no such terms; condensed problems have nothing
// else: an LCP, or friction in Delassus form, is a step problem without bodies whose K is its
// matrix.
//
// Compressed rows; K need not be symmetric.
#pragma once

#include <vector>

namespace stiction {

class RowCoupling {
 public:
  void clear();

  /// Opens the next row; entries added next belong to it.
  void add_row();
  /// A column may be added once per row.
  void add_entry(int column, double value);

  /// No rows: the problem has no such terms. Otherwise there is a row for every row of the problem.
  bool is_empty() const { return row_start_.size() == 1; }
  int num_rows() const { return static_cast<int>(row_start_.size()) - 1; }
  int num_entries() const { return static_cast<int>(column_.size()); }

  /// Entries of row i are [entry_start(i), entry_start(i + 1)).
  int entry_start(int row) const { return row_start_[row]; }
  int column(int entry) const { return column_[entry]; }
  double value(int entry) const { return value_[entry]; }

  bool operator==(const RowCoupling&) const = default;
  bool is_identical(const RowCoupling& other) const;  // to the bit

 private:
  std::vector<int> row_start_{0};
  std::vector<int> column_;
  std::vector<double> value_;
};

}  // namespace stiction
