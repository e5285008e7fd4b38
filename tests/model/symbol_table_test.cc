#include "stiction/model/symbol_table.h"

#include <gtest/gtest.h>

#include <numbers>

#include "stiction/base/error.h"

namespace stiction {
namespace {

TEST(SymbolTable, KnowsCoordinatesVelocitiesTimeAndPi) {
  const auto pool = std::make_shared<ExpressionPool>();
  const std::vector<std::string> coordinates{"y", "phi"};
  const SymbolTable table = make_symbol_table(pool, coordinates);
  EXPECT_EQ(table.names(), (std::vector<std::string>{"y", "phi", "v.y", "v.phi", "t", "pi"}));
  EXPECT_EQ(table.find("v.phi")->symbol_name(), "v.phi");
  EXPECT_TRUE(table.find("pi")->is_constant(std::numbers::pi));
  EXPECT_FALSE(table.find("phi_S"));
}

TEST(SymbolTable, RefusesBadNames) {
  SymbolTable table;
  table.add("m", 2);
  EXPECT_THROW(table.add("m", 3), InputError);
  EXPECT_THROW(table.add("pi", 3), InputError);
  EXPECT_THROW(table.add("", 3), InputError);
  EXPECT_THROW(table.add("2x", 3), InputError);
  EXPECT_THROW(table.add("a-b", 3), InputError);
  const std::vector<std::string> reserved{"t"};
  EXPECT_THROW(make_symbol_table(std::make_shared<ExpressionPool>(), reserved), InputError);
}

TEST(SymbolTable, NamesMayBeInAnyScript) {
  EXPECT_TRUE(is_identifier("φ_S"));
  EXPECT_TRUE(is_identifier("_x1"));
  EXPECT_FALSE(is_identifier("1x"));
  EXPECT_FALSE(is_identifier("a.b"));
}

}  // namespace
}  // namespace stiction
