// stiction export: tables and pictures.
#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "tests/app/program.h"

namespace stiction {
namespace {

using ExportCommand = ProgramTest;

/// Whether every tag of an XML text is closed, in order. No entities, comments or CDATA.
::testing::AssertionResult is_well_formed(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return ::testing::AssertionFailure() << "tag is not closed";
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (std::count(tag.begin(), tag.end(), '\'') % 2 != 0)
      return ::testing::AssertionFailure() << "quotes of <" << tag << ">";
    if (tag.ends_with('/')) continue;
    const std::string name = tag.substr(0, tag.find(' '));
    if (!name.starts_with('/')) {
      open.push_back(name);
    } else {
      if (open.empty() || "/" + open.back() != name)
        return ::testing::AssertionFailure() << "<" << name << "> closes nothing";
      open.pop_back();
    }
  }
  if (!open.empty()) return ::testing::AssertionFailure() << "<" << open.back() << "> stays open";
  return ::testing::AssertionSuccess();
}

TEST_F(ExportCommand, TableHasTheNamesAndOneLineForEachStep) {
  ASSERT_EQ(
      stiction({"run", example("woodpecker"), "--duration", "0.01", "--out", "r.h5"}).exit_code, 0);
  const auto lines = table("r.h5");
  ASSERT_EQ(lines.size(), 102u);
  EXPECT_EQ(lines[0], "time,y,phi_M,phi_S,v.y,v.phi_M,v.phi_S");
  EXPECT_EQ(lines[1], "0,0,-0.1036,-0.2788,-0.3411,0,-7.4583");
  EXPECT_EQ(lines.back().find("0.01,"), 0u);
}

TEST_F(ExportCommand, FilesThatAreNoRecordingsAreRefused) {
  write_bytes(file("text.h5"), "time,x\n");
  ASSERT_EQ(
      stiction({"run", example("incline"), "--no-recording", "--save", "checkpoint.h5"}).exit_code,
      0);
  for (const std::string name : {"none.h5", "text.h5", "checkpoint.h5", "."}) {
    const auto result = stiction({"export", name, "--csv", "table.csv"});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_NE(result.err.find(name), std::string::npos) << result.err;
    EXPECT_FALSE(has_file("table.csv"));
  }
}

TEST_F(ExportCommand, DoesNotReplaceTheRecording) {
  ASSERT_EQ(stiction({"run", example("incline"), "--out", "r.h5"}).exit_code, 0);
  const std::string before = read_bytes(file("r.h5"));
  for (const std::string option : {"--csv", "--svg", "--gltf"}) {
    const auto result = stiction({"export", "r.h5", option, "./r.h5"});
    EXPECT_EQ(result.exit_code, 2) << option;
    EXPECT_NE(result.err.find("'./r.h5' is read from"), std::string::npos) << result.err;
  }
  EXPECT_EQ(read_bytes(file("r.h5")), before);
}

TEST_F(ExportCommand, TablesThatCannotBeWrittenAreErrors) {
  ASSERT_EQ(stiction({"run", example("incline"), "--out", "r.h5"}).exit_code, 0);
  for (const std::string target : {"/dev/full", "none/table.csv", "."}) {
    const auto result = stiction({"export", "r.h5", "--csv", target});
    EXPECT_EQ(result.exit_code, 2) << target;
    EXPECT_NE(result.err.find(target), std::string::npos) << result.err;
  }
  const auto result = stiction({"export", "r.h5", "--csv", "table.csv"}, {.file_size_limit = 1000});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("File too large"), std::string::npos) << result.err;
  EXPECT_EQ(files(), std::vector<std::string>{"r.h5"});
  EXPECT_EQ(stiction({"export", "r.h5", "--csv", "/dev/stdout"}).out.find("time,s,n,v.s,v.n\n0,"),
            0u);
}

TEST_F(ExportCommand, StandardOutputThatIsAFileIsAppendedTo) {
  ASSERT_EQ(stiction({"run", example("incline"), "--out", "r.h5", "--quiet"}).exit_code, 0);
  std::ofstream(file("report.txt")) << "before\n";
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(
        stiction({"export", "r.h5", "--csv", "/dev/stdout"}, {.stdout_file = file("report.txt")})
            .exit_code,
        0);
  std::ifstream report(file("report.txt"));
  std::string line;
  int headers = 0;
  std::getline(report, line);
  EXPECT_EQ(line, "before");
  while (std::getline(report, line)) headers += line == "time,s,n,v.s,v.n" ? 1 : 0;
  EXPECT_EQ(headers, 2);
  EXPECT_EQ(files(), (std::vector<std::string>{"r.h5", "report.txt"}));
}

// The figures of the woodpecker from the table alone, as a user would find them: the beak hits
// where v.phi_S jumps from positive to negative, once per cycle.
TEST_F(ExportCommand, WoodpeckerTableGivesPeriodAndDescent) {
  ASSERT_EQ(stiction({"run", example("woodpecker"), "--out", "w.h5", "--quiet"}).exit_code, 0);
  const std::vector<std::string> lines = table("w.h5");
  ASSERT_EQ(lines.front(), "time,y,phi_M,phi_S,v.y,v.phi_M,v.phi_S");
  ASSERT_EQ(lines.size(), 20002u);
  std::vector<std::pair<double, double>> hits;  // time, y
  double previous = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::istringstream stream(lines[i]);
    std::vector<double> row;
    for (std::string cell; std::getline(stream, cell, ',');) row.push_back(std::stod(cell));
    if (previous > 5 && row[6] < 0) hits.emplace_back(row[0], row[1]);
    previous = row[6];
  }
  ASSERT_GE(hits.size(), 12u);
  const double cycles = static_cast<double>(hits.size()) - 4;
  EXPECT_NEAR((hits.back().first - hits[3].first) / cycles, 0.1463, 3e-4);
  EXPECT_NEAR((hits[3].second - hits.back().second) / cycles, 0.0196, 2e-4);
}

