// The heavy chain in MuJoCo, twice: as a tree of ball joints (its own way, which cannot open) and
// as free bodies held together by equality constraints, which MuJoCo keeps soft.
#include <fmt/format.h>

#include <algorithm>

#include "bench/peers/chain.h"
#include "bench/peers/mujoco_model.h"

namespace stiction::bench {
namespace {

enum class MujocoJoints { kTree, kConnect };

struct MujocoSettings {
  MujocoJoints joints = MujocoJoints::kTree;
  const char* integrator = "implicit";
  double time_constant_steps =
      2;  // of an equality constraint, in h; below 2 MuJoCo advises against
};

/// The frame of a body lies in the joint to its predecessor.
std::string open_body(const ChainScene& scene, int index, const Eigen::Vector3d& p_in_parent) {
  return fmt::format(
      "<body name='b{}' pos='{}'>"
      "<inertial pos='{}' mass='{:.17g}' diaginertia='{}'/>",
      index, format_vector(p_in_parent),
      format_vector(scene.body_position(index) - scene.joint_position(index)),
      scene.body_mass(index), format_vector(scene.body_inertia(index)));
}

std::string make_tree(const ChainScene& scene) {
  std::string text = "<worldbody>";
  for (int i = 0; i < scene.num_bodies(); ++i) {
    const Eigen::Vector3d parent = scene.joint_position(std::max(i - 1, 0));
    text += open_body(scene, i, scene.joint_position(i) - parent) + "<joint type='ball'/>";
  }
  for (int i = 0; i < scene.num_bodies(); ++i) text += "</body>";
  return text + "</worldbody>";
}

std::string make_connected(const ChainScene& scene, const MujocoSettings& settings) {
  std::string bodies = "<worldbody>", joints = "<equality>";
  for (int i = 0; i < scene.num_bodies(); ++i) {
    bodies += open_body(scene, i, scene.joint_position(i)) + "<freejoint/></body>";
    // Impedance at its upper bound 0.9999, the hardest that MuJoCo admits.
    joints += fmt::format(
        "<connect body1='b{}' {} anchor='0 0 0' solref='{:.17g} 1' solimp='0.9999 0.9999 0.001'/>",
        i, i == 0 ? "" : fmt::format("body2='b{}'", i - 1), settings.time_constant_steps * scene.h);
  }
  return bodies + "</worldbody>" + joints + "</equality>";
}

std::string make_model_text(const ChainScene& scene, const MujocoSettings& settings) {
  const bool is_tree = settings.joints == MujocoJoints::kTree;
  return fmt::format(
      "<mujoco><option timestep='{:.17g}' gravity='0 0 {:.17g}' integrator='{}' solver='Newton' "
      "iterations='200' tolerance='0'><flag contact='disable' refsafe='disable'/></option>{}"
      "</mujoco>",
      scene.h, -kGravity, settings.integrator,
      is_tree ? make_tree(scene) : make_connected(scene, settings));
}

class MujocoWorld final : public ChainWorld {
 public:
  MujocoWorld(const ChainScene& scene, const MujocoSettings& settings)
      : scene_(scene),
        model_(load_mujoco_model(make_model_text(scene, settings))),
        data_(mj_makeData(model_.get())) {}

  void step() override { mj_step(model_.get(), data_.get()); }

  void read(std::vector<BodyState>& bodies) override {
    // A step leaves poses and velocities of the bodies at its beginning.
    mj_kinematics(model_.get(), data_.get());
    mj_comPos(model_.get(), data_.get());
    mj_comVel(model_.get(), data_.get());
    for (int i = 0; i < scene_.num_bodies(); ++i) {
      const int body = i + 1;  // 0 is the world
      bodies[i] = read_state(*model_, *data_, body);
    }
  }

  bool is_lost() const override { return has_been_reset(*data_); }

 private:
  ChainScene scene_;
  MujocoModel model_;
  MujocoData data_;
};

std::string describe(const MujocoSettings& settings) {
  if (settings.joints == MujocoJoints::kTree)
    return fmt::format("tree, ball joints, {}", settings.integrator);
  return fmt::format("connect, Newton, solref {:g} h, {}", settings.time_constant_steps,
                     settings.integrator);
}

ChainContender make_contender(const MujocoSettings& settings) {
  const ChainLabel label{"MuJoCo", describe(settings)};
  return {label, [=](const ChainScene& scene) {
            MujocoWorld world(scene, settings);
            return run_chain(scene, label, world);
          }};
}

}  // namespace

ChainContenders make_mujoco_contenders() {
  ChainContenders contenders;
  for (const MujocoSettings& settings :
       {MujocoSettings{.integrator = "Euler"}, MujocoSettings{.integrator = "implicit"},
        MujocoSettings{.integrator = "RK4"},
        MujocoSettings{.joints = MujocoJoints::kConnect, .integrator = "Euler"},
        MujocoSettings{.joints = MujocoJoints::kConnect, .integrator = "implicit"},
        MujocoSettings{.joints = MujocoJoints::kConnect, .integrator = "RK4"}})
    contenders.push_back(make_contender(settings));
  return contenders;
}

}  // namespace stiction::bench
