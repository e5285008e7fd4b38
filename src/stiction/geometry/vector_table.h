// Vectors stored by component, so that products with a direction are formed several at a time.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

namespace stiction {

class VectorTable {
 public:
  void clear() { vectors_.clear(); }
  void add(const Eigen::Vector3d& vector) { vectors_.push_back(vector); }
  /// After the last one was added.
  void finish();

  /// Others in place of those there are: as many. Allocates nothing.
  void replace(std::span<const Eigen::Vector3d> vectors);

  /// The vector furthest along `direction`, of equals the first; 0 if the direction is not finite.
  int find_furthest(const Eigen::Vector3d& direction) const;
  /// x of all vectors, then y, then z, with what fills the last lanes.
  const std::vector<double>& components() const { return components_; }

 private:
  static constexpr int kBlock = 32;  // products at a time
  static constexpr int kLanes = 4;   // the number of vectors is a multiple of it

  std::vector<Eigen::Vector3d> vectors_;
  std::vector<double> components_;
  int count_ = 0;  // with the copies of the first vector that fill the last lanes
};

}  // namespace stiction
