// The heavy chain in Bullet as one btMultiBody: Featherstone's articulated body algorithm in the
// coordinates of the joints, which cannot open.
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>

#include "bench/peers/bullet_state.h"
#include "bench/peers/chain.h"

namespace stiction::bench {
namespace {

enum class MultiBodyIntegrator { kEuler, kRungeKutta };

class MultiBodyWorld final : public ChainWorld {
 public:
  MultiBodyWorld(const ChainScene& scene, MultiBodyIntegrator integrator)
      : scene_(scene),
        dispatcher_(&configuration_),
        world_(&dispatcher_, &broadphase_, &solver_, &configuration_),
        chain_(scene.num_bodies(), 0, {0, 0, 0}, /*fixedBase=*/true, /*canSleep=*/false),
        omega_(scene.num_bodies() + 1),
        velocity_(scene.num_bodies() + 1) {
    world_.setGravity({0, 0, -kGravity});
    for (int i = 0; i < scene.num_bodies(); ++i) add_link(i);
    chain_.finalizeMultiDof();
    chain_.setLinearDamping(0);
    chain_.setAngularDamping(0);
    chain_.setUseGyroTerm(true);
    chain_.setHasSelfCollision(false);
    chain_.setMaxCoordinateVelocity(BT_LARGE_FLOAT);  // clamped at 100 by default
    chain_.useRK4Integration(integrator == MultiBodyIntegrator::kRungeKutta);
    world_.addMultiBody(&chain_);
    for (int i = 0; i < scene.num_bodies(); ++i) {
      const btScalar identity[4] = {0, 0, 0, 1};
      chain_.setJointPosMultiDof(i, identity);
    }
  }
  ~MultiBodyWorld() override { world_.removeMultiBody(&chain_); }

  void step() override { world_.stepSimulation(scene_.h, 0); }  // 0: exactly one step of this size

  void read(std::vector<BodyState>& bodies) override {
    chain_.forwardKinematics(rotations_, origins_);
    chain_.compTreeLinkVelocities(omega_.data(), velocity_.data());  // in the axes of each link
    for (int i = 0; i < scene_.num_bodies(); ++i) {
      const btTransform& X_WB = chain_.getLink(i).m_cachedWorldTransform;
      bodies[i].p_WB = to_eigen(X_WB.getOrigin());
      bodies[i].R_WB = to_eigen(X_WB.getRotation());
      bodies[i].v_WB = to_eigen(X_WB.getBasis() * velocity_[i + 1]);
      bodies[i].w_WB = to_eigen(X_WB.getBasis() * omega_[i + 1]);
    }
  }

 private:
  void add_link(int index) {
    const Eigen::Vector3d joint = scene_.joint_position(index);
    const Eigen::Vector3d parent =
        index == 0 ? Eigen::Vector3d::Zero().eval() : scene_.body_position(index - 1);
    chain_.setupSpherical(index, scene_.body_mass(index), to_bullet(scene_.body_inertia(index)),
                          index - 1, btQuaternion::getIdentity(), to_bullet(joint - parent),
                          to_bullet(scene_.body_position(index) - joint), true);
  }

  ChainScene scene_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broadphase_;
  btMultiBodyConstraintSolver solver_;
  btMultiBodyDynamicsWorld world_;
  btMultiBody chain_;
  btAlignedObjectArray<btQuaternion> rotations_;
  btAlignedObjectArray<btVector3> origins_;
  std::vector<btVector3> omega_, velocity_;
};

ChainContender make_contender(MultiBodyIntegrator integrator, const std::string& settings) {
  const ChainLabel label{"Bullet btMultiBody", settings};
  return {label, [=](const ChainScene& scene) {
            MultiBodyWorld world(scene, integrator);
            return run_chain(scene, label, world);
          }};
}

}  // namespace

ChainContenders make_bullet_multibody_contenders() {
  return {make_contender(MultiBodyIntegrator::kEuler, "tree, spherical joints, Euler"),
          make_contender(MultiBodyIntegrator::kRungeKutta, "tree, spherical joints, RK4")};
}

}  // namespace stiction::bench
