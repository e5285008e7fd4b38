#include "stiction/model/system_builder.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "stiction/base/error.h"

namespace stiction {
namespace {

TEST(SystemBuilder, BuildsABouncingBall) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {.position = 1, .velocity = -2});
  system.set_mass(y, y, 1.0);
  system.set_potential(9.81 * y);
  system.add_force(y, -0.1 * system.velocity(y));
  system.add_contact({.name = "floor", .gap = y, .restitution = 0.5});
  const BuiltSystem built = system.build();

  EXPECT_EQ(built.q[0], 1);
  EXPECT_EQ(built.v[0], -2);
  VectorXd force(1), gap(1), drift(1);
  built.system->evaluate_force(0, built.q, built.v, force);
  EXPECT_DOUBLE_EQ(force[0], -9.81 + 0.2);
  built.system->evaluate_applied_force(0, built.q, built.v, force);
  EXPECT_DOUBLE_EQ(force[0], 0.2);
  EXPECT_DOUBLE_EQ(built.system->evaluate_potential(0, built.q), 9.81);
  built.system->evaluate_gaps(0, built.q, gap);
  EXPECT_EQ(gap[0], 1);
  RowMatrixXd rows(1, 1);
  built.system->evaluate_contact_rows(0, built.q, 0, rows, drift);
  EXPECT_EQ(rows(0, 0), 1);
  EXPECT_EQ(drift[0], 0);
  EXPECT_EQ(built.system->layout().contacts[0].name, "floor");
  EXPECT_EQ(built.system->layout().contacts[0].restitution, 0.5);
}

TEST(SystemBuilder, NamesWhatHasNoName) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x");
  system.set_mass(x, x, 1);
  system.add_contact({.gap = x, .tangents = {{1}}, .surface_speeds = {}, .mu = 0.2});
  system.add_contact({.gap = 1 - x});
  system.add_spring({.extension = x, .stiffness = 1});
  system.add_constraint("", x);
  const BuiltSystem built = system.build();
  EXPECT_EQ(built.system->layout().contacts[1].name, "contact 2");
  EXPECT_EQ(built.system->layout().springs[0].name, "spring 1");
  EXPECT_EQ(built.system->layout().constraints[0], "constraint 1");
  EXPECT_EQ(built.system->layout().contacts[0].num_tangents, 1);
}

/// A builder with coordinates x and y of mass 1 that gets one thing wrong.
struct Fault {
  std::function<void(SystemBuilder&, const Expression&, const Expression&)> commit;
  std::string message;
};

std::string message_of(const Fault& fault) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x"), y = system.add_coordinate("y");
  system.set_mass(x, x, 1);
  system.set_mass(y, y, 1);
  try {
    fault.commit(system, x, y);
    (void)system.build();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing thrown";
}

void expect_messages(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) EXPECT_EQ(message_of(fault), fault.message);
}

using E = const Expression&;
using S = SystemBuilder&;

TEST(SystemBuilder, RefusesBadNames) {
  expect_messages({
      {[](S s, E, E) { s.add_coordinate("x"); },
       "symbol name 'x' is already taken, must be unique"},
      {[](S s, E, E) { s.add_coordinate("t"); },
       "coordinate name is 't', which is the time in formulas"},
      {[](S s, E, E) { s.add_coordinate("pi"); },
       "symbol name 'pi' is already taken, must be unique"},
      {[](S s, E, E) { s.add_coordinate("2x"); },
       "symbol name is '2x', must be a letter or _ followed by letters, digits and _"},
      {[](S s, E x, E) {
         s.add_contact({.name = "floor", .gap = x});
         s.add_contact({.name = "floor", .gap = 1 - x});
       },
       "contact name 'floor' occurs twice, must be unique"},
      {[](S s, E x, E) {
         s.add_spring({.name = "s", .extension = x});
         s.add_spring({.name = "s", .extension = x});
       },
       "spring name 's' occurs twice, must be unique"},
      {[](S s, E x, E y) {
         s.add_constraint("c", x);
         s.add_constraint("c", y);
       },
       "constraint name 'c' occurs twice, must be unique"},
  });
}

