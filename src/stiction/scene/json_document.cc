#include "stiction/scene/json_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "stiction/model/symbol_table.h"

namespace stiction {
namespace {

// The C library's classification depends on the locale; JSON does not.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word_character(char c) { return is_letter(c) || is_digit(c); }
bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

/// Bytes of the UTF-8 sequence at the beginning of `text`, 0 where it is not valid (Unicode 15,
/// table 3-7: the ranges of the second byte exclude overlong forms, surrogates and > U+10FFFF).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  for (std::size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return length;
}

void append_utf8(unsigned code_point, std::string& out) {
  const auto tail = [&](int shift) {
    out += static_cast<char>(0x80u | ((code_point >> shift) & 0x3fu));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xc0u | (code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xe0u | (code_point >> 12));
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0u | (code_point >> 18));
    tail(12), tail(6), tail(0);
  }
}

/// Whether a number that no double can hold is too small rather than too large: the sign of the
/// decimal exponent of its first nonzero digit. `number` follows the JSON grammar.
bool is_below_range(std::string_view number) {
  const std::size_t end = std::min(number.find_first_of("eE"), number.size());
  const std::string_view mantissa = number.substr(0, end);
  const auto point = static_cast<long long>(std::min(mantissa.find('.'), mantissa.size()));
  const auto first = static_cast<long long>(mantissa.find_first_of("123456789"));
  if (first < 0) return true;  // npos: zero with a huge exponent
  long long exponent = 0;
  if (end < number.size()) {
    std::string_view digits = number.substr(end + 1);
    if (digits.front() == '+') digits.remove_prefix(1);
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (result.ec == std::errc::result_out_of_range) return digits.front() == '-';
  }
  // No text is long enough for its digits to outweigh an exponent of that size.
  constexpr long long kFar = 1LL << 60;
  return point - first + std::clamp(exponent, -kFar, kFar) <= 0;
}

TextPosition after(std::string_view text, TextPosition position = {1, 1}) {
  for (const char c : text) {
    if (c == '\n')
      position = {position.line + 1, 1};
    else if (!is_continuation(c))
      ++position.column;
  }
  return position;
}

/// Recursive descent. Every function that reads returns false after an error it has reported.
class Parser {
 public:
  Parser(std::string_view text, Diagnostics& diagnostics)
      : text_(text), diagnostics_(diagnostics) {}

  bool read_document(JsonNode& document);

 private:
  enum class Next { kEntry, kEnd, kError };
  enum class Closing : char { kArray = ']', kObject = '}' };

  bool check_encoding();
  bool skip_space();
  bool skip_comment();
  bool read_value(JsonNode& node);
  bool read_nested(JsonNode& node);
  bool read_array(JsonNode& node);
  bool read_object(JsonNode& node);
  bool read_member(JsonNode& object);
  void drop_duplicates(JsonNode& object);
  Next read_separator(Closing closing, TextPosition opening);
  bool read_word(JsonNode& node);
  bool read_number(JsonNode& node);
  bool read_digits(std::string_view where);
  bool read_string(std::string& decoded, std::vector<JsonEscape>& escapes);
  bool read_escape(std::string& decoded);
  bool read_code_unit(unsigned& unit);
  bool read_unicode_escape(std::string& decoded);

  bool at_end() const { return next_ == text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return ahead < text_.size() - next_ ? text_[next_ + ahead] : '\0';
  }
  bool starts_with(std::string_view prefix) const {
    return text_.substr(next_).substr(0, prefix.size()) == prefix;
  }
  void advance(std::size_t bytes = 1) {
    position_ = after(text_.substr(next_, bytes), position_);
    next_ += bytes;
  }
  std::string found() const;
  std::string_view word_ahead() const;
  bool fail(TextPosition where, std::string message, std::string help = {}) {
    diagnostics_.error(where, path_, std::move(message), std::move(help));
    return false;
  }
  bool fail_expecting(std::string_view expected, std::string help = {}) {
    return fail(position_, fmt::format("found {}, expected {}", found(), expected),
                std::move(help));
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  std::size_t next_ = 0;
  TextPosition position_{1, 1};
  std::string path_;
  int depth_ = 0;
};

bool Parser::read_document(JsonNode& document) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  if (!check_encoding() || !skip_space()) return false;
  if (at_end()) return fail({1, 1}, "the text is empty, expected a JSON value");
  if (!read_value(document) || !skip_space()) return false;
  if (at_end()) return true;
  const bool is_closing = peek() == '}' || peek() == ']';
  return fail_expecting("the end of the text", is_closing ? "one closing bracket too many" : "");
}

