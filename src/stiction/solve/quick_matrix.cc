#include "stiction/solve/quick_matrix.h"

#include <algorithm>
#include <cmath>

#include "stiction/base/linear_algebra.h"
#include "stiction/solve/dense_lu.h"
#include "stiction/solve/six_pairs.h"

namespace stiction {
namespace {

using Six = Eigen::Matrix<double, QuickMatrix::kSize, 1>;
using SixMap = Eigen::Map<Six>;
using ConstSixMap = Eigen::Map<const Six>;

/// C ← C + AᵀB.
template <int kDim>
void add_products(const double* a, const double* b, double* c) {
  constexpr int kSize = QuickMatrix::kSize;
  for (int i = 0; i < kSize; ++i) {
    SixMap out(c + i * kSize);
    Six row = out;
    for (int k = 0; k < kDim; ++k) row += a[k * kSize + i] * ConstSixMap(b + k * kSize);
    out = row;
  }
}

/// A R, of A column by column if so told.
template <int kDim>
void multiply_rows(const double* a, bool is_by_columns, const double* rows, double* product) {
  constexpr int kSize = QuickMatrix::kSize;
  const int down = is_by_columns ? 1 : 3, right = is_by_columns ? 3 : 1;
  for (int i = 0; i < kDim; ++i) {
    Six row = a[down * i] * ConstSixMap(rows);
    for (int k = 1; k < kDim; ++k) row += a[down * i + right * k] * ConstSixMap(rows + k * kSize);
    SixMap(product + i * kSize) = row;
  }
}

/// K g, of K column by column.
template <int kDim>
std::array<double, 3> times(const QuickMatrix::Local& K, const std::array<double, 3>& g) {
  std::array<double, 3> y = {};
  for (int a = 0; a < kDim; ++a)
    for (int b = 0; b < kDim; ++b) y[a] += K[3 * b + a] * g[b];
  return y;
}

}  // namespace

void QuickMatrix::lay_out() {
  std::fill_n(root_.begin(), num_bodies_, 0);
  if (num_bodies_ > 1 || num_units_ == 1) find_leaves();
  num_roots_ = 0;
  for (int b = 0; b < num_bodies_; ++b)
    if (root_[b] == 0) root_[b] = num_roots_++;
  factors_.begin(num_roots_);
  for (const Unit& unit : units())
    if (unit.place->num_pieces == 2 && unit.leaf < 0)
      factors_.couple(root_[unit.place->body[0]], root_[unit.place->body[1]]);
  factors_.analyse();
}

void QuickMatrix::find_leaves() {
  std::array<int, kMaxBodies> num_touching = {};  // units of a body
  for (const Unit& unit : units())
    for (int e = 0; e < unit.place->num_pieces; ++e) ++num_touching[unit.place->body[e]];
  for (Unit& unit : units())
    for (int e = 0; e < unit.place->num_pieces && unit.leaf < 0; ++e) {
      const int body = unit.place->body[e];
      if (num_touching[body] > 1 || !is_diagonal_[body]) continue;
      unit.leaf = e;
      root_[body] = -1;
    }
}

void QuickMatrix::set_masses(const StepProblem& problem) {
  factors_.clear();
  for (int b = 0; b < num_bodies_; ++b)
    if (root_[b] >= 0)
      std::copy_n(problem.mass_values.data() + problem.mass_start[b], kSize * kSize, block(b, b));
  for (Unit& unit : units()) unit.acts = false;
  is_finite_ = true;
}

void QuickMatrix::add(int unit, const Local& D) {
  Unit& own = units_[unit];
  own.acts = true;
  if (own.leaf < 0)
    own.place->dim == 1 ? add_stiffness<1>(own, D) : add_stiffness<3>(own, D);
  else
    own.place->dim == 1 ? eliminate_leaf<1>(own, D) : eliminate_leaf<3>(own, D);
}

/// RᵀDR of a unit.
template <int kDim>
void QuickMatrix::add_stiffness(const Unit& unit, const Local& D) {
  const Place& place = *unit.place;
  for (int f = 0; f < place.num_pieces; ++f) {
    double product[kDim * kSize];  // of D and the rows
    multiply_rows<kDim>(D.data(), false, place.rows[f], product);
    for (int e = 0; e < place.num_pieces; ++e)
      add_products<kDim>(place.rows[e], product, block(place.body[e], place.body[f]));
  }
}

template <int kDim>
void QuickMatrix::eliminate_leaf(Unit& unit, const Local& D) {
  const Place& place = *unit.place;
  const double* rows = place.rows[unit.leaf];
  const SixPairs inverse(inverse_ + kSize * place.body[unit.leaf]);
  double W[kDim * kDim], A[kDim * kDim];
  for (int a = 0; a < kDim; ++a) {
    const SixPairs scaled = inverse.times(SixPairs(rows + a * kSize));
    for (int b = 0; b <= a; ++b) W[kDim * a + b] = W[kDim * b + a] = scaled.dot(rows + b * kSize);
  }
  // The first row of D is that of a normal, and what it drags along tangents is a multiple of it:
  // the first equation is divided by it and taken from the others, or a rigid contact would leave
  // three that are nearly the same.
  Local& K = unit.K;
  for (int a = 0; a < kDim; ++a) {
    const double dragged = a == 0 ? 0 : D[3 * a] / D[0];
    double scale = 1;
    for (int k = 1; k < kDim; ++k) scale += a == 0 ? 0 : std::abs(D[3 * a + k]);
    for (int b = 0; b < kDim; ++b) {
      double sum = (a == b ? 1 : 0) - (b == 0 ? dragged : 0);
      for (int k = 1; k < kDim && a > 0; ++k) sum += D[3 * a + k] * W[kDim * k + b];
      A[kDim * a + b] = a == 0 ? (b == 0 ? 1 / D[0] : 0) + W[b] : sum / scale;
      K[3 * b + a] = a == 0 ? (b == 0 ? 1 : 0) : b == 0 ? 0 : D[3 * a + b] / scale;
    }
  }
  int swap[kDim];
  if (!factor_lu(A, kDim, swap)) {
    is_finite_ = false;
    return;
  }
  for (int b = 0; b < kDim; ++b) solve_lu_of_size<kDim>(A, kDim, swap, K.data() + 3 * b);
  if (place.num_pieces < 2) return;
  const int other = 1 - unit.leaf;
  double product[kDim * kSize];
  multiply_rows<kDim>(unit.K.data(), true, place.rows[other], product);
  add_products<kDim>(place.rows[other], product, block(place.body[other], place.body[other]));
}

bool QuickMatrix::factor() { return is_finite_ && factors_.factor(); }

/// What the unit of a leaf makes of the right side of the other body.
template <int kDim>
void QuickMatrix::begin_leaf(Unit& unit, double* x) const {
  const Place& place = *unit.place;
  const std::ptrdiff_t leaf = kSize * std::ptrdiff_t{place.body[unit.leaf]};
  const SixPairs moved = SixPairs(inverse_ + leaf).times(SixPairs(x + leaf));
  std::array<double, 3> g = {};
  for (int a = 0; a < kDim; ++a) g[a] = moved.dot(place.rows[unit.leaf] + a * kSize);
  unit.y0 = times<kDim>(unit.K, g);
  if (place.num_pieces < 2) return;
  const int other = 1 - unit.leaf;
  double* const root = x + kSize * std::ptrdiff_t{place.body[other]};
  SixPairs rest(root);
  for (int a = 0; a < kDim; ++a) rest.add(-unit.y0[a], SixPairs(place.rows[other] + a * kSize));
  rest.store(root);
}

/// The velocities of a leaf, after those of the other body.
template <int kDim>
void QuickMatrix::end_leaf(const Unit& unit, double* x) const {
  const Place& place = *unit.place;
  double* const leaf = x + kSize * std::ptrdiff_t{place.body[unit.leaf]};
  SixPairs rest(leaf);
  std::array<double, 3> y = unit.y0;
  if (place.num_pieces == 2) {
    const int other = 1 - unit.leaf;
    const SixPairs w(x + kSize * std::ptrdiff_t{place.body[other]});
    std::array<double, 3> u = {};
    for (int a = 0; a < kDim; ++a) u[a] = w.dot(place.rows[other] + a * kSize);
    const std::array<double, 3> more = times<kDim>(unit.K, u);
    for (int a = 0; a < kDim; ++a) y[a] += more[a];
  }
  for (int a = 0; a < kDim; ++a) rest.add(-y[a], SixPairs(place.rows[unit.leaf] + a * kSize));
  rest.times(SixPairs(inverse_ + kSize * std::ptrdiff_t{place.body[unit.leaf]})).store(leaf);
}

void QuickMatrix::solve(double* x) {
  for (Unit& unit : units()) {
    if (unit.leaf < 0 || !unit.acts) continue;
    unit.place->dim == 1 ? begin_leaf<1>(unit, x) : begin_leaf<3>(unit, x);
  }
  if (num_roots_ == num_bodies_) {
    factors_.solve(x);
    return;
  }
  for (int b = 0; b < num_bodies_; ++b)
    if (root_[b] >= 0) std::copy_n(x + kSize * b, kSize, root_x_.data() + kSize * root_[b]);
  factors_.solve(root_x_.data());
  for (int b = 0; b < num_bodies_; ++b)
    if (root_[b] >= 0) std::copy_n(root_x_.data() + kSize * root_[b], kSize, x + kSize * b);
  for (const Unit& unit : units()) {
    if (unit.leaf < 0) continue;
    if (unit.acts) {
      unit.place->dim == 1 ? end_leaf<1>(unit, x) : end_leaf<3>(unit, x);
    } else {
      const std::ptrdiff_t leaf = kSize * std::ptrdiff_t{unit.place->body[unit.leaf]};
      SixPairs(x + leaf).times(SixPairs(inverse_ + leaf)).store(x + leaf);
    }
  }
}

}  // namespace stiction
