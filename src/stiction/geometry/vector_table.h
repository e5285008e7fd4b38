// Vectors stored by component, so that products with a direction are formed several at a time.
#pragma once

#include <Eigen/Core>

#include <cstddef>
#include <span>

namespace stiction {

/// Does not own its numbers.
class VectorTable {
 public:
  VectorTable() = default;
  /// Of as many numbers as count_numbers says, which must stay where they are.
  VectorTable(std::span<const Eigen::Vector3d> vectors, std::span<double> numbers);
  /// How many numbers so many vectors take.
  static std::size_t count_numbers(std::size_t num_vectors) { return 3 * padded(num_vectors); }

  /// Others in place of those there are: as many.
  void replace(std::span<const Eigen::Vector3d> vectors);

  /// The vector furthest along `direction`, of equals the first; 0 if the direction is not finite.
  int find_furthest(const Eigen::Vector3d& direction) const;

 private:
  static constexpr int kBlock = 32;         // products at a time
  static constexpr std::size_t kLanes = 4;  // the number of vectors is a multiple of it
  static std::size_t padded(std::size_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

  double* numbers_ = nullptr;  // x of all vectors, then y, then z
  int count_ = 0;              // with the copies of the first vector that fill the last lanes
};

}  // namespace stiction
