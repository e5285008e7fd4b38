// FCL: manager with a dynamic tree, then collide() with contacts for each pair. It has no bodies of
// several shapes: they are several objects, as with us. It reports shapes that overlap, not those
// that are near.
#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/collision_object.h>

#include <algorithm>
#include <map>
#include <utility>

#include "bench/collision/contender.h"
#include "bench/collision/fcl_geometry.h"

namespace stiction::bench {
namespace {

using FclObject = fcl::CollisionObjectd;

/// Enough for the eight corners of two faces that meet.
constexpr std::size_t kMaxContacts = 8;

class FclContender final : public Contender {
 public:
  explicit FclContender(const PackedScene& scene) : bodies_(scene.bodies()) {
    std::map<const CollisionShape*, FclGeometry> geometries;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      for (const Part& part : bodies_[i].parts) {
        FclGeometry& geometry = geometries[part.shape.get()];
        if (geometry == nullptr) geometry = make_geometry(part.shape->shape());
        objects_.push_back(std::make_unique<FclObject>(geometry));
        objects_.back()->setUserData(reinterpret_cast<void*>(i));
        manager_.registerObject(objects_.back().get());
      }
    }
    manager_.setup();
  }

  FrameTimes detect(std::span<const Pose> poses) override {
    std::size_t k = 0;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      for (const Part& part : bodies_[i].parts) {
        const Pose pose = poses[i] * part.pose;
        fcl::Transform3d transform = fcl::Transform3d::Identity();
        transform.linear() = pose.rotation;
        transform.translation() = pose.position;
        objects_[k++]->setTransform(transform);
      }
    }
    const double start = read_thread_clock();
    for (const auto& object : objects_) object->computeAABB();
    manager_.update();
    pairs_.clear();
    manager_.collide(this, [](FclObject* a, FclObject* b, void* self) {
      if (a->getUserData() != b->getUserData())
        static_cast<FclContender*>(self)->pairs_.emplace_back(a, b);
      return false;
    });
    const double middle = read_thread_clock();
    contacts_.clear();
    const fcl::CollisionRequestd request(kMaxContacts, true);
    for (const auto& [a, b] : pairs_) {
      result_.clear();
      fcl::collide(a, b, request, result_);
      for (std::size_t c = 0; c < result_.numContacts(); ++c)
        contacts_.push_back({body_of(a), body_of(b), -result_.getContact(c).penetration_depth});
    }
    return {middle - start, read_thread_clock() - middle};
  }

  FrameReport report() const override {
    std::map<std::pair<int, int>, double> gaps;
    for (const BodyGap& contact : contacts_) {
      const auto bodies = std::minmax(contact.a, contact.b);
      const auto [place, is_new] = gaps.try_emplace({bodies.first, bodies.second}, contact.gap);
      place->second = std::min(place->second, contact.gap);
    }
    FrameReport report{.num_pairs = static_cast<int>(pairs_.size()),
                       .num_contacts = static_cast<int>(contacts_.size()),
                       .gaps = {}};
    for (const auto& [bodies, gap] : gaps)
      report.gaps.push_back({bodies.first, bodies.second, gap});
    return report;
  }

 private:
  static int body_of(const FclObject* object) {
    return static_cast<int>(reinterpret_cast<std::size_t>(object->getUserData()));
  }

  const std::vector<PackedBody>& bodies_;
  std::vector<std::unique_ptr<FclObject>> objects_;
  fcl::DynamicAABBTreeCollisionManagerd manager_;
  std::vector<std::pair<FclObject*, FclObject*>> pairs_;
  std::vector<BodyGap> contacts_;
  fcl::CollisionResultd result_;
};

}  // namespace

std::unique_ptr<Contender> make_fcl(const PackedScene& scene) {
  return std::make_unique<FclContender>(scene);
}

}  // namespace stiction::bench
