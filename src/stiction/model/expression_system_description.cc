#include "stiction/model/expression_system_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "stiction/base/text.h"
#include "stiction/model/symbol_table.h"
#include "stiction/model/tape.h"

namespace stiction {
namespace {

void check_range(const std::string& what, double value, double high) {
  if (std::isfinite(value) && value >= 0 && value <= high) return;
  const std::string range = std::isinf(high) ? "finite and >= 0" : "in [0, " + to_text(high) + "]";
  throw InputError(fmt::format("{} is {}, must be {}", what, to_text(value), range));
}

void check_size(const std::string& what, std::size_t size, std::size_t expected) {
  if (size == expected) return;
  throw InputError(fmt::format("{} has {} entries, must have {}", what, size, expected));
}

/// `what` may use the names of `table` only.
void check_symbols(const std::string& what, const Expression& formula, const SymbolTable& table,
                   const ExpressionPool& pool) {
  if (!formula.is_constant() && formula.pool().get() != &pool)
    throw InputError(fmt::format("{} uses symbols of another pool than its system", what));
  for (const std::string& name : symbols_of(formula))
    if (!table.contains(name))
      throw InputError(fmt::format("{} depends on '{}', may depend on {} only", what, name,
                                   joined(table.names())));
}

template <class Item>
void check_names(std::string_view kind, const std::vector<Item>& items) {
  std::set<std::string_view> names;
  for (const Item& item : items)
    if (!item.name.empty() && !names.insert(item.name).second)
      throw InputError(fmt::format("{} name '{}' occurs twice, must be unique", kind, item.name));
}

/// The checks of one description, with the names that each kind of formula may use.
class Checker {
 public:
  explicit Checker(const ExpressionSystemDescription& description)
      : d_(description),
        pool_(require_pool(description)),
        all_(make_symbol_table(d_.pool, d_.coordinates)),
        configuration_(make_symbol_table(d_.pool, d_.coordinates, {.has_velocities = false})),
        time_(make_symbol_table(d_.pool, {}, {.has_velocities = false})) {}

  void run() const {
    if (d_.coordinates.empty()) throw InputError("system has 0 coordinates, must have at least 1");
    check_mass();
    check_symbols("potential", d_.potential, configuration_, pool_);
    check_force();
    check_names("constraint", d_.constraints);
    for (const ExpressionConstraint& constraint : d_.constraints)
      check_symbols(fmt::format("equation of constraint '{}'", constraint.name),
                    constraint.equation, configuration_, pool_);
    check_names("spring", d_.springs);
    for (const ExpressionSpring& spring : d_.springs) check_spring(spring);
    check_names("contact", d_.contacts);
    for (const ExpressionContact& contact : d_.contacts) check_contact(contact);
  }

 private:
  static const ExpressionPool& require_pool(const ExpressionSystemDescription& description) {
    if (description.pool == nullptr) throw InputError("pool of a system is null, must be set");
    return *description.pool;
  }

  void check_mass() const {
    check_size("mass matrix", d_.mass.size(), d_.coordinates.size());
    for (std::size_t i = 0; i < d_.mass.size(); ++i) {
      const std::string& row = d_.coordinates[i];
      check_size(fmt::format("mass row of '{}'", row), d_.mass[i].size(), d_.coordinates.size());
      for (std::size_t j = 0; j < d_.mass.size(); ++j)
        check_symbols(fmt::format("mass of '{}' and '{}'", row, d_.coordinates[j]), d_.mass[i][j],
                      configuration_, pool_);
      const Expression& diagonal = d_.mass[i][i];
      if (diagonal.is_constant() && !(diagonal.constant_value() > 0))
        throw InputError(fmt::format("mass of '{}' is {}, must be > 0", row,
                                     to_text(diagonal.constant_value())));
    }
  }

  void check_force() const {
    if (!d_.force.empty()) check_size("force", d_.force.size(), d_.coordinates.size());
    for (std::size_t i = 0; i < d_.force.size(); ++i)
      check_symbols(fmt::format("force of '{}'", d_.coordinates[i]), d_.force[i], all_, pool_);
  }

  void check_spring(const ExpressionSpring& spring) const {
    const std::string owner = fmt::format(" of spring '{}'", spring.name);
    check_symbols("extension" + owner, spring.extension, configuration_, pool_);
    check_range("stiffness" + owner, spring.stiffness, INFINITY);
    check_range("damping" + owner, spring.damping, INFINITY);
  }

  void check_contact(const ExpressionContact& contact) const {
    const std::string owner = fmt::format(" of contact '{}'", contact.name);
    check_symbols("gap" + owner, contact.gap, configuration_, pool_);
    check_range("mu" + owner, contact.mu, INFINITY);
    check_range("restitution" + owner, contact.restitution, 1);
    check_range("restitution_tangential" + owner, contact.restitution_tangential, 1);
    check_tangents(contact, owner);
  }

  void check_tangents(const ExpressionContact& contact, const std::string& owner) const {
    const std::size_t num_tangents = contact.tangents.size();
    if (num_tangents > 2)
      throw InputError(
          fmt::format("tangents{} has {} rows, must have 0, 1 or 2", owner, num_tangents));
    if (num_tangents == 0 && contact.mu > 0)
      throw InputError(
          fmt::format("mu{} is {}, must be 0 without a tangent", owner, to_text(contact.mu)));
    for (const auto& tangent : contact.tangents) {
      check_size("tangent" + owner, tangent.size(), d_.coordinates.size());
      for (const Expression& entry : tangent)
        check_symbols("tangent" + owner, entry, configuration_, pool_);
    }
    if (!contact.surface_speeds.empty())
      check_size("surface_speeds" + owner, contact.surface_speeds.size(), num_tangents);
    for (const Expression& speed : contact.surface_speeds)
      check_symbols("surface_speeds" + owner, speed, time_, pool_);
  }

  const ExpressionSystemDescription& d_;
  const ExpressionPool& pool_;
  SymbolTable all_, configuration_, time_;
};

/// True unless the entries agree wherever both are finite.
bool differs_in_value(const Tape& pair, Random& random) {
  constexpr int kNumPoints = 16;
  constexpr double kTolerance = 1e-9;  // rounding of differently ordered formulas is far below
  std::vector<double> inputs(static_cast<std::size_t>(pair.num_inputs()));
  for (int point = 0; point < kNumPoints; ++point) {
    for (double& input : inputs) input = random.uniform(-1, 1);
    double entries[2];
    pair.evaluate(inputs, entries);
    const double scale = std::abs(entries[0]) + std::abs(entries[1]);
    if (std::abs(entries[0] - entries[1]) > kTolerance * scale) return true;
  }
  return false;
}

}  // namespace

void check_description(const ExpressionSystemDescription& description) {
  Checker(description).run();
}

std::optional<std::pair<int, int>> find_asymmetric_mass(
    const ExpressionSystemDescription& description) {
  std::vector<Expression> inputs;
  for (const std::string& name : description.coordinates)
    inputs.push_back(Expression::symbol(description.pool, name));
  inputs.push_back(Expression::symbol(description.pool, "t"));
  Random random(1);
  const auto& mass = description.mass;
  for (std::size_t i = 0; i < mass.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (is_same(mass[i][j], mass[j][i])) continue;
      const Expression pair[] = {mass[i][j], mass[j][i]};
      if (differs_in_value(Tape(pair, inputs), random))
        return std::pair{static_cast<int>(i), static_cast<int>(j)};
    }
  return std::nullopt;
}

}  // namespace stiction
