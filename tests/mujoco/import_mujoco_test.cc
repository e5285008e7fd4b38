// Robots as MuJoCo reads them and as they are in the scenes made from the same files: masses,
// inertias, poses, velocities, axes and coordinates at random positions. The two programs share no
// code; what is left is rounding, here of sums of some dozen terms of the order of one: 1e-9.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <Eigen/Geometry>
#include <filesystem>
#include <map>
#include <memory>
#include <numbers>
#include <random>
#include <regex>
#include <set>

#include "stiction/model/rigid_body_system.h"
#include "stiction/scene/import_robot.h"
#include "stiction/scene/import_scene.h"
#include "stiction/scene/scene.h"
#include "tests/base/temporary_folder.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

constexpr double kRounding = 1e-9;
/// MuJoCo diagonalizes inertias that are full, or of several geoms, by turns that end when they no
/// longer change much: its tensor then differs from its own input by up to 3e-8 of the largest
/// moment, though not in the trace.
constexpr double kDiagonalization = 1e-7;
const std::set<std::string> kDiagonalized = {"trunk", "upper_arm", "a", "b", "c", "d", "e"};

struct MujocoModel {
  std::unique_ptr<mjModel, void (*)(mjModel*)> model;
  std::unique_ptr<mjData, void (*)(mjData*)> data;

  explicit MujocoModel(const std::string& path)
      : model(nullptr, mj_deleteModel), data(nullptr, mj_deleteData) {
    char error[1000] = "";
    model.reset(mj_loadXML(path.c_str(), nullptr, error, sizeof error));
    if (model) data.reset(mj_makeData(model.get()));
    EXPECT_TRUE(model) << path << ": " << error;
  }
  std::string name(int type, int id) const {
    const char* text = mj_id2name(model.get(), type, id);
    return text != nullptr ? text : "";
  }
  Vector3d position(const mjtNum* array, int i) const { return Vector3d(array + 3 * i); }
  Matrix3d rotation(const mjtNum* array, int i) const {
    return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(array + 9 * i);
  }
};

/// Mass, centre and inertia of parts in the world.
struct Lump {
  double mass = 0;
  Vector3d moment = Vector3d::Zero();  // Σ m c
  Matrix3d second = Matrix3d::Zero();  // Σ inertia about the origin
  void add(double m, const Vector3d& c, const Matrix3d& inertia) {
    mass += m;
    moment += m * c;
    second += inertia + m * (c.squaredNorm() * Matrix3d::Identity() - c * c.transpose());
  }
  Vector3d center() const { return moment / mass; }
};

class Comparison {
 public:
  Comparison(const MujocoModel& theirs, const std::string& path, const ImportOptions& options)
      : theirs_(theirs) {
    ImportReport report;
    auto imported = import_robot(path, options, report);
    if (!imported) {
      ADD_FAILURE() << report.errors_to_text();
      return;
    }
    Diagnostics diagnostics(path);
    scene_ = read_scene(imported->text, {}, diagnostics, {.project_start = true});
    EXPECT_TRUE(scene_) << diagnostics.to_text();
    if (!scene_) return;
    for (const Model::Part& part : scene_->model.parts())
      if (const auto* found = dynamic_cast<const RigidBodySystem*>(part.system.get()))
        system_ = found;
  }

  int compare() {
    if (system_ == nullptr) return 0;
    compare_bodies();
    compare_joints();
    return num_compared_;
  }

