// Lemke's method without a tableau, for problems with more than a few contacts. The same pivots as
// LemkeDictionary makes follow from the inverse K of the basis alone: with S the basic z (z₀
// included) and L the nonbasic y, |S| = |L|,
//
//   z_S = K (y_L − A_LN z_N − q_L),   K = (A_LS)⁻¹,   y_i = A_iS z_S + A_iN z_N + q_i  for i ∉ L.
//
// A pivot updates K by a rank-one term and costs |S|(n + 3|S|) operations instead of n². |S| starts
// at one and ends near the number of impulses that are not zero, a fraction of n: a contact with an
// octagon has ten variables, of which at most four are basic.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "stiction/solve/lemke_dictionary.h"

namespace stiction {

template <class Real>
class LemkeRevised {
 public:
  using Data = LemkeData<Real>;
  void reset(const Data& data);

  /// Variables are named y_i = i, z_i = n + i, z₀ = 2n.
  int size() const { return data_.size; }
  int z0() const { return 2 * data_.size; }
  int complement(int variable) const {
    return variable < data_.size ? variable + data_.size : variable - data_.size;
  }
  bool is_basic(int variable) const { return (place_[variable] >= 0) == (variable >= size()); }

  // The functions below mean what their namesakes in LemkeDictionary mean.
  int first_leaving() const;
  int blocking(int entering, const PivotTolerances<Real>& tolerances);
  void exchange(int leaving, int entering);
  bool try_dismiss_z0(int left, Real tolerance);
  Real last_pivot_quality() const { return last_pivot_quality_; }
  bool refresh();

 private:
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  int num_basic() const { return static_cast<int>(z_names_.size()); }
  auto inverse() { return inverse_.topLeftCorner(num_basic(), num_basic()); }
  const Real* column(int variable) const;
  Real value(int variable) const;
  Real rate(int variable) const;
  void compute_direction(int entering);
  void gather_column(int variable);
  void measure(const PivotTolerances<Real>& tolerances);
  void collect_ties();
  int lexicographic_least(const PivotTolerances<Real>& tolerances);
  Real perturbation(int variable, int power) const;
  void compute_row(int y);
  void move(Real step);
  void grow(int leaving, int entering);
  void replace_column(int leaving, int entering);
  void replace_row(int leaving, int entering);
  void shrink(int leaving, int entering);
  void name_z(int position, int variable);
  void name_y(int position, int variable);
  void remove_z(int position);
  void remove_y(int position);
  void invert_step(int row, int column);
  bool invert();
  void compute_values();

  Data data_;
  Real q_scale_ = 0;  // −min q, the size of what has to be made feasible
  Real last_pivot_quality_ = 1;
  Real smallest_pivot_ = 0, slack_ = 0;  // of the present ratio test
  Real largest_rate_ = 0;
  int direction_of_ = -1;           // entering variable of the direction below
  Matrix columns_;                  // Aᵀ: columns of A lie in one piece
  Matrix inverse_;                  // K in its top left corner
  std::vector<int> z_names_;        // S, variables of the rows of K
  std::vector<int> y_names_;        // L, variables of the columns of K
  std::vector<int> place_;          // position in S or L, −1: neither
  Vector z_, y_;                    // values: z by position, y by index (zero for L)
  Vector dz_, dy_;                  // their rates in the direction
  Vector column_, row_, row_of_a_;  // A_Lj, A_iS K, A_iS
  std::vector<int> ties_;
  std::vector<char> is_used_row_, is_used_column_;  // of invert
  std::vector<int> row_names_, column_names_;
};

}  // namespace stiction
