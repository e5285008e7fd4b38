// The scenes in MuJoCo: joints in reduced coordinates, contacts as soft constraints. Its step is
// given by the scene; a contact's time constant of two steps is the smallest that it admits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/peers/mujoco_model.h"
#include "bench/scenes/contender.h"
#include "bench/scenes/joint_tree.h"

namespace stiction::bench {
namespace {

constexpr int kContactsPerBody = 16;

struct MujocoSettings {
  bool is_accurate = false;
};

std::string format_quaternion(const Eigen::Quaterniond& q) {
  return fmt::format("{:.17g} {:.17g} {:.17g} {:.17g}", q.w(), q.x(), q.y(), q.z());
}

std::string make_geom(const SceneBody& body) {
  if (!body.touches) return "";
  const Shape& shape = body.shape;
  if (const auto* sphere = std::get_if<Sphere>(&shape))
    return fmt::format("<geom type='sphere' size='{:.17g}'/>", sphere->radius);
  if (const auto* box = std::get_if<Box>(&shape))
    return fmt::format("<geom type='box' size='{}'/>", format_vector(box->size / 2));
  if (const auto* capsule = std::get_if<Capsule>(&shape))
    return fmt::format("<geom type='capsule' size='{:.17g} {:.17g}'/>", capsule->radius,
                       capsule->length / 2);
  if (const auto* cylinder = std::get_if<Cylinder>(&shape))
    return fmt::format("<geom type='cylinder' size='{:.17g} {:.17g}'/>", cylinder->radius,
                       cylinder->length / 2);
  throw Unsupported(std::string(name_of(shape)));
}

class ModelWriter {
 public:
  ModelWriter(const SceneDescription& scene, const MujocoSettings& settings)
      : scene_(scene), settings_(settings), tree_(make_joint_tree(scene)) {}

  std::string write() {
    text_ = fmt::format(
        "<mujoco><compiler boundmass='0'/>"
        "<option timestep='{:.17g}' gravity='0 0 {:.17g}' {}/>"
        "<size nconmax='{}' njmax='{}' nstack='{}'/>"
        "<default><geom condim='3' friction='{:.17g} 0 0' {}/></default><worldbody>",
        scene_.h, -kGravity, options(), num_contacts(), rows_per_contact() * num_contacts(),
        stack_size(), find_common_friction(scene_),
        settings_.is_accurate
            ? fmt::format("solref='{:.17g} 1' solimp='0.9999 0.9999 0.001'", 2 * scene_.h)
            : "");
    for (const int root : tree_.roots) add_body(root, {});
    return text_ + "</worldbody></mujoco>";
  }

