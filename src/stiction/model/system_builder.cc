#include "stiction/model/system_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/model/expression_system.h"
#include "stiction/model/symbol_table.h"

namespace stiction {
namespace {

void check_finite(const char* what, const std::string& coordinate, double value) {
  if (!std::isfinite(value))
    throw InputError(
        fmt::format("initial {} of '{}' is {}, must be finite", what, coordinate, to_text(value)));
}

}  // namespace

SystemBuilder::SystemBuilder() { description_.pool = std::make_shared<ExpressionPool>(); }

Expression SystemBuilder::add_coordinate(const std::string& name, InitialValue initial) {
  std::vector<std::string> names = description_.coordinates;
  names.push_back(name);
  make_symbol_table(description_.pool, names);  // throws on a bad, reserved or repeated name
  check_finite("position", name, initial.position);
  check_finite("velocity", name, initial.velocity);
  description_.coordinates = std::move(names);
  description_.force.emplace_back(0);
  initial_.push_back(initial);
  return Expression::symbol(description_.pool, name);
}

std::size_t SystemBuilder::index_of(const char* argument, const Expression& coordinate) const {
  const auto& names = description_.coordinates;
  if (coordinate.is_symbol() && coordinate.pool() == description_.pool) {
    const auto found = std::find(names.begin(), names.end(), coordinate.symbol_name());
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  const std::string value = coordinate.is_constant() ? to_text(coordinate.constant_value())
                            : coordinate.is_symbol() ? coordinate.symbol_name()
                                                     : "a formula";
  throw InputError(fmt::format("argument {} is {}, must be a coordinate of this system ({})",
                               argument, value, joined(names)));
}

Expression SystemBuilder::velocity(const Expression& coordinate) const {
  index_of("coordinate", coordinate);
  return Expression::symbol(description_.pool, velocity_name(coordinate.symbol_name()));
}

void SystemBuilder::set_mass(const Expression& a, const Expression& b, const Expression& mass) {
  const std::size_t row = index_of("a", a), column = index_of("b", b);
  mass_[{row, column}] = mass;
  mass_[{column, row}] = mass;
}

void SystemBuilder::add_force(const Expression& coordinate, const Expression& force) {
  description_.force[index_of("coordinate", coordinate)] += force;
}

void SystemBuilder::add_constraint(const std::string& name, const Expression& equation) {
  description_.constraints.push_back({.name = name, .equation = equation});
}

void SystemBuilder::add_spring(ExpressionSpring spring) {
  description_.springs.push_back(std::move(spring));
}

void SystemBuilder::add_contact(ExpressionContact contact) {
  description_.contacts.push_back(std::move(contact));
}

BuiltSystem SystemBuilder::build() const {
  ExpressionSystemDescription description = description_;
  const std::size_t n = description.coordinates.size();
  description.mass.assign(n, std::vector<Expression>(n));
  for (const auto& [place, mass] : mass_) description.mass[place.first][place.second] = mass;
  BuiltSystem built{.system = std::make_shared<ExpressionSystem>(description),
                    .q = VectorXd(n),
                    .v = VectorXd(n)};
  for (std::size_t i = 0; i < n; ++i) {
    built.q[static_cast<Eigen::Index>(i)] = initial_[i].position;
    built.v[static_cast<Eigen::Index>(i)] = initial_[i].velocity;
  }
  return built;
}

Model SystemBuilder::build_model() const {
  const BuiltSystem built = build();
  ModelBuilder builder;
  builder.add_system(built.system, built.q, built.v);
  return builder.build();
}

}  // namespace stiction