 private:
  void compare_bodies() {
    const mjModel& m = *theirs_.model;
    const mjData& d = *theirs_.data;
    std::map<int, Lump> lumps;  // by the body that others are welded to
    for (int i = 1; i < m.nbody; ++i) {
      const Matrix3d R = theirs_.rotation(d.ximat, i);
      const Vector3d moments(m.body_inertia + 3 * i);
      lumps[m.body_weldid[i]].add(m.body_mass[i], theirs_.position(d.xipos, i),
                                  R * moments.asDiagonal() * R.transpose());
    }
    const auto& bodies = system_->description().bodies;
    for (const BodyDescription& body : bodies) {
      const int id = mj_name2id(&m, mjOBJ_BODY, body.name.c_str());
      if (id < 0) continue;
      SCOPED_TRACE(body.name);
      ++num_compared_;
      const Matrix3d R = body.orientation.normalized().toRotationMatrix();
      EXPECT_LE((body.position - theirs_.position(d.xpos, id)).norm(), kRounding);
      EXPECT_LE((R - theirs_.rotation(d.xmat, id)).norm(), kRounding);
      if (body.motion != BodyDescription::Motion::kDynamic) continue;
      mjtNum velocity[6];
      mj_objectVelocity(&m, &d, mjOBJ_XBODY, id, velocity, 0);
      EXPECT_LE((body.angular_velocity - Vector3d(velocity)).norm(), kRounding);
      EXPECT_LE((body.velocity - Vector3d(velocity + 3)).norm(), kRounding);
      // Bodies between several joints of this one hold their share of its mass.
      int num_between = 0;
      double mass = body.mass;
      for (const BodyDescription& other : bodies)
        if (other.name.starts_with(body.name + " after ")) {
          ++num_between;
          mass += other.mass;
        }
      const double share = 1 - num_between * kShareOfMass;
      const Lump& lump = lumps[m.body_weldid[id]];
      EXPECT_NEAR(mass, lump.mass, kRounding * lump.mass);
      EXPECT_LE((body.position + R * body.center_of_mass - lump.center()).norm(), kRounding);
      Lump ours;
      ours.add(body.mass / share, body.position + R * body.center_of_mass,
               R * body.inertia * R.transpose() / share);
      const double tolerance = kDiagonalized.contains(body.name) ? kDiagonalization : kRounding;
      EXPECT_LE((ours.second - lump.second).norm(), tolerance * lump.second.norm());
      EXPECT_NEAR(ours.second.trace(), lump.second.trace(), kRounding * lump.second.trace());
    }
  }

  void compare_joints() {
    const mjModel& m = *theirs_.model;
    const mjData& d = *theirs_.data;
    const auto& description = system_->description();
    const VectorXd q = system_->initial_q();
    for (std::size_t j = 0; j < description.joints.size(); ++j) {
      const JointDescription& joint = description.joints[j];
      if (joint.type != JointType::kHinge && joint.type != JointType::kSlider &&
          joint.type != JointType::kUniversal && joint.type != JointType::kCylindrical)
        continue;
      SCOPED_TRACE(joint.name);
      const BodyDescription& body = description.bodies[joint.bodies[1]];
      const Pose frame =
          Pose{body.position, body.orientation.normalized().toRotationMatrix()} * joint.frames[1];
      std::string rest = joint.name;
      const auto coordinates = joint_coordinates(joint.type);
      for (std::size_t k = 0; k < coordinates.size(); ++k) {
        const std::string name = rest.substr(0, rest.find('+'));
        rest = rest.find('+') == std::string::npos ? "" : rest.substr(rest.find('+') + 1);
        const int id = mj_name2id(&m, mjOBJ_JOINT, name.c_str());
        ASSERT_GE(id, 0) << name;
        ++num_compared_;
        const double turns = 2 * std::numbers::pi;
        double difference = system_->joint_coordinate(0, q, static_cast<int>(j), coordinates[k]) -
                            d.qpos[m.jnt_qposadr[id]];
        if (coordinates[k] != JointCoordinate::kSlide)
          difference -= turns * std::round(difference / turns);
        EXPECT_NEAR(difference, 0, kRounding);
        const Vector3d axis = theirs_.position(d.xaxis, id);
        if (joint.type == JointType::kUniversal && k == 0) continue;  // fixed in the other body
        const int column = joint.type == JointType::kUniversal ? 1 : 2;
        EXPECT_LE((frame.rotation.col(column) - axis).norm(), kRounding);
        if (m.jnt_type[id] == mjJNT_HINGE) {
          const Vector3d offset = frame.position - theirs_.position(d.xanchor, id);
          EXPECT_LE(offset.cross(axis).norm(), kRounding);
        }
      }
    }
  }

