// The scenes in DART: joints in reduced coordinates, contacts by Dantzig's method with projected
// Gauss–Seidel as its fallback (DART's default), collision by ODE.
#include <dart/collision/ode/ode.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/constraint/ContactConstraint.hpp>
#include <dart/dynamics/BallJoint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/CapsuleShape.hpp>
#include <dart/dynamics/CylinderShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

#include "bench/scenes/contender.h"
#include "bench/scenes/joint_tree.h"

namespace stiction::bench {
namespace {

using dart::dynamics::BodyNode;

struct DartSettings {
  bool is_accurate = false;
};

dart::dynamics::ShapePtr make_shape(const Shape& shape) {
  if (const auto* sphere = std::get_if<Sphere>(&shape))
    return std::make_shared<dart::dynamics::SphereShape>(sphere->radius);
  if (const auto* box = std::get_if<Box>(&shape))
    return std::make_shared<dart::dynamics::BoxShape>(box->size);
  if (const auto* capsule = std::get_if<Capsule>(&shape))
    return std::make_shared<dart::dynamics::CapsuleShape>(capsule->radius, capsule->length);
  if (const auto* cylinder = std::get_if<Cylinder>(&shape))
    return std::make_shared<dart::dynamics::CylinderShape>(cylinder->radius, cylinder->length);
  throw Unsupported(std::string(name_of(shape)));
}

Eigen::Isometry3d to_isometry(const Pose& pose) {
  Eigen::Isometry3d result = Eigen::Isometry3d::Identity();
  result.linear() = pose.rotation;
  result.translation() = pose.position;
  return result;
}

class DartWorld final : public SceneWorld {
 public:
  DartWorld(const SceneDescription& scene, const DartSettings& settings)
      : scene_(scene), tree_(make_joint_tree(scene)), world_(dart::simulation::World::create()) {
    (void)find_common_friction(scene);  // it takes the smaller one of two
    world_->setGravity({0, 0, -kGravity});
    world_->setTimeStep(scene.h);
    auto* solver = world_->getConstraintSolver();
    solver->setCollisionDetector(dart::collision::OdeCollisionDetector::create());
    solver->getCollisionOption().maxNumContacts = 1'000'000;  // 1,000 by default
    set_error_reduction(settings);
    nodes_.resize(scene.bodies.size(), nullptr);
    for (const int root : tree_.roots) add_tree(root);
  }

  /// Of all worlds in the process: what the world before this one had set must be taken back.
  static void set_error_reduction(const DartSettings& settings) {
    using dart::constraint::ContactConstraint;
    static const double default_share = ContactConstraint::getErrorReductionParameter();
    static const double default_speed = ContactConstraint::getMaxErrorReductionVelocity();
    ContactConstraint::setErrorReductionParameter(settings.is_accurate ? 0.8 : default_share);
    ContactConstraint::setMaxErrorReductionVelocity(settings.is_accurate ? 10 : default_speed);
  }

  void step() override {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!scene_.bodies[i].force.isZero()) nodes_[i]->addExtForce(scene_.bodies[i].force);
    world_->step();
  }

  void read(std::vector<BodyState>& bodies) override {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (scene_.bodies[i].is_static) continue;
      const Eigen::Isometry3d& pose = nodes_[i]->getTransform();
      bodies[i].p_WB = pose.translation();
      bodies[i].R_WB = Eigen::Quaterniond(pose.linear());
      bodies[i].v_WB = nodes_[i]->getCOMLinearVelocity();
      bodies[i].w_WB = nodes_[i]->getAngularVelocity();
    }
  }

 private:
  void add_tree(int root) {
    const auto skeleton =
        dart::dynamics::Skeleton::create(scene_.bodies[static_cast<std::size_t>(root)].name);
    add_body(*skeleton, root, nullptr, {});
    world_->addSkeleton(skeleton);
  }

  void add_body(dart::dynamics::Skeleton& skeleton, int i, BodyNode* parent,
                const Pose& parent_pose) {
    const SceneBody& source = scene_.bodies[static_cast<std::size_t>(i)];
    BodyNode* node = nullptr;
    if (source.is_static) {
      skeleton.setMobile(false);
      node = add_node<dart::dynamics::WeldJoint>(skeleton, parent, source, {}, parent_pose);
    } else if (const auto& joint = tree_.joint_of_body[static_cast<std::size_t>(i)]) {
      if (!source.velocity.isZero()) throw Unsupported("speed of a body with a joint");
      if (joint->kind == SceneJoint::Kind::kBall) {
        node = add_node<dart::dynamics::BallJoint>(skeleton, parent, source, *joint, parent_pose);
      } else {
        node =
            add_node<dart::dynamics::PrismaticJoint>(skeleton, parent, source, *joint, parent_pose);
        // In the frame of the joint, which has the axes of the body.
        static_cast<dart::dynamics::PrismaticJoint*>(node->getParentJoint())
            ->setAxis(source.orientation.conjugate() * joint->axis);
      }
    } else {
      node = add_node<dart::dynamics::FreeJoint>(skeleton, parent, source,
                                                 {.second = i, .at = source.position}, parent_pose);
      static_cast<dart::dynamics::FreeJoint*>(node->getParentJoint())
          ->setLinearVelocity(source.velocity);
    }
    if (!source.is_static)
      node->setInertia(dart::dynamics::Inertia(source.mass, Eigen::Vector3d::Zero(),
                                               source.inertia.asDiagonal()));
    if (source.touches) {
      auto* shape =
          node->createShapeNodeWith<dart::dynamics::CollisionAspect,
                                    dart::dynamics::DynamicsAspect>(make_shape(source.shape));
      shape->getDynamicsAspect()->setFrictionCoeff(source.mu);
      shape->getDynamicsAspect()->setRestitutionCoeff(0);
    }
    nodes_[static_cast<std::size_t>(i)] = node;
    for (const int child : tree_.children[static_cast<std::size_t>(i)])
      add_body(skeleton, child, node, source.pose());
  }

  /// The frame of the joint has the axes of the body, at the start.
  template <class Joint>
  static BodyNode* add_node(dart::dynamics::Skeleton& skeleton, BodyNode* parent,
                            const SceneBody& source, const SceneJoint& joint,
                            const Pose& parent_pose) {
    const Eigen::Vector3d at = source.is_static ? source.position : joint.at;
    const Pose frame{at, source.orientation.toRotationMatrix()};
    typename Joint::Properties properties;
    properties.mName = source.name + " joint";
    properties.mT_ParentBodyToJoint = to_isometry(inverse(parent_pose) * frame);
    properties.mT_ChildBodyToJoint = to_isometry(inverse(source.pose()) * frame);
    BodyNode::AspectProperties body_properties(source.name);
    return skeleton
        .createJointAndBodyNodePair<Joint>(parent, properties,
                                           BodyNode::Properties(body_properties))
        .second;
  }

  SceneDescription scene_;
  JointTree tree_;
  dart::simulation::WorldPtr world_;
  std::vector<BodyNode*> nodes_;
};

}  // namespace

SceneContenders make_dart_scene_contenders() {
  const auto make = [](const std::string& text, const DartSettings& settings) -> SceneContender {
    return {"DART", text, settings.is_accurate ? Setting::kAccurate : Setting::kDefault,
            [=](const SceneDescription& scene) -> std::unique_ptr<SceneWorld> {
              return std::make_unique<DartWorld>(scene, settings);
            }};
  };
  return {make("Dantzig", {}), make("Dantzig, ERP 0.8", {.is_accurate = true})};
}

}  // namespace stiction::bench