 private:
  std::string options() const {
    if (!settings_.is_accurate) return "";
    return "cone='elliptic' impratio='100' iterations='1000' tolerance='1e-14' "
           "integrator='implicit'";
  }
  /// Room for contacts must be given beforehand. All arrays together, dense ones of rows × speeds
  /// and rows × rows among them, may have 2 GiB.
  int num_contacts() const {
    constexpr double kLargest = 1.9e9;  // [bytes]
    const double per_row = 24.0 * 6 * num_moving(), square = 12;
    const double most_rows =
        (std::sqrt(per_row * per_row + 4 * square * kLargest) - per_row) / (2 * square);
    return std::min(kContactsPerBody * scene_.num_bodies() + 100,
                    static_cast<int>(most_rows) / rows_per_contact());
  }
  int num_moving() const {
    return static_cast<int>(std::count_if(scene_.bodies.begin(), scene_.bodies.end(),
                                          [](const SceneBody& body) { return !body.is_static; }));
  }
  int rows_per_contact() const { return settings_.is_accurate ? 3 : 4; }
  /// Of numbers; the system gives memory only where it is used.
  int stack_size() const { return 10'000'000 + 200'000 * std::min(scene_.num_bodies(), 2000); }

  /// Frames of bodies are those of the scene, at their centres of mass.
  void add_body(int i, const Pose& parent) {
    const SceneBody& body = scene_.bodies[static_cast<std::size_t>(i)];
    const Pose local = inverse(parent) * body.pose();
    text_ += fmt::format("<body name='b{}' pos='{}' quat='{}'>", i, format_vector(local.position),
                         format_quaternion(Eigen::Quaterniond(local.rotation)));
    if (!body.is_static) {
      add_joint(i, body);
      text_ += fmt::format("<inertial pos='0 0 0' mass='{:.17g}' diaginertia='{}'/>", body.mass,
                           format_vector(body.inertia));
    }
    text_ += make_geom(body);
    for (const int child : tree_.children[static_cast<std::size_t>(i)])
      add_body(child, body.pose());
    text_ += "</body>";
  }

  void add_joint(int i, const SceneBody& body) {
    const auto& joint = tree_.joint_of_body[static_cast<std::size_t>(i)];
    if (!joint) {
      text_ += "<freejoint/>";
      return;
    }
    const Pose in_body = inverse(body.pose());
    const std::string at = format_vector(in_body * joint->at);
    if (joint->kind == SceneJoint::Kind::kBall)
      text_ += fmt::format("<joint type='ball' pos='{}'/>", at);
    else
      text_ += fmt::format("<joint type='slide' pos='{}' axis='{}'/>", at,
                           format_vector(in_body.rotation * joint->axis));
  }

  const SceneDescription& scene_;
  MujocoSettings settings_;
  JointTree tree_;
  std::string text_;
};

class MujocoWorld final : public SceneWorld {
 public:
  MujocoWorld(const SceneDescription& scene, const MujocoSettings& settings)
      : scene_(scene),
        model_(load_mujoco_model(ModelWriter(scene, settings).write())),
        data_(mj_makeData(model_.get())) {
    if (!data_) throw Unsupported("memory for so many contacts");
    for (int i = 0; i < scene.num_bodies(); ++i) {
      const SceneBody& source = scene.bodies[static_cast<std::size_t>(i)];
      const int body = mj_name2id(model_.get(), mjOBJ_BODY, fmt::format("b{}", i).c_str());
      ids_.push_back(body);
      Eigen::Vector3d::Map(data_->xfrc_applied + 6 * body) = source.force;
      if (source.velocity.isZero()) continue;
      const int dof = model_->body_dofadr[body];
      if (model_->body_dofnum[body] != 6) throw Unsupported("speed of a body with a joint");
      Eigen::Vector3d::Map(data_->qvel + dof) = source.velocity;
    }
  }

  void step() override {
    mj_step(model_.get(), data_.get());
    // Contacts beyond its room are left out, which is another scene.
    if (data_->warning[mjWARN_CONTACTFULL].number + data_->warning[mjWARN_CNSTRFULL].number > 0)
      throw Unsupported(fmt::format("more than {} contacts, at {:.2f} s (2 GiB in all)",
                                    model_->nconmax, data_->time));
  }

  void read(std::vector<BodyState>& bodies) override {
    // A step leaves poses and velocities of the bodies at its beginning.
    mj_kinematics(model_.get(), data_.get());
    mj_comPos(model_.get(), data_.get());
    mj_comVel(model_.get(), data_.get());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (scene_.bodies[i].is_static) continue;
      bodies[i] = read_state(*model_, *data_, ids_[i]);
    }
  }

  bool is_lost() const override { return has_been_reset(*data_); }

 private:
  SceneDescription scene_;
  MujocoModel model_;
  MujocoData data_;
  std::vector<int> ids_;
};

}  // namespace

SceneContenders make_mujoco_scene_contenders() {
  const auto make = [](const std::string& text, const MujocoSettings& settings) -> SceneContender {
    return {"MuJoCo", text, settings.is_accurate ? Setting::kAccurate : Setting::kDefault,
            [=](const SceneDescription& scene) -> std::unique_ptr<SceneWorld> {
              return std::make_unique<MujocoWorld>(scene, settings);
            }};
  };
  return {make("pyramidal", {}), make("elliptic, hard", {.is_accurate = true})};
}

}  // namespace stiction::bench
