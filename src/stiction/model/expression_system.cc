#include "stiction/model/expression_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

#include "stiction/base/check.h"
#include "stiction/model/derivative.h"
#include "stiction/model/symbol_table.h"

namespace stiction {
namespace {

std::string name_or_default(const std::string& name, std::string_view kind, std::size_t index) {
  return name.empty() ? fmt::format("{} {}", kind, index + 1) : name;
}

GeneralizedSystem::Layout make_layout(const ExpressionSystemDescription& description) {
  check_description(description);
  GeneralizedSystem::Layout layout{
      .coordinates = description.coordinates, .constraints = {}, .springs = {}, .contacts = {}};
  for (const ExpressionConstraint& c : description.constraints)
    layout.constraints.push_back(name_or_default(c.name, "constraint", layout.constraints.size()));
  for (const ExpressionSpring& s : description.springs)
    layout.springs.push_back({.name = name_or_default(s.name, "spring", layout.springs.size()),
                              .stiffness = s.stiffness,
                              .damping = s.damping});
  for (const ExpressionContact& c : description.contacts)
    layout.contacts.push_back({.name = name_or_default(c.name, "contact", layout.contacts.size()),
                               .num_tangents = static_cast<int>(c.tangents.size()),
                               .mu = c.mu,
                               .restitution = c.restitution,
                               .restitution_tangential = c.restitution_tangential,
                               .impact = c.impact});
  return layout;
}

/// The inputs of a tape side by side: q, then v (not for functions of the configuration), then t.
class Inputs {
 public:
  Inputs(double t, const ConstVectorRef& q) : Inputs(t, q, ConstVectorMap(nullptr, 0)) {}
  Inputs(double t, const ConstVectorRef& q, const ConstVectorRef& v)
      : size_(static_cast<std::size_t>(q.size() + v.size() + 1)) {
    if (size_ > few_.size()) many_.resize(size_);
    double* next = size_ > few_.size() ? many_.data() : few_.data();
    next = std::copy_n(q.data(), q.size(), next);
    next = std::copy_n(v.data(), v.size(), next);
    *next = t;
  }

  operator std::span<const double>() const {
    return {size_ > few_.size() ? many_.data() : few_.data(), size_};
  }