TEST(SystemBuilder, RefusesBadContacts) {
  expect_messages({
      {[](S s, E x, E) {
         s.add_contact(
             {.name = "f", .gap = x, .tangents = {{0, 1}}, .surface_speeds = {}, .mu = -0.3});
       },
       "mu of contact 'f' is -0.3, must be finite and >= 0"},
      {[](S s, E x, E) { s.add_contact({.name = "f", .gap = x, .restitution = 1.5}); },
       "restitution of contact 'f' is 1.5, must be in [0, 1]"},
      {[](S s, E x, E) { s.add_contact({.name = "f", .gap = x, .restitution_tangential = -1}); },
       "restitution_tangential of contact 'f' is -1, must be in [0, 1]"},
      {[](S s, E x, E) { s.add_contact({.name = "f", .gap = x, .mu = 0.3}); },
       "mu of contact 'f' is 0.3, must be 0 without a tangent"},
      {[](S s, E x, E) { s.add_contact({.name = "f", .gap = x, .tangents = {{1}}}); },
       "tangent of contact 'f' has 1 entries, must have 2"},
      {[](S s, E x, E) {
         s.add_contact({.name = "f", .gap = x, .tangents = {{1, 0}, {0, 1}, {1, 1}}});
       },
       "tangents of contact 'f' has 3 rows, must have 0, 1 or 2"},
      {[](S s, E x, E) {
         s.add_contact({.name = "f", .gap = x, .tangents = {{0, 1}}, .surface_speeds = {1, 2}});
       },
       "surface_speeds of contact 'f' has 2 entries, must have 1"},
      {[](S s, E x, E) {
         s.add_contact({.name = "f", .gap = x, .tangents = {{0, 1}}, .surface_speeds = {x}});
       },
       "surface_speeds of contact 'f' depends on 'x', may depend on t, pi only"},
      {[](S s, E x, E) { s.add_contact({.name = "f", .gap = s.velocity(x)}); },
       "gap of contact 'f' depends on 'v.x', may depend on x, y, t, pi only"},
  });
}

TEST(SystemBuilder, RefusesBadMassesForcesAndSprings) {
  expect_messages({
      {[](S s, E x, E) { s.set_mass(x, x, -1); }, "mass of 'x' is -1, must be > 0"},
      {[](S s, E, E) { s.add_coordinate("z"); }, "mass of 'z' is 0, must be > 0"},
      {[](S s, E x, E y) { s.set_mass(x, y, s.velocity(x)); },
       "mass of 'x' and 'y' depends on 'v.x', may depend on x, y, t, pi only"},
      {[](S s, E x, E) { s.set_mass(x, 2 * x, 1); },
       "argument b is a formula, must be a coordinate of this system (x, y)"},
      {[](S s, E x, E) { s.add_force(s.velocity(x), 1); },
       "argument coordinate is v.x, must be a coordinate of this system (x, y)"},
      {[](S s, E, E) { (void)s.velocity(3); },
       "argument coordinate is 3, must be a coordinate of this system (x, y)"},
      {[](S s, E x, E) { s.set_potential(s.velocity(x)); },
       "potential depends on 'v.x', may depend on x, y, t, pi only"},
      {[](S s, E x, E) { s.add_spring({.name = "s", .extension = x, .stiffness = -1}); },
       "stiffness of spring 's' is -1, must be finite and >= 0"},
      {[](S s, E x, E) { s.add_spring({.name = "s", .extension = x, .damping = -2}); },
       "damping of spring 's' is -2, must be finite and >= 0"},
      {[](S s, E, E) {
         s.add_coordinate("z", {.position = std::numeric_limits<double>::infinity()});
       },
       "initial position of 'z' is inf, must be finite"},
      {[](S s, E, E) { s.set_potential(SystemBuilder().add_coordinate("x")); },
       "potential uses symbols of another pool than its system"},
  });
  EXPECT_THROW((void)SystemBuilder().build(), InputError);
}

}  // namespace
}  // namespace stiction
