#include "stiction/app/experiments/brick_walls.h"

#include <algorithm>
#include <string>

#include "stiction/app/experiments/mechanism_watch.h"

namespace stiction::experiments {

std::vector<Eigen::Vector3d> brick_positions(const Simulation& simulation, const Wall& wall) {
  const MechanismWatch watch(simulation);
  std::vector<Eigen::Vector3d> positions;
  for (int i = 1; i <= wall.num_bricks; ++i)
    positions.push_back(watch.pose("brick " + std::to_string(i)).position);
  return positions;
}

std::vector<double> ways(const std::vector<Eigen::Vector3d>& start,
                         const std::vector<Eigen::Vector3d>& now) {
  std::vector<double> way;
  for (std::size_t i = 0; i < start.size(); ++i) way.push_back((now[i] - start[i]).norm());
  std::sort(way.rbegin(), way.rend());
  return way;
}

}  // namespace stiction::experiments
