// A step problem written as a mixed complementarity problem (lcp.h) in the papers' form (T5):
//
//   0 ≤ u_N ⊥ ν ≥ 0,   0 ≤ Dᵀu_T + λe ⊥ β' ≥ 0,   0 ≤ μν − eᵀβ' ⊥ λ ≥ 0,   β = Dβ',
//
// D the vertices of the friction section. Unbounded bilateral rows become free variables. A bounded
// row with impulse in [lo, hi] is split at its bound (or zero) nearest to zero into parts ±x ≥ 0,
// each with a multiplier t of its remaining room, 0 ≤ room − x ⊥ t ≥ 0: the same pattern as
// friction (T7). (λ − lo as the only variable was rejected: a generous bound would swallow the
// digits of the impulse.) Rows are scaled by s = 1/√W so that the matrix has a diagonal of about
// one in any units; a friction coefficient becomes μ s_N/s_T, and the matrix stays copositive (T8).
#pragma once

#include <vector>

#include "stiction/problem/step_problem.h"
#include "stiction/solve/delassus.h"
#include "stiction/solve/lcp.h"

namespace stiction {

template <class Real>
class FrictionLcp {
 public:
  enum class Outcome {
    kAssembled,  // lcp() is to be solved
    kTrivial,    // no impulse is needed but for constant ones: the answer can be written
    kSingularMass,
    kNonFinite,
  };
  Outcome assemble(const StepProblem& problem);
  const MixedLcp<Real>& lcp() const { return lcp_; }

  /// The impulses of z (negative parts of complementary variables clipped), the velocities that
  /// they give by the data of the problem, and y from those: the matrix of lcp() takes no part.
  /// Returns the largest violation relative to the impulses, contacts and bilateral rows each in
  /// their own measure, as a certificate would see it.
  Real evaluate(const StepProblem& problem, const std::vector<long double>& z);
  /// y of the last evaluation.
  const std::vector<Real>& y() const { return y_; }
  /// Writes what evaluate, or a trivial assemble, has found.
  void write(const StepProblem& problem, StepSolution& solution) const;

 private:
  /// A scaled impulse acts on up to two rows, a multiplier of a bound on none.
  struct Variable {
    int row[2] = {-1, -1};
    Real weight[2] = {0, 0};
    Real unit = 1;  // [N s] of impulses, of the bounded impulse for a multiplier
    bool is_contact = false;
  };
  /// Entries of the matrix and the vector that do not come from W.
  struct Coupling {
    int row, column;  // column −1: the vector
    Real value;
  };
  void recover(const std::vector<long double>& z);
  void compute_y(const std::vector<long double>& z);
  Real violation(const std::vector<long double>& z) const;
  void shift_bounded(const StepProblem& problem);
  bool is_trivial(const StepProblem& problem) const;
  void compute_scales(const StepProblem& problem);
  void add_free_rows(const StepProblem& problem);
  void add_bounded_row(const StepProblem& problem, int row);
  void add_part(int row, Real sign, double room);
  void add_contact(const StepProblem& problem, int contact);
  void add_friction(const StepProblem& problem, int contact, int normal, Real friction_scale);
  int add_variable(const Variable& variable);
  void fill();

  Delassus<Real> delassus_;
  MixedLcp<Real> lcp_;
  int num_free_ = 0;
  std::vector<Variable> variables_;
  std::vector<Coupling> couplings_;
  std::vector<Real> scale_;         // s of each row
  std::vector<long double> shift_;  // constant part of the impulses
  std::vector<long double> impulse_;
  std::vector<long double> w_;   // velocities for impulse_
  std::vector<Real> u_;          // of the rows
  std::vector<Real> magnitude_;  // sum of the sizes of the terms of u_
  std::vector<Real> y_;
  std::vector<Real> combined_;  // one row of CᵀW
};

}  // namespace stiction
