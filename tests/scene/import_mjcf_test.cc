#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <numbers>

#include "tests/base/temporary_folder.h"
#include "tests/scene/import_texts.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Fate = ImportFate;

constexpr double kDegree = std::numbers::pi / 180;

/// One body with a ball of 1 kg and this inside.
std::string one_body_with(const std::string& inside, const std::string& beside = "") {
  return mjcf("<worldbody><body name='b'>\n" + inside +
              "<geom name='ball' size='0.1' mass='1'/></body></worldbody>\n" + beside);
}

TEST(ImportMjcf, AnglesAreDegreesUnlessTheCompilerSaysOtherwise) {
  const std::string joint = "<joint name='j' range='-30 60'/>";
  const auto degrees = import_text(one_body_with(joint));
  ASSERT_TRUE(degrees.scene) << degrees.report.to_text();
  EXPECT_DOUBLE_EQ(joint_named(degrees.bodies, "j").limits[0].lower, -30 * kDegree);
  const auto radians = import_text(
      one_body_with("<joint name='j' range='-0.3 0.6'/>", "<compiler angle='radian'/>"));
  EXPECT_DOUBLE_EQ(joint_named(radians.bodies, "j").limits[0].upper, 0.6);
}

TEST(ImportMjcf, LimitsNeedToBeAskedForWithoutAutolimits) {
  const std::string joint = "<joint name='j' range='-30 60'/>";
  const auto trial = import_text(one_body_with(joint, "<compiler autolimits='false'/>"));
  EXPECT_TRUE(joint_named(trial.bodies, "j").limits.empty());
}

