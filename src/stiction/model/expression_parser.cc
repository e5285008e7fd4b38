#include "stiction/model/expression_parser.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "stiction/base/check.h"
#include "stiction/base/text.h"
#include "stiction/model/expression_lexer.h"

namespace stiction {
namespace {

/// Characters that look like operators but are letters to us.
std::string typographic_help(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTypographic = {{
      {"−", "write - for minus"},
      {"–", "write - for minus"},
      {"·", "write * for a product"},
      {"×", "write * for a product"},
      {"²", "write ^2 for a square"},
      {"³", "write ^3 for a cube"},
  }};
  for (const auto& [letter, help] : kTypographic)
    if (name.find(letter) != std::string_view::npos) return std::string(help);
  return {};
}

/// "did you mean 'b'? known: a, b, c"
std::string known_names_help(std::string_view word, const std::vector<std::string>& names) {
  const std::string help = suggestion(word, names);
  return help.starts_with("known") ? help : fmt::format("{} known: {}", help, joined(names));
}

/// Recursive descent; after the first fault every function returns at once with no node.
///
///   comparison = sum [("<" | "<=" | ">" | ">=") sum]
///   sum        = product {("+" | "-") product}
///   product    = unary {("*" | "/") unary}
///   unary      = ("-" | "+") unary | power
///   power      = primary ["^" unary]
///   primary    = number | name | name "(" comparison {"," comparison} ")" | "(" comparison ")"
class Parser {
 public:
  Parser(std::string_view text, const SymbolTable& symbols, ExpressionPool& pool)
      : lexer_(text), symbols_(symbols), pool_(pool) {}

  NodeId parse();
  std::optional<ParseError> error() const { return error_; }

 private:
  NodeId comparison();
  NodeId sum();
  NodeId product();
  NodeId unary();
  NodeId power();
  NodeId primary();
  NodeId number();
  NodeId name();
  NodeId call(const Token& name);
  NodeId parenthesis();
  NodeId look_up(const Token& name);
  bool read_arguments(std::vector<NodeId>& arguments);
  bool close(const Token& opening, std::string_view expected);

  NodeId combine(const Token& place, Operation operation, NodeId a, NodeId b = NodeId::kNone,
                 NodeId c = NodeId::kNone);
  NodeId fail(const Token& place, std::string message, std::string help = {});
  NodeId fail_after_operand();
  Token take() {
    const Token token = lexer_.token();
    lexer_.advance();
    return token;
  }
  bool is_at(std::string_view sign) const { return !error_ && lexer_.is_at(sign); }

