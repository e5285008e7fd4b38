// What an ExpressionSystem is made of: plain data, filled by SystemBuilder, by a scene reader, or
// by hand. Formulas use the symbols of `pool` called NAME for a coordinate, v.NAME for its velocity
// and t for the time (see make_symbol_table).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stiction/model/expression.h"
#include "stiction/model/generalized_system.h"

namespace stiction {

struct ExpressionConstraint {
  std::string name{};     // empty: "constraint 1", …
  Expression equation{};  // Θ(q, t), which must vanish
};

struct ExpressionSpring {
  std::string name{};      // empty: "spring 1", …
  Expression extension{};  // φ(q, t), 0 at rest
  double stiffness = 0;    // γ ≥ 0
  double damping = 0;      // δ ≥ 0
};

struct ExpressionContact {
  std::string name{};                               // empty: "contact 1", …
  Expression gap{};                                 // Φ(q, t), ≥ 0 when apart
  std::vector<std::vector<Expression>> tangents{};  // 0 to 2 rows T(q, t), one entry per coordinate
  // Speed of the surface along each tangent, in t only: γ_T = T v − speed. Empty: at rest.
  std::vector<Expression> surface_speeds{};
  double mu = 0;                      // ≥ 0; needs a tangent where positive
  double restitution = 0;             // e_N in [0, 1]
  double restitution_tangential = 0;  // e_T in [0, 1]
  ImpactLaw impact = ImpactLaw::kOfScheme;
};

struct ExpressionSystemDescription {
  std::shared_ptr<ExpressionPool> pool;
  std::vector<std::string> coordinates;       // n names
  std::vector<std::vector<Expression>> mass;  // M(q, t), n × n; its symmetric part is used
  Expression potential;                       // V(q, t)
  std::vector<Expression> force;              // applied, in q, v and t; n, or empty for none
  std::vector<ExpressionConstraint> constraints;
  std::vector<ExpressionSpring> springs;
  std::vector<ExpressionContact> contacts;

  int num_coordinates() const { return static_cast<int>(coordinates.size()); }
};

/// Throws InputError, with what is wrong, its value and what is allowed, unless an ExpressionSystem
/// can be made from `description`: sizes, unique names, ranges of numbers, and which symbols each
/// formula may use. Whether M is positive definite depends on q and is not checked here, except
/// that a constant diagonal entry must be positive.
void check_description(const ExpressionSystemDescription& description);

/// The place (row, column) of an entry of the mass matrix that differs from its mirror image, if
/// any: by structure first, then by value at seeded random points of [−1, 1], relative to 1e-9.
/// Points where a formula is not finite tell nothing and are passed over.
std::optional<std::pair<int, int>> find_asymmetric_mass(
    const ExpressionSystemDescription& description);

}  // namespace stiction