TEST(ImportMjcf, ClassesAreInheritedAndOverridden) {
  const auto trial = import_text(mjcf(R"(
    <default><joint damping='1' frictionloss='2'/>
      <default class='outer'><joint damping='3' axis='1 0 0'/>
        <default class='inner'><joint frictionloss='4'/></default></default></default>
    <worldbody>
      <body name='a'><joint name='plain'/><geom size='0.1'/></body>
      <body name='b' childclass='outer'><joint name='child'/><geom size='0.1'/></body>
      <body name='c' childclass='outer'><joint name='own' class='inner' damping='5'/>
        <geom size='0.1'/></body>
    </worldbody>)"));
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  const auto damping = [&](const std::string& joint) {
    for (const BodySpringDescription& spring : trial.bodies.springs)
      if (spring.name == joint + " spring") return spring.damping[0];
    return -1.0;
  };
  EXPECT_EQ(damping("plain"), 1);
  EXPECT_EQ(damping("child"), 3);
  EXPECT_EQ(damping("own"), 5);
  EXPECT_EQ(joint_named(trial.bodies, "child").friction[0].max_effort, 2);
  EXPECT_EQ(joint_named(trial.bodies, "own").friction[0].max_effort, 4);
  EXPECT_LE((joint_named(trial.bodies, "own").frames[1].rotation.col(2) - Vector3d::UnitX()).norm(),
            1e-15);
}

TEST(ImportMjcf, SeveralJointsAreOneWhereTheSceneHasIt) {
  const struct {
    const char* joints;
    JointType type;
  } cases[] = {
      {"<joint name='p' axis='1 0 0'/><joint name='q' axis='0 1 0'/>", JointType::kUniversal},
      {"<joint name='p' type='slide'/><joint name='q'/>", JointType::kCylindrical},
      {"<joint name='p' type='slide' axis='1 0 0'/><joint name='q' type='slide' axis='0 1 0'/>"
       "<joint name='r'/>",
       JointType::kPlanar},
  };
  for (const auto& [joints, type] : cases) {
    const auto trial = import_text(one_body_with(joints));
    ASSERT_TRUE(trial.scene) << trial.report.to_text();
    ASSERT_EQ(trial.bodies.joints.size(), 1) << joints;
    EXPECT_EQ(trial.bodies.joints[0].type, type);
    EXPECT_EQ(trial.bodies.bodies.size(), 1);
    EXPECT_FALSE(trial.has(Fate::kApproximated, "between them"));
  }
}

TEST(ImportMjcf, OtherJointsInARowAreReportedAsApproximated) {
  const auto trial = import_text(one_body_with(
      "<joint name='p' axis='1 0 0'/><joint name='q' axis='0 1 0'/><joint name='r'/>"));
  ASSERT_TRUE(trial.scene);
  EXPECT_TRUE(trial.has(Fate::kApproximated, "with 2 bodies between them"));
  EXPECT_EQ(trial.bodies.joints.size(), 3);
  double mass = 0;
  for (const BodyDescription& body : trial.bodies.bodies) mass += body.mass;
  EXPECT_NEAR(mass, 1, 1e-15);
}

TEST(ImportMjcf, FrictionOfAPairIsTheLargerOrThatWithPriority) {
  const auto mu = [](const std::string& first, const std::string& second) {
    const auto trial = import_text(mjcf("<worldbody><geom name='floor' type='plane' size='1 1 1' " +
                                        first + "/><body name='b'><freejoint/><geom size='0.1' " +
                                        second + "/></body></worldbody>"));
    EXPECT_TRUE(trial.scene) << trial.report.to_text();
    const auto& shapes = trial.bodies.shapes;
    const int a = shapes.at(0).material, b = shapes.at(1).material;
    if (a == b) return trial.bodies.materials[a].mu;
    for (const MaterialPairDescription& pair : trial.bodies.material_pairs)
      if (pair.materials == std::array{a, b} || pair.materials == std::array{b, a})
        return pair.law.mu;
    return std::sqrt(trial.bodies.materials[a].mu * trial.bodies.materials[b].mu);
  };
  EXPECT_DOUBLE_EQ(mu("", ""), 1);
  EXPECT_DOUBLE_EQ(mu("friction='0.3'", "friction='0.7'"), 0.7);
  EXPECT_DOUBLE_EQ(mu("friction='0.3' priority='1'", "friction='0.7'"), 0.3);
  EXPECT_DOUBLE_EQ(mu("friction='0.3' condim='1'", "friction='0.7'"), 0.7);
  EXPECT_DOUBLE_EQ(mu("friction='0.3' condim='1'", "friction='0.7' condim='1'"), 0);
}

TEST(ImportMjcf, GeomsTouchThatTouchInMujoco) {
  // All pairs of four kinds, a pair and the law of MuJoCo beside groups and masks.
  const std::vector<std::pair<unsigned, unsigned>> kinds = {{1, 1}, {2, 1}, {1, 4}, {6, 2}, {0, 0}};
  std::string bodies;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    for (int copy = 0; copy < 2; ++copy)
      bodies += "<body pos='" + std::to_string(2 * i) + " " + std::to_string(2 * copy) +
                " 0'><freejoint/><geom name='g" + std::to_string(2 * i + copy) +
                "' size='0.1' contype='" + std::to_string(kinds[i].first) + "' conaffinity='" +
                std::to_string(kinds[i].second) + "'/></body>";
  const auto trial = import_text(
      mjcf("<worldbody>" + bodies +
           "</worldbody><contact><pair geom1='g8' geom2='g2' friction='0.25'/></contact>"));
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  const auto find = [&](int geom) -> const BodyShapeDescription* {
    for (const BodyShapeDescription& shape : trial.bodies.shapes)
      if (shape.body == geom) return &shape;
    return nullptr;
  };
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < i; ++j) {
      const auto [type_i, affinity_i] = kinds[i / 2];
      const auto [type_j, affinity_j] = kinds[j / 2];
      const bool expected =
          (type_i & affinity_j) != 0 || (type_j & affinity_i) != 0 || (i == 8 && j == 2);
      const auto *a = find(i), *b = find(j);
      const bool actual =
          a != nullptr && b != nullptr && (a->group & b->mask) != 0 && (b->group & a->mask) != 0;
      EXPECT_EQ(actual, expected) << i << " " << j;
    }
  bool has_pair = false;
  for (const MaterialPairDescription& pair : trial.bodies.material_pairs)
    has_pair = has_pair || pair.law.mu == 0.25;
  EXPECT_TRUE(has_pair);
}