 private:
  std::size_t size_;
  std::array<double, 255> few_;  // left as it is: only size_ of it is filled and read
  std::vector<double> many_;
};

Tape::Block block_of(VectorRef vector) {
  const int size = static_cast<int>(vector.size());
  return {vector.data(), 1, size, size};
}

Tape::Block block_of(RowMatrixRef matrix) {
  return {matrix.data(), static_cast<int>(matrix.rows()), static_cast<int>(matrix.cols()),
          static_cast<int>(matrix.outerStride())};
}

void evaluate(const Tape& tape, const Inputs& inputs, std::initializer_list<Tape::Block> blocks) {
  tape.evaluate(inputs, std::span<const Tape::Block>(blocks.begin(), blocks.size()));
}

void append(std::vector<Expression>& list, const std::vector<Expression>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

/// The formulas of the tapes, derived from those of the description.
class ExpressionSystem::Derivation {
 public:
  explicit Derivation(const ExpressionSystemDescription& description)
      : d_(description), t_(Expression::symbol(d_.pool, "t")) {
    for (const std::string& name : d_.coordinates) {
      q_.push_back(Expression::symbol(d_.pool, name));
      v_.push_back(Expression::symbol(d_.pool, velocity_name(name)));
    }
    applied_ = d_.force.empty() ? std::vector<Expression>(q_.size()) : d_.force;
    derive_mass();
    derive_momentum();
    derive_force();
  }

  const std::vector<Expression>& mass() const { return mass_; }
  const std::vector<Expression>& force() const { return force_; }
  const std::vector<Expression>& applied_force() const { return applied_; }

  /// k_q row by row, then k_v row by row.
  std::vector<Expression> force_jacobians() const {
    std::vector<Expression> entries = jacobian(force_, q_);
    append(entries, jacobian(force_, v_));
    return entries;
  }

  /// S = ½ (∂(Mv)/∂q − (∂(Mv)/∂q)ᵀ), row by row.                                            (T16)
  std::vector<Expression> gyroscopic() const {
    const std::size_t n = q_.size();
    const std::vector<Expression> slope = jacobian(momentum_, q_);
    std::vector<Expression> entries(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (i != j) entries[i * n + j] = 0.5 * (slope[i * n + j] - slope[j * n + i]);
    return entries;
  }

  /// ∂f/∂q row by row, then the drifts ∂f/∂t.
  std::vector<Expression> rows_and_drift(std::span<const Expression> functions) const {
    std::vector<Expression> entries = jacobian(functions, q_);
    append(entries, differentiate(functions, t_));
    return entries;
  }

  std::vector<Expression> contact_rows(const ExpressionContact& contact) const {
    std::vector<Expression> entries = compute_gradient(contact.gap, q_);
    for (const auto& tangent : contact.tangents) append(entries, tangent);
    entries.push_back(differentiate(contact.gap, t_));
    for (std::size_t i = 0; i < contact.tangents.size(); ++i)
      entries.push_back(contact.surface_speeds.empty() ? Expression(0)
                                                       : -contact.surface_speeds[i]);
    return entries;
  }

  Tape configuration_tape(std::span<const Expression> outputs) const {
    std::vector<Expression> inputs = q_;
    inputs.push_back(t_);
    return {outputs, inputs};
  }

  Tape motion_tape(std::span<const Expression> outputs) const {
    std::vector<Expression> inputs = q_;
    append(inputs, v_);
    inputs.push_back(t_);
    return {outputs, inputs};
  }

 private:
  /// The symmetric part, row by row.
  void derive_mass() {
    for (std::size_t i = 0; i < q_.size(); ++i)
      for (std::size_t j = 0; j < q_.size(); ++j) {
        const Expression &entry = d_.mass[i][j], &mirror = d_.mass[j][i];
        mass_.push_back(is_same(entry, mirror) ? entry : 0.5 * (entry + mirror));
      }
  }

  void derive_momentum() {
    const std::size_t n = q_.size();
    momentum_.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) momentum_[i] += mass_[i * n + j] * v_[j];
  }

  void derive_force() {
    const std::size_t n = q_.size();
    Expression kinetic_energy;
    for (std::size_t i = 0; i < n; ++i) kinetic_energy += 0.5 * v_[i] * momentum_[i];
    const std::vector<Expression> conservative =
        compute_gradient(kinetic_energy - d_.potential, q_);
    std::vector<Expression> momentum_rate = differentiate(momentum_, t_);
    for (std::size_t j = 0; j < n; ++j) {
      const std::vector<Expression> column = differentiate(momentum_, q_[j]);
      for (std::size_t i = 0; i < n; ++i) momentum_rate[i] += column[i] * v_[j];
    }
    for (std::size_t i = 0; i < n; ++i)
      force_.push_back(applied_[i] + conservative[i] - momentum_rate[i]);
  }

  static std::vector<Expression> jacobian(std::span<const Expression> functions,
                                          std::span<const Expression> symbols) {
    std::vector<Expression> entries(functions.size() * symbols.size());
    for (std::size_t j = 0; j < symbols.size(); ++j) {
      const std::vector<Expression> column = differentiate(functions, symbols[j]);
      for (std::size_t i = 0; i < functions.size(); ++i)
        entries[i * symbols.size() + j] = column[i];
    }
    return entries;
  }

  const ExpressionSystemDescription& d_;
  Expression t_;
  std::vector<Expression> q_, v_, applied_, mass_, momentum_, force_;
};

ExpressionSystem::ExpressionSystem(const ExpressionSystemDescription& description)
    : GeneralizedSystem(make_layout(description)) {
  const Derivation derivation(description);
  mass_ = derivation.configuration_tape(derivation.mass());
  potential_ = derivation.configuration_tape({&description.potential, 1});
  force_ = derivation.motion_tape(derivation.force());
  applied_force_ = derivation.motion_tape(derivation.applied_force());
  force_jacobians_ = derivation.motion_tape(derivation.force_jacobians());
  gyroscopic_ = derivation.motion_tape(derivation.gyroscopic());

  std::vector<Expression> equations, extensions, gaps;
  for (const ExpressionConstraint& c : description.constraints) equations.push_back(c.equation);
  for (const ExpressionSpring& s : description.springs) extensions.push_back(s.extension);
  for (const ExpressionContact& c : description.contacts) gaps.push_back(c.gap);
  constraints_ = derivation.configuration_tape(equations);
  constraint_rows_ = derivation.configuration_tape(derivation.rows_and_drift(equations));
  springs_ = derivation.configuration_tape(extensions);
  spring_rows_ = derivation.configuration_tape(derivation.rows_and_drift(extensions));
  gaps_ = derivation.configuration_tape(gaps);
  for (const ExpressionContact& c : description.contacts)
    contact_rows_.push_back(derivation.configuration_tape(derivation.contact_rows(c)));
}

void ExpressionSystem::evaluate_mass(double t, const ConstVectorRef& q, RowMatrixRef mass) const {
  evaluate(mass_, Inputs(t, q), {block_of(mass)});
}

void ExpressionSystem::evaluate_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                      VectorRef force) const {
  evaluate(force_, Inputs(t, q, v), {block_of(force)});
}

void ExpressionSystem::evaluate_applied_force(double t, const ConstVectorRef& q,
                                              const ConstVectorRef& v, VectorRef force) const {
  evaluate(applied_force_, Inputs(t, q, v), {block_of(force)});
}

double ExpressionSystem::evaluate_potential(double t, const ConstVectorRef& q) const {
  double potential = 0;
  potential_.evaluate(Inputs(t, q), &potential);
  return potential;
}

void ExpressionSystem::evaluate_force_jacobians(double t, const ConstVectorRef& q,
                                                const ConstVectorRef& v, RowMatrixRef k_q,
                                                RowMatrixRef k_v) const {
  evaluate(force_jacobians_, Inputs(t, q, v), {block_of(k_q), block_of(k_v)});
}

void ExpressionSystem::evaluate_gyroscopic(double t, const ConstVectorRef& q,
                                           const ConstVectorRef& v, RowMatrixRef gyroscopic) const {
  evaluate(gyroscopic_, Inputs(t, q, v), {block_of(gyroscopic)});
}

void ExpressionSystem::evaluate_constraints(double t, const ConstVectorRef& q,
                                            VectorRef theta) const {
  evaluate(constraints_, Inputs(t, q), {block_of(theta)});
}

void ExpressionSystem::evaluate_constraint_rows(double t, const ConstVectorRef& q,
                                                RowMatrixRef rows, VectorRef drift) const {
  evaluate(constraint_rows_, Inputs(t, q), {block_of(rows), block_of(drift)});
}

void ExpressionSystem::evaluate_springs(double t, const ConstVectorRef& q,
                                        VectorRef extension) const {
  evaluate(springs_, Inputs(t, q), {block_of(extension)});
}

void ExpressionSystem::evaluate_spring_rows(double t, const ConstVectorRef& q, RowMatrixRef rows,
                                            VectorRef drift) const {
  evaluate(spring_rows_, Inputs(t, q), {block_of(rows), block_of(drift)});
}

void ExpressionSystem::evaluate_gaps(double t, const ConstVectorRef& q, VectorRef gaps) const {
  evaluate(gaps_, Inputs(t, q), {block_of(gaps)});
}

void ExpressionSystem::evaluate_contact_rows(double t, const ConstVectorRef& q, int contact,
                                             RowMatrixRef rows, VectorRef drift) const {
  ST_DEMAND(contact >= 0 && contact < num_contacts());
  evaluate(contact_rows_[static_cast<std::size_t>(contact)], Inputs(t, q),
           {block_of(rows), block_of(drift)});
}

}  // namespace stiction