  ExpressionLexer lexer_;
  const SymbolTable& symbols_;
  ExpressionPool& pool_;
  std::optional<ParseError> error_;
  int depth_ = 0;
};

NodeId Parser::fail(const Token& place, std::string message, std::string help) {
  if (!error_)
    error_ = ParseError{lexer_.column(place.position), std::move(message), std::move(help)};
  return NodeId::kNone;
}

/// An operation with `place` as its culprit should it not be finite.
NodeId Parser::combine(const Token& place, Operation operation, NodeId a, NodeId b, NodeId c) {
  if (error_) return NodeId::kNone;
  if (operation == Operation::kDivide && pool_.is_constant(b, 0))
    return fail(place, "division by zero");
  const NodeId result = pool_.make(operation, a, b, c);
  if (pool_.is_constant(result)) return result;
  std::vector<double> values;
  for (const NodeId operand : {a, b, c}) {
    if (operand == NodeId::kNone) continue;
    if (!pool_.is_constant(operand)) return result;
    values.push_back(pool_.node(operand).value);
  }
  // Constants always fold to a constant unless that is not finite.
  return fail(place, operation_text(operation, values) + " is not finite");
}

NodeId Parser::parse() {
  if (lexer_.token().kind == Token::Kind::kEnd)
    return fail({}, "the expression is empty", "write 0 for nothing");
  const NodeId result = comparison();
  if (!error_ && lexer_.token().kind != Token::Kind::kEnd) return fail_after_operand();
  return result;
}

/// The token after a complete operand is no operator.
NodeId Parser::fail_after_operand() {
  const Token& found = lexer_.token();
  if (lexer_.is_at(")")) return fail(found, "')' has no matching '('");
  std::string help;
  if (found.kind == Token::Kind::kName) help = typographic_help(found.text);
  if (found.text == "=") help = "an equation is written without '= 0', its left side only";
  if (found.text == "<" || found.text == ">" || found.text == "<=" || found.text == ">=")
    return fail(found, "comparisons cannot be chained", "use parentheses, or min and max");
  const bool starts_operand =
      found.kind == Token::Kind::kName || found.kind == Token::Kind::kNumber || lexer_.is_at("(");
  if (help.empty() && starts_operand) help = "write * between factors";
  return fail(found, fmt::format("expected an operator, found {}", token_text(found)), help);
}

NodeId Parser::comparison() {
  const NodeId left = sum();
  const bool is_less = is_at("<"), is_less_equal = is_at("<=");
  if (!is_less && !is_less_equal && !is_at(">") && !is_at(">=")) return left;
  const Token sign = take();
  const NodeId right = sum();
  if (is_less || is_less_equal)
    return combine(sign, is_less ? Operation::kLess : Operation::kLessEqual, left, right);
  const bool is_greater = sign.text == ">";
  return combine(sign, is_greater ? Operation::kLess : Operation::kLessEqual, right, left);
}

NodeId Parser::sum() {
  NodeId result = product();
  while (is_at("+") || is_at("-")) {
    const Token sign = take();
    const Operation operation = sign.text == "+" ? Operation::kAdd : Operation::kSubtract;
    result = combine(sign, operation, result, product());
  }
  return result;
}

NodeId Parser::product() {
  NodeId result = unary();
  while (is_at("*") || is_at("/")) {
    const Token sign = take();
    if (sign.text == "*" && is_at("*"))
      return fail(lexer_.token(), "expected a number, a name or '(', found '*'",
                  "write ^ for powers");
    const Operation operation = sign.text == "*" ? Operation::kMultiply : Operation::kDivide;
    result = combine(sign, operation, result, unary());
  }
  return result;
}

/// Every recursion of the grammar passes here, so here its depth is limited.
NodeId Parser::unary() {
  if (error_) return NodeId::kNone;
  if (depth_ >= kMaxNesting)
    return fail(lexer_.token(),
                fmt::format("the expression is nested deeper than {} levels", kMaxNesting));
  ++depth_;
  NodeId result = NodeId::kNone;
  if (is_at("-") || is_at("+")) {
    const Token sign = take();
    result = unary();
    if (sign.text == "-") result = combine(sign, Operation::kNegate, result);
  } else {
    result = power();
  }
  --depth_;
  return result;
}

NodeId Parser::power() {
  const NodeId base = primary();
  if (!is_at("^")) return base;
  const Token sign = take();
  return combine(sign, Operation::kPower, base, unary());
}

NodeId Parser::primary() {
  const Token& found = lexer_.token();
  if (found.kind == Token::Kind::kNumber) return number();
  if (found.kind == Token::Kind::kName) return name();
  if (is_at("(")) return parenthesis();
  return fail(found, fmt::format("expected a number, a name or '(', found {}", token_text(found)));
}

NodeId Parser::number() {
  const Token token = take();
  double value = 0;
  const char* const end = token.text.data() + token.text.size();
  const auto [stop, status] = std::from_chars(token.text.data(), end, value);
  if (status == std::errc::result_out_of_range)
    return fail(token, fmt::format("number {} is out of range", token.text),
                "numbers have magnitudes from 2.3e-308 to 1.7e308");
  ST_DEMAND(status == std::errc() && stop == end);  // the lexer lets only numbers through
  return pool_.constant(value);
}

NodeId Parser::name() {
  const Token token = take();
  return is_at("(") ? call(token) : look_up(token);
}

NodeId Parser::look_up(const Token& name) {
  if (const auto meaning = symbols_.find(name.text)) return meaning->node_in(pool_);
  if (const auto function = find_function(name.text))
    return fail(name, fmt::format("'{}' is a function, expected its arguments", name.text),
                fmt::format("write {}(…)", name.text));
  std::string help = typographic_help(name.text);
  if (is_velocity_name(name.text) && symbols_.contains(name.text.substr(2)))
    help = "velocities cannot be used here";
  if (help.empty()) help = known_names_help(name.text, symbols_.names());
  return fail(name, fmt::format("unknown symbol '{}'", name.text), help);
}

NodeId Parser::call(const Token& name) {
  const auto function = find_function(name.text);
  if (!function && symbols_.contains(name.text))
    return fail(name, fmt::format("'{}' is not a function", name.text), "write * between factors");
  if (!function)
    return fail(name, fmt::format("unknown function '{}'", name.text),
                known_names_help(name.text, known_function_names()));
  std::vector<NodeId> arguments;
  if (!read_arguments(arguments)) return NodeId::kNone;
  const auto expected = static_cast<std::size_t>(function->num_arguments);
  if (arguments.size() != expected)
    return fail(name, fmt::format("{} takes {} argument{}, found {}", name.text, expected,
                                  expected == 1 ? "" : "s", arguments.size()));
  arguments.resize(3, NodeId::kNone);
  return combine(name, function->operation, arguments[0], arguments[1], arguments[2]);
}

bool Parser::read_arguments(std::vector<NodeId>& arguments) {
  const Token opening = take();
  if (is_at(")")) {
    take();
    return true;
  }
  arguments.push_back(comparison());
  while (is_at(",")) {
    take();
    arguments.push_back(comparison());
  }
  return close(opening, "',' or ')'");
}

NodeId Parser::parenthesis() {
  const Token opening = take();
  const NodeId result = comparison();
  return close(opening, "')'") ? result : NodeId::kNone;
}

/// Takes the ')' of `opening`.
bool Parser::close(const Token& opening, std::string_view expected) {
  if (error_) return false;
  if (is_at(")")) {
    take();
    return true;
  }
  if (lexer_.token().kind == Token::Kind::kEnd)
    fail(opening, "'(' is not closed", fmt::format("expected {} before the end", expected));
  else if (is_at(","))
    fail(lexer_.token(), "expected an operator or ')', found ','",
         "a comma separates arguments of a function; decimals are written with a point");
  else
    fail_after_operand();
  return false;
}

}  // namespace

ParseResult parse_expression(std::string_view text, const SymbolTable& symbols,
                             const std::shared_ptr<ExpressionPool>& pool) {
  Parser parser(text, symbols, *pool);
  const NodeId root = parser.parse();
  if (auto error = parser.error()) return {.expression = {}, .error = std::move(error)};
  return {.expression = Expression(pool, root), .error = {}};
}

}  // namespace stiction
