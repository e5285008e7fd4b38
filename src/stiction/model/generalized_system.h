// A mechanical system in its own coordinates: q̇ = v, one dense mass block. Derive from this class
// to give the functions by hand, or let ExpressionSystem derive them from formulas.
#pragma once

#include <string>
#include <vector>

#include "stiction/model/system.h"

namespace stiction {

class GeneralizedSystem : public System {
 public:
  using ContactInfo = stiction::ContactInfo;
  using SpringInfo = stiction::SpringInfo;
  /// Sizes and names; fixed once the system is constructed.
  struct Layout {
    std::vector<std::string> coordinates;
    std::vector<std::string> constraints;
    std::vector<SpringInfo> springs;
    std::vector<ContactInfo> contacts;
  };

  explicit GeneralizedSystem(Layout layout);

  const Layout& layout() const { return layout_; }
  int num_coordinates() const { return static_cast<int>(layout_.coordinates.size()); }

  /// M(q, t), symmetric positive definite.
  virtual void evaluate_mass(double t, const ConstVectorRef& q, RowMatrixRef mass) const = 0;
  /// k_q = ∂k/∂q and k_v = ∂k/∂v. The default takes central differences of evaluate_force, good to
  /// about ten digits for k of order one; override where exact derivatives are at hand.
  virtual void evaluate_force_jacobians(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                        RowMatrixRef k_q, RowMatrixRef k_v) const;
  /// The gyroscopic matrix S(t, q, v), antisymmetric: −S v is the part of the velocity terms in k
  /// that does no work whatever velocity S is multiplied with (T16).
  virtual void evaluate_gyroscopic(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                   RowMatrixRef gyroscopic) const;  // zero

  /// G = ∂Θ/∂q and the drift ∂Θ/∂t.
  virtual void evaluate_constraint_rows(double t, const ConstVectorRef& q, RowMatrixRef rows,
                                        VectorRef drift) const;

  /// ∂φ/∂q and ∂φ/∂t of the springs.
  virtual void evaluate_spring_rows(double t, const ConstVectorRef& q, RowMatrixRef rows,
                                    VectorRef drift) const;

  /// Rows of contact j: N = ∂Φ/∂q, then the tangent rows; and their drifts ŵ_N = ∂Φ/∂t, ŵ_T, so
  /// that the relative velocity is γ = rows·v + drift.
  virtual void evaluate_contact_rows(double t, const ConstVectorRef& q, int contact,
                                     RowMatrixRef rows, VectorRef drift) const;

  // What System asks for, by the functions above.
  std::string name_of_velocity(int i) const final { return layout_.coordinates[i]; }
  std::vector<std::string> recorded_q_names() const final { return layout_.coordinates; }
  std::vector<std::string> recorded_v_names() const final;
  void evaluate_block_mass(double t, const ConstVectorRef& q, int block,
                           RowMatrixRef mass) const final;
  void evaluate_block_jacobians(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                int block, RowMatrixRef k_q, RowMatrixRef k_v) const final;
  void evaluate_block_gyroscopic(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                 int block, RowMatrixRef gyroscopic) const final;
  void append_constraint_rows(double t, const ConstVectorRef& q, int first_block,
                              RowSet& out) const final;
  void append_spring_rows(double t, const ConstVectorRef& q, int first_block,
                          RowSet& out) const final;
  void append_contact_rows(double t, const ConstVectorRef& q, int contact, int first_block,
                           RowSet& out) const final;

 private:
  Layout layout_;
};

}  // namespace stiction
