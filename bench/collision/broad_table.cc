#include "bench/collision/broad_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/collision/contender.h"
#include "stiction/base/random.h"
#include "stiction/geometry/broad_phase.h"

namespace stiction::bench {
namespace {

using Eigen::Vector3d;

struct Arrangement {
  const char* name;
  double volume_fraction;
  bool has_many_sizes;  // over a factor of 1,000
};
struct Motion {
  const char* name;
  double speed;  // of the size, per step
  int every;     // so many boxes have one that moves
};
constexpr std::array kArrangements = {Arrangement{"scattered", 0.01, false},
                                      Arrangement{"dense", 0.5, false},
                                      Arrangement{"sizes 1:1000", 0.5, true}};
constexpr std::array kMotions = {Motion{"all slow", 0.002, 1}, Motion{"all", 0.02, 1},
                                 Motion{"all fast", 0.2, 1}, Motion{"1 % of them", 0.02, 100}};

Vector3d random_in_cube(Random& random, double low, double high) {
  const double x = random.uniform(low, high), y = random.uniform(low, high);
  return {x, y, random.uniform(low, high)};
}

/// Boxes that fly straight and turn back at the walls.
class Swarm {
 public:
  Swarm(const Arrangement& arrangement, const Motion& motion, int count) {
    Random random(1);
    double volume = 0;
    for (int i = 0; i < count; ++i) {
      sizes_.push_back(arrangement.has_many_sizes ? std::pow(1000, -std::sqrt(random.uniform()))
                                                  : random.uniform(0.8, 1.2));
      volume += 0.52 * std::pow(sizes_.back(), 3);
    }
    side_ = std::cbrt(volume / arrangement.volume_fraction);
    for (int i = 0; i < count; ++i) {
      centers_.push_back(random_in_cube(random, 0, side_));
      const double speed =
          i % motion.every == 0 ? motion.speed * sizes_[static_cast<std::size_t>(i)] : 0;
      velocities_.push_back(speed * random_in_cube(random, -1, 1));
      boxes_.push_back(box_of(static_cast<std::size_t>(i)));
    }
  }
  const std::vector<Bounds>& boxes() const { return boxes_; }
  void step() {
    for (std::size_t i = 0; i < centers_.size(); ++i) {
      centers_[i] += velocities_[i];
      for (int k = 0; k < 3; ++k)
        if (centers_[i][k] < 0 || centers_[i][k] > side_) velocities_[i][k] = -velocities_[i][k];
      boxes_[i] = box_of(i);
    }
  }

 private:
  Bounds box_of(std::size_t i) const {
    const Vector3d half = Vector3d::Constant(0.5 * sizes_[i]);
    return {centers_[i] - half, centers_[i] + half};
  }
  double side_ = 0;
  std::vector<double> sizes_;
  std::vector<Vector3d> centers_, velocities_;
  std::vector<Bounds> boxes_;
};

BroadRow measure(const Arrangement& arrangement, const Motion& motion, int count,
                 WorkerPool& pool) {
  Swarm swarm(arrangement, motion, count);
  BroadPhase broad_phase;
  for (int i = 0; i < count; ++i)
    broad_phase.add(i, swarm.boxes()[static_cast<std::size_t>(i)], {.owner = i});
  const int num_steps = std::clamp(2'000'000 / count, 30, 1000);
  BroadRow row{arrangement.name, motion.name, count, pool.num_threads()};
  const auto read_clock = pool.num_threads() == 1 ? read_thread_clock : read_wall_clock;
  for (int step = -5; step < num_steps; ++step) {
    swarm.step();
    const double start = read_clock();
    for (int i = 0; i < count; ++i) broad_phase.move(i, swarm.boxes()[static_cast<std::size_t>(i)]);
    const auto num_pairs = broad_phase.update(pool).size();
    const double seconds = read_clock() - start;
    if (step < 0) continue;
    row.seconds += seconds / num_steps;
    row.pairs_per_box += static_cast<double>(num_pairs) / count / num_steps;
    row.candidates_per_box += static_cast<double>(broad_phase.num_candidates()) / count / num_steps;
    row.rebuilt += (broad_phase.was_rebuilt() ? 1.0 : 0.0) / num_steps;
  }
  return row;
}

}  // namespace

std::vector<BroadRow> measure_broad_phase(int largest, int num_threads) {
  WorkerPool pool(num_threads);
  std::vector<BroadRow> rows;
  for (const Arrangement& arrangement : kArrangements)
    for (const Motion& motion : kMotions)
      for (int count = 100; count <= largest; count *= 10)
        rows.push_back(measure(arrangement, motion, count, pool));
  return rows;
}

}  // namespace stiction::bench
