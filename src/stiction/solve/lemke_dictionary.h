// The condensed tableau of Lemke's method: the basic variables as affine functions of the nonbasic
// ones, x_B = D x_N + D_q, n × (n + 2) numbers in one array. It starts from
//
//   y = A z + d z₀ + q                                                                        (T9)
//
// with y basic. The lexicographic rule perturbs q to q + (ε, ε², …, εⁿ); the coefficients of the
// powers of ε need no storage of their own, since that of εʲ in a row is minus the coefficient of
// y_j there while y_j is nonbasic, and one or zero while it is basic.
#pragma once

#include <vector>

namespace stiction {

/// Where a ratio test sees a tie, a zero, or a pivot; all relative to an equilibrated matrix.
template <class Real>
struct PivotTolerances {
  Real pivot = 0;  // smaller coefficients of a column count as zero, relative to its largest
  Real tie = 0;    // slack of the ratio test in units of the basic variables, relative
  Real lexicographic = 0;  // error of the coefficients compared to break ties
};

/// The data y = A z + d z₀ + q that pivoting starts from and is refreshed from. They are kept by
/// address and must outlive their use.
template <class Real>
struct LemkeData {
  int size = 0;
  const Real* matrix = nullptr;  // row-major
  int stride = 0;
  const Real* q = nullptr;
  const Real* cover = nullptr;  // d > 0
};

template <class Real>
class LemkeDictionary {
 public:
  using Data = LemkeData<Real>;
  void reset(const Data& data);

  /// Variables are named y_i = i, z_i = n + i, z₀ = 2n.
  int size() const { return data_.size; }
  int z0() const { return 2 * data_.size; }
  int complement(int variable) const {
    return variable < data_.size ? variable + data_.size : variable - data_.size;
  }
  bool is_basic(int variable) const { return place_[variable] < 0; }

  /// The variable that z₀ drives out at the start: the lexicographically least q_i/d_i.
  int first_leaving() const;
  /// The variable that blocks `entering` as it grows; −1 if none does (a ray). Prefers z₀ on a tie,
  /// since its leaving ends the method. Needs a basic z₀.
  int blocking(int entering, const PivotTolerances<Real>& tolerances);

  /// Where z₀ is zero within `tolerance`, relative to the other z: exchanges it for one of the pair
  /// of complementary variables that are both nonbasic, `left` and its complement, whichever gives
  /// the larger pivot. No value changes by that. False, and nothing done, elsewhere.
  bool try_dismiss_z0(int left, Real tolerance);

  /// Exchanges a basic and a nonbasic variable.
  void exchange(int leaving, int entering) { pivot(-1 - place_[leaving], place_[entering]); }
  /// |pivot| relative to the largest number of its column, of the last exchange.
  Real last_pivot_quality() const { return last_pivot_quality_; }

  /// Recomputes the dictionary of the present basis from the data, with complete pivoting. False if
  /// the basis is singular to working precision; the dictionary is unusable then.
  bool refresh();

 private:
  int q_column() const { return data_.size + 1; }
  Real* row(int i) { return numbers_.data() + static_cast<std::size_t>(i) * stride_; }
  const Real* row(int i) const { return numbers_.data() + static_cast<std::size_t>(i) * stride_; }
  Real value(int i) const { return row(i)[q_column()]; }
  void pivot(int row, int column);
  void load();
  void measure(int column, const PivotTolerances<Real>& tolerances);
  void collect_ties(int column);
  int lexicographic_least(int column, const PivotTolerances<Real>& tolerances);
  Real perturbation(int row_index, int power) const;

  Data data_;
  int stride_ = 0;
  Real q_scale_ = 0;  // −min q, the size of what has to be made feasible
  Real last_pivot_quality_ = 1;
  // Of the present ratio test. Rounding errors are relative to the basic z; basic y may be huge
  // without taking part (a generous bound) and do not count.
  Real smallest_pivot_ = 0, slack_ = 0;
  std::vector<Real> numbers_;
  std::vector<int> basic_;     // variable of each row
  std::vector<int> nonbasic_;  // variable of each column
  std::vector<int> place_;     // column of a nonbasic variable, −1 − row of a basic one
  std::vector<int> ties_;
  std::vector<int> entering_, leaving_;  // of refresh
};

}  // namespace stiction