TEST_F(ExportCommand, NothingToExportIsRefused) {
  EXPECT_EQ(stiction({"export", "r.h5"}).exit_code, 2);
  EXPECT_EQ(stiction({"export"}).exit_code, 2);
}

TEST_F(ExportCommand, PictureIsWellFormedAndLabelled) {
  const std::string scene = scene_file(
      "{\"stiction\": 1, \"name\": \"a < b & 'c'\\u0001\", \"generalized\": {\"coordinates\": "
      "{\"x\": "
      "{\"velocity\": 1}, \"y\": {}}, \"mass\": [[1, 0], [0, 1]]}}");
  ASSERT_EQ(stiction({"run", scene, "--out", "r.h5"}).exit_code, 0);
  ASSERT_EQ(stiction({"export", "r.h5", "--svg", "x.svg"}).exit_code, 0);
  const std::string svg = read_bytes(file("x.svg"));
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_EQ(svg.find("<svg xmlns='http://www.w3.org/2000/svg'"), 0u);
  for (const char* label : {">a &lt; b &amp; 'c' <", ">time<", ">x<", "<polyline "})
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  // A phase portrait, from 0.5 s on; and a constant curve.
  ASSERT_EQ(
      stiction({"export", "r.h5", "--svg", "p.svg", "--x", "x", "--y", "v.x", "--from", "0.5"})
          .exit_code,
      0);
  const std::string portrait = read_bytes(file("p.svg"));
  EXPECT_TRUE(is_well_formed(portrait));
  EXPECT_NE(portrait.find(">v.x<"), std::string::npos);
  EXPECT_EQ(portrait.find("nan"), std::string::npos);
}

TEST_F(ExportCommand, EnergiesAndCertificatesAreColumnsOfPictures) {
  ASSERT_EQ(stiction({"run", example("linkage"), "--duration", "0.1", "--out", "r.h5"}).exit_code,
            0);
  for (const std::string column : {"energy.kinetic", "certificate.joint", "solver.wall"}) {
    SCOPED_TRACE(column);
    ASSERT_EQ(stiction({"export", "r.h5", "--svg", "x.svg", "--y", column, "--log"}).exit_code, 0);
    const std::string svg = read_bytes(file("x.svg"));
    EXPECT_TRUE(is_well_formed(svg));
    EXPECT_NE(svg.find(">" + column + "<"), std::string::npos);
    EXPECT_NE(svg.find(">10<tspan dy='-5'"), std::string::npos);  // powers of ten
    EXPECT_EQ(svg.find("nan"), std::string::npos);
  }
  const auto result = stiction({"export", "r.h5", "--svg", "x.svg", "--y", "certificate.jiont"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("did you mean 'certificate.joint'?"), std::string::npos) << result.err;
}

TEST_F(ExportCommand, UnknownColumnsComeWithASuggestion) {
  ASSERT_EQ(
      stiction({"run", example("woodpecker"), "--duration", "0.01", "--out", "r.h5"}).exit_code, 0);
  auto result = stiction({"export", "r.h5", "--svg", "x.svg", "--x", "phi_N"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "stiction: r.h5: the recording has no column 'phi_N'; did you mean 'phi_M'?\n");
  result = stiction({"export", "r.h5", "--svg", "x.svg", "--from", "3"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "stiction: --from is 3 s, but the recording ends at 0.01 s\n");
  EXPECT_FALSE(has_file("x.svg"));
}

TEST_F(ExportCommand, RefusesRatesAndEndingsThatMeanNothing) {
  ASSERT_EQ(
      stiction({"run", example("bouncing-ball"), "--duration", "0.01", "--out", "r.h5"}).exit_code,
      0);
  for (const std::string rate : {"nan", "inf", "1e308", "0", "-1", "often"}) {
    const auto result = stiction({"export", "r.h5", "--gltf", "r.glb", "--rate", rate});
    EXPECT_EQ(result.exit_code, 2) << rate;
    EXPECT_NE(result.err.find("must be > 0"), std::string::npos) << result.err;
  }
  const auto result = stiction({"export", "r.h5", "--gltf", "r.txt"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("must end in .gltf (text) or .glb (binary)"), std::string::npos);
  EXPECT_FALSE(has_file("r.glb") || has_file("r.txt"));
}

TEST_F(ExportCommand, RefusesAPictureWithoutNumbersAndWritesNothing) {
  // What the picture shows leaves the real numbers after 0.05 s, though the motion does not.
  const std::string scene = scene_file(R"j({"stiction": 1, "name": "r",
"simulate": {"h": 0.01, "duration": 0.1},
"generalized": {"coordinates": {"x": {"velocity": 1}}, "mass": [[1]]},
"view": {"frames": [{"name": "ball", "position": ["sqrt(0.055 - x)", 0, 0],
                     "shapes": [{"type": "sphere", "radius": 0.1}]}]}})j");
  ASSERT_EQ(stiction({"run", scene}).exit_code, 0);
  const auto result = stiction({"export", "r.h5", "--gltf", "r.glb"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("a pose at t = 0.06 s is not finite"), std::string::npos) << result.err;
  EXPECT_FALSE(has_file("r.glb"));
}

}  // namespace
}  // namespace stiction
