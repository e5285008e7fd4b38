#include "stiction/scene/json_document.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stiction/base/random.h"

namespace stiction {
namespace {

/// The document of a text that must be free of errors.
JsonNode parsed(std::string_view text) {
  Diagnostics diagnostics("f");
  const auto document = parse_json(text, diagnostics);
  EXPECT_EQ(diagnostics.to_text(), "");
  return document.value_or(JsonNode{});
}

/// The messages of a text that must not give a document.
std::string refusal(std::string_view text) {
  Diagnostics diagnostics("f");
  EXPECT_FALSE(parse_json(text, diagnostics).has_value()) << text;
  return diagnostics.to_text();
}

void expect_position(TextPosition actual, int line, int column) {
  EXPECT_EQ(actual.line, line);
  EXPECT_EQ(actual.column, column);
}

TEST(JsonDocument, KeepsEveryValueAndItsPosition) {
  const JsonNode root = parsed("{\"a\": [1, true,\n  null],\n \"b\" : {\"c\": \"x\"}}");
  ASSERT_TRUE(root.is_object());
  expect_position(root.position, 1, 1);
  ASSERT_EQ(root.members.size(), 2u);
  EXPECT_EQ(root.members[0].key, "a");
  expect_position(root.members[0].key_position, 1, 2);
  expect_position(root.members[1].key_position, 3, 2);

  const JsonNode* a = root.find("a");
  ASSERT_TRUE(a != nullptr && a->is_array());
  expect_position(a->position, 1, 7);
  ASSERT_EQ(a->items.size(), 3u);
  EXPECT_TRUE(a->items[0].is_number());
  EXPECT_EQ(a->items[0].number, 1);
  EXPECT_TRUE(a->items[1].is_boolean());
  EXPECT_TRUE(a->items[1].boolean);
  expect_position(a->items[1].position, 1, 11);
  EXPECT_TRUE(a->items[2].is_null());
  expect_position(a->items[2].position, 2, 3);

  const JsonNode* c = root.find("b")->find("c");
  ASSERT_TRUE(c != nullptr && c->is_string());
  EXPECT_EQ(c->string, "x");
  expect_position(c->position, 3, 14);
  EXPECT_EQ(root.find("c"), nullptr);
  EXPECT_EQ(c->find("c"), nullptr);
}

TEST(JsonDocument, ColumnsCountCodePoints) {
  const JsonNode root = parsed("{\"μφ\": \"😀\", \"x\": 1}");
  expect_position(root.find("μφ")->position, 1, 8);
  expect_position(root.members[1].key_position, 1, 13);
}

TEST(JsonDocument, WindowsLineEndsAndByteOrderMarkDoNotShiftPositions) {
  const JsonNode root = parsed("\xef\xbb\xbf{\r\n\"x\": 1}\r\n");
  expect_position(root.position, 1, 1);
  expect_position(root.find("x")->position, 2, 6);
}

TEST(JsonDocument, CommentsAreSpace) {
  const JsonNode root = parsed(
      "// head\n/* two\nlines ** / */ { // μ\n \"a\" /*k*/ : /**/ 1 // \"b\": 2,\n, \"url\": "
      "\"http://x/*y*/\" } "
      "// last");
  expect_position(root.position, 3, 15);
  EXPECT_EQ(root.find("a")->number, 1);
  EXPECT_EQ(root.find("url")->string, "http://x/*y*/");
  EXPECT_EQ(root.members.size(), 2u);
}

TEST(JsonDocument, NumbersKeepTheirTextAndValue) {
  const JsonNode root = parsed("[0, -0, 12.50, 1e-3, 2E+2, 0.1, 1e-400, 0e999999999999999999999]");
  const std::vector<double> expected = {0, -0.0, 12.5, 1e-3, 200, 0.1, 0, 0};
  ASSERT_EQ(root.items.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(root.items[i].number, expected[i]);
  EXPECT_EQ(root.items[2].number_text, "12.50");
  EXPECT_EQ(root.items[4].number_text, "2E+2");
}

TEST(JsonDocument, NumbersAtTheEdgesOfTheRangeAreRead) {
  EXPECT_EQ(parsed("1.7976931348623157e308").number, std::numeric_limits<double>::max());
  EXPECT_EQ(parsed("4.9e-324").number, std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(parsed("0." + std::string(400, '0') + "1").number, 0);
  EXPECT_EQ(parsed("0." + std::string(400, '0') + "1e401").number, 1);
  EXPECT_EQ(parsed("-1e-99999999999999999999").number, 0);
}

TEST(JsonDocument, NumbersBeyondTheRangeAreRefused) {
  EXPECT_EQ(refusal("[1, 1e309]"),
            "f:1:5: error: [1]: number out of range: 1e309\n"
            "  help: the largest double is about 1.8e308\n");
  EXPECT_EQ(refusal("-1e99999999999999999999"),
            "f:1:1: error: number out of range: -1e99999999999999999999\n"
            "  help: the largest double is about 1.8e308\n");
  EXPECT_NE(refusal("1" + std::string(400, '0')).find("number out of range: 1000"),
            std::string::npos);
  EXPECT_NE(refusal("0.01e+400").find("number out of range"), std::string::npos);
}

TEST(JsonDocument, NotFiniteLiteralsAreRefused) {
  for (const std::string word : {"NaN", "nan", "Infinity", "-Infinity", "+inf", "-NaN"})
    EXPECT_EQ(refusal("{\"h\": " + word + "}"), "f:1:7: error: h: " + word +
                                                    " is not a JSON number\n"
                                                    "  help: numbers must be finite\n");
}

TEST(JsonDocument, MalformedNumbersSayWhatIsMissing) {
  EXPECT_EQ(refusal("01"), "f:1:1: error: number begins with a superfluous 0\n");
  EXPECT_EQ(refusal("-"), "f:1:2: error: found the end of the text, expected a digit after '-'\n");
  EXPECT_EQ(refusal("[1.]"),
            "f:1:4: error: [0]: found ']', expected a digit after the decimal point\n");
  EXPECT_EQ(refusal("[1e+]"), "f:1:5: error: [0]: found ']', expected a digit in the exponent\n");
  EXPECT_EQ(refusal("[.5]"),
            "f:1:2: error: [0]: found '.', expected a value\n"
            "  help: a number begins with a digit or with '-' and a digit\n");
  EXPECT_EQ(refusal("[+5]"),
            "f:1:2: error: [0]: found '+', expected a value\n"
            "  help: a number begins with a digit or with '-' and a digit\n");
  EXPECT_EQ(refusal("[2pi]"),
            "f:1:3: error: [0]: found 'pi' directly after the number 2\n"
            "  help: expressions are written in double quotes, e.g. \"2*pi\"\n");
  EXPECT_EQ(refusal("0x10"),
            "f:1:2: error: found 'x10' directly after the number 0\n"
            "  help: expressions are written in double quotes, e.g. \"2*pi\"\n");
  EXPECT_NE(refusal("1.2.3").find("found '.' directly after the number 1.2"), std::string::npos);
}

TEST(JsonDocument, UnknownWordsAreRefusedWithWhatWasMeant) {
  EXPECT_EQ(refusal("{\"a\": True}"),
            "f:1:7: error: a: found 'True', expected a value\n"
            "  help: did you mean 'true'?\n");
  EXPECT_EQ(refusal("None"),
            "f:1:1: error: found 'None', expected a value\n"
            "  help: did you mean 'null'?\n");
  EXPECT_EQ(refusal("{\"gap\": y}"),
            "f:1:9: error: gap: found 'y', expected a value\n"
            "  help: text and expressions are written in double quotes: \"y\"\n");
  EXPECT_EQ(refusal("'a'"),
            "f:1:1: error: found ''', expected a value\n"
            "  help: strings are written in double quotes\n");
}

TEST(JsonDocument, SyntaxErrorsSayWhatWasFoundAndExpected) {
  EXPECT_EQ(refusal(""), "f:1:1: error: the text is empty, expected a JSON value\n");
  EXPECT_EQ(refusal(" \n // nothing\n"),
            "f:1:1: error: the text is empty, expected a JSON value\n");
  EXPECT_EQ(refusal("{mu: 1}"), "f:1:2: error: found 'mu', expected a key in double quotes\n");
  EXPECT_EQ(refusal("{\"mu\" 1}"), "f:1:7: error: found '1', expected ':' after the key 'mu'\n");
  EXPECT_EQ(refusal("{\"mu\": }"), "f:1:8: error: mu: found '}', expected a value\n");
  EXPECT_EQ(refusal("{\"a\": 1\n \"b\": 2}"),
            "f:2:2: error: found a string, expected ',' or '}'\n"
            "  help: perhaps a comma is missing before it\n");
  EXPECT_EQ(refusal("{\"a\": [1, 2}"),
            "f:1:12: error: a: found '}', expected ',' or ']'\n"
            "  help: opened at line 1, column 7\n");
  EXPECT_EQ(refusal("{\"a\": 1,\n\"b\": {"),
            "f:2:7: error: b: found the end of the text, expected a key in double quotes\n");
  EXPECT_EQ(refusal("\n{\"a\": 1"),
            "f:2:8: error: found the end of the text, expected ',' or '}'\n"
            "  help: opened at line 2, column 1\n");
  EXPECT_EQ(refusal("{} φ"), "f:1:4: error: found 'φ', expected the end of the text\n");
  EXPECT_EQ(refusal("{}}"),
            "f:1:3: error: found '}', expected the end of the text\n"
            "  help: one closing bracket too many\n");
  EXPECT_EQ(refusal("[\x07]"), "f:1:2: error: [0]: found '\\u0007', expected a value\n");
}

TEST(JsonDocument, TrailingCommasAreRefusedAtTheComma) {
  EXPECT_EQ(refusal("[1, 2,\n]"),
            "f:1:6: error: trailing comma before ']'\n"
            "  help: remove the comma: none follows the last entry\n");
  EXPECT_EQ(refusal("{\"a\": {\"b\": 1, /* c */ }}"),
            "f:1:14: error: a: trailing comma before '}'\n"
            "  help: remove the comma: none follows the last entry\n");
  EXPECT_EQ(refusal("[,1]"), "f:1:2: error: [0]: found ',', expected a value\n");
}

TEST(JsonDocument, MalformedCommentsAreRefused) {
  EXPECT_EQ(refusal("{} /* open *"), "f:1:4: error: comment is not closed by */\n");
  EXPECT_EQ(refusal("/*/ {}"), "f:1:1: error: comment is not closed by */\n");
  EXPECT_EQ(refusal("{ / }"),
            "f:1:3: error: found '/', expected a comment\n"
            "  help: comments are // … or /* … */\n");
}

TEST(JsonDocument, DuplicateKeysNameBothPlacesAndReadingGoesOn) {
  Diagnostics diagnostics("f");
  const auto root = parse_json(
      "{\"c\": {\"mu\": 1,\n \"e\": 2, \"mu\": 3,\n \"\\u006du\": 4}, \"d\": [{\"x\": 1, \"x\": "
      "2}]}",
      diagnostics);
  EXPECT_EQ(diagnostics.to_text(),
            "f:2:10: error: c: duplicate key 'mu', first given at line 1, column 8\n"
            "  help: remove one of the two\n"
            "f:3:2: error: c: duplicate key 'mu', first given at line 1, column 8\n"
            "  help: remove one of the two\n"
            "f:3:32: error: d[0]: duplicate key 'x', first given at line 3, column 24\n"
            "  help: remove one of the two\n");
  ASSERT_TRUE(root.has_value());
  const JsonNode* c = root->find("c");
  ASSERT_EQ(c->members.size(), 2u);
  EXPECT_EQ(c->find("mu")->number, 1);
  EXPECT_EQ(c->find("e")->number, 2);
}

TEST(JsonDocument, AllEscapesAreDecoded) {
  EXPECT_EQ(parsed("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"").string, "\"\\/\b\f\n\r\t");
  EXPECT_EQ(parsed("\"\\u0041\\u00e9\\u20AC\\uD83D\\ude00\"").string, "Aé€😀");
  EXPECT_EQ(parsed("\"\\u0000\"").string, std::string(1, '\0'));
  EXPECT_EQ(parsed("\"\\uffff\\udbff\\udfff\"").string, "\xef\xbf\xbf\xf4\x8f\xbf\xbf");
}

TEST(JsonDocument, MalformedStringsAreRefusedAtTheirFault) {
  const std::string open_help =
      "  help: end it with a double quote; a line break inside is written \\n\n";
  EXPECT_EQ(refusal("{\"a\": \"xyz"),
            "f:1:7: error: a: string is not closed on its line\n" + open_help);
  EXPECT_EQ(refusal("[\"xyz\r\n\"]"),
            "f:1:2: error: [0]: string is not closed on its line\n" + open_help);
  EXPECT_EQ(refusal("[\"a\tb\"]"),
            "f:1:4: error: [0]: control character U+0009 in a string\n"
            "  help: write \\u0009 or \\t\n");
  const std::string escape_help =
      "  help: known: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX; a backslash itself is \\\\\n";
  EXPECT_EQ(refusal("\"aφ\\q\""), "f:1:4: error: unknown escape '\\q' in a string\n" + escape_help);
  EXPECT_EQ(refusal("\"\\"), "f:1:2: error: unknown escape '\\' in a string\n" + escape_help);
  for (const char* text : {"\"\\u12\"", "\"\\u12G4\"", "\"\\u", "\"\\u+123\""})
    EXPECT_EQ(refusal(text), "f:1:2: error: \\u is not followed by four hexadecimal digits\n");
  for (const char* text : {"\"\\udc00\"", "\"\\udc00\\ud800\"", "\"\\udc00\\udc00\""})
    EXPECT_EQ(
        refusal(text),
        "f:1:2: error: \\udc00 is half of a surrogate pair\n"
        "  help: characters above U+FFFF are written as two escapes, \\ud800–\\udbff first\n");
  for (const char* text : {"\"\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\u0041\"", "\"\\ud800\\n\""})
    EXPECT_NE(refusal(text).find("\\ud800 is half of a surrogate pair"), std::string::npos);
}

TEST(JsonDocument, InvalidUtf8IsRefusedWhereverItStands) {
  EXPECT_EQ(refusal("{\n\"é\xff\": 1}"),
            "f:2:3: error: invalid UTF-8: byte 0xff\n"
            "  help: save the file in the encoding UTF-8\n");
  const char* const bad[] = {
      "\x80",
      "\xc0\xaf",
      "\xc1\xbf",
      "\xe0\x80\xaf",
      "\xed\xa0\x80",
      "\xf0\x80\x80\xaf",
      "\xf4\x90\x80\x80",
      "\xf5",
      "\xe2\x82",
      "\xc3",
  };
  for (const std::string bytes : bad) {
    EXPECT_NE(refusal("\"" + bytes + "\"").find("f:1:2: error: invalid UTF-8"), std::string::npos);
    EXPECT_NE(refusal("1 // " + bytes).find("f:1:6: error: invalid UTF-8"), std::string::npos);
  }
}

TEST(JsonDocument, NestingIsLimited) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(parsed(nested(kMaxJsonDepth)).is_array());
  EXPECT_NE(refusal(nested(kMaxJsonDepth + 1)).find("nested deeper than 200 levels"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(1000000, '[')).find("f:1:201: error: "), std::string::npos);
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_NE(refusal(objects).find("nested deeper than 200 levels"), std::string::npos);
}

TEST(JsonDocument, SiblingsDoNotCountAsNesting) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "[],{},";
  EXPECT_EQ(parsed(text + "[]]").items.size(), 2001u);
}

TEST(JsonDocument, ColumnsOfAStringLeadBackToTheFile) {
  const JsonNode plain = *parsed("{\n  \"gap\": \"y - φ*l\"}").find("gap");
  expect_position(plain.position, 2, 10);
  expect_position(plain.position_in_string(1), 2, 11);
  expect_position(plain.position_in_string(6), 2, 16);  // *
  expect_position(plain.position_in_string(8), 2, 18);  // the closing quote
  expect_position(plain.position_in_string(99), 2, 18);
  expect_position(plain.position_in_string(-3), 2, 11);
}

TEST(JsonDocument, ColumnsOfAStringAccountForEscapes) {
  // decoded: a A b 😀 c; file columns of these: 2, 3–8, 9, 10–21, 22; the closing quote is at 23
  const JsonNode node = parsed("\"a\\u0041b\\ud83d\\ude00c\"");
  const std::vector<int> columns = {2, 3, 9, 10, 22, 23};
  for (std::size_t i = 0; i < columns.size(); ++i)
    expect_position(node.position_in_string(static_cast<int>(i) + 1), 1, columns[i]);
}

TEST(JsonDocument, PathsAndDescriptionsAreReadable) {
  EXPECT_EQ(member_path("", "a"), "a");
  EXPECT_EQ(item_path(member_path("a", "b_2"), 3), "a.b_2[3]");
  EXPECT_EQ(member_path("a", "two words"), "a['two words']");
  EXPECT_EQ(describe(parsed("null")), "null");
  EXPECT_EQ(describe(parsed("false")), "a boolean (false)");
  EXPECT_EQ(describe(parsed("1e-3")), "a number (1e-3)");
  EXPECT_EQ(describe(parsed("\"a\\nb\"")), "a string (\"a\\u000ab\")");
  EXPECT_EQ(describe(parsed("[1]")), "an array (1 item)");
  EXPECT_EQ(describe(parsed("{}")), "an object (0 keys)");
  EXPECT_EQ(excerpt(std::string(41, 'x')), std::string(40, 'x') + "…");
}

TEST(JsonDocument, EveryPrefixOfADocumentIsRefused) {
  const std::string text = R"({"a": [1.5e-3, true, null, "x\u00e9\n"], /* c */ "b": {"φ": -0}})";
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_NE(refusal(text.substr(0, size)), "") << size;
  EXPECT_TRUE(parsed(text).is_object());
}

/// One to four random edits: bytes changed, removed, repeated or inserted from a set that matters.
std::string mutated(std::string text, Random& random) {
  constexpr std::string_view kBytes = "{}[]:,\"\\/*-+.0123456789eEtrufalsn \n\tx";
  const int num_edits = random.integer(1, 4);
  for (int i = 0; i < num_edits && !text.empty(); ++i) {
    const auto at = static_cast<std::size_t>(random.integer(0, static_cast<int>(text.size()) - 1));
    const char byte = kBytes[static_cast<std::size_t>(random.integer(0, kBytes.size() - 1))];
    switch (random.integer(0, 2)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.erase(at, 1);
        break;
      default:
        text.insert(at, 1, byte);
    }
  }
  return text;
}

nlohmann::json converted(const JsonNode& node) {
  switch (node.kind) {
    case JsonKind::kNull:
      return nullptr;
    case JsonKind::kBoolean:
      return node.boolean;
    case JsonKind::kNumber:
      return node.number;
    case JsonKind::kString:
      return node.string;
    case JsonKind::kArray: {
      auto array = nlohmann::json::array();
      for (const JsonNode& item : node.items) array.push_back(converted(item));
      return array;
    }
    case JsonKind::kObject:
      break;
  }
  auto object = nlohmann::json::object();
  for (const JsonMember& member : node.members) object[member.key] = converted(member.node);
  return object;
}

// nlohmann-json is an independent reader of the same language, comments included.
TEST(JsonDocument, AgreesWithAnIndependentReaderOnMutatedTexts) {
  const std::string text =
      R"({"a": [1.5e-3, -20, true, null, "x\u00e9\n\ud83d\ude00"], /* c */ "b": {"φ": 0}, "c": []})"
      "// end\n";
  Random random(7);
  int num_accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string mutant = mutated(text, random);
    Diagnostics diagnostics("f");
    const auto document = parse_json(mutant, diagnostics);
    const auto& all = diagnostics.all();
    if (!all.empty() && all[0].message.starts_with("invalid UTF-8")) continue;  // in a comment
    const auto expected = nlohmann::json::parse(mutant, nullptr, false, true);
    ASSERT_EQ(document.has_value(), !expected.is_discarded()) << mutant << diagnostics.to_text();
    ASSERT_TRUE(document.has_value() || diagnostics.has_errors()) << mutant;
    if (!document || diagnostics.has_errors()) continue;  // refused, or with duplicate keys
    ++num_accepted;
    ASSERT_EQ(converted(*document), expected) << mutant;
  }
  EXPECT_GT(num_accepted, 1000);  // the comparison of values is not empty
}

}  // namespace
}  // namespace stiction
