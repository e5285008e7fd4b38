// Something that detects collisions, as the benchmark sees it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/collision/packed_scene.h"
#include "stiction/geometry/pose.h"

namespace stiction::bench {

/// Contacts within this distance are wanted; Bullet's contact breaking threshold.
constexpr double kReach = 0.02;  // [m]

struct FrameTimes {
  double broad = 0, narrow = 0;  // [s]
};

/// The smallest gap that was reported for a pair of bodies a < b.
struct BodyGap {
  int a = 0, b = 0;
  double gap = 0;  // [m]
};

struct FrameReport {
  int num_pairs = 0;     // that the broad phase left, of shapes or of bodies
  int num_contacts = 0;  // points
  std::vector<BodyGap> gaps;
};

class Contender {
 public:
  virtual ~Contender() = default;
  /// One detection at these poses of the bodies, from new boxes to contacts. Handing over the
  /// poses is not timed.
  virtual FrameTimes detect(std::span<const Pose> poses) = 0;
  /// Of the last detection.
  virtual FrameReport report() const = 0;
};

struct ContenderEntry {
  std::string name;
  std::function<std::unique_ptr<Contender>(const PackedScene&)> make;
};

/// Ours first; then those that were built in.
std::vector<ContenderEntry> list_contenders();

std::unique_ptr<Contender> make_ours(const PackedScene& scene, int num_threads);
std::unique_ptr<Contender> make_bullet(const PackedScene& scene, bool has_hull_margin);
std::unique_ptr<Contender> make_fcl(const PackedScene& scene);

/// [s] of the processor for the calling thread: what one thread needs, also on a busy machine.
double read_thread_clock();
/// [s] since some moment.
double read_wall_clock();

}  // namespace stiction::bench
