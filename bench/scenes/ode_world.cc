// The scenes in ODE: dWorldStep (a direct method, Dantzig's) and dWorldQuickStep (sweeps). Friction
// is a pyramid along fixed axes, bounded by the normal force (dContactApprox1).
#include <fmt/format.h>
#include <ode/ode.h>

#include <array>
#include <cmath>

#include "bench/peers/ode_library.h"
#include "bench/scenes/contender.h"

namespace stiction::bench {
namespace {

struct OdeSettings {
  int iterations = 0;  // of QuickStep; 0: dWorldStep
  double erp = 0.2;    // share of an error in position that one step removes
  double cfm = 1e-10;  // [s/kg] velocity by which a row gives way, per force
};

constexpr int kMaxContacts = 8;  // of two bodies

class OdeWorld final : public SceneWorld {
 public:
  OdeWorld(const SceneDescription& scene, const OdeSettings& settings)
      : scene_(scene), settings_(settings), world_(dWorldCreate()) {
    space_ = dHashSpaceCreate(nullptr);
    dHashSpaceSetLevels(space_, -4, 5);  // cells of 6 cm to 32 m
    contacts_ = dJointGroupCreate(0);
    dWorldSetGravity(world_, 0, 0, -kGravity);
    dWorldSetERP(world_, settings.erp);
    dWorldSetCFM(world_, settings.cfm);
    dWorldSetDamping(world_, 0, 0);
    dWorldSetAutoDisableFlag(world_, 0);
    if (settings.iterations > 0) dWorldSetQuickStepNumIterations(world_, settings.iterations);
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) add_body(i);
    for (const SceneJoint& joint : scene.joints) add_joint(joint);
  }
  ~OdeWorld() override {
    dJointGroupDestroy(contacts_);
    dSpaceDestroy(space_);
    dWorldDestroy(world_);
  }
  OdeWorld(const OdeWorld&) = delete;
  OdeWorld& operator=(const OdeWorld&) = delete;

  void step() override {
    dJointGroupEmpty(contacts_);
    dSpaceCollide(space_, this, &OdeWorld::collide);
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const Eigen::Vector3d& force = scene_.bodies[i].force;
      if (bodies_[i] != nullptr) dBodyAddForce(bodies_[i], force.x(), force.y(), force.z());
    }
    if (settings_.iterations > 0)
      is_lost_ = dWorldQuickStep(world_, scene_.h) == 0;
    else
      is_lost_ = dWorldStep(world_, scene_.h) == 0;
  }
  bool is_lost() const override { return is_lost_; }

  void read(std::vector<BodyState>& bodies) override {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (bodies_[i] == nullptr) continue;
      bodies[i] = read_state(bodies_[i]);
    }
  }

 private:
  static dGeomID make_geom(dSpaceID space, const Shape& shape) {
    if (const auto* sphere = std::get_if<Sphere>(&shape))
      return dCreateSphere(space, sphere->radius);
    if (const auto* box = std::get_if<Box>(&shape))
      return dCreateBox(space, box->size.x(), box->size.y(), box->size.z());
    if (const auto* capsule = std::get_if<Capsule>(&shape))
      return dCreateCapsule(space, capsule->radius, capsule->length);
    if (const auto* cylinder = std::get_if<Cylinder>(&shape))
      return dCreateCylinder(space, cylinder->radius, cylinder->length);
    throw Unsupported(std::string(name_of(shape)));
  }

  void add_body(std::size_t i) {
    const SceneBody& source = scene_.bodies[i];
    const Eigen::Vector3d& p = source.position;
    const Eigen::Quaterniond& r = source.orientation;
    const dQuaternion q = {r.w(), r.x(), r.y(), r.z()};
    dGeomID geom = nullptr;
    if (source.touches) {
      geom = make_geom(space_, source.shape);
      dGeomSetData(geom, const_cast<SceneBody*>(&source));  // NOLINT: void* of a C interface
    }
    bodies_.push_back(nullptr);
    if (source.is_static) {
      if (geom == nullptr) return;
      dGeomSetPosition(geom, p.x(), p.y(), p.z());
      dGeomSetQuaternion(geom, q);
      return;
    }
    dMass mass;
    dMassSetParameters(&mass, source.mass, 0, 0, 0, source.inertia.x(), source.inertia.y(),
                       source.inertia.z(), 0, 0, 0);
    const dBodyID body = bodies_.back() = dBodyCreate(world_);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, p.x(), p.y(), p.z());
    dBodySetQuaternion(body, q);
    dBodySetLinearVel(body, source.velocity.x(), source.velocity.y(), source.velocity.z());
    if (geom != nullptr) dGeomSetBody(geom, body);
  }

  dBodyID body_of(int i) const {
    return i == kGround ? nullptr : bodies_[static_cast<std::size_t>(i)];
  }

  void add_joint(const SceneJoint& source) {
    if (source.kind == SceneJoint::Kind::kBall) {
      const dJointID joint = dJointCreateBall(world_, nullptr);
      dJointAttach(joint, body_of(source.second), body_of(source.first));
      dJointSetBallAnchor(joint, source.at.x(), source.at.y(), source.at.z());
      return;
    }
    const dJointID joint = dJointCreateSlider(world_, nullptr);
    dJointAttach(joint, body_of(source.second), body_of(source.first));
    dJointSetSliderAxis(joint, source.axis.x(), source.axis.y(), source.axis.z());
  }

  static void collide(void* data, dGeomID first, dGeomID second) {
    auto* self = static_cast<OdeWorld*>(data);
    const dBodyID body1 = dGeomGetBody(first), body2 = dGeomGetBody(second);
    if (body1 == nullptr && body2 == nullptr) return;
    if (body1 != nullptr && body2 != nullptr && dAreConnected(body1, body2) != 0) return;
    std::array<dContact, kMaxContacts> found{};
    const int count = dCollide(first, second, kMaxContacts, &found[0].geom, sizeof(dContact));
    const double mu = std::sqrt(static_cast<const SceneBody*>(dGeomGetData(first))->mu *
                                static_cast<const SceneBody*>(dGeomGetData(second))->mu);
    for (int k = 0; k < count; ++k) {
      dContact& contact = found[static_cast<std::size_t>(k)];
      contact.surface.mode = dContactApprox1;
      contact.surface.mu = mu;
      dJointAttach(dJointCreateContact(self->world_, self->contacts_, &contact), body1, body2);
    }
  }

  OdeLibrary library_;
  SceneDescription scene_;
  OdeSettings settings_;
  dWorldID world_;
  dSpaceID space_ = nullptr;
  dJointGroupID contacts_ = nullptr;
  std::vector<dBodyID> bodies_;  // null for static ones
  bool is_lost_ = false;
};

SceneContender make_contender(Setting setting, const OdeSettings& settings) {
  std::string text = settings.iterations > 0 ? fmt::format("quick {}", settings.iterations)
                                             : std::string("direct");
  if (settings.erp != 0.2) text += fmt::format(", ERP {:g}", settings.erp);
  return {"ODE", text, setting, [=](const SceneDescription& scene) -> std::unique_ptr<SceneWorld> {
            return std::make_unique<OdeWorld>(scene, settings);
          }};
}

}  // namespace

SceneContenders make_ode_scene_contenders() {
  return {make_contender(Setting::kDefault, {.iterations = 20}),
          make_contender(Setting::kAccurate, {.iterations = 1000}),
          make_contender(Setting::kDefault, {}),
          make_contender(Setting::kAccurate, {.erp = 0.8, .cfm = 1e-12})};
}

}  // namespace stiction::bench