/// Done once for the whole text, so that all else may count columns by leading bytes.
bool Parser::check_encoding() {
  if (text_.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return fail({}, "the text is larger than 2 GiB");
  for (std::size_t i = 0; i < text_.size();) {
    const std::size_t length = utf8_length(text_.substr(i));
    if (length == 0)
      return fail(after(text_.substr(0, i)),
                  fmt::format("invalid UTF-8: byte 0x{:02x}", static_cast<unsigned char>(text_[i])),
                  "save the file in the encoding UTF-8");
    i += length;
  }
  return true;
}

bool Parser::skip_space() {
  while (!at_end()) {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      advance();
    } else if (c == '/') {
      if (!skip_comment()) return false;
    } else {
      return true;
    }
  }
  return true;
}

bool Parser::skip_comment() {
  const std::string_view rest = text_.substr(next_);
  if (starts_with("//")) {
    advance(std::min(rest.find('\n'), rest.size()));
    return true;
  }
  if (!starts_with("/*"))
    return fail(position_, "found '/', expected a comment", "comments are // … or /* … */");
  const std::size_t end = rest.find("*/", 2);
  if (end == std::string_view::npos) return fail(position_, "comment is not closed by */");
  advance(end + 2);
  return true;
}

/// What stands here, for a message.
std::string Parser::found() const {
  if (at_end()) return "the end of the text";
  if (peek() == '"') return "a string";
  if (const std::string_view word = word_ahead(); !word.empty())
    return fmt::format("'{}'", excerpt(word));
  return fmt::format("'{}'", excerpt(text_.substr(next_, utf8_length(text_.substr(next_)))));
}

std::string_view Parser::word_ahead() const {
  std::size_t length = 0;
  while (is_word_character(peek(length))) ++length;
  return text_.substr(next_, length);
}

bool Parser::read_value(JsonNode& node) {
  node.position = position_;
  const char c = peek();
  if (c == '{' || c == '[') return read_nested(node);
  if (c == '"') {
    node.kind = JsonKind::kString;
    return read_string(node.string, node.escapes);
  }
  if (is_digit(c) || (c == '-' && !is_letter(peek(1)))) return read_number(node);
  if (is_letter(c) || ((c == '-' || c == '+') && is_letter(peek(1)))) return read_word(node);
  if (c == '\'') return fail_expecting("a value", "strings are written in double quotes");
  if (c == '+' || c == '.')
    return fail_expecting("a value", "a number begins with a digit or with '-' and a digit");
  return fail_expecting("a value");
}

bool Parser::read_nested(JsonNode& node) {
  if (depth_ == kMaxJsonDepth)
    return fail(position_, fmt::format("nested deeper than {} levels", kMaxJsonDepth));
  ++depth_;
  const bool is_good = peek() == '{' ? read_object(node) : read_array(node);
  --depth_;
  return is_good;
}

bool Parser::read_array(JsonNode& node) {
  node.kind = JsonKind::kArray;
  advance();
  if (!skip_space()) return false;
  if (peek() == ']') return advance(), true;
  const std::size_t path_length = path_.size();
  Next next = Next::kEntry;
  while (next == Next::kEntry) {
    path_ = item_path(path_, node.items.size());
    if (!read_value(node.items.emplace_back())) return false;
    path_.resize(path_length);
    next = read_separator(Closing::kArray, node.position);
  }
  return next == Next::kEnd;
}

bool Parser::read_object(JsonNode& node) {
  node.kind = JsonKind::kObject;
  advance();
  if (!skip_space()) return false;
  if (peek() == '}') return advance(), true;
  Next next = Next::kEntry;
  while (next == Next::kEntry) {
    if (!read_member(node)) return false;
    next = read_separator(Closing::kObject, node.position);
  }
  if (next == Next::kError) return false;
  drop_duplicates(node);
  return true;
}

bool Parser::read_member(JsonNode& object) {
  if (peek() != '"') return fail_expecting("a key in double quotes");
  JsonMember& member = object.members.emplace_back();
  member.key_position = position_;
  std::vector<JsonEscape> escapes;
  if (!read_string(member.key, escapes) || !skip_space()) return false;
  if (peek() != ':')
    return fail_expecting(fmt::format("':' after the key '{}'", excerpt(member.key)));
  advance();
  if (!skip_space()) return false;
  const std::size_t path_length = path_.size();
  path_ = member_path(path_, member.key);
  if (!read_value(member.node)) return false;
  path_.resize(path_length);
  return true;
}

