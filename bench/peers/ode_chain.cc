// The heavy chain in the Open Dynamics Engine: rigid bodies and ball joints, solved by its direct
// method (dWorldStep) and by its sweeps (dWorldQuickStep). A joint of ODE is corrected by the share
// ERP of its error per step and gives way by CFM, in velocity per force.
#include <fmt/format.h>
#include <ode/ode.h>

#include "bench/peers/chain.h"
#include "bench/peers/ode_library.h"

namespace stiction::bench {
namespace {

struct OdeSettings {
  int iterations = 0;  // of QuickStep; 0: dWorldStep
  double erp = 0.2;    // share of a joint error that one step removes
  double cfm = 0;      // [s/kg] velocity by which a joint gives way, per force
};

class OdeWorld final : public ChainWorld {
 public:
  OdeWorld(const ChainScene& scene, const OdeSettings& settings)
      : scene_(scene), settings_(settings), world_(dWorldCreate()) {
    dWorldSetGravity(world_, 0, 0, -kGravity);
    dWorldSetERP(world_, settings.erp);
    dWorldSetCFM(world_, settings.cfm);
    dWorldSetDamping(world_, 0, 0);
    dWorldSetAutoDisableFlag(world_, 0);
    if (settings.iterations > 0) dWorldSetQuickStepNumIterations(world_, settings.iterations);
    for (int i = 0; i < scene.num_bodies(); ++i) add_body(i);
  }
  ~OdeWorld() override { dWorldDestroy(world_); }
  OdeWorld(const OdeWorld&) = delete;
  OdeWorld& operator=(const OdeWorld&) = delete;

  void step() override {
    if (settings_.iterations > 0)
      dWorldQuickStep(world_, scene_.h);
    else
      dWorldStep(world_, scene_.h);
  }

  void read(std::vector<BodyState>& bodies) override {
    for (int i = 0; i < scene_.num_bodies(); ++i) {
      bodies[i] = read_state(bodies_[i]);
    }
  }

 private:
  void add_body(int index) {
    const Eigen::Vector3d inertia = scene_.body_inertia(index), p = scene_.body_position(index);
    dMass mass;
    dMassSetParameters(&mass, scene_.body_mass(index), 0, 0, 0, inertia.x(), inertia.y(),
                       inertia.z(), 0, 0, 0);
    const dBodyID body = dBodyCreate(world_);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, p.x(), p.y(), p.z());
    const Eigen::Vector3d anchor = scene_.joint_position(index);
    const dJointID joint = dJointCreateBall(world_, nullptr);
    dJointAttach(joint, body, bodies_.empty() ? nullptr : bodies_.back());
    dJointSetBallAnchor(joint, anchor.x(), anchor.y(), anchor.z());
    bodies_.push_back(body);
  }

  OdeLibrary library_;
  ChainScene scene_;
  OdeSettings settings_;
  dWorldID world_;
  std::vector<dBodyID> bodies_;
};

std::string describe(const OdeSettings& settings) {
  const std::string method = settings.iterations > 0
                                 ? fmt::format("QuickStep {} iterations", settings.iterations)
                                 : "dWorldStep (direct)";
  return fmt::format("{}, ERP {:g}, CFM {:g}", method, settings.erp, settings.cfm);
}

ChainContender make_contender(const OdeSettings& settings) {
  const ChainLabel label{"ODE", describe(settings)};
  return {label, [=](const ChainScene& scene) {
            OdeWorld world(scene, settings);
            return run_chain(scene, label, world);
          }};
}

}  // namespace

ChainContenders make_ode_contenders() {
  ChainContenders contenders;
  for (const OdeSettings& settings :
       {OdeSettings{.iterations = 0, .erp = 0.2, .cfm = 1e-10},  // its defaults in double precision
        OdeSettings{.iterations = 0, .erp = 0.8, .cfm = 0},
        OdeSettings{.iterations = 0, .erp = 0.2, .cfm = 1e-5},
        OdeSettings{.iterations = 20, .erp = 0.2, .cfm = 1e-10},
        OdeSettings{.iterations = 1000, .erp = 0.2, .cfm = 1e-10}})
    contenders.push_back(make_contender(settings));
  return contenders;
}

}  // namespace stiction::bench
