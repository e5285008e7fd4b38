// A vector of numbers that keeps its room when it becomes shorter. Eigen's own takes new memory
// whenever its size changes, so that vectors as long as the contacts of a step would take some in
// almost every step; this one does only when it becomes longer than ever before. It is a map of its
// room and goes wherever VectorRef, ConstVectorRef and Eigen's expressions do, but does not bind to
// const VectorXd&, which would copy it.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "stiction/base/linear_algebra.h"

namespace stiction {

class KeptVector : public VectorMap {
 public:
  KeptVector() : VectorMap(nullptr, 0) {}
  KeptVector(const KeptVector& other) : KeptVector() { *this = other; }
  template <class Derived>
  explicit KeptVector(const Eigen::MatrixBase<Derived>& other) : KeptVector() {
    *this = other;
  }

  KeptVector& operator=(const KeptVector& other) {
    resize(other.size());
    VectorMap::operator=(other);
    return *this;
  }
  /// Where the size changes, `other` must not read this.
  template <class Derived>
  KeptVector& operator=(const Eigen::MatrixBase<Derived>& other) {
    resize(other.size());
    VectorMap::operator=(other);
    return *this;
  }

  /// The numbers are then any.
  void resize(Eigen::Index size) {
    if (static_cast<std::size_t>(size) > room_.size()) room_.resize(size);
    show(size);
  }
  using VectorMap::setZero;
  void setZero(Eigen::Index size) {
    resize(size);
    setZero();
  }
  /// Without copying a number.
  void swap(KeptVector& other) {
    const Eigen::Index size = this->size();
    room_.swap(other.room_);
    show(other.size());
    other.show(size);
  }

 private:
  // Maps are changed in this way, as Eigen's manual says.
  void show(Eigen::Index size) {
    new (static_cast<VectorMap*>(this)) VectorMap(room_.data(), size);
  }

  std::vector<double> room_;
};

}  // namespace stiction
