// Acceleration of a fixed-point iteration z ← G(z) whose parts are all affine in the impulses: the
// next start is extrapolated from G(z) and the recent past.
//
//   NNCG      (Silcowitz-Hansen, Niebe, Erleben 2010): the defect f = G(z) − z plays the gradient
//             of a nonlinear conjugate gradient method of Fletcher and Reeves; restart when ‖f‖
//             grows.
//   Anderson  the affine combination of the last m + 1 points with the least combined defect.
//   momentum  (Polyak's heavy ball): G(z) plus a share β of the way from the G(z) before it. It
//             learns nothing that a contact which changes its state could make wrong.
//
//   hybrid    at first momentum where sweeps are in packs and Anderson's method elsewhere, NNCG for
//             what takes long; NsgsSolver changes over.
//
// A safeguard of the first two returns to the last plain G(z) when the defect after an
// extrapolation is much larger than before it. Defects are measured in √J, so units do not matter.
#pragma once

#include <span>
#include <vector>

#include "stiction/base/worker_pool.h"

namespace stiction {

enum class Acceleration { kNone, kNncg, kAnderson, kMomentum, kHybrid };

/// `Real`, double or float, is what z is made of.
template <class Real>
class NsgsAccelerator {
 public:
  /// `weight` has an entry per impulse; these come first in z. Keeps its storage.
  void prepare(Acceleration kind, int depth, std::vector<Real> const& weight, int size,
               WorkerPool* workers = nullptr);

  /// Call before a sweep, with the point that it starts from.
  void remember(std::span<const Real> z);
  /// Call after the sweep: z = G(remembered) becomes the start of the next one.
  void extrapolate(std::span<Real> z);
  void forget();
  /// β of momentum from now on, in [0, 1).
  void set_momentum(double beta) { momentum_ = static_cast<Real>(beta); }

 private:
  void extrapolate_conjugate(double ratio, std::span<Real> z);
  static constexpr int kMaxDepth = 16, kMaxSums = 1 + 2 * kMaxDepth;
  /// ‖f‖², and per column of Anderson's method the products with the newest column and with f.
  struct Products {
    double square = 0;
    double of_step[kMaxDepth], of_defect[kMaxDepth];
  };
  void carry_on(std::span<Real> z);
  void extrapolate_anderson(const Products& products, std::span<Real> z);
  void append_step(const Products& products);
  void solve_least_squares(const Products& products, double* gamma) const;
  template <class Sum>
  void sum_up(int count, const Sum& add_block, double* sums);
  void measure_defect(std::span<const Real> z, Products& products);
  Real* defect_step(int column) {
    return defect_steps_.data() + static_cast<std::size_t>(column) * num_rows_;
  }

  Acceleration kind_ = Acceleration::kNone;
  Real momentum_ = 0;
  int depth_ = 0, num_rows_ = 0, size_ = 0;
  int count_ = 0, newest_ = 0;  // columns in use, and the last one written
  bool has_last_ = false, is_extrapolated_ = false;
  double last_square_ = 0;   // ‖f‖² of the last accepted point
  double least_square_ = 0;  // the least since the history began
  std::vector<Real> weight_;
  std::vector<Real> start_;                       // z before the sweep
  std::vector<Real> defect_, last_defect_;        // weighted f of the impulses
  std::vector<Real> image_, direction_;           // last G(z); p of NNCG
  std::vector<Real> defect_steps_, image_steps_;  // columns: differences of the above
  std::vector<double> gram_;                      // of defect_steps_, depth × depth
  std::vector<double> partial_;                   // sums, per block of impulses
  WorkerPool* workers_ = nullptr;
};

}  // namespace stiction
