// Bullet's collision world in double precision, as its defaults are: dispatcher with default
// configuration, dynamic tree broad phase, persistent manifolds of up to four points.
#include <btBulletCollisionCommon.h>

#include <algorithm>

#include "bench/collision/contender.h"

namespace stiction::bench {
namespace {

btVector3 to_bullet(const Eigen::Vector3d& v) { return {v.x(), v.y(), v.z()}; }

btTransform to_bullet(const Pose& pose) {
  const Eigen::Matrix3d& R = pose.rotation;
  const btMatrix3x3 rotation(R(0, 0), R(0, 1), R(0, 2), R(1, 0), R(1, 1), R(1, 2), R(2, 0), R(2, 1),
                             R(2, 2));
  return btTransform(rotation, to_bullet(pose.position));
}

class BulletContender final : public Contender {
 public:
  BulletContender(const PackedScene& scene, bool has_hull_margin)
      : has_hull_margin_(has_hull_margin),
        dispatcher_(&configuration_),
        world_(&dispatcher_, &broad_phase_, &configuration_) {
    for (const PackedBody& body : scene.bodies()) {
      auto object = std::make_unique<btCollisionObject>();
      object->setCollisionShape(make_shape(body));
      object->setCollisionFlags(0);  // else all would be static
      object->setUserIndex(static_cast<int>(objects_.size()));
      world_.addCollisionObject(object.get());
      objects_.push_back(std::move(object));
    }
  }
  ~BulletContender() override {
    for (const auto& object : objects_) world_.removeCollisionObject(object.get());
  }

  FrameTimes detect(std::span<const Pose> poses) override {
    for (std::size_t i = 0; i < objects_.size(); ++i)
      objects_[i]->setWorldTransform(to_bullet(poses[i]));
    // What performDiscreteCollisionDetection does.
    const double start = read_thread_clock();
    world_.updateAabbs();
    world_.computeOverlappingPairs();
    const double middle = read_thread_clock();
    dispatcher_.dispatchAllCollisionPairs(broad_phase_.getOverlappingPairCache(),
                                          world_.getDispatchInfo(), &dispatcher_);
    return {middle - start, read_thread_clock() - middle};
  }

  FrameReport report() const override {
    FrameReport report;
    report.num_pairs = const_cast<btDbvtBroadphase&>(broad_phase_)
                           .getOverlappingPairCache()
                           ->getNumOverlappingPairs();
    for (int m = 0; m < dispatcher_.getNumManifolds(); ++m) {
      const btPersistentManifold& manifold =
          *const_cast<btCollisionDispatcher&>(dispatcher_).getManifoldByIndexInternal(m);
      if (manifold.getNumContacts() == 0) continue;
      double gap = manifold.getContactPoint(0).getDistance();
      for (int k = 1; k < manifold.getNumContacts(); ++k)
        gap = std::min<double>(gap, manifold.getContactPoint(k).getDistance());
      const auto bodies =
          std::minmax({manifold.getBody0()->getUserIndex(), manifold.getBody1()->getUserIndex()});
      report.gaps.push_back({bodies.first, bodies.second, gap});
      report.num_contacts += manifold.getNumContacts();
    }
    return report;
  }

 private:
  template <typename T, typename... Arguments>
  T* keep_shape(Arguments&&... arguments) {
    auto shape = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    T* const pointer = shape.get();
    shapes_.push_back(std::move(shape));
    return pointer;
  }
  btCollisionShape* make_part(const Shape& shape) {
    if (const auto* sphere = std::get_if<Sphere>(&shape))
      return keep_shape<btSphereShape>(sphere->radius);
    if (const auto* box = std::get_if<Box>(&shape))
      return keep_shape<btBoxShape>(to_bullet(0.5 * box->size));
    if (const auto* capsule = std::get_if<Capsule>(&shape))
      return keep_shape<btCapsuleShapeZ>(capsule->radius, capsule->length);
    auto* const hull = keep_shape<btConvexHullShape>();
    for (const Eigen::Vector3d& point : std::get<Convex>(shape).points)
      hull->addPoint(to_bullet(point), false);
    hull->recalcLocalAabb();
    if (!has_hull_margin_) hull->setMargin(0);
    return hull;
  }
  btCollisionShape* make_shape(const PackedBody& body) {
    if (body.parts.size() == 1) return make_part(body.parts[0].shape->shape());
    auto* const compound = keep_shape<btCompoundShape>();
    for (const Part& part : body.parts)
      compound->addChildShape(to_bullet(part.pose), make_part(part.shape->shape()));
    return compound;
  }

  bool has_hull_margin_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broad_phase_;
  btCollisionWorld world_;
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btCollisionObject>> objects_;
};

}  // namespace

std::unique_ptr<Contender> make_bullet(const PackedScene& scene, bool has_hull_margin) {
  return std::make_unique<BulletContender>(scene, has_hull_margin);
}

}  // namespace stiction::bench