  const MujocoModel& theirs_;
  std::optional<Scene> scene_;
  const RigidBodySystem* system_ = nullptr;
  int num_compared_ = 0;
};

/// Random positions within ranges, equalities of joints kept, random velocities.
void set_random(MujocoModel& robot, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> share(0.05, 0.95), any(-1.5, 1.5);
  const mjModel& m = *robot.model;
  mjData& d = *robot.data;
  mj_resetData(&m, &d);
  for (int j = 0; j < m.njnt; ++j) {
    mjtNum* q = d.qpos + m.jnt_qposadr[j];
    const int type = m.jnt_type[j];
    if (type == mjJNT_FREE)
      for (int k = 0; k < 3; ++k) *q++ = any(random);
    if (type == mjJNT_FREE || type == mjJNT_BALL) {
      for (int k = 0; k < 4; ++k) q[k] = any(random);
      mju_normalize4(q);
      continue;
    }
    const mjtNum* range = m.jnt_range + 2 * j;
    *q = range[0] < range[1] ? range[0] + share(random) * (range[1] - range[0]) : any(random);
  }
  for (int e = 0; e < m.neq; ++e) {
    if (m.eq_type[e] != mjEQ_JOINT || m.eq_obj2id[e] < 0) continue;
    const int first = m.jnt_qposadr[m.eq_obj1id[e]], second = m.jnt_qposadr[m.eq_obj2id[e]];
    const mjtNum* terms = m.eq_data + mjNEQDATA * e;
    // Within both ranges: half the way of the second.
    d.qpos[second] = m.qpos0[second] + 0.3 * share(random);
    const double x = d.qpos[second] - m.qpos0[second];
    d.qpos[first] = m.qpos0[first] + terms[0] + terms[1] * x;
  }
  for (int i = 0; i < m.nv; ++i) d.qvel[i] = any(random);
}

void update(MujocoModel& robot) {
  mj_kinematics(robot.model.get(), robot.data.get());
  mj_comPos(robot.model.get(), robot.data.get());
  mj_comVel(robot.model.get(), robot.data.get());
}

std::string numbers(const mjtNum* values, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i > 0 ? " " : "") + fmt::format("{}", values[i]);
  return text;
}

/// The file with a keyframe of random positions instead of its own.
void compare_mjcf(const std::string& text, const TemporaryFolder& folder) {
  const std::string bare = std::regex_replace(text, std::regex("<keyframe>[^]*</keyframe>"), "");
  write_bytes(folder.file("bare.xml"), bare);
  MujocoModel robot(folder.file("bare.xml"));
  if (!robot.model) return;
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    set_random(robot, seed);
    update(robot);
    const std::string key = fmt::format(
        "<keyframe><key name='random' qpos='{}' qvel='{}'/></keyframe></mujoco>",
        numbers(robot.data->qpos, robot.model->nq), numbers(robot.data->qvel, robot.model->nv));
    std::string with_key = bare;
    with_key.replace(with_key.rfind("</mujoco>"), 9, key);
    write_bytes(folder.file("key.xml"), with_key);
    ImportOptions options;
    options.keyframe = "random";
    EXPECT_GT(Comparison(robot, folder.file("key.xml"), options).compare(), 5);
    if (::testing::Test::HasFailure()) return;
  }
}

std::string robot_file(const std::string& name) {
  return STICTION_SOURCE_DIR "/examples/robots/" + name;
}

