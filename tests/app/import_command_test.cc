// stiction import: the report, what is written, and that it runs as it is.
#include "tests/app/program.h"

namespace stiction {
namespace {

using ImportCommand = ProgramTest;

std::string robot(const std::string& name) {
  return STICTION_SOURCE_DIR "/examples/robots/" + name;
}

TEST_F(ImportCommand, WritesASceneThatChecksAndRunsAsItIs) {
  const std::vector<std::vector<std::string>> imports = {
      {"arm.urdf", "--fix-base", "--position", "lift=0.8", "--position", "elbow=0.9"},
      {"quadruped.xml", "--keyframe", "stand"},
      {"humanoid.xml"}};
  for (const std::vector<std::string>& words : imports) {
    SCOPED_TRACE(words[0]);
    std::vector<std::string> arguments = {"import", robot(words[0]), "--out", "scene.json"};
    arguments.insert(arguments.end(), words.begin() + 1, words.end());
    const auto imported = stiction(arguments);
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_EQ(imported.err, "");
    EXPECT_NE(imported.out.find("taken"), std::string::npos);
    const auto checked = stiction({"check", "scene.json"});
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    const auto run =
        stiction({"run", "scene.json", "--duration", "0.02", "--quiet", "--no-recording"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
}

TEST_F(ImportCommand, WithoutOutItOnlyReports) {
  const auto result = stiction({"import", robot("arm.urdf")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("arm.urdf:183: ignored: transmission 'turn_drive': "),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("no scene written"), std::string::npos);
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(ImportCommand, FilesOfTheCurrentFolderNeedNoFolder) {
  write_bytes(file("tip.obj"),
              "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  write_bytes(file("tip.urdf"),
              "<robot name='r'><link name='a'><inertial><mass value='1'/>"
              "<inertia ixx='1' iyy='1' izz='1'/></inertial><collision><geometry>"
              "<mesh filename='tip.obj'/></geometry></collision></link></robot>");
  const auto result = stiction({"import", "tip.urdf", "--out", "scene.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(stiction({"check", "scene.json"}).exit_code, 0);
}

TEST_F(ImportCommand, DoesNotReplaceWhatItReads) {
  const std::string text = "<robot name='r'><link name='a'/></robot>";
  write_bytes(file("r.urdf"), text);
  const auto result = stiction({"import", "r.urdf", "--out", "./r.urdf"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(read_bytes(file("r.urdf")), text);
}

TEST_F(ImportCommand, StrictRefusesWhatIsIgnored) {
  const auto strict = stiction({"import", robot("arm.urdf"), "--strict", "--out", "scene.json"});
  EXPECT_EQ(strict.exit_code, 2);
  EXPECT_NE(strict.err.find(": error: transmission 'turn_drive': ignored: "), std::string::npos)
      << strict.err;
  EXPECT_EQ(files(), std::vector<std::string>{});
  write_bytes(file("point.urdf"),
              "<robot name='r'><link name='a'><inertial><mass value='1'/>"
              "<inertia ixx='1' iyy='1' izz='1'/></inertial></link></robot>");
  EXPECT_EQ(stiction({"import", "point.urdf", "--strict", "--out", "scene.json"}).exit_code, 0);
}

TEST_F(ImportCommand, JsonHasEveryEntryWithItsPlace) {
  const auto result = stiction({"import", robot("quadruped.xml"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto report = parse_json(result.out);
  int num_ignored = 0;
  for (const auto& entry : report["entries"]) {
    EXPECT_GT(entry["line"].get<int>(), 0) << entry;
    num_ignored += entry["fate"] == "ignored" ? 1 : 0;
  }
  EXPECT_EQ(report["counts"]["ignored"], num_ignored);
  EXPECT_GT(num_ignored, 5);
  EXPECT_EQ(report["counts"]["error"], 0);
}

TEST_F(ImportCommand, BadInputWritesNothing) {
  write_bytes(file("bad.urdf"), "<robot name='r'>\n<link name='a'>\n</robot>");
  write_bytes(file("scene.json"), "before");
  const auto result = stiction({"import", "bad.urdf", "--out", "scene.json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("bad.urdf:2: error: is not well-formed XML"), std::string::npos)
      << result.err;
  EXPECT_EQ(read_bytes(file("scene.json")), "before");
  EXPECT_EQ(stiction({"import", "nothing.xml"}).exit_code, 2);
  EXPECT_EQ(stiction({"import", "bad.urdf", "--position", "x"}).exit_code, 2);
  EXPECT_EQ(stiction({"import", robot("arm.urdf"), "--friction", "-1"}).exit_code, 2);
}

TEST_F(ImportCommand, AStartThatDoesNotFitIsMovedAndSaidSo) {
  write_bytes(file("deep.xml"),
              "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
              "<body pos='0 0 0.05'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>");
  const auto result = stiction({"import", "deep.xml", "--out", "scene.json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("approximated: start: "), std::string::npos) << result.out;
  const auto run =
      stiction({"run", "scene.json", "--duration", "0.01", "--quiet", "--no-recording"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST_F(ImportCommand, BodiesThatOverlapPassThroughEachOther) {
  // Links a and c are not connected, and both are as long as to meet in the middle of b.
  const auto link = [](const std::string& name) {
    return "<link name='" + name +
           "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial><collision>"
           "<geometry><sphere radius='0.3'/></geometry></collision></link>";
  };
  const auto joint = [](const std::string& parent, const std::string& child) {
    return "<joint name='" + parent + child +
           "' type='continuous'><origin xyz='0.25 0 0'/><parent link='" + parent +
           "'/><child link='" + child + "'/></joint>";
  };
  write_bytes(file("overlap.urdf"), "<robot name='r'>" + link("a") + link("b") + link("c") +
                                        joint("a", "b") + joint("b", "c") + "</robot>");
  const auto result = stiction({"import", "overlap.urdf", "--out", "scene.json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("'a' and 'c' overlap by 0.1 m"), std::string::npos) << result.out;
  EXPECT_EQ(stiction({"check", "scene.json"}).exit_code, 0);
}

}  // namespace
}  // namespace stiction
