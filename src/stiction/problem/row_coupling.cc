#include "stiction/problem/row_coupling.h"

#include "stiction/base/check.h"
#include "stiction/base/same_bits.h"

namespace stiction {

void RowCoupling::clear() {
  row_start_.resize(1);
  column_.clear();
  value_.clear();
}

void RowCoupling::add_row() { row_start_.push_back(row_start_.back()); }

void RowCoupling::add_entry(int column, double value) {
  ST_DEMAND(num_rows() > 0);
  column_.push_back(column);
  value_.push_back(value);
  ++row_start_.back();
}

bool RowCoupling::is_identical(const RowCoupling& other) const {
  return row_start_ == other.row_start_ && column_ == other.column_ &&
         is_same_bits(value_, other.value_);
}

}  // namespace stiction