TEST(ImportBesideMujoco, QuadrupedIsTheSame) {
  const TemporaryFolder folder;
  write_bytes(folder.file("floor.xml"), read_bytes(robot_file("floor.xml")));
  compare_mjcf(read_bytes(robot_file("quadruped.xml")), folder);
}

TEST(ImportBesideMujoco, HumanoidIsTheSame) {
  const TemporaryFolder folder;
  write_bytes(folder.file("floor.xml"), read_bytes(robot_file("floor.xml")));
  compare_mjcf(read_bytes(robot_file("humanoid.xml")), folder);
}

TEST(ImportBesideMujoco, EveryWayToSayItMeansTheSame) {
  const TemporaryFolder folder;
  compare_mjcf(R"(<mujoco model="ways">
  <compiler angle="degree" eulerseq="zYx" settotalmass="17" inertiagrouprange="0 2"/>
  <size njmax="300"/>
  <asset>
    <mesh name="wedge" vertex="0 0 0  0.3 0 0  0 0.2 0  0 0 0.4" scale="1 1.5 0.5"/>
  </asset>
  <default>
    <geom density="700"/>
    <default class="rod"><geom type="capsule" size="0.03"/></default>
    <default class="turned"><geom euler="10 20 30" type="box" size="0.1 0.2 0.05"/>
      <joint axis="1 1 0" damping="1"/></default>
  </default>
  <worldbody>
    <body name="a" pos="0.1 0.2 0.3" euler="30 40 -50">
      <freejoint/>
      <geom type="box" size="0.1 0.05 0.2" axisangle="1 2 3 40"/>
      <geom class="rod" fromto="0 0 0 0.1 0.4 -0.2"/>
      <geom type="cylinder" size="0.05" fromto="0.1 0 0 0.1 0.4 0.3" mass="0.7"/>
      <geom type="ellipsoid" size="0.1 0.2 0.15" pos="0 0 0.3" zaxis="1 -1 0.5"/>
      <geom type="sphere" size="0.4" group="4"/>
      <body name="b" pos="0.4 0 0" xyaxes="1 0.1 0 0.2 1 0.3">
        <joint name="b1" type="hinge" axis="0 1 2" pos="0.1 0.2 0" ref="25" limited="true" range="-30 70"/>
        <geom type="mesh" mesh="wedge" pos="0.1 0 0" quat="0.8 0.2 -0.3 0.1" mass="0"/>
        <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" quat="0.8 0.2 -0.3 0.1"/>
        <body name="fixed" pos="0 0.2 0.1" euler="0 15 0">
          <inertial pos="0.01 0.02 0.03" quat="0.9 0.1 0.2 0.3" mass="0.4" diaginertia="0.02 0.03 0.025"/>
          <body name="deep" pos="0.1 0.1 0"><geom size="0.05"/></body>
        </body>
        <body name="c" pos="0 0.5 0.1">
          <joint name="c1" type="slide" axis="1 0 1" ref="0.1"/>
          <joint name="c2" type="hinge" axis="1 0 1" pos="0.1 0 0" ref="-10"/>
          <geom class="turned"/>
          <body name="d" pos="0.2 0 0.2" childclass="turned">
            <joint name="d1" type="ball" pos="0.05 0 0"/>
            <geom/>
            <geom class="rod" fromto="0 0 0 0 0 0.3"/>
            <body name="e" pos="0 0.3 0">
              <joint name="e1" pos="0 0 0.1"/>
              <joint name="e2" axis="1 -1 0.5" pos="0 0 0.1"/>
              <joint name="e3" axis="0 0 1" type="slide"/>
              <inertial pos="0 0.1 0" mass="2" fullinertia="0.04 0.05 0.06 0.001 0.002 -0.003"/>
            </body>
          </body>
        </body>
      </body>
      <body name="f" pos="-0.4 0 0" euler="5 6 7">
        <joint name="f1" axis="0 0 1" pos="0.1 0 0"/>
        <joint name="f2" axis="1 0 0" pos="0.1 0 0" ref="20"/>
        <geom class="rod" fromto="0 0 0 -0.3 0 0.1"/>
      </body>
    </body>
    <body name="g" pos="3 0 0">
      <joint name="g1" type="slide" axis="1 0 0"/>
      <joint name="g2" type="slide" axis="0 0 1"/>
      <joint name="g3" type="hinge" axis="0 1 0" pos="0 0 0.1"/>
      <geom class="rod" fromto="0 0 0 0.2 0 0"/>
    </body>
  </worldbody>
</mujoco>)",
               folder);
}

