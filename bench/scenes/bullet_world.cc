// The scenes in Bullet, in double precision: sequential impulses, and Dantzig's direct method
// (btMLCPSolver), which falls back to sequential impulses where it fails.
#include <BulletDynamics/MLCPSolvers/btMLCPSolver.h>
#include <btBulletDynamicsCommon.h>
#include <fmt/format.h>

#include <cmath>

#include "bench/peers/bullet_dantzig.h"
#include "bench/peers/bullet_state.h"
#include "bench/scenes/contender.h"

namespace stiction::bench {
namespace {

struct BulletSettings {
  bool is_direct = false;
  bool is_accurate = false;
};

constexpr int kAccurateIterations = 1000;
/// [N² s²] Sweeps end when no impulse changes by more than the root of this.
constexpr double kAccurateThreshold = 1e-14;

std::unique_ptr<btCollisionShape> make_shape(const Shape& shape) {
  if (const auto* sphere = std::get_if<Sphere>(&shape))
    return std::make_unique<btSphereShape>(sphere->radius);
  if (const auto* box = std::get_if<Box>(&shape))
    return std::make_unique<btBoxShape>(to_bullet(box->size / 2));
  if (const auto* capsule = std::get_if<Capsule>(&shape))
    return std::make_unique<btCapsuleShapeZ>(capsule->radius, capsule->length);
  if (const auto* cylinder = std::get_if<Cylinder>(&shape))
    return std::make_unique<btCylinderShapeZ>(
        btVector3(cylinder->radius, cylinder->radius, cylinder->length / 2));
  throw Unsupported(std::string(name_of(shape)));
}

class BulletWorld final : public SceneWorld {
 public:
  BulletWorld(const SceneDescription& scene, const BulletSettings& settings)
      : scene_(scene),
        solver_(make_solver(settings)),
        dispatcher_(&configuration_),
        world_(&dispatcher_, &broadphase_, solver_.get(), &configuration_) {
    world_.setGravity({0, 0, -kGravity});
    btContactSolverInfo& info = world_.getSolverInfo();
    if (settings.is_direct) info.m_minimumSolverBatchSize = 1;  // one problem per island
    if (settings.is_accurate) {
      info.m_numIterations = kAccurateIterations;
      info.m_leastSquaresResidualThreshold = kAccurateThreshold;
      info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
      if (settings.is_direct) info.m_erp = info.m_erp2 = 0.8;
    }
    for (const SceneBody& body : scene_.bodies) add_body(body);
    for (const SceneJoint& joint : scene_.joints) add_joint(joint);
  }
  ~BulletWorld() override {
    for (auto& joint : joints_) world_.removeConstraint(joint.get());
    for (auto& body : bodies_) world_.removeRigidBody(body.get());
  }
  BulletWorld(const BulletWorld&) = delete;
  BulletWorld& operator=(const BulletWorld&) = delete;

  void step() override {
    for (std::size_t i = 0; i < bodies_.size(); ++i)
      if (!scene_.bodies[i].force.isZero())
        bodies_[i]->applyCentralForce(to_bullet(scene_.bodies[i].force));
    world_.stepSimulation(scene_.h, 0);  // 0: exactly one step of this size
  }

  void read(std::vector<BodyState>& bodies) override {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (scene_.bodies[i].is_static) continue;
      bodies[i] = read_state(*bodies_[i]);
    }
  }

 private:
  std::unique_ptr<btConstraintSolver> make_solver(const BulletSettings& settings) {
    if (!settings.is_direct) return std::make_unique<btSequentialImpulseConstraintSolver>();
    btMLCPSolverInterface* method = &dantzig_;
    if (settings.is_accurate) method = &unlimited_dantzig_;
    return std::make_unique<btMLCPSolver>(method);
  }

  void add_body(const SceneBody& source) {
    shapes_.push_back(make_shape(source.shape));
    btRigidBody::btRigidBodyConstructionInfo info(source.mass, nullptr, shapes_.back().get(),
                                                  to_bullet(source.inertia));
    info.m_startWorldTransform =
        btTransform(to_bullet(source.orientation), to_bullet(source.position));
    info.m_linearDamping = info.m_angularDamping = 0;
    info.m_friction = std::sqrt(source.mu);  // two bodies have the product
    info.m_restitution = 0;
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    btRigidBody& body = *bodies_.back();
    body.setLinearVelocity(to_bullet(source.velocity));
    body.setActivationState(DISABLE_DEACTIVATION);
    if (!source.touches)
      world_.addRigidBody(&body, 0, 0);
    else
      world_.addRigidBody(&body);
  }

  void add_joint(const SceneJoint& source) {
    btRigidBody& second = *bodies_[static_cast<std::size_t>(source.second)];
    const btVector3 pivot = second.getWorldTransform().inverse() * to_bullet(source.at);
    if (source.kind == SceneJoint::Kind::kSlider) {
      if (source.first != kGround) throw Unsupported("sliders between two bodies");
      add_slider(source, second);
    } else if (source.first == kGround) {
      joints_.push_back(std::make_unique<btPoint2PointConstraint>(second, pivot));
    } else {
      btRigidBody& first = *bodies_[static_cast<std::size_t>(source.first)];
      joints_.push_back(std::make_unique<btPoint2PointConstraint>(
          first, second, first.getWorldTransform().inverse() * to_bullet(source.at), pivot));
    }
    world_.addConstraint(joints_.back().get(), true);
  }

  /// Six degrees of freedom of which only that along x is free.
  void add_slider(const SceneJoint& source, btRigidBody& body) {
    const Eigen::Quaterniond axes =
        Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitX(), source.axis);
    const btTransform in_world(to_bullet(axes), to_bullet(source.at));
    auto joint = std::make_unique<btGeneric6DofSpring2Constraint>(
        body, body.getWorldTransform().inverse() * in_world);
    joint->setLinearLowerLimit({1, 0, 0});  // lower above upper: free
    joint->setLinearUpperLimit({-1, 0, 0});
    joint->setAngularLowerLimit({0, 0, 0});
    joint->setAngularUpperLimit({0, 0, 0});
    joints_.push_back(std::move(joint));
  }

  SceneDescription scene_;
  btDantzigSolver dantzig_;
  UnlimitedDantzigSolver unlimited_dantzig_;
  std::unique_ptr<btConstraintSolver> solver_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broadphase_;
  btDiscreteDynamicsWorld world_;
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
  std::vector<std::unique_ptr<btTypedConstraint>> joints_;
};

}  // namespace

SceneContenders make_bullet_scene_contenders() {
  const auto make = [](const std::string& text, const BulletSettings& settings) -> SceneContender {
    return {"Bullet", text, settings.is_accurate ? Setting::kAccurate : Setting::kDefault,
            [=](const SceneDescription& scene) -> std::unique_ptr<SceneWorld> {
              return std::make_unique<BulletWorld>(scene, settings);
            }};
  };
  return {make("sequential impulse 10", {}), make("sequential impulse 1000", {.is_accurate = true}),
          make("MLCP Dantzig", {.is_direct = true}),
          make("MLCP Dantzig, ERP 0.8", {.is_direct = true, .is_accurate = true})};
}

}  // namespace stiction::bench
