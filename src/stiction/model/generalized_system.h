// A mechanical system in its own coordinates: q̇ = v, one dense mass block. Derive from this class
// to give the functions by hand, or let ExpressionSystem derive them from formulas.
//
//   M(q,t) v̇ = k(t,q,v) + Gᵀλ + Σ_j (N_jᵀν_j + T_jᵀβ_j)                                   (T10)
//
// All functions are const and keep no state: the same arguments give the same bits, from any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stiction/base/linear_algebra.h"

namespace stiction {

/// How a contact answers to an impact.
enum class ImpactLaw : std::uint8_t {
  kOfScheme,  // Newton in moreau, Poisson in schemes that locate collisions
  kNewton,    // γ⁺ ≥ −e γ⁻
  kPoisson,   // e times the impulse of compression in decompression
};

class GeneralizedSystem {
 public:
  struct ContactInfo {
    std::string name;
    int num_tangents = 0;               // 0 (no friction), 1 (plane) or 2 (space)
    double mu = 0;                      // ≥ 0; 0 where num_tangents is 0
    double restitution = 0;             // e_N in [0, 1]
    double restitution_tangential = 0;  // e_T in [0, 1]
    ImpactLaw impact = ImpactLaw::kOfScheme;
  };
  struct SpringInfo {
    std::string name;
    double stiffness = 0;  // γ ≥ 0
    double damping = 0;    // δ ≥ 0
  };
  /// Sizes and names; fixed once the system is constructed.
  struct Layout {
    std::vector<std::string> coordinates;
    std::vector<std::string> constraints;
    std::vector<SpringInfo> springs;
    std::vector<ContactInfo> contacts;
  };

  explicit GeneralizedSystem(Layout layout) : layout_(std::move(layout)) {}
  virtual ~GeneralizedSystem() = default;

  const Layout& layout() const { return layout_; }
  int num_coordinates() const { return static_cast<int>(layout_.coordinates.size()); }
  int num_constraints() const { return static_cast<int>(layout_.constraints.size()); }
  int num_springs() const { return static_cast<int>(layout_.springs.size()); }
  int num_contacts() const { return static_cast<int>(layout_.contacts.size()); }

  /// M(q, t), symmetric positive definite.
  virtual void evaluate_mass(double t, const ConstVectorRef& q, RowMatrixRef mass) const = 0;
  /// k(t, q, v): applied forces, −∂V/∂q and the velocity terms of a coordinate-dependent M (T11);
  /// springs of the layout are not in it.
  virtual void evaluate_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                              VectorRef force) const = 0;
  /// The part of k that has no potential and is no velocity term of M: what `energy/applied`
  /// counts.
  virtual void evaluate_applied_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                      VectorRef force) const;  // zero
  /// V(q, t); its forces are in k.
  virtual double evaluate_potential(double t, const ConstVectorRef& q) const;  // zero
  /// k_q = ∂k/∂q and k_v = ∂k/∂v. The default takes central differences of evaluate_force, good to
  /// about ten digits for k of order one; override where exact derivatives are at hand.
  virtual void evaluate_force_jacobians(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                        RowMatrixRef k_q, RowMatrixRef k_v) const;
  /// Whether evaluate_force_jacobians is exact, that is, overridden.
  virtual bool has_exact_force_jacobians() const { return false; }
  /// The gyroscopic matrix S(t, q, v), antisymmetric: −S v is the part of the velocity terms in k
  /// that does no work whatever velocity S is multiplied with (T16).
  virtual void evaluate_gyroscopic(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                   RowMatrixRef gyroscopic) const;  // zero

  /// Θ(q, t), which must vanish.
  virtual void evaluate_constraints(double t, const ConstVectorRef& q, VectorRef theta) const;
  /// G = ∂Θ/∂q and the drift ∂Θ/∂t.
  virtual void evaluate_constraint_rows(double t, const ConstVectorRef& q, RowMatrixRef rows,
                                        VectorRef drift) const;

  /// Extensions φ(q, t) of the springs, 0 at rest.
  virtual void evaluate_springs(double t, const ConstVectorRef& q, VectorRef extension) const;
  virtual void evaluate_spring_rows(double t, const ConstVectorRef& q, RowMatrixRef rows,
                                    VectorRef drift) const;

  /// Φ_j(q, t) of all contacts, ≥ 0 when apart.
  virtual void evaluate_gaps(double t, const ConstVectorRef& q, VectorRef gaps) const;
  /// Rows of contact j: N = ∂Φ/∂q, then the tangent rows; and their drifts ŵ_N = ∂Φ/∂t, ŵ_T, so
  /// that the relative velocity is γ = rows·v + drift.
  virtual void evaluate_contact_rows(double t, const ConstVectorRef& q, int contact,
                                     RowMatrixRef rows, VectorRef drift) const;

 private:
  Layout layout_;
};

}  // namespace stiction