/// MuJoCo 2.2 keeps meshes in single precision, 6e-8, and counts the volume of some that are not
/// symmetric twice (a tetrahedron of 3 kg weighs 4.18 kg there): a block turned and moved.
TEST(ImportBesideMujoco, MeshesWeighTheSame) {
  const TemporaryFolder folder;
  write_bytes(folder.file("mesh.xml"), R"(<mujoco>
    <asset><mesh name="block" scale="0.1 0.2 0.3" refpos="0.02 0 0.01"
      vertex="-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1"/></asset>
    <worldbody><body name="b" pos="1 2 3" quat="0.5 0.5 0.1 0.2"><freejoint/>
      <geom type="mesh" mesh="block" pos="0.1 0 0.2" euler="10 20 30"/></body></worldbody></mujoco>)");
  MujocoModel robot(folder.file("mesh.xml"));
  ASSERT_TRUE(robot.model);
  update(robot);
  ImportReport report;
  const auto ours = import_robot(folder.file("mesh.xml"), {}, report);
  ASSERT_TRUE(ours) << report.to_text();
  const MassProperties& mass = *ours->model.bodies[0].mass;
  EXPECT_NEAR(mass.mass, robot.model->body_mass[1], 1e-6 * mass.mass);
  EXPECT_LE((mass.center - Vector3d(robot.model->body_ipos + 3)).norm(), 1e-6);
  mjtNum R[9];
  mju_quat2Mat(R, robot.model->body_iquat + 4);
  const Matrix3d turn = robot.rotation(R, 0);
  const Vector3d moments(robot.model->body_inertia + 3);
  EXPECT_LE((mass.inertia - turn * moments.asDiagonal() * turn.transpose()).norm(),
            1e-6 * mass.inertia.norm());
}

TEST(ImportBesideMujoco, ArmIsTheSame) {
  const TemporaryFolder folder;
  // MuJoCo strips folders of file names, and needs to be told not to balance and not to add limits.
  write_bytes(folder.file("beam.obj"), read_bytes(robot_file("meshes/beam.obj")));
  std::filesystem::create_directory(folder.file("meshes"));
  write_bytes(folder.file("meshes/beam.obj"), read_bytes(robot_file("meshes/beam.obj")));
  write_bytes(folder.file("arm.urdf"), read_bytes(robot_file("arm.urdf")));
  MujocoModel robot(folder.file("arm.urdf"));
  ASSERT_TRUE(robot.model);
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    set_random(robot, seed);
    const auto q = [&](const char* name) -> mjtNum& {
      return robot.data
          ->qpos[robot.model->jnt_qposadr[mj_name2id(robot.model.get(), mjOBJ_JOINT, name)]];
    };
    q("finger_right_joint") = q("finger_left_joint");
    q("needle_joint") = 25 * q("finger_left_joint") + 0.1;
    mju_zero(robot.data->qvel, robot.model->nv);
    update(robot);
    ImportOptions options;
    options.fix_base = true;
    options.package_paths = {STICTION_SOURCE_DIR "/examples"};
    for (const char* name : {"turn", "lift", "elbow", "wrist", "finger_left_joint"})
      options.positions[name] = q(name);
    EXPECT_GT(Comparison(robot, folder.file("arm.urdf"), options).compare(), 10);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace stiction
