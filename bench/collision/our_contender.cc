#include <algorithm>
#include <map>

#include "bench/collision/contender.h"
#include "stiction/geometry/collision_scene.h"

namespace stiction::bench {
namespace {

class OurContender final : public Contender {
 public:
  OurContender(const PackedScene& scene, int num_threads)
      : bodies_(scene.bodies()),
        read_clock_(num_threads == 1 ? read_thread_clock : read_wall_clock),
        collision_scene_(num_threads) {
    for (int i = 0; i < scene.num_bodies(); ++i)
      for (const Part& part : scene.bodies()[static_cast<std::size_t>(i)].parts)
        collision_scene_.add({.shape = part.shape, .body = i});
  }

  FrameTimes detect(std::span<const Pose> poses) override {
    part_poses_.clear();
    for (std::size_t i = 0; i < bodies_.size(); ++i)
      for (const Part& part : bodies_[i].parts) part_poses_.push_back(poses[i] * part.pose);
    const DetectionOptions options{.reach = kReach};
    const double start = read_clock_();
    const std::span<const IndexPair> pairs = collision_scene_.find_box_pairs(part_poses_, options);
    const double middle = read_clock_();
    collision_scene_.collect(pairs, part_poses_, options, detection_);
    return {middle - start, read_clock_() - middle};
  }

  FrameReport report() const override {
    std::map<std::pair<int, int>, double> gaps;
    for (const CollisionPair& pair : detection_.pairs) {
      const auto bodies =
          std::minmax(collision_scene_.object(pair.a).body, collision_scene_.object(pair.b).body);
      for (int k = 0; k < pair.num_candidates; ++k) {
        const double gap =
            detection_.contacts.candidates[static_cast<std::size_t>(pair.first_candidate + k)].gap;
        const auto [place, is_new] = gaps.try_emplace({bodies.first, bodies.second}, gap);
        place->second = std::min(place->second, gap);
      }
    }
    FrameReport report{.num_pairs = detection_.num_box_pairs,
                       .num_contacts = static_cast<int>(detection_.contacts.candidates.size()),
                       .gaps = {}};
    for (const auto& [bodies, gap] : gaps)
      report.gaps.push_back({bodies.first, bodies.second, gap});
    return report;
  }

 private:
  const std::vector<PackedBody>& bodies_;
  double (*read_clock_)();
  CollisionScene collision_scene_;
  std::vector<Pose> part_poses_;
  Detection detection_;
};

}  // namespace

std::unique_ptr<Contender> make_ours(const PackedScene& scene, int num_threads) {
  return std::make_unique<OurContender>(scene, num_threads);
}

}  // namespace stiction::bench
