// The matrix M̂ + RᵀDR of QuickDiscs, and what solves with it: bodies of six velocities with blocks
// M̂, and units, rows or contacts between one body or two, with up to three rows R and D = −∂x/∂u.
// A body of diagonal mass that one unit alone touches, a leaf, needs no block of its own. With its
// rows R_l, and R_r of the other body,
//
//   (1 + D W) K = D,   W = R_l M_l⁻¹R_lᵀ
//
// leaves R_rᵀK R_r of the unit for the other body: three unknowns instead of six, and none where
// there is no other body. What is left are the blocks of SmallLu. Allocates only when sizes grow.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "stiction/problem/step_problem.h"
#include "stiction/solve/small_lu.h"

namespace stiction {

class QuickMatrix {
 public:
  static constexpr int kMaxBodies = SmallLu::kMaxBlocks;
  static constexpr int kSize = SmallLu::kSize;  // of a body
  using Local = std::array<double, 9>;          // row by row; of one row the first number

  /// Where a unit is: dim × 6 numbers of each body that it touches, row by row.
  struct Place {
    int dim = 1, num_pieces = 0;
    std::array<int, 2> body = {};
    std::array<const double*, 2> rows = {};
  };

  /// Begins anew. 1/M̂_ii of all bodies, whether their masses are diagonal, and places stay with the
  /// caller. Units have the numbers 0, 1, …
  template <class Units>
  void begin(int num_bodies, const double* inverse, const char* is_diagonal, const Units& units) {
    num_bodies_ = num_bodies;
    inverse_ = inverse;
    is_diagonal_ = is_diagonal;
    num_units_ = static_cast<int>(units.size());
    if (units_.size() < units.size()) units_.resize(units.size());
    for (std::size_t k = 0; k < units.size(); ++k) {
      units_[k].place = &units[k];
      units_[k].leaf = -1;
    }
    lay_out();
  }

  /// M̂ alone; then D of those units that act.
  void set_masses(const StepProblem& problem);
  void add(int unit, const Local& D);
  /// False if a pivot is zero or not finite.
  [[nodiscard]] bool factor();
  /// Overwrites the right side by the solution; 6 numbers per body.
  void solve(double* x);

 private:
  struct Unit {
    const Place* place = nullptr;
    int leaf = -1;  // piece whose body is eliminated by the unit
    bool acts = false;
    Local K = {};                   // column by column
    std::array<double, 3> y0 = {};  // K R_l M_l⁻¹ times the right side
  };

  void lay_out();
  void find_leaves();
  template <int kDim>
  void add_stiffness(const Unit& unit, const Local& D);
  template <int kDim>
  void eliminate_leaf(Unit& unit, const Local& D);
  template <int kDim>
  void begin_leaf(Unit& unit, double* x) const;
  template <int kDim>
  void end_leaf(const Unit& unit, double* x) const;
  std::span<Unit> units() { return {units_.data(), static_cast<std::size_t>(num_units_)}; }
  double* block(int body, int other) { return factors_.block(root_[body], root_[other]); }

  int num_bodies_ = 0, num_roots_ = 0, num_units_ = 0;
  const double* inverse_ = nullptr;
  const char* is_diagonal_ = nullptr;
  std::vector<Unit> units_;                // the first num_units_ of them
  std::array<int, kMaxBodies> root_ = {};  // number of its block, −1 of a leaf
  std::array<double, kMaxBodies* kSize> root_x_ = {};
  SmallLu factors_;
  bool is_finite_ = true;  // what leaves have left
};

}  // namespace stiction
