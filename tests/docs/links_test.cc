// Paths named in documents exist: every relative link of every Markdown page, anchors included.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace stiction {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The page without its code, where brackets mean something else.
std::string without_code(const std::string& text) {
  const std::string no_blocks = std::regex_replace(text, std::regex("```[^`]*```"), "");
  return std::regex_replace(no_blocks, std::regex("`[^`\n]*`"), "");
}

/// Anchors that the headings of a page make: lower case, spaces to hyphens, other punctuation gone.
std::set<std::string> anchors(const std::string& text) {
  std::set<std::string> found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("#")) continue;
    std::string anchor;
    for (const char c : line.substr(line.find_first_not_of("# "))) {
      if (c == ' ') anchor += '-';
      if (c == '-' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0)
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    found.insert(anchor);
  }
  return found;
}

/// What is wrong with a link of `page`; empty if nothing is.
std::string find_fault(const fs::path& page, const std::string& link) {
  if (link.find("://") != std::string::npos) return {};
  const std::size_t hash = link.find('#');
  const std::string path = link.substr(0, hash);
  const fs::path target = path.empty() ? page : page.parent_path() / path;
  if (!fs::exists(target)) return "no such file";
  if (hash == std::string::npos) return {};
  return anchors(read_text(target)).contains(link.substr(hash + 1)) ? "" : "no such heading";
}

bool is_page(const fs::path& path) {
  if (path.extension() != ".md") return false;
  const std::string text = path.string();
  for (const char* foreign : {"/build/", "/.git/", "/node_modules/"})
    if (text.find(foreign) != std::string::npos) return false;
  return true;
}

TEST(Documents, EveryRelativeLinkLeadsSomewhere) {
  const std::regex link_pattern(R"(\]\(([^)\s]+)\))");
  int num_links = 0;
  for (const auto& entry : fs::recursive_directory_iterator(STICTION_SOURCE_DIR)) {
    if (!is_page(entry.path())) continue;
    const std::string text = without_code(read_text(entry.path()));
    for (std::sregex_iterator it(text.begin(), text.end(), link_pattern), end; it != end; ++it) {
      ++num_links;
      const std::string link = (*it)[1];
      EXPECT_EQ(find_fault(entry.path(), link), "") << entry.path() << ": " << link;
    }
  }
  EXPECT_GT(num_links, 50);
}

TEST(Documents, PagesBeginWithAHeading) {
  for (const auto& entry : fs::recursive_directory_iterator(STICTION_SOURCE_DIR)) {
    if (!is_page(entry.path())) continue;
    EXPECT_TRUE(read_text(entry.path()).starts_with("# ")) << entry.path();
  }
}

TEST(Documents, AFaultIsFound) {
  const fs::path page = fs::path(STICTION_SOURCE_DIR) / "README.md";
  EXPECT_EQ(find_fault(page, "docs/theory.md#the-certificate"), "");
  EXPECT_EQ(find_fault(page, "docs/no-such-page.md"), "no such file");
  EXPECT_EQ(find_fault(page, "docs/theory.md#no-such-heading"), "no such heading");
}

}  // namespace
}  // namespace stiction
