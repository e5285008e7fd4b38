// Splits the text of a formula into tokens. Part of the parser (expression_parser.h).
#pragma once

#include <string>
#include <string_view>

namespace stiction {

struct Token {
  enum class Kind { kEnd, kNumber, kName, kSign, kBad };

  Kind kind = Kind::kEnd;
  std::string_view text;  // in the formula; of a velocity "v.NAME"; of a sign one or two characters
  int position = 0;       // [bytes] from the beginning of the formula
};

class ExpressionLexer {
 public:
  explicit ExpressionLexer(std::string_view text) : text_(text) { advance(); }

  const Token& token() const { return token_; }
  bool is_at(std::string_view sign) const {
    return token_.kind == Token::Kind::kSign && token_.text == sign;
  }
  void advance();
  /// 1-based column in characters of a position in bytes.
  int column(int position) const;

 private:
  Token::Kind classify(std::size_t& length) const;
  std::size_t name_length() const;
  std::size_t number_length() const;

  std::string_view text_;
  std::size_t position_ = 0;
  Token token_;
};

/// A token for a message: "'x'", "the end", "character 0x07".
std::string token_text(const Token& token);

}  // namespace stiction
