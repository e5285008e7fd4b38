// Robot files that are wrong: the message has the line, what was found and what was expected.
#include <gtest/gtest.h>

#include "tests/scene/import_texts.h"

namespace stiction {
namespace {

struct FaultCase {
  const char* name;
  std::string text;
  int line;  // 0: of the file as a whole
  const char* message;
};

std::string joint(const std::string& name, const std::string& parent, const std::string& child,
                  const std::string& inside = "") {
  return "<joint name='" + name + "' type='continuous'><parent link='" + parent +
         "'/><child link='" + child + "'/>" + inside + "</joint>\n";
}

std::string inertia(const std::string& moments) {
  return urdf("<link name='a'><inertial><mass value='1'/>\n<inertia " + moments +
              "/></inertial></link>\n");
}

std::vector<FaultCase> fault_cases() {
  const std::string a = urdf_link("a"), b = urdf_link("b"), c = urdf_link("c");
  const std::string ball = "<geom size='0.1'/>";
  return {
      {"BrokenXml", "<robot name='r'>\n<link name='a'>\n</robot>", 2, "not well-formed"},
      {"NoXml", "once upon a time", 1, "not well-formed"},
      {"Empty", "", 0, "not well-formed"},
      {"OtherRoot", "<sdf/>", 1, "expected <robot> (URDF) or <mujoco> (MJCF)"},
      {"NotUtf8", "<robot name='r'>\n<link name='\xff'/></robot>", 2, "UTF-8"},
      {"TwiceTheAttribute", urdf("<link name='a' name='b'/>"), 2, "not well-formed"},
      {"UnknownElement", urdf(a + "<joit name='j'/>"), 3, "did you mean <joint>?"},
      {"NoLinks", urdf(""), 1, "has no <link>"},
      {"DuplicateLink", urdf(a + a), 3, "a link of this name already, at line 2"},
      {"DuplicateJoint", urdf(a + b + c + joint("j", "a", "b") + joint("j", "b", "c")), 6,
       "a joint of this name already, at line 5"},
      {"MissingLink", urdf(a + b + joint("j", "a", "bb")), 4, "child 'bb' is no link"},
      {"UnknownType",
       urdf(a + b +
            "<joint name='j' type='revolut'><parent link='a'/><child "
            "link='b'/></joint>"),
       4, "type 'revolut' is no type of joint"},
      {"Loop", urdf(a + b + c + joint("i", "a", "b") + joint("j", "a", "c") + joint("k", "c", "b")),
       7, "no loops"},
      {"NoRoot", urdf(a + b + joint("i", "a", "b") + joint("j", "b", "a")), 1, "only loops"},
      {"LoopBeside", urdf(a + b + c + joint("i", "b", "c") + joint("j", "c", "b")), 3,
       "not connected to the root"},
      {"TwoRoots", urdf(a + b), 1, "has 2 links that are no child of a joint"},
      {"CyclicMimic",
       urdf(a + b + c + joint("i", "a", "b", "<mimic joint='j'/>") +
            joint("j", "b", "c", "<mimic joint='i'/>")),
       5, "'i' mimics 'j' mimics 'i'"},
      {"MimicOfItself", urdf(a + b + joint("i", "a", "b", "<mimic joint='i'/>")), 4, "circle"},
      {"MimicOfNothing", urdf(a + b + joint("i", "a", "b", "<mimic joint='k'/>")), 4,
       "mimics 'k', which is no joint"},
      {"TriangleInequality", inertia("ixx='1' iyy='1' izz='3'"), 3, "principal moments 1, 1, 3"},
      {"NegativeInertia", inertia("ixx='-1' iyy='1' izz='1'"), 3, "principal moments"},
      {"NegativeMass", urdf("<link name='a'><inertial>\n<mass value='-2'/></inertial></link>"), 3,
       "mass of link 'a' is -2, must be > 0"},
      {"NotANumber", inertia("ixx='nan' iyy='1' izz='1'"), 3, "is not finite"},
      {"Infinite", inertia("ixx='1e999' iyy='1' izz='1'"), 3, "out of range"},
      {"Words", inertia("ixx='one' iyy='1' izz='1'"), 3, "is no number, expected 1 number"},
      {"TooFewNumbers", urdf(a + b + joint("i", "a", "b", "<origin xyz='1 2'/>")), 4,
       "has 2 numbers, expected 3 numbers"},
      {"NoAxis", urdf(a + b + joint("i", "a", "b", "<axis xyz='0 0 0'/>")), 4, "no direction"},
      {"MissingMesh",
       urdf("<link name='a'><collision><geometry>\n<mesh filename='no.obj'/></geometry></collision>"
            "</link>"),
       3, "there is no file 'no.obj'"},
      {"MovesWithoutMass", urdf(a + "<link name='b'/>\n" + joint("j", "a", "b")), 3,
       "moves but has no mass"},
      {"NegativeFriction", urdf(a + b + joint("i", "a", "b", "<dynamics friction='-1'/>")), 4,
       "must be >= 0"},
      {"UnknownMjcfElement", mjcf("<worldbody><body><gom size='1'/></body></worldbody>"), 2,
       "did you mean <geom>?"},
      {"MjcfDuplicateBody",
       mjcf("<worldbody><body name='a'>" + ball + "</body>\n<body name='a'>" + ball +
            "</body></worldbody>"),
       3, "a body 'a' already"},
      {"MjcfDuplicateJoint",
       mjcf("<worldbody><body><joint name='j'/>" + ball + "</body>\n<body><joint name='j'/>" +
            ball + "</body></worldbody>"),
       3, "a joint 'j' already"},
      {"MjcfNoClass", mjcf("<worldbody><body><geom class='x' size='1'/></body></worldbody>"), 2,
       "no default class 'x'"},
      {"MjcfInertia",
       mjcf("<worldbody><body>\n<inertial mass='1' diaginertia='1 1 3'/><freejoint/></body>"
            "</worldbody>"),
       3, "principal moments 1, 1, 3"},
      {"MjcfNoMass", mjcf("<worldbody>\n<body name='b'><joint/></body></worldbody>"), 3,
       "moves but has no mass"},
      {"MjcfNaN", mjcf("<worldbody><body pos='0 nan 0'>" + ball + "</body></worldbody>"), 2,
       "is not finite"},
      {"MjcfMissingMesh",
       mjcf("<asset>\n<mesh file='no.stl'/></asset><worldbody><body>" + ball +
            "</body></worldbody>"),
       3, "there is no file"},
      {"MjcfMissingInclude", mjcf("\n<include file='no.xml'/>"), 3, "there is no file"},
      {"MjcfNoGeomSize", mjcf("<worldbody><body><geom type='box' size='1'/></body></worldbody>"), 2,
       "a box needs 3 numbers of size, has 1"},
      {"MjcfGlobal", mjcf("<compiler coordinate='global'/>"), 2, "only \"local\" is read"},
      {"MjcfRange", mjcf("<worldbody><body><joint range='1 -1'/>" + ball + "</body></worldbody>"),
       2, "the lower must be less than the upper"},
      {"MjcfActuator",
       mjcf("<worldbody><body><joint name='j'/>" + ball +
            "</body></worldbody>\n<actuator><motor joint='k'/></actuator>"),
       3, "joint 'k' is no joint"},
      {"MjcfEquality",
       mjcf("<worldbody><body name='b'><joint name='j'/>" + ball +
            "</body></worldbody>\n<equality><weld body1='c'/></equality>"),
       3, "body1 'c' is no body"},
      {"MjcfExclude",
       mjcf("<worldbody><body name='b'><joint name='j'/>" + ball +
            "</body></worldbody>\n<contact><exclude body1='b' body2='c'/></contact>"),
       3, "body2 'c' is no body"},
      {"MjcfFreeInside",
       mjcf("<worldbody><body name='b'>\n<body><freejoint/>" + ball + "</body>" + ball +
            "</body></worldbody>"),
       3, "a free joint stands on a body inside another one"},
  };
}

TEST(ImportFaults, EveryMessageHasItsLineAndSaysWhatIsWrong) {
  for (const FaultCase& fault : fault_cases()) {
    SCOPED_TRACE(fault.name);
    const auto trial = import_text(fault.text);
    EXPECT_FALSE(trial.scene);
    EXPECT_TRUE(trial.has(ImportFate::kError, fault.message)) << trial.report.to_text();
    EXPECT_EQ(trial.error_line(), fault.line) << trial.report.to_text();
  }
}

TEST(ImportFaults, AllAreReportedAtOnce) {
  const auto trial =
      import_text(urdf("<link name='a'><inertial><mass value='x'/></inertial></link>\n<link/>\n" +
                       joint("j", "a", "nobody")));
  EXPECT_GE(trial.report.count(ImportFate::kError), 3) << trial.report.to_text();
}

TEST(ImportFaults, UnknownElementsCanBeIgnored) {
  ImportOptions options;
  options.ignore_unknown = true;
  const auto trial = import_text(urdf(urdf_link("a") + "<wheel/>"), options);
  EXPECT_TRUE(trial.scene);
  EXPECT_TRUE(trial.has(ImportFate::kIgnored, "<wheel> is no element of URDF"));
}

TEST(ImportFaults, OptionsOfTheOtherFormatAreNotDropped) {
  ImportOptions options;
  options.fix_base = true;
  EXPECT_TRUE(import_file(robot_file("quadruped.xml"), options)
                  .has(ImportFate::kError, "is an option for URDF"));
  options = {};
  options.keyframe = "stand";
  EXPECT_TRUE(
      import_file(robot_file("arm.urdf"), options).has(ImportFate::kError, "option for MJCF"));
}

TEST(ImportFaults, NumbersWhoseProductsOverflowAreErrors) {
  const auto trial = import_text(
      mjcf("<worldbody><body name='b'><freejoint/><geom size='1e150' density='1e300'/></body>"
           "</worldbody>"));
  EXPECT_FALSE(trial.scene);
  EXPECT_TRUE(trial.report.has_errors());
}

TEST(ImportFaults, PositionsThatDoNotExist) {
  ImportOptions options;
  options.positions["elbo"] = 1;
  const auto trial = import_file(robot_file("arm.urdf"), options);
  EXPECT_TRUE(trial.has(ImportFate::kError, "--position elbo"));
  options.positions = {{"elbow", 9}};
  EXPECT_TRUE(import_file(robot_file("arm.urdf"), options)
                  .has(ImportFate::kError, "9 is beyond its limits"));
  ImportOptions keyframe;
  keyframe.keyframe = "sit";
  EXPECT_TRUE(import_file(robot_file("quadruped.xml"), keyframe)
                  .has(ImportFate::kError, "no such keyframe"));
}

}  // namespace
}  // namespace stiction
