// The scenes in Stiction.
#include "bench/scenes/contender.h"
#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"

namespace stiction::bench {
namespace {

struct OurSettings {
  std::string scheme;
  double tolerance = 1e-6;
  int num_threads = 1;
};

BodyDescription describe_body(const SceneBody& body) {
  BodyDescription result;
  result.name = body.name;
  result.motion =
      body.is_static ? BodyDescription::Motion::kStatic : BodyDescription::Motion::kDynamic;
  result.position = body.position;
  result.orientation = body.orientation;
  result.velocity = body.velocity;
  if (body.is_static) return result;
  result.mass = body.mass;
  result.inertia = body.inertia.asDiagonal();
  return result;
}

void add_joint(const SceneJoint& joint, RigidBodyBuilder& world) {
  JointDescription description;
  description.type = joint.kind == SceneJoint::Kind::kBall ? JointType::kBall : JointType::kSlider;
  description.bodies = {joint.first == kGround ? kWorld : joint.first, joint.second};
  world.add_joint(description, {.at = joint.at, .axis = joint.axis});
}

Model make_model(const SceneDescription& scene) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  for (const SceneBody& body : scene.bodies) {
    const BodyId id = world.add_body(describe_body(body));
    if (body.touches) {
      const MaterialId material = world.add_material({.mu = body.mu});
      world.add_shape({.body = id, .shape = body.shape, .material = material});
    }
    if (!body.force.isZero())
      world.add_force({.body = id, .force = {body.force.x(), body.force.y(), body.force.z()}});
  }
  for (const SceneJoint& joint : scene.joints) add_joint(joint, world);
  return world.build_model();
}

std::vector<char> list_static(const SceneDescription& scene) {
  std::vector<char> is_static;
  for (const SceneBody& body : scene.bodies) is_static.push_back(body.is_static ? 1 : 0);
  return is_static;
}

class OurWorld final : public SceneWorld {
 public:
  OurWorld(const SceneDescription& scene, const OurSettings& settings)
      : is_static_(list_static(scene)),
        simulation_(make_model(scene), {.scheme = settings.scheme,
                                        .solver = "auto",
                                        .h = scene.h,
                                        .tolerance = settings.tolerance,
                                        .friction = FrictionSection::disc(),
                                        .on_failure = OnFailure::kAcceptAndFlag,
                                        .sleep = false,        // nothing sleeps in the others
                                        .times_steps = false,  // nor do they time themselves
                                        .collision = {.num_threads = settings.num_threads}}) {}

  void step() override {
    try {
      simulation_.step();
    } catch (const StepRejected&) {  // there was no answer at all
      is_lost_ = true;
    }
  }
  bool is_lost() const override { return is_lost_; }

  void read(std::vector<BodyState>& bodies) override {
    simulation_.model().record(simulation_.state(), q_, v_);
    Eigen::Index place = 0;  // among those that move
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (is_static_[i]) continue;
      const auto q = q_.segment<7>(7 * place);
      const auto v = v_.segment<6>(6 * place);
      bodies[i] = {q.head<3>(), {q[3], q[4], q[5], q[6]}, v.head<3>(), v.tail<3>()};
      ++place;
    }
  }

  double residual_max() const override { return simulation_.summary().residual_max; }
  int steps_above_tolerance() const override {
    return static_cast<int>(simulation_.summary().steps_above_tolerance);
  }

 private:
  std::vector<char> is_static_;
  Simulation simulation_;
  VectorXd q_, v_;
  bool is_lost_ = false;
};

}  // namespace

std::unique_ptr<SceneWorld> make_our_world(const SceneDescription& scene, double tolerance,
                                           int num_threads) {
  return std::make_unique<OurWorld>(scene, OurSettings{"moreau", tolerance, num_threads});
}

SceneContenders make_our_scene_contenders() {
  SceneContenders contenders;
  for (const double tolerance : {1e-6, 1e-3})
    for (const char* scheme : {"moreau", "spook"}) {
      const std::string text = tolerance == 1e-6 ? "1e-6" : "1e-3";
      contenders.push_back(
          {"Stiction", text + " " + scheme,
           tolerance == 1e-6 ? Setting::kAccurate : Setting::kDefault,
           [=](const SceneDescription& scene) -> std::unique_ptr<SceneWorld> {
             return std::make_unique<OurWorld>(scene, OurSettings{scheme, tolerance, 1});
           }});
    }
  return contenders;
}

}  // namespace stiction::bench
