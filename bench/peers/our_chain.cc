// The heavy chain in Stiction: the scheme spook, with its linear step and with the iteration to the
// end of the step.
#include "bench/peers/chain.h"
#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"

namespace stiction::bench {
namespace {

Model make_model(const ChainScene& scene) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  for (int i = 0; i < scene.num_bodies(); ++i) {
    BodyDescription body;
    body.name = i < scene.links ? "link " + std::to_string(i + 1) : "ball";
    body.mass = scene.body_mass(i);
    body.inertia = scene.body_inertia(i).asDiagonal();
    body.position = scene.body_position(i);
    world.add_body(body);
    JointDescription joint;
    joint.name = "joint " + std::to_string(i + 1);
    joint.bodies = {i == 0 ? kWorld : i - 1, i};
    world.add_joint(joint, {.at = scene.joint_position(i)});
  }
  return world.build_model();
}

class OurWorld final : public ChainWorld {
 public:
  OurWorld(const ChainScene& scene, const SpookOptions& options)
      : simulation_(
            make_model(scene),
            {.scheme = "spook", .h = scene.h, .tolerance = 1e-8, .stepping = {.spook = options}}) {}

  void step() override {
    try {
      simulation_.step();
    } catch (const StepRejected&) {
      is_lost_ = true;
    }
  }
  bool is_lost() const override { return is_lost_; }

  void read(std::vector<BodyState>& bodies) override {
    simulation_.model().record(simulation_.state(), q_, v_);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const auto q = q_.segment<7>(7 * static_cast<Eigen::Index>(i));
      const auto v = v_.segment<6>(6 * static_cast<Eigen::Index>(i));
      bodies[i] = {q.head<3>(), {q[3], q[4], q[5], q[6]}, v.head<3>(), v.tail<3>()};
    }
  }

 private:
  Simulation simulation_;
  VectorXd q_, v_;
  bool is_lost_ = false;
};

}  // namespace

ChainContenders make_our_contenders() {
  const auto make = [](const std::string& settings, const SpookOptions& options) {
    const ChainLabel label{"Stiction", settings};
    return ChainContender{label, [label, options](const ChainScene& scene) {
                            OurWorld world(scene, options);
                            return run_chain(scene, label, world);
                          }};
  };
  return {make("spook", {}), make("spook, stiffness_return 0", {.stiffness_return = 0}),
          make("spook, position iteration", {.position_iteration = true})};
}

}  // namespace stiction::bench
