// Writes a system in its own coordinates in a few lines of C++:
//
//   SystemBuilder system;
//   const Expression y = system.add_coordinate("y", {.position = 1});
//   system.set_mass(y, y, 1.0);
//   system.set_potential(9.81 * y);
//   system.add_force(y, -0.1 * system.velocity(y));
//   system.add_contact({.name = "floor", .gap = y, .restitution = 0.5});
//   Simulation simulation(system.build_model(), {.h = 1e-3});
//
// Bad arguments throw InputError: those that only the whole system shows, in build().
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stiction/base/linear_algebra.h"
#include "stiction/model/expression_system_description.h"
#include "stiction/model/generalized_system.h"
#include "stiction/model/model.h"

namespace stiction {

struct BuiltSystem {
  std::shared_ptr<const GeneralizedSystem> system;
  VectorXd q, v;  // initial values, in the order of the coordinates
};

class SystemBuilder {
 public:
  struct InitialValue {
    double position = 0;
    double velocity = 0;
  };

  SystemBuilder();

  /// A new coordinate; the result stands for it in formulas.
  Expression add_coordinate(const std::string& name, InitialValue initial);
  Expression add_coordinate(const std::string& name) { return add_coordinate(name, {}); }
  /// The velocity of a coordinate.
  Expression velocity(const Expression& coordinate) const;
  Expression time() const { return Expression::symbol(description_.pool, "t"); }

  /// The entries (a, b) and (b, a) of the mass matrix; entries not set are 0.
  void set_mass(const Expression& a, const Expression& b, const Expression& mass);
  void set_potential(const Expression& potential) { description_.potential = potential; }
  /// Adds to the applied force on a coordinate.
  void add_force(const Expression& coordinate, const Expression& force);
  /// Θ(q, t) = 0.
  void add_constraint(const std::string& name, const Expression& equation);
  void add_spring(ExpressionSpring spring);
  void add_contact(ExpressionContact contact);

  /// The system so far; the builder may go on and build again.
  BuiltSystem build() const;
  /// A model of this system alone, ready for a Simulation.
  Model build_model() const;

 private:
  /// Throws InputError naming `argument` unless the expression is a coordinate of this system.
  std::size_t index_of(const char* argument, const Expression& coordinate) const;

  ExpressionSystemDescription description_;  // without the mass matrix, whose size is open
  std::map<std::pair<std::size_t, std::size_t>, Expression> mass_;
  std::vector<InitialValue> initial_;
};

}  // namespace stiction
