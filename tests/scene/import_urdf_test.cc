#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <numbers>

#include "tests/base/temporary_folder.h"
#include "tests/scene/import_texts.h"

namespace stiction {
namespace {

using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Fate = ImportFate;

/// Two links of 1 kg with one joint between them.
std::string two_links(const std::string& joint) {
  return urdf(urdf_link("a") + urdf_link("b") + joint);
}
std::string joint_of(const std::string& type, const std::string& inside) {
  return "<joint name='j' type='" + type + "'><parent link='a'/><child link='b'/>" + inside +
         "</joint>\n";
}

TEST(ImportUrdf, InertialsAreTurnedAndMovedIntoTheLink) {
  const auto trial = import_text(urdf(R"(<link name='a'><inertial>
    <origin xyz='0.1 0.2 0.3' rpy='0.4 -0.5 0.6'/><mass value='2'/>
    <inertia ixx='0.3' iyy='0.4' izz='0.5' ixy='0.01' ixz='0.02' iyz='0.03'/></inertial></link>)"));
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  const BodyDescription& body = body_named(trial.bodies, "a");
  const Matrix3d R = (AngleAxisd(0.6, Vector3d::UnitZ()) * AngleAxisd(-0.5, Vector3d::UnitY()) *
                      AngleAxisd(0.4, Vector3d::UnitX()))
                         .toRotationMatrix();
  Matrix3d given;
  given << 0.3, 0.01, 0.02, 0.01, 0.4, 0.03, 0.02, 0.03, 0.5;
  EXPECT_EQ(body.mass, 2);
  EXPECT_LE((body.center_of_mass - Vector3d(0.1, 0.2, 0.3)).norm(), 1e-15);
  EXPECT_LE((body.inertia - R * given * R.transpose()).norm(), 1e-15);
}

TEST(ImportUrdf, JointsOfEveryTypeBecomeTheirOwn) {
  const struct {
    const char* type;
    std::optional<JointType> expected;
  } cases[] = {{"revolute", JointType::kHinge},   {"continuous", JointType::kHinge},
               {"prismatic", JointType::kSlider}, {"planar", JointType::kPlanar},
               {"floating", std::nullopt},        {"fixed", std::nullopt}};
  for (const auto& [type, expected] : cases) {
    SCOPED_TRACE(type);
    const auto trial = import_text(
        two_links(joint_of(type,
                           "<origin xyz='1 0 0'/><axis xyz='0 0 2'/><limit lower='-1' upper='2' "
                           "effort='3' velocity='4'/>")));
    ASSERT_TRUE(trial.scene) << trial.report.to_text();
    ASSERT_EQ(trial.bodies.joints.size(), expected ? 1 : 0);
    EXPECT_EQ(trial.bodies.bodies.size(), std::string(type) == "fixed" ? 1 : 2);
    if (!expected) continue;
    const JointDescription& joint = trial.bodies.joints.front();
    EXPECT_EQ(joint.type, *expected);
    EXPECT_LE((joint.frames[1].rotation.col(2) - Vector3d::UnitZ()).norm(), 1e-15);
    EXPECT_LE((joint.frames[0].position - Vector3d(1, 0, 0)).norm(), 1e-15);
    const bool is_limited = std::string(type) == "revolute" || std::string(type) == "prismatic";
    ASSERT_EQ(joint.limits.size(), is_limited ? 1 : 0);
    if (!is_limited) continue;
    EXPECT_EQ(joint.limits[0].lower, -1);
    EXPECT_EQ(joint.limits[0].upper, 2);
  }
}

TEST(ImportUrdf, FixedLinksAreOneBody) {
  const auto trial = import_text(two_links(joint_of("fixed", "<origin xyz='0 0 2'/>")));
  ASSERT_TRUE(trial.scene);
  ASSERT_EQ(trial.bodies.bodies.size(), 1);
  const BodyDescription& body = trial.bodies.bodies[0];
  EXPECT_EQ(body.mass, 2);
  EXPECT_LE((body.center_of_mass - Vector3d(0, 0, 1)).norm(), 1e-15);
  // Two of 1 kg m² each, 1 kg one metre above and below the centre.
  EXPECT_LE((body.inertia - Matrix3d(Vector3d(4, 4, 2).asDiagonal())).norm(), 1e-14);
}

TEST(ImportUrdf, FrictionAndDampingAreTaken) {
  const auto trial =
      import_text(two_links(joint_of("continuous", "<dynamics friction='3' damping='0.5'/>")));
  ASSERT_TRUE(trial.scene);
  ASSERT_EQ(trial.bodies.joints[0].friction.size(), 1);
  EXPECT_EQ(trial.bodies.joints[0].friction[0].max_effort, 3);
  ASSERT_EQ(trial.bodies.springs.size(), 1);
  EXPECT_EQ(trial.bodies.springs[0].damping, std::vector<double>{0.5});
  EXPECT_EQ(trial.bodies.springs[0].stiffness, std::vector<double>{0.0});
}

TEST(ImportUrdf, MimicIsAGearAndDecidesTheStart) {
  const std::string links = urdf_link("a") + urdf_link("b") + urdf_link("c");
  const std::string joints =
      "<joint name='m' type='prismatic'><parent link='a'/><child link='b'/><axis xyz='1 0 0'/>"
      "<limit lower='0' upper='1'/></joint>"
      "<joint name='f' type='continuous'><parent link='a'/><child link='c'/><axis xyz='0 1 0'/>"
      "<mimic joint='m' multiplier='-2' offset='0.1'/></joint>";
  ImportOptions options;
  options.positions["m"] = 0.25;
  const auto trial = import_text(urdf(links + joints), options);
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  ASSERT_EQ(trial.bodies.couplings.size(), 1);
  const CouplingDescription& gear = trial.bodies.couplings[0];
  EXPECT_EQ(gear.sides[0].coordinate, JointCoordinate::kSlide);
  EXPECT_EQ(gear.sides[1].coordinate, JointCoordinate::kAngle);
  EXPECT_EQ(gear.sides[0].factor, -2);
  EXPECT_LE((body_named(trial.bodies, "b").position - Vector3d(0.25, 0, 0)).norm(), 1e-15);
  const Matrix3d turned = AngleAxisd(-0.4, Vector3d::UnitY()).toRotationMatrix();
  EXPECT_LE((body_named(trial.bodies, "c").orientation.toRotationMatrix() - turned).norm(), 1e-15);
}

TEST(ImportUrdf, WhatIsChosenForTheRootIsSaid) {
  EXPECT_TRUE(import_text(urdf(urdf_link("a"))).has(Fate::kChosen, "moves freely"));
  ImportOptions options;
  options.fix_base = true;
  const std::string text = two_links(joint_of("continuous", ""));
  const auto fixed = import_text(text, options);
  EXPECT_TRUE(fixed.has(Fate::kChosen, "--fix-base"));
  ASSERT_EQ(fixed.bodies.bodies.size(), 1);
  EXPECT_EQ(fixed.bodies.joints[0].bodies[0], kWorld);
  const auto world = import_text(
      urdf("<link name='world'/>" + urdf_link("b") +
           "<joint name='j' type='continuous'><parent link='world'/><child link='b'/></joint>"));
  EXPECT_TRUE(world.has(Fate::kChosen, "since that is its name")) << world.report.to_text();
  const auto massless = import_text(
      urdf("<link name='mount'/>" + urdf_link("b") +
           "<joint name='j' type='continuous'><parent link='mount'/><child link='b'/></joint>"));
  EXPECT_TRUE(massless.has(Fate::kChosen, "has no mass")) << massless.report.to_text();
}

TEST(ImportUrdf, HoldMakesMotorsOfTheEffort) {
  ImportOptions options;
  options.hold = true;
  options.positions["j"] = 0.3;
  const std::string limit = "<limit lower='-1' upper='1' effort='7' velocity='1'/>";
  const auto trial = import_text(two_links(joint_of("revolute", limit)), options);
  ASSERT_TRUE(trial.scene);
  ASSERT_EQ(trial.bodies.joints[0].motors.size(), 1);
  EXPECT_EQ(trial.bodies.joints[0].motors[0].max_effort, 7);
  EXPECT_FALSE(trial.has(Fate::kIgnored, "effort"));
  EXPECT_TRUE(trial.has(Fate::kIgnored, "velocity"));
  EXPECT_TRUE(import_text(two_links(joint_of("revolute", limit))).has(Fate::kIgnored, "effort"));
}

TEST(ImportUrdf, ShapesAndVisuals) {
  const auto trial = import_text(urdf(R"(<link name='a'>
    <inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>
    <collision><origin xyz='1 2 3'/><geometry><box size='1 2 3'/></geometry></collision>
    <collision><geometry><sphere radius='0.5'/></geometry></collision>
    <collision><geometry><cylinder radius='0.5' length='2'/></geometry></collision>
    <visual><geometry><sphere radius='9'/></geometry><material name='red'/></visual></link>)"));
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  ASSERT_EQ(trial.bodies.shapes.size(), 3);  // those that touch
  EXPECT_EQ(std::get<Box>(trial.bodies.shapes[0].shape).size, Vector3d(1, 2, 3));
  EXPECT_EQ(trial.bodies.shapes[0].frame.position, Vector3d(1, 2, 3));
  EXPECT_EQ(std::get<Cylinder>(trial.bodies.shapes[2].shape).length, 2);
  EXPECT_NE(trial.scene->text.find("\"contact\": false"), std::string::npos);
  EXPECT_TRUE(trial.has(Fate::kIgnored, "material 'red'"));  // which nobody defines
}

TEST(ImportUrdf, MeshesAreFoundBelowPackages) {
  const TemporaryFolder folder;
  for (const char* made : {"ws", "ws/bot", "ws/bot/meshes", "ws/bot/urdf", "elsewhere"})
    std::filesystem::create_directory(folder.file(made));
  const std::string mesh = read_bytes(robot_file("meshes/beam.obj"));
  write_bytes(folder.file("ws/bot/meshes/beam.obj"), mesh);
  const std::string text = urdf(
      "<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
      "<collision><geometry><mesh filename='package://bot/meshes/beam.obj' scale='2 2 2'/>"
      "</geometry></collision></link>");
  write_bytes(folder.file("ws/bot/urdf/bot.urdf"), text);
  write_bytes(folder.file("elsewhere/bot.urdf"), text);
  const auto beside = import_file(folder.file("ws/bot/urdf/bot.urdf"));
  ASSERT_TRUE(beside.scene) << beside.report.to_text();
  EXPECT_NE(beside.scene->text.find("../meshes/beam.obj"), std::string::npos);
  EXPECT_EQ(std::get<Mesh>(beside.bodies.shapes[0].shape).vertices[0], Vector3d(-1, -1, -1));
  const auto missing = import_file(folder.file("elsewhere/bot.urdf"));
  EXPECT_FALSE(missing.scene);
  EXPECT_TRUE(missing.has(Fate::kError, "there is no file"));
  ImportOptions options;
  options.package_paths = {folder.file("ws")};
  EXPECT_TRUE(import_file(folder.file("elsewhere/bot.urdf"), options).scene);
  options.package_paths = {folder.file("ws/bot")};
  options.as_hulls = true;
  const auto hull = import_file(folder.file("elsewhere/bot.urdf"), options);
  ASSERT_TRUE(hull.scene);
  EXPECT_EQ(std::get<Convex>(hull.bodies.shapes[0].shape).points.size(), 8);
}

TEST(ImportUrdf, MaterialsColourWhatIsSeen) {
  const auto trial = import_text(urdf(R"(
    <material name='red'><color rgba='1 0 0 1'/></material>
    <material name='wood'><texture filename='wood.png'/></material>
    <link name='base'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>
    <visual><geometry><sphere radius='1'/></geometry><material name='red'/></visual>
    <visual><geometry><sphere radius='2'/></geometry><material name='own'><color rgba='0 0.5 2 0.4'/></material></visual>
    <visual><geometry><sphere radius='3'/></geometry><material name='wood'/></visual></link>)"));
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  const auto count = [&](std::string_view text) {
    int found = 0;
    for (std::size_t at = 0; (at = trial.scene->text.find(text, at)) != std::string::npos; ++at)
      ++found;
    return found;
  };
  EXPECT_EQ(count("\"#ff0000\""), 1) << trial.scene->text;
  EXPECT_EQ(count("\"#0080ff\""), 1) << trial.scene->text;
  EXPECT_EQ(count("\"color\""), 2) << trial.scene->text;
  EXPECT_TRUE(trial.has(Fate::kTaken, "a colour, #ff0000"));
  EXPECT_TRUE(trial.has(Fate::kApproximated, "transparency of 0.6"));
  EXPECT_TRUE(trial.has(Fate::kIgnored, "material 'wood'"));
}

TEST(ImportUrdf, EveryIgnoredElementOfTheArmIsReported) {
  const auto trial = import_file(robot_file("arm.urdf"));
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  for (const char* what : {"transmission 'turn_drive'", "<gazebo>", "<safety_controller>",
                           "velocity=\"2\"", "effort=\"60\""})
    EXPECT_TRUE(trial.has(Fate::kIgnored, what)) << what << "\n" << trial.report.to_text();
  for (const ImportEntry& entry : trial.report.entries()) {
    EXPECT_GT(entry.place.line, 0) << entry.message;
    EXPECT_NE(entry.fate, Fate::kError);
  }
  EXPECT_EQ(trial.bodies.couplings.size(), 2);
  EXPECT_EQ(trial.bodies.bodies.size(), 8);
}

}  // namespace
}  // namespace stiction
