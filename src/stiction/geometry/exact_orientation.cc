#include "stiction/geometry/exact_orientation.h"

#include <Eigen/Geometry>
#include <array>
#include <cmath>

namespace stiction {
namespace {

using Eigen::Vector3d;

/// A sum without rounding, kept as numbers whose bits do not overlap, in increasing magnitude
/// (Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast robust geometric
/// predicates", Discrete Comput Geom 18, §2.4 GROW-EXPANSION with zeros left out). The last one
/// outweighs all others together, hence has the sign of the sum.
class ExactSum {
 public:
  void add(double value) {
    int kept = 0;
    for (int i = 0; i < size_; ++i) {
      // Knuth's two-sum: value + part = sum + rest exactly.
      const double part = parts_[i];
      const double sum = value + part;
      const double of_part = sum - value;
      const double rest = (value - (sum - of_part)) + (part - of_part);
      if (rest != 0) parts_[kept++] = rest;
      value = sum;
    }
    if (value != 0) parts_[kept++] = value;
    size_ = kept;
  }

  void add_product(double a, double b, double c) {
    const double product = a * b;
    const double rest = std::fma(a, b, -product);
    add_product(rest, c);
    add_product(product, c);
  }

  int sign() const {
    if (size_ == 0) return 0;
    return parts_[size_ - 1] > 0 ? 1 : -1;
  }

 private:
  void add_product(double a, double b) {
    const double product = a * b;
    add(std::fma(a, b, -product));
    add(product);
  }

  // 4 determinants of 6 products of 3 factors, each product the sum of 4 numbers.
  std::array<double, 4 * 6 * 4> parts_{};
  int size_ = 0;
};

void add_determinant(const Vector3d& a, const Vector3d& b, const Vector3d& c, double sign,
                     ExactSum& sum) {
  sum.add_product(sign * a.x(), b.y(), c.z());
  sum.add_product(sign * a.y(), b.z(), c.x());
  sum.add_product(sign * a.z(), b.x(), c.y());
  sum.add_product(-sign * a.x(), b.z(), c.y());
  sum.add_product(-sign * a.y(), b.x(), c.z());
  sum.add_product(-sign * a.z(), b.y(), c.x());
}

/// det[b − a, c − a, d − a] = det(b,c,d) − det(a,c,d) + det(a,b,d) − det(a,b,c): differences would
/// already be rounded.
int compute_exactly(const Vector3d& a, const Vector3d& b, const Vector3d& c, const Vector3d& d) {
  if (d == a || d == b || d == c) return 0;  // repeated points are common, and this is cheap
  ExactSum sum;
  add_determinant(b, c, d, 1, sum);
  add_determinant(a, c, d, -1, sum);
  add_determinant(a, b, d, 1, sum);
  add_determinant(a, b, c, -1, sum);
  return sum.sign();
}

}  // namespace

int compute_orientation(const Vector3d& a, const Vector3d& b, const Vector3d& c,
                        const Vector3d& d) {
  const Vector3d ab = b - a;
  const Vector3d ac = c - a;
  const Vector3d ad = d - a;
  const Vector3d normal = ab.cross(ac);
  const double determinant = normal.dot(ad);
  // The same determinant with all signs positive bounds what rounding can do: each of the six
  // products carries at most 3 rounded differences, 2 products and 1 difference of two products,
  // then 2 sums, and the bound itself is rounded as often: below 10 ulp in all, u = 2⁻⁵³ each
  // (Shewchuk's constant for this order of operations is 7u + 56u²).
  const Vector3d magnitudes(std::abs(ab.y() * ac.z()) + std::abs(ab.z() * ac.y()),
                            std::abs(ab.z() * ac.x()) + std::abs(ab.x() * ac.z()),
                            std::abs(ab.x() * ac.y()) + std::abs(ab.y() * ac.x()));
  constexpr double kRoundingBound = 16 * 0x1p-53;
  const double bound = kRoundingBound * magnitudes.dot(ad.cwiseAbs());
  // The absolute term covers products that fall below the smallest normal number.
  if (std::abs(determinant) > bound + 1e-290) return determinant > 0 ? 1 : -1;
  return compute_exactly(a, b, c, d);
}

}  // namespace stiction
