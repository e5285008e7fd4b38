// The house keeps its own rules, and the check that says so can fail.
#include "tests/rooms/include_rules.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace stiction {
namespace {

namespace fs = std::filesystem;
using Faults = std::vector<std::string>;

std::string read_text(const fs::path& path) {
  std::ifstream stream(path);
  EXPECT_TRUE(stream) << path;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

RoomRules house_rules() {
  return RoomRules::parse(read_text(fs::path(STICTION_SOURCE_DIR) / "tests/rooms/rooms.txt"));
}

/// All C++ below src/stiction, templates of generated sources included.
std::vector<SourceFile> read_house() {
  const fs::path root = fs::path(STICTION_SOURCE_DIR) / "src/stiction";
  std::vector<SourceFile> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    const std::string path = entry.path().lexically_relative(root).generic_string();
    const bool is_source = path.ends_with(".h") || path.ends_with(".cc") || path.ends_with(".in");
    if (entry.is_regular_file() && is_source) files.push_back({path, read_text(entry.path())});
  }
  return files;
}

Faults faults_of(const std::string& path, const std::string& text) {
  return find_faults(house_rules(), {{path, text}});
}

TEST(House, EveryIncludeIsAllowedByTheTable) {
  const std::vector<SourceFile> house = read_house();
  EXPECT_GT(house.size(), 10u) << "the sources were not found";
  for (const std::string& fault : find_faults(house_rules(), house)) ADD_FAILURE() << fault;
}

TEST(House, EveryFolderIsAKnownRoom) {
  const RoomRules rules = house_rules();
  for (const auto& entry : fs::directory_iterator(fs::path(STICTION_SOURCE_DIR) / "src/stiction")) {
    if (!entry.is_directory()) continue;
    EXPECT_TRUE(rules.has_room(entry.path().filename().string())) << entry.path();
  }
}

TEST(House, OnlyTheAppReachesEverythingAndNobodyReachesTheApp) {
  const RoomRules rules = house_rules();
  for (const char* room : {"base", "problem", "solve", "geometry", "model", "contact", "scheme",
                           "sim", "record", "audit", "scene"}) {
    EXPECT_TRUE(rules.reaches("app", room)) << room;
    EXPECT_FALSE(rules.reaches(room, "app")) << room;
  }
}

TEST(House, SolversAndCertificateShareNoCode) {
  EXPECT_EQ(faults_of("solve/lemke.cc", "#include \"stiction/problem/cone_projection.h\"\n"),
            Faults{"solve/lemke.cc:1: solve may not include problem/cone_projection.h"});
  EXPECT_EQ(faults_of("problem/certificate.cc", "#include \"stiction/solve/lemke.h\"\n"),
            Faults{"problem/certificate.cc:1: problem may not include solve/lemke.h"});
  EXPECT_EQ(faults_of("problem/certificate.h", "#pragma once\n#include <stiction/solve/lemke.h>\n"),
            Faults{"problem/certificate.h:2: problem may not include solve/lemke.h"});
}

TEST(House, SchemesKnowNoSolverAndTheAuditNoEngine) {
  EXPECT_EQ(faults_of("scheme/moreau.cc", "#include \"stiction/solve/lemke.h\"\n").size(), 1u);
  EXPECT_EQ(faults_of("audit/laws.cc", "#include \"stiction/sim/simulation.h\"\n").size(), 1u);
  EXPECT_EQ(faults_of("audit/laws.cc", "#include \"stiction/record/reader.h\"\n"), Faults{});
}

TEST(IncludeRules, AllowOwnRoomNamedRoomsAndWhatTheseUse) {
  const RoomRules rules = RoomRules::parse("a\nb a\nc b  # through b also a\nd a\n");
  EXPECT_TRUE(rules.may_include("c", "c/x.h"));
  EXPECT_TRUE(rules.may_include("c", "b/x.h"));
  EXPECT_TRUE(rules.may_include("c", "a/x.h"));
  EXPECT_FALSE(rules.may_include("c", "d/x.h"));
  EXPECT_FALSE(rules.may_include("a", "b/x.h"));
  EXPECT_FALSE(rules.may_include("c", "unknown/x.h"));
}

TEST(IncludeRules, NeverOverridesWhatIsReached) {
  const RoomRules rules = RoomRules::parse("a\nb a\nc b never a\nd b never b/secret.h\n");
  EXPECT_FALSE(rules.may_include("c", "a/x.h"));
  EXPECT_TRUE(rules.may_include("c", "b/x.h"));
  EXPECT_FALSE(rules.may_include("d", "b/secret.h"));
  EXPECT_TRUE(rules.may_include("d", "b/open.h"));
}

TEST(IncludeRules, TableWithACircleOrARepetitionIsRefused) {
  EXPECT_THROW(RoomRules::parse("a b\nb a\n"), std::invalid_argument);
  EXPECT_THROW(RoomRules::parse("a a\n"), std::invalid_argument);
  EXPECT_THROW(RoomRules::parse("a\na\n"), std::invalid_argument);
}

TEST(IncludeRules, FaultsNameFileLineAndEdge) {
  const std::string text =
      "// a comment\n#include <vector>\n  # include \"stiction/sim/x.h\"  // no\n";
  EXPECT_EQ(faults_of("base/text.cc", text),
            Faults{"base/text.cc:3: base may not include sim/x.h"});
}

TEST(IncludeRules, IncludeThatHidesItsRoomIsAFault) {
  EXPECT_EQ(faults_of("base/text.cc", "#include \"../sim/x.h\"\n").size(), 1u);
  EXPECT_EQ(faults_of("base/text.cc", "#include \"text.h\"\n").size(), 1u);
  EXPECT_EQ(faults_of("base/text.cc", "#include \"stiction/text.h\"\n").size(), 1u);
  EXPECT_EQ(faults_of("base/text.cc", "#include \"stiction/base/text.h\"\n"), Faults{});
}

TEST(IncludeRules, CommentedIncludeIsNoInclude) {
  EXPECT_EQ(faults_of("base/text.cc", "// #include \"stiction/sim/x.h\"\n"), Faults{});
}

TEST(IncludeRules, HeaderWithoutPragmaOnceIsAFault) {
  EXPECT_EQ(faults_of("base/text.h", "#include <vector>\n"),
            Faults{"base/text.h:1: header without #pragma once"});
  EXPECT_EQ(faults_of("base/text.h", "// what\n#pragma once\n"), Faults{});
}

TEST(IncludeRules, FileOutsideEveryRoomIsAFault) {
  EXPECT_EQ(faults_of("cellar/x.cc", ""), Faults{"cellar/x.cc: lies in no known room"});
  EXPECT_EQ(faults_of("x.cc", ""), Faults{"x.cc: lies in no known room"});
}

}  // namespace
}  // namespace stiction
