// The heavy chain in Bullet as rigid bodies with point-to-point constraints, by its three solvers
// for them: sequential impulses, nonsmooth nonlinear conjugate gradients, and Dantzig's direct
// method.
#include <BulletDynamics/ConstraintSolver/btNNCGConstraintSolver.h>
#include <BulletDynamics/MLCPSolvers/btMLCPSolver.h>
#include <btBulletDynamicsCommon.h>
#include <fmt/format.h>

#include <memory>

#include "bench/peers/bullet_dantzig.h"
#include "bench/peers/bullet_state.h"
#include "bench/peers/chain.h"

namespace stiction::bench {
namespace {

enum class BulletSolver { kSequentialImpulse, kConjugateGradient, kDantzig };

struct BulletSettings {
  BulletSolver solver = BulletSolver::kSequentialImpulse;
  int iterations = 10;
  double erp = 0.2;  // share of a joint error that one step removes
};

class BulletWorld final : public ChainWorld {
 public:
  BulletWorld(const ChainScene& scene, const BulletSettings& settings)
      : scene_(scene),
        solver_(make_solver(settings.solver)),
        dispatcher_(&configuration_),
        world_(&dispatcher_, &broadphase_, solver_.get(), &configuration_),
        rod_(scene.link_radius, scene.link_length),
        ball_(scene.ball_radius) {
    world_.setGravity({0, 0, -kGravity});
    btContactSolverInfo& info = world_.getSolverInfo();
    info.m_numIterations = settings.iterations;
    info.m_erp = settings.erp;
    info.m_globalCfm = 0;
    info.m_leastSquaresResidualThreshold = 0;
    for (int i = 0; i < scene.num_bodies(); ++i) add_body(i);
    for (int i = 0; i < scene.num_bodies(); ++i) add_joint(i);
  }
  ~BulletWorld() override {
    for (auto& joint : joints_) world_.removeConstraint(joint.get());
    for (auto& body : bodies_) world_.removeRigidBody(body.get());
  }

  void step() override { world_.stepSimulation(scene_.h, 0); }  // 0: exactly one step of this size

  void read(std::vector<BodyState>& bodies) override {
    for (int i = 0; i < scene_.num_bodies(); ++i) {
      bodies[i] = read_state(*bodies_[i]);
    }
  }

 private:
  std::unique_ptr<btConstraintSolver> make_solver(BulletSolver solver) {
    switch (solver) {
      case BulletSolver::kConjugateGradient:
        return std::make_unique<btNNCGConstraintSolver>();
      case BulletSolver::kDantzig:
        return std::make_unique<btMLCPSolver>(&dantzig_);
      case BulletSolver::kSequentialImpulse:
        break;
    }
    return std::make_unique<btSequentialImpulseConstraintSolver>();
  }

  void add_body(int index) {
    // A body without shape would not be simulated; the masks keep the shapes from touching.
    btCollisionShape* shape = index < scene_.links ? static_cast<btCollisionShape*>(&rod_) : &ball_;
    btRigidBody::btRigidBodyConstructionInfo info(scene_.body_mass(index), nullptr, shape,
                                                  to_bullet(scene_.body_inertia(index)));
    info.m_startWorldTransform.setOrigin(to_bullet(scene_.body_position(index)));
    info.m_linearDamping = info.m_angularDamping = 0;
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
    world_.addRigidBody(bodies_.back().get(), 0, 0);
  }

  void add_joint(int index) {
    const Eigen::Vector3d anchor = scene_.joint_position(index);
    const auto pivot_in = [&](int body) { return to_bullet(anchor - scene_.body_position(body)); };
    if (index == 0)
      joints_.push_back(std::make_unique<btPoint2PointConstraint>(*bodies_[0], pivot_in(0)));
    else
      joints_.push_back(std::make_unique<btPoint2PointConstraint>(
          *bodies_[index - 1], *bodies_[index], pivot_in(index - 1), pivot_in(index)));
    world_.addConstraint(joints_.back().get(), true);
  }

  ChainScene scene_;
  UnlimitedDantzigSolver dantzig_;
  std::unique_ptr<btConstraintSolver> solver_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broadphase_;
  btDiscreteDynamicsWorld world_;
  btCapsuleShapeX rod_;
  btSphereShape ball_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
  std::vector<std::unique_ptr<btPoint2PointConstraint>> joints_;
};

std::string describe(const BulletSettings& settings) {
  switch (settings.solver) {
    case BulletSolver::kConjugateGradient:
      return fmt::format("NNCG {} iterations, ERP {:g}", settings.iterations, settings.erp);
    case BulletSolver::kDantzig:
      return fmt::format("Dantzig (direct), ERP {:g}", settings.erp);
    case BulletSolver::kSequentialImpulse:
      break;
  }
  return fmt::format("sequential impulse {} iterations, ERP {:g}", settings.iterations,
                     settings.erp);
}

ChainContender make_contender(const BulletSettings& settings) {
  const ChainLabel label{"Bullet", describe(settings)};
  return {label, [=](const ChainScene& scene) {
            BulletWorld world(scene, settings);
            return run_chain(scene, label, world);
          }};
}

}  // namespace

ChainContenders make_bullet_contenders() {
  ChainContenders contenders;
  for (const BulletSettings& settings :
       {BulletSettings{},  // its defaults
        BulletSettings{.iterations = 1000},
        BulletSettings{.solver = BulletSolver::kConjugateGradient, .iterations = 1000},
        BulletSettings{.solver = BulletSolver::kDantzig},
        BulletSettings{.solver = BulletSolver::kDantzig, .erp = 0.8}})
    contenders.push_back(make_contender(settings));
  return contenders;
}

}  // namespace stiction::bench
