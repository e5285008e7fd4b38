// One time step, ready to solve, with nothing of the world that it came from. Find the velocity w,
// the bilateral impulses λ and the contact impulses r_j = (ν_j, β_j) with
//
//   M̂ w = p + Gᵀλ + Σ_j J_jᵀ r_j                                                        (T1)
//   G w + C λ − b = s,   lo ≤ λ ≤ hi,   s ≥ 0 at lo, s ≤ 0 at hi, s = 0 between            (T2)
//   u_N = N w + c_N ν + b_N,   0 ≤ u_N ⊥ ν ≥ 0                                          (T3)
//   u_T = T w + c_T β + b_T,   β ∈ μν·B,   u_Tᵀβ = −μν σ_B(−u_T)                         (T4)
//
// Condensed problems add K x to s and u, x = (λ, r): see RowCoupling. M̂ is block diagonal and
// positive definite (xᵀM̂x > 0), not necessarily symmetric. Row blocks may touch any number of mass
// blocks. Storage is reused: fill, solve, clear, fill.
#pragma once

#include <cstdint>
#include <vector>

#include "stiction/base/block_rows.h"
#include "stiction/base/linear_algebra.h"
#include "stiction/problem/friction_section.h"
#include "stiction/problem/row_coupling.h"

namespace stiction {

class StepProblem {
 public:
  void clear();

  /// Adds a mass block; returns the row-major size × size block of M̂ and leaves its p at zero.
  RowMatrixMap add_mass_block(int size);

  /// One row of (T2); its Jacobian pieces follow by `bilateral.add_entry`.
  struct BilateralRow {
    double compliance = 0;  // C ≥ 0, 0 is rigid
    double bias = 0;        // b
    double lower = -kUnbounded;
    double upper = kUnbounded;
  };
  void add_bilateral_row(const BilateralRow& row);
  /// The numbers of `count` rows whose Jacobian pieces are in `bilateral` already, to be set one by
  /// one.
  void add_bilateral_numbers(int count);
  void set_bilateral_row(int i, const BilateralRow& row) {
    compliance[i] = row.compliance;
    bias[i] = row.bias;
    lower[i] = row.lower;
    upper[i] = row.upper;
  }

  /// One contact with 0, 1 or 2 tangent rows; its pieces follow by `contacts.add_entry`, whose rows
  /// are normal, tangent 1, tangent 2. Compliance and bias start at zero: see contact_* below.
  struct Contact {
    int num_tangents = 1;
    double mu = 0;
    FrictionSection section;
    std::uint64_t key = 0;  // persists across steps, for warm starts
  };
  void add_contact(const Contact& contact);

  static constexpr double kUnbounded = __builtin_huge_val();

  int num_blocks() const { return static_cast<int>(dof_start.size()) - 1; }
  int num_dofs() const { return dof_start.back(); }
  int block_size(int block) const { return dof_start[block + 1] - dof_start[block]; }
  int num_bilateral() const { return static_cast<int>(bias.size()); }
  int num_contacts() const { return static_cast<int>(mu.size()); }
  int num_contact_rows() const { return contacts.num_rows(); }
  /// Bilateral rows, then contact rows.
  int num_rows() const { return num_bilateral() + num_contact_rows(); }

  ConstRowMatrixMap mass_block(int block) const {
    return {mass_values.data() + mass_start[block], block_size(block), block_size(block)};
  }
  RowMatrixMap mass_block(int block) {
    return {mass_values.data() + mass_start[block], block_size(block), block_size(block)};
  }
  VectorMap block_p(int block) { return {p.data() + dof_start[block], block_size(block)}; }

  bool operator==(const StepProblem&) const = default;
  /// To the bit: zeros of different sign differ, not-a-numbers may agree.
  bool is_identical(const StepProblem& other) const;

  double h = 0;  // [s]

  std::vector<int> dof_start{0};    // num_blocks + 1
  std::vector<int> mass_start;      // num_blocks, into mass_values
  std::vector<double> mass_values;  // row-major blocks of M̂
  std::vector<double> p;            // [N s], num_dofs

  BlockRows bilateral;             // G, every row block has one row
  std::vector<double> compliance;  // C, num_bilateral
  std::vector<double> bias;        // b, num_bilateral
  std::vector<double> lower;       // lo ≤ hi, may be infinite, num_bilateral
  std::vector<double> upper;

  BlockRows contacts;                      // J_j: normal row, then tangent rows
  std::vector<double> contact_compliance;  // c_N, c_T, c_T; num_contact_rows
  std::vector<double> contact_bias;        // b_N, b_T, b_T; num_contact_rows, [m/s]
  std::vector<double> mu;                  // num_contacts, ≥ 0
  std::vector<FrictionSection> section;    // num_contacts
  std::vector<std::uint64_t> key;          // num_contacts

  RowCoupling coupling;  // K; empty, or num_bilateral + num_contact_rows rows
};

/// What a solver returns. Impulses are those of (T1): λ and r carry the signs used there.
class StepSolution {
 public:
  void resize(const StepProblem& problem);
  /// Zeros of the right sizes: what a solver leaves that has no answer.
  void set_zero(const StepProblem& problem);
  bool is_finite() const;
  bool is_identical(const StepSolution& other) const;  // to the bit

  VectorMap w_vector() { return {w.data(), static_cast<Eigen::Index>(w.size())}; }
  ConstVectorMap w_vector() const { return {w.data(), static_cast<Eigen::Index>(w.size())}; }

  std::vector<double> w;       // [m/s], num_dofs
  std::vector<double> lambda;  // [N s], num_bilateral
  std::vector<double> r;       // [N s], num_contact_rows: ν, β₁, β₂ per contact
};

/// Why a problem is not one (sizes, not finite numbers, negative compliance or friction, crossed
/// bounds, a mass block that is not positive definite); empty if it is. For problems from outside.
std::string find_fault(const StepProblem& problem);

}  // namespace stiction
