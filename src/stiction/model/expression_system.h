// A system in its own coordinates given by formulas. Everything else follows by differentiation:
//
//   k = f − ∂V/∂q + ∂T/∂q − (∂p/∂q) v − ∂p/∂t,   p = M v,  T = ½ vᵀ M v                    (T11)
//   k_q, k_v;  G = ∂Θ/∂q, ∂Θ/∂t;  ∂φ/∂q, ∂φ/∂t;  N = ∂Φ/∂q, ŵ_N = ∂Φ/∂t;  ŵ_T = −surface speed
//
// The velocity terms of a constant M vanish as formulas and cost nothing. The formulas are compiled
// into tapes once, here; the functions below allocate nothing for systems of up to 127 coordinates
// whose tapes fit into Tape::kStackRegisters.
#pragma once

#include <vector>

#include "stiction/model/expression_system_description.h"
#include "stiction/model/generalized_system.h"
#include "stiction/model/tape.h"

namespace stiction {

class ExpressionSystem final : public GeneralizedSystem {
 public:
  /// Throws InputError as check_description does.
  explicit ExpressionSystem(const ExpressionSystemDescription& description);

  void evaluate_mass(double t, const ConstVectorRef& q, RowMatrixRef mass) const override;
  void evaluate_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                      VectorRef force) const override;
  void evaluate_applied_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                              VectorRef force) const override;
  double evaluate_potential(double t, const ConstVectorRef& q) const override;
  void evaluate_force_jacobians(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                RowMatrixRef k_q, RowMatrixRef k_v) const override;
  bool has_exact_force_jacobians() const override { return true; }
  void evaluate_gyroscopic(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                           RowMatrixRef gyroscopic) const override;
  void evaluate_constraints(double t, const ConstVectorRef& q, VectorRef theta) const override;
  void evaluate_constraint_rows(double t, const ConstVectorRef& q, RowMatrixRef rows,
                                VectorRef drift) const override;
  void evaluate_springs(double t, const ConstVectorRef& q, VectorRef extension) const override;
  void evaluate_spring_rows(double t, const ConstVectorRef& q, RowMatrixRef rows,
                            VectorRef drift) const override;
  void evaluate_gaps(double t, const ConstVectorRef& q, VectorRef gaps) const override;
  void evaluate_contact_rows(double t, const ConstVectorRef& q, int contact, RowMatrixRef rows,
                             VectorRef drift) const override;

 private:
  class Derivation;

  // In q and t; those of the forces also in v. Rows come before their drifts.
  Tape mass_, potential_, constraints_, constraint_rows_, springs_, spring_rows_, gaps_;
  Tape force_, applied_force_, force_jacobians_, gyroscopic_;
  std::vector<Tape> contact_rows_;  // one per contact
};

}  // namespace stiction
