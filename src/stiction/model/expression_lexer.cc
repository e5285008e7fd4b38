#include "stiction/model/expression_lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "stiction/model/symbol_table.h"

namespace stiction {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t num_digits(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - std::min(from, end);
}

std::size_t identifier_length(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() &&
         (is_identifier(text.substr(end, 1)) || (end > 0 && is_digit(text[end]))))
    ++end;
  return end;
}

}  // namespace

void ExpressionLexer::advance() {
  while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  std::size_t length = 0;
  const Token::Kind kind = classify(length);
  token_ = {kind, text_.substr(position_, length), static_cast<int>(position_)};
  position_ += length;
}

Token::Kind ExpressionLexer::classify(std::size_t& length) const {
  const std::string_view rest = text_.substr(position_);
  if (rest.empty()) return Token::Kind::kEnd;
  if ((length = name_length()) > 0) return Token::Kind::kName;
  if ((length = number_length()) > 0) return Token::Kind::kNumber;
  length = 1;
  if (rest.starts_with("<=") || rest.starts_with(">=")) length = 2;
  constexpr std::string_view kSigns = "+-*/^()<>,";
  return kSigns.find(rest.front()) == std::string_view::npos ? Token::Kind::kBad
                                                             : Token::Kind::kSign;
}

/// A name, or v.NAME as one.
std::size_t ExpressionLexer::name_length() const {
  const std::string_view rest = text_.substr(position_);
  const std::size_t length = identifier_length(rest);
  if (rest.substr(0, length) != "v" || length == rest.size() || rest[length] != '.') return length;
  const std::size_t coordinate = identifier_length(rest.substr(length + 1));
  return coordinate == 0 ? length : length + 1 + coordinate;
}

/// 12, 1.5, 5., .5, each with an optional exponent; 0 if there is no number here.
std::size_t ExpressionLexer::number_length() const {
  const std::string_view rest = text_.substr(position_);
  std::size_t length = num_digits(rest, 0);
  std::size_t digits = length;
  if (length < rest.size() && rest[length] == '.') {
    digits += num_digits(rest, length + 1);
    length = digits + 1;
  }
  if (digits == 0) return 0;
  if (length == rest.size() || (rest[length] != 'e' && rest[length] != 'E')) return length;
  std::size_t exponent = length + 1;
  if (exponent < rest.size() && (rest[exponent] == '+' || rest[exponent] == '-')) ++exponent;
  const std::size_t exponent_digits = num_digits(rest, exponent);
  return exponent_digits == 0 ? length : exponent + exponent_digits;
}

int ExpressionLexer::column(int position) const {
  const std::string_view before = text_.substr(0, static_cast<std::size_t>(position));
  const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; };
  return 1 + static_cast<int>(std::count_if(before.begin(), before.end(), starts_character));
}

std::string token_text(const Token& token) {
  if (token.kind == Token::Kind::kEnd) return "the end";
  const auto first = static_cast<unsigned char>(token.text.front());
  if (first < 0x20 || first == 0x7F) return fmt::format("character 0x{:02X}", first);
  return fmt::format("'{}'", token.text);
}

}  // namespace stiction
