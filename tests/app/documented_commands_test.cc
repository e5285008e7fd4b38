// Every command and every option has its place in docs/command-line.md.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tests/app/program.h"

namespace stiction {
namespace {

class DocumentedCommands : public ProgramTest {};

std::set<std::string> find_all(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    found.insert((*it)[1].str());
  return found;
}

TEST_F(DocumentedCommands, AllAreOnThePage) {
  const std::string docs = STICTION_SOURCE_DIR "/docs/";
  const std::string page = read_bytes(docs + "command-line.md");
  const std::string more = page + read_bytes(docs + "compare.md");
  const std::string help = stiction({"--help"}).out;
  const std::set<std::string> commands =
      find_all(help.substr(help.find("Subcommands")), std::regex("\n  ([a-z]+) "));
  EXPECT_GE(commands.size(), 12U);
  for (const std::string& command : commands) {
    EXPECT_TRUE(std::regex_search(page, std::regex("\n##* `?stiction " + command + "\\b")))
        << command;
    for (const std::string& option :
         find_all(stiction({command, "--help"}).out, std::regex("(--[a-z][a-z-]*)"))) {
      const bool is_known = option == "--help" || more.find(option) != std::string::npos;
      EXPECT_TRUE(is_known) << command << " " << option;
    }
  }
}

}  // namespace
}  // namespace stiction
