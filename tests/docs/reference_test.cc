// The reference pages cover what the library has: every scheme and solver, every key of scenes, and
// code on pages is code that is compiled and run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "stiction/base/whole_file.h"
#include "stiction/scheme/scheme.h"
#include "stiction/solve/solvers.h"

namespace stiction {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = STICTION_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  const auto text = try_read_file(kRoot / path);
  EXPECT_TRUE(text) << path;
  return text.value_or("");
}

/// The pages of a folder whose title names what is asked for.
std::vector<std::string> pages_about(const std::string& name, const fs::path& folder) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(kRoot / folder)) {
    const std::string text = text_of(entry.path());
    const std::string title = text.substr(0, text.find('\n'));
    if (title.find("`" + name + "`") != std::string::npos || title == "# " + name)
      found.push_back(text);
  }
  return found;
}

void expect_page(const std::string& name, const fs::path& folder) {
  const std::vector<std::string> pages = pages_about(name, folder);
  ASSERT_EQ(pages.size(), 1U) << name;
  for (const char* heading : {"\n## Assumptions\n", "\n## When it fails\n"})
    EXPECT_NE(pages[0].find(heading), std::string::npos) << name << " lacks " << heading;
}

TEST(Reference, EverySchemeHasAPageWithItsAssumptionsAndFailures) {
  for (const std::string& name : scheme_names()) expect_page(name, "docs/schemes");
}

TEST(Reference, EverySolverHasAPageWithItsAssumptionsAndFailures) {
  for (const std::string& name : solver_names()) expect_page(name, "docs/solvers");
  const std::string pages =
      text_of("docs/solvers/pgs.md") + text_of("docs/solvers/direct-iterative.md");
  for (const std::string& name : published_solver_names())
    EXPECT_NE(pages.find("`" + name + "`"), std::string::npos) << name;
}

void collect_keys(const nlohmann::json& node, std::set<std::string>& keys) {
  if (node.is_array())
    for (const auto& item : node) collect_keys(item, keys);
  if (!node.is_object()) return;
  if (const auto properties = node.find("properties"); properties != node.end())
    for (const auto& [key, value] : properties->items()) keys.insert(key);
  for (const auto& [key, value] : node.items()) collect_keys(value, keys);
}

TEST(Reference, EveryKeyOfScenesIsExplained) {
  std::set<std::string> keys;
  collect_keys(nlohmann::json::parse(text_of("src/stiction/scene/scene.schema.json")), keys);
  EXPECT_GE(keys.size(), 100U);
  std::string pages;
  for (const char* page : {"scene-format", "joints", "contacts"})
    pages += text_of(fs::path("docs") / (std::string(page) + ".md"));
  for (const std::string& key : keys) {
    bool is_named = false;
    for (const auto& [left, right] : {std::pair{"`", "`"}, {"\"", "\""}, {".", "`"}, {"`", ":"}})
      is_named = is_named || pages.find(left + key + right) != std::string::npos;
    EXPECT_TRUE(is_named) << key;
  }
}

TEST(Reference, EveryRoomHasATutorialProgram) {
  std::string heads;
  for (const auto& entry : fs::directory_iterator(kRoot / "examples/cpp"))
    if (entry.path().extension() == ".cc") {
      const std::string text = text_of(entry.path());
      heads += text.substr(0, text.find("#include"));
    }
  for (const auto& entry : fs::directory_iterator(kRoot / "src/stiction")) {
    const std::string room = entry.path().filename();
    if (!entry.is_directory() || room == "app") continue;
    EXPECT_NE(heads.find("`" + room + "`"), std::string::npos) << room;
  }
}

/// Without blanks at the beginning of lines.
std::string flush_left(const std::string& code) {
  std::string out;
  for (std::size_t i = 0; i < code.size(); ++i)
    if (code[i] != ' ' || (!out.empty() && out.back() != '\n')) out += code[i];
  return out;
}

TEST(Reference, CodeOnPagesIsCodeOfTests) {
  const std::string tested =
      flush_left(text_of("tests/scheme/moreau_test.cc") + text_of("tests/docs/fragments_test.cc"));
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() != ".md") continue;
    const std::string page = text_of(entry.path());
    constexpr std::string_view kBegin = "```cpp\n", kEnd = "```";
    for (std::size_t at = 0; (at = page.find(kBegin, at)) != std::string::npos;) {
      at += kBegin.size();
      const std::string code = page.substr(at, page.find(kEnd, at) - at);
      EXPECT_NE(tested.find(flush_left(code)), std::string::npos) << entry.path() << "\n" << code;
      ++count;
    }
  }
  EXPECT_GE(count, 8);
}

}  // namespace
}  // namespace stiction
