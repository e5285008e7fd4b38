// Block principal pivoting for dense bounded complementarity problems: find z with
//
//   w = H z + q,   lo ≤ z ≤ hi,   w ≥ 0 at lo,  w ≤ 0 at hi,  w = 0 between,
//
// bounds possibly infinite (a free variable is always between). After Kostreva, and Júdice & Pires:
// every variable is at its lower bound, between, or at its upper bound; solve for those between,
// change the state of all that violate a sign, repeat. Where the number of violations has not
// fallen for a few rounds, or a state comes back, only the violation of least index changes (Murty)
// until it has; in spells of growing length, from the least and from the greatest index in turn,
// since each order has problems on which it takes 2ⁿ rounds. For P matrices that ends after
// finitely many rounds; for others a repeated state is detected and reported.
//
// Bounds of friction may be linked to another variable, |z_i| ≤ ratio z_master: solve() takes them
// as they are given, solve_linked() has the link inside the system.
#pragma once

#include <utility>
#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/solve/lcp.h"

namespace stiction {

struct BoundedLcp {
  int size = 0;
  std::vector<double> matrix;  // H, row-major, expected to be equilibrated
  std::vector<double> vector;  // q
  std::vector<double> lower, upper;
  std::vector<int> master;    // variable that the bounds of this one depend on, −1: none
  std::vector<double> ratio;  // of the linked bound

  const double* row(int i) const {
    return matrix.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(size);
  }
  double* row(int i) { return const_cast<double*>(std::as_const(*this).row(i)); }
  void resize(int n);
};

struct BlockPivotOptions {
  int max_rounds = 0;         // 0: 1000 + 20 per variable
  int block_rounds = 10;      // without fewer violations, before single changes begin
  double regularization = 0;  // δ: H + δI in place of H
  Deadline deadline{};        // at which rounds end with kPivotLimit
};

class BlockPivotLcp {
 public:
  enum class State : char { kLower, kBetween, kUpper };

  /// Forgets the states: every variable at its bound nearest to zero, or between if it has none.
  void reset(const BoundedLcp& lcp);
  /// Goes on from the present states. `pivots` of the report counts rounds; kRay stands for a
  /// cycle.
  LcpReport solve(const BoundedLcp& lcp, const BlockPivotOptions& options);
  /// Block changes with linked bounds and without regularisation, which only the factors have,
  /// from the present states, which come back if it does not end within the rounds given. Where the
  /// equations are singular the present z() decides between their solutions.
  LcpReport solve_linked(const BoundedLcp& lcp, double factor_regularization, int max_rounds);
  /// z ← z − H⁻¹w on the variables between (and what is linked to them), with w as computed by
  /// someone who knows better than H z + q does.
  void correct(const BoundedLcp& lcp, const std::vector<double>& w);

  const std::vector<double>& z() const { return z_; }
  const std::vector<State>& states() const { return state_; }

 private:
  void place_bounds(const BoundedLcp& lcp);
  bool solve_between(const BoundedLcp& lcp, double factor_regularization);
  bool factor_between(const BoundedLcp& lcp, double regularization);
  void add_links(const BoundedLcp& lcp);
  void compute_residual(const BoundedLcp& lcp);
  double compute_row(const BoundedLcp& lcp, int i, double& magnitude) const;
  void spread_links(const BoundedLcp& lcp);
  void apply_correction(const BoundedLcp& lcp);
  void compute_w(const BoundedLcp& lcp);
  int find_violations(const BoundedLcp& lcp);
  State wanted_state(const BoundedLcp& lcp, int i, double z_tolerance) const;
  bool is_repeated(int round);
  bool update_pace(int count, int round, const BlockPivotOptions& options);
  void start_spell(int round, bool is_reversed);
  void change_states();

  /// How many violations change their state next.
  struct Pace {
    int fewest = 1 << 30;  // violations of any round so far
    int block_left = 0;    // rounds in which all of them change
    int spell = 0;         // length of the next spell of single changes
    int spell_left = 0;
    bool is_reversed = false;  // the greatest index instead of the least
    bool has_cycled = false;   // single changes have, from one end
  };

  std::vector<State> state_;
  std::vector<double> z_, w_;
  std::vector<double> magnitude_;  // sum of the sizes of the terms of w
  std::vector<int> between_;
  std::vector<double> factor_;  // LU of H between
  std::vector<int> factor_swap_;
  std::vector<double> correction_;
  bool is_linked_ = false;
  double regularization_ = 0;
  std::vector<int> violations_;  // indices
  std::vector<State> wanted_;    // of the violations
  Pace pace_;
  std::vector<State> old_states_, saved_states_;
  std::vector<double> saved_z_;
  int old_round_ = 0;
};

}  // namespace stiction