/// Reports every key that repeats an earlier one, and removes it. By sorting, since an object of a
/// hostile text may have very many keys.
void Parser::drop_duplicates(JsonNode& object) {
  std::vector<JsonMember>& members = object.members;
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return members[a].key < members[b].key; });
  std::vector<bool> is_duplicate(members.size());
  for (std::size_t i = 1, first = 0; i < order.size(); ++i) {
    const JsonMember& member = members[order[i]];
    const JsonMember& earlier = members[order[first]];
    if (member.key != earlier.key) {
      first = i;
      continue;
    }
    is_duplicate[order[i]] = true;
    fail(member.key_position,
         fmt::format("duplicate key '{}', first given at line {}, column {}", excerpt(member.key),
                     earlier.key_position.line, earlier.key_position.column),
         "remove one of the two");
  }
  std::size_t index = 0;
  std::erase_if(members, [&](const JsonMember&) { return is_duplicate[index++]; });
}

Parser::Next Parser::read_separator(Closing closing, TextPosition opening) {
  if (!skip_space()) return Next::kError;
  const char close = static_cast<char>(closing);
  if (peek() == close) return advance(), Next::kEnd;
  if (peek() != ',') {
    std::string help = "perhaps a comma is missing before it";
    if (at_end() || peek() == '}' || peek() == ']' || peek() == ':')
      help = fmt::format("opened at line {}, column {}", opening.line, opening.column);
    fail_expecting(fmt::format("',' or '{}'", close), std::move(help));
    return Next::kError;
  }
  const TextPosition comma = position_;
  advance();
  if (!skip_space()) return Next::kError;
  if (peek() != close) return Next::kEntry;
  fail(comma, fmt::format("trailing comma before '{}'", close),
       "remove the comma: none follows the last entry");
  return Next::kError;
}

/// true, false and null; any other word is an error, with what was probably meant.
bool Parser::read_word(JsonNode& node) {
  const std::size_t sign = is_letter(peek()) ? 0 : 1;
  std::string word(text_.substr(next_, sign));
  for (std::size_t i = sign; is_word_character(peek(i)); ++i) word += peek(i);
  if (word == "true" || word == "false" || word == "null") {
    node.kind = word == "null" ? JsonKind::kNull : JsonKind::kBoolean;
    node.boolean = word == "true";
    advance(word.size());
    return true;
  }
  std::string lower = word.substr(sign);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (lower == "nan" || lower == "inf" || lower == "infinity")
    return fail(position_, fmt::format("{} is not a JSON number", word), "numbers must be finite");
  std::string help =
      fmt::format("text and expressions are written in double quotes: \"{}\"", excerpt(word));
  if (lower == "true" || lower == "false" || lower == "null")
    help = fmt::format("did you mean '{}'?", lower);
  if (lower == "none") help = "did you mean 'null'?";
  return fail(position_, fmt::format("found '{}', expected a value", excerpt(word)),
              std::move(help));
}

bool Parser::read_digits(std::string_view where) {
  if (!is_digit(peek())) return fail_expecting(fmt::format("a digit {}", where));
  while (is_digit(peek())) advance();
  return true;
}

/// number = [-] (0 | [1-9][0-9]*) [. [0-9]+] [(e|E) [+|-] [0-9]+]
bool Parser::read_number(JsonNode& node) {
  const std::size_t begin = next_;
  if (peek() == '-') advance();
  if (peek() == '0' && is_digit(peek(1)))
    return fail(node.position, "number begins with a superfluous 0");
  if (!read_digits("after '-'")) return false;
  if (peek() == '.') {
    advance();
    if (!read_digits("after the decimal point")) return false;
  }
  if (peek() == 'e' || peek() == 'E') {
    advance();
    if (peek() == '+' || peek() == '-') advance();
    if (!read_digits("in the exponent")) return false;
  }
  node.kind = JsonKind::kNumber;
  node.number_text = text_.substr(begin, next_ - begin);
  if (is_word_character(peek()) || peek() == '.')
    return fail(
        position_,
        fmt::format("found {} directly after the number {}", found(), excerpt(node.number_text)),
        "expressions are written in double quotes, e.g. \"2*pi\"");
  const char* const first = node.number_text.data();
  const auto result = std::from_chars(first, first + node.number_text.size(), node.number);
  if (result.ec == std::errc::result_out_of_range)
    node.number = is_below_range(node.number_text) ? 0 : std::numeric_limits<double>::infinity();
  if (std::isfinite(node.number)) return true;
  return fail(node.position, fmt::format("number out of range: {}", excerpt(node.number_text)),
              "the largest double is about 1.8e308");
}