TEST(ImportMjcf, ActuatorsAreSpringsDampersAndEfforts) {
  const auto trial = import_text(
      one_body_with(
          "<joint name='j' axis='0 1 0'/>",
          "<actuator><position name='p' joint='j' kp='10' kv='2' gear='3'/>"
          "<velocity name='v' joint='j' kv='4'/><motor name='m' joint='j' gear='5'/></actuator>"
          "<keyframe><key name='k' qpos='0.2' ctrl='1.5 0.5 2'/></keyframe>"),
      [] {
        ImportOptions options;
        options.keyframe = "k";
        return options;
      }());
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  ASSERT_EQ(trial.bodies.springs.size(), 2);
  // 3 (10 (1.5 − 3 x) − 2·3 x') = −90 (x − 0.5) − 18 x'.
  EXPECT_DOUBLE_EQ(trial.bodies.springs[0].stiffness[0], 90);
  EXPECT_DOUBLE_EQ(trial.bodies.springs[0].damping[0], 18);
  EXPECT_DOUBLE_EQ(trial.bodies.springs[0].rest, 0.5);
  EXPECT_DOUBLE_EQ(trial.bodies.springs[1].damping[0], 4);
  // 4·0.5 of the velocity servo and 5·2 of the motor, about y; nothing on the world.
  ASSERT_EQ(trial.bodies.forces.size(), 2);
  EXPECT_TRUE(trial.bodies.forces[0].is_body_fixed);
}

