#include "stiction/solve/solvers.h"

#include <gtest/gtest.h>

#include "stiction/base/error.h"

namespace stiction {
namespace {

TEST(Solvers, EveryNameMakesASolver) {
  for (const std::string& name : solver_names()) {
    const auto solver = make_solver(name);
    ASSERT_NE(solver, nullptr);
    EXPECT_EQ(solver->name(), name);
  }
}

TEST(Solvers, PublishedMethodsHaveNamesOfTheirOwn) {
  for (const std::string& name : published_solver_names()) {
    const auto solver = make_solver(name);
    ASSERT_NE(solver, nullptr);
    EXPECT_TRUE(name.starts_with(solver->name())) << name;  // variants of a method
  }
  EXPECT_EQ(all_solver_names().size(), solver_names().size() + published_solver_names().size());
}

TEST(Solvers, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    make_solver("lemkee");
    FAIL();
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("lemkee"), std::string::npos) << message;
    for (const std::string& name : all_solver_names())
      EXPECT_NE(message.find(name), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace stiction