bool Parser::read_string(std::string& decoded, std::vector<JsonEscape>& escapes) {
  const TextPosition opening = position_;
  int total_extra = 0;
  advance();
  while (peek() != '"') {
    if (at_end() || peek() == '\n' || starts_with("\r\n"))
      return fail(opening, "string is not closed on its line",
                  "end it with a double quote; a line break inside is written \\n");
    if (peek() == '\\') {
      const int before = position_.column;
      if (!read_escape(decoded)) return false;
      const int extra = position_.column - before - 1;
      escapes.push_back({.column = before - opening.column - total_extra, .extra = extra});
      total_extra += extra;
    } else if (static_cast<unsigned char>(peek()) < 0x20) {
      const auto code = static_cast<unsigned char>(peek());
      return fail(position_, fmt::format("control character U+{:04X} in a string", code),
                  fmt::format("write \\u{:04x}{}", code, code == '\t' ? " or \\t" : ""));
    } else {
      decoded += peek();
      advance();
    }
  }
  advance();
  return true;
}

bool Parser::read_escape(std::string& decoded) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (peek(1) == 'u') return read_unicode_escape(decoded);
  const std::size_t index = peek(1) == '\0' ? kLetters.npos : kLetters.find(peek(1));
  if (index == kLetters.npos)
    return fail(position_,
                fmt::format("unknown escape '\\{}' in a string",
                            excerpt(text_.substr(next_ + 1, utf8_length(text_.substr(next_ + 1))))),
                "known: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX; a backslash itself is \\\\");
  decoded += kMeanings[index];
  advance(2);
  return true;
}

/// \uXXXX
bool Parser::read_code_unit(unsigned& unit) {
  const std::string_view digits = text_.substr(next_).substr(0, 6).substr(2);
  const char* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, unit, 16);
  // from_chars takes a sign for signed types only, so four bytes read are four digits.
  if (result.ec != std::errc{} || result.ptr != end || digits.size() != 4)
    return fail(position_, "\\u is not followed by four hexadecimal digits");
  advance(6);
  return true;
}

/// \uXXXX, or a surrogate pair of them for a code point above U+FFFF.
bool Parser::read_unicode_escape(std::string& decoded) {
  const TextPosition where = position_;
  unsigned code_point = 0;
  if (!read_code_unit(code_point)) return false;
  if (code_point >= 0xd800 && code_point <= 0xdfff) {
    unsigned low = 0;
    const bool is_high = code_point <= 0xdbff;
    if (is_high && starts_with("\\u") && !read_code_unit(low)) return false;
    if (low < 0xdc00 || low > 0xdfff)
      return fail(where, fmt::format("\\u{:04x} is half of a surrogate pair", code_point),
                  "characters above U+FFFF are written as two escapes, \\ud800–\\udbff first");
    code_point = 0x10000 + ((code_point - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(code_point, decoded);
  return true;
}

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const {
  for (const JsonMember& member : members)
    if (member.key == key) return &member.node;
  return nullptr;
}

TextPosition JsonNode::position_in_string(int column) const {
  const auto length =
      std::count_if(string.begin(), string.end(), [](char c) { return !is_continuation(c); });
  column = std::clamp(column, 1, static_cast<int>(length) + 1);
  TextPosition result{position.line, position.column + column};
  for (const JsonEscape& escape : escapes)
    if (escape.column < column) result.column += escape.extra;
  return result;
}

std::optional<JsonNode> parse_json(std::string_view text, Diagnostics& diagnostics) {
  JsonNode document;
  if (!Parser(text, diagnostics).read_document(document)) return std::nullopt;
  return document;
}

std::string member_path(std::string_view path, std::string_view key) {
  if (!is_identifier(key)) return fmt::format("{}['{}']", path, excerpt(key));
  return fmt::format("{}{}{}", path, path.empty() ? "" : ".", excerpt(key));
}

std::string item_path(std::string_view path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

std::string excerpt(std::string_view text) {
  constexpr int kMaxCharacters = 40;
  std::string result;
  int num_characters = 0;
  for (const char c : text) {
    if (!is_continuation(c) && ++num_characters > kMaxCharacters) return result + "…";
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result;
}

std::string describe(const JsonNode& node) {
  const auto counted = [](std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  switch (node.kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBoolean:
      return fmt::format("a boolean ({})", node.boolean);
    case JsonKind::kNumber:
      return fmt::format("a number ({})", excerpt(node.number_text));
    case JsonKind::kString:
      return fmt::format("a string (\"{}\")", excerpt(node.string));
    case JsonKind::kArray:
      return fmt::format("an array ({})", counted(node.items.size(), "item"));
    case JsonKind::kObject:
      break;
  }
  return fmt::format("an object ({})", counted(node.members.size(), "key"));
}

}  // namespace stiction