TEST(ImportMjcf, EqualitiesBecomeJointsAndGears) {
  const auto trial = import_text(mjcf(R"(<worldbody>
    <body name='a' pos='1 0 0'><joint name='ja' axis='0 1 0'/><geom size='0.1'/></body>
    <body name='b' pos='2 0 0'><joint name='jb' axis='0 1 0' ref='10'/><geom size='0.1'/></body>
    <body name='c' pos='3 0 0'><freejoint/><geom size='0.1'/></body>
    <body name='d' pos='4 0 0'><freejoint/><geom size='0.1'/></body></worldbody>
    <equality><connect name='hold' body1='c' body2='d' anchor='0.5 0 0'/>
      <weld name='glue' body1='c' relpose='0 0 0.5 1 0 0 0'/>
      <joint name='gear' joint1='ja' joint2='jb' polycoef='0.1 -2'/></equality>)"));
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  const JointDescription& hold = joint_named(trial.bodies, "hold");
  EXPECT_EQ(hold.type, JointType::kBall);
  EXPECT_LE((hold.frames[1].position - Vector3d(-0.5, 0, 0)).norm(), 1e-15);
  EXPECT_TRUE(hold.bodies_touch);
  EXPECT_EQ(joint_named(trial.bodies, "glue").bodies[1], kWorld);
  ASSERT_EQ(trial.bodies.couplings.size(), 1);
  EXPECT_EQ(trial.bodies.couplings[0].sides[0].factor, -2);
  EXPECT_TRUE(trial.has(Fate::kChosen, "starts at 0.1"));
}

TEST(ImportMjcf, StiffnessFormsBecomeCompliances) {
  const auto trial = import_text(
      mjcf("<worldbody><body name='b'><freejoint/><geom size='0.1' mass='2' solref='-5000 -10'/>"
           "</body></worldbody><equality><connect body1='b' anchor='0 0 0' solref='-100 -3'/>"
           "</equality>"));
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  EXPECT_DOUBLE_EQ(trial.bodies.materials[0].compliance, 1 / (5000 * 2.0));
  EXPECT_DOUBLE_EQ(trial.bodies.joints[0].compliance, 1 / (100 * 2.0));
  EXPECT_DOUBLE_EQ(trial.bodies.joints[0].damping_time, 0.03);
  EXPECT_TRUE(trial.has(Fate::kApproximated, "solref in stiffness form"));
  const auto rigid =
      import_text(one_body_with("<freejoint/>", "<default><geom solref='0.02 1'/></default>"));
  EXPECT_TRUE(rigid.has(Fate::kApproximated, "contacts are rigid: solref"));
}

TEST(ImportMjcf, HeightFieldsLieAsInMujoco) {
  // MuJoCo: columns along x, the first row of the text at the largest y.
  const auto trial = import_text(mjcf(R"(
    <asset><hfield name='h' nrow='2' ncol='3' size='3 2 0.5 1' elevation='0 1 2 4 3 2'/></asset>
    <worldbody><geom type='hfield' hfield='h'/>
      <body name='b' pos='0 0 2'><freejoint/><geom size='0.1'/></body></worldbody>)"));
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  const auto& field = std::get<HeightField>(trial.bodies.shapes[0].shape);
  EXPECT_EQ(field.size, Eigen::Vector2d(6, 4));
  Eigen::MatrixXd expected(3, 2);
  expected << 4, 0, 3, 1, 2, 2;
  EXPECT_LE((field.heights - expected * (0.5 / 4)).norm(), 1e-15);
}

TEST(ImportMjcf, IncludesAreFollowedAndNamedInTheReport) {
  const auto trial = import_file(robot_file("quadruped.xml"));
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  bool is_named = false;
  for (const ImportEntry& entry : trial.report.entries())
    is_named = is_named || (entry.place.file.ends_with("floor.xml") &&
                            entry.element == "geom 'floor'" && entry.place.line == 8);
  EXPECT_TRUE(is_named) << trial.report.to_text();
}

TEST(ImportMjcf, ColoursAreThoseOfGeomsOrTheirMaterials) {
  const auto trial = import_text(mjcf(R"(
    <asset><material name='blue' rgba='0 0 1 1'/><material name='bare' texture='none'/></asset>
    <default><geom rgba='0.2 0.4 0.6 1'/><default class='plain'><geom size='0.1'/></default></default>
    <worldbody><body name='a'><freejoint/><geom name='g' size='0.1' rgba='1 0 0 0.5' material='blue'/></body>
      <body name='b'><geom size='0.1'/></body></worldbody>)"));
  ASSERT_TRUE(trial.scene) << trial.report.to_text();
  for (const char* color : {"\"#ff0000\"", "\"#336699\""})
    EXPECT_NE(trial.scene->text.find(color), std::string::npos) << trial.scene->text;
  EXPECT_TRUE(trial.has(Fate::kApproximated, "rgba=\"1 0 0 0.5\": is opaque"));
  EXPECT_TRUE(trial.has(Fate::kIgnored, "material 'bare'"));
  const auto by_material = import_text(mjcf(R"(
    <asset><material name='blue' rgba='0 0 1 1'/></asset>
    <worldbody><body><freejoint/><geom size='0.1' material='blue'/></body></worldbody>)"));
  EXPECT_NE(by_material.scene->text.find("\"#0000ff\""), std::string::npos);
  EXPECT_TRUE(
      import_text(mjcf("<worldbody><body><geom size='0.1' material='blu'/></body></worldbody>"))
          .has(Fate::kError, "no material 'blu'"));
}

TEST(ImportMjcf, EveryIgnoredElementIsReported) {
  const auto quadruped = import_file(robot_file("quadruped.xml"));
  for (const char* what :
       {"<light>", "camera 'side'", "site 'front_left_touch'", "<sensor>", "armature 0.002",
        "key 'stand'", "texture 'grid'", "material 'grid'", "integrator"})
    EXPECT_TRUE(quadruped.has(Fate::kIgnored, what)) << what << quadruped.report.to_text();
  const auto humanoid = import_file(robot_file("humanoid.xml"));
  ASSERT_TRUE(humanoid.scene) << humanoid.report.to_text();
  for (const char* what : {"<tendon>", "solimplimit", "armature 0.01", "key 'wave'"})
    EXPECT_TRUE(humanoid.has(Fate::kIgnored, what)) << what;
  EXPECT_TRUE(humanoid.has(Fate::kApproximated, "'left_hip_x', 'left_hip_z', 'left_hip_y'"));
  EXPECT_TRUE(humanoid.has(Fate::kApproximated, "solref=\"0.01 1\""));
  EXPECT_EQ(joint_named(humanoid.bodies, "left_ankle_y+left_ankle_x").type, JointType::kUniversal);
}

TEST(ImportMjcf, MassesFollowTheCompiler) {
  const std::string geom = "<freejoint/><inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/>";
  EXPECT_EQ(import_text(one_body_with(geom)).bodies.bodies[0].mass, 3);
  EXPECT_NEAR(
      import_text(one_body_with(geom, "<compiler inertiafromgeom='true'/>")).bodies.bodies[0].mass,
      1, 1e-15);
  EXPECT_NEAR(
      import_text(one_body_with(geom, "<compiler settotalmass='7'/>")).bodies.bodies[0].mass, 7,
      1e-14);
  const auto balanced =
      import_text(one_body_with("<freejoint/><inertial pos='0 0 0' mass='3' diaginertia='1 1 4'/>",
                                "<compiler balanceinertia='true'/>"));
  ASSERT_TRUE(balanced.scene) << balanced.report.to_text();
  EXPECT_LE((balanced.bodies.bodies[0].inertia - 2 * Matrix3d::Identity()).norm(), 1e-14);
}

}  // namespace
}  // namespace stiction
