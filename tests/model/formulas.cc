#include "tests/model/formulas.h"

#include <gtest/gtest.h>

namespace stiction::testing {

Expression Formulas::parse(const std::string& text) const {
  const ParseResult result = parse_expression(text, symbols, pool);
  if (result.error) ADD_FAILURE() << text << ": " << result.error->message;
  return result.expression.value_or(Expression(0));
}

double Formulas::value(const Expression& f, double x_value, double y_value, double z_value) const {
  const std::vector<Expression> inputs{x, y, z, t};
  const double values[] = {x_value, y_value, z_value, 0};
  double result = 0;
  Tape({&f, 1}, inputs).evaluate(values, &result);
  return result;
}

}  // namespace stiction::testing
