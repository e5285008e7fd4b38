#include "stiction/solve/lemke_lcp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/random.h"
#include "stiction/solve/dense_lu.h"

namespace stiction {
namespace {

/// Powers of the machine precision, found by solving tens of thousands of random problems with mass
/// ratios up to 1e8. A pivot may be as small as 1e-8 for good reason (a light body between a heavy
/// one and the ground), and rounding errors of the dictionary reach 1e-13 before it is refreshed.
template <class Real>
const PivotTolerances<Real> kTolerances = {
    .pivot = std::pow(std::numeric_limits<Real>::epsilon(), Real(0.7)),
    .tie = std::pow(std::numeric_limits<Real>::epsilon(), Real(0.8)),
    .lexicographic = std::pow(std::numeric_limits<Real>::epsilon(), Real(0.7)),
};

/// A row of the free variables whose diagonal falls below this share of its start depends on
/// others.
template <class Real>
const Real kRankTolerance = std::pow(std::numeric_limits<Real>::epsilon(), Real(0.7));

/// Pivots worse than this, relative to their column, make the dictionary refresh itself.
constexpr double kPoorPivot = 1e-6;

/// A ray that starts where z₀ is this small is one of rounding errors: the basis is tried.
constexpr double kAlmostZero = 1e-8;

/// For problems whose solution lies among ties that the tolerances above cannot tell apart.
template <class Real>
const PivotTolerances<Real> kFineTolerances = {
    .pivot = std::pow(std::numeric_limits<Real>::epsilon(), Real(0.8)),
    .tie = std::pow(std::numeric_limits<Real>::epsilon(), Real(0.95)),
    .lexicographic = std::pow(std::numeric_limits<Real>::epsilon(), Real(0.8)),
};

constexpr int kRefinements = 1;

/// From this many variables on the revised method is faster than the dictionary.
constexpr int kRevisedSize = 24;

}  // namespace

template <class Real>
LcpReport LemkeLcp<Real>::solve(const MixedLcp<Real>& lcp, const LemkeOptions& options) {
  LcpReport report = find_basis(lcp, options);
  if (report.status == LcpStatus::kSolved && !finish(lcp)) report.status = LcpStatus::kSingular;
  has_basis_ = report.status == LcpStatus::kSolved;
  return report;
}

template <class Real>
bool LemkeLcp<Real>::try_last_basis(const MixedLcp<Real>& lcp) {
  if (!has_basis_ || lcp.num_free != num_free_ || lcp.num_complementary != num_complementary_)
    return false;
  if (!finish(lcp)) return false;
  long double largest = 0, least = 0;
  for (std::size_t i = 0; i < z_.size(); ++i) {
    largest = std::max(largest, std::abs(z_[i]));
    if (static_cast<int>(i) >= num_free_) least = std::min(least, z_[i]);
  }
  return least >= -tolerances_->tie * largest;
}

template <class Real>
LcpReport LemkeLcp<Real>::find_basis(const MixedLcp<Real>& lcp, const LemkeOptions& options) {
  prepare(lcp, options);
  LcpReport report;
  support_.assign(independent_.begin(), independent_.end());
  if (starts_feasible_) return report;
  if (data_.size < kRevisedSize || options.uses_dictionary) {
    report = pivot(dictionary_, options);
    if (report.status == LcpStatus::kSolved) collect_support(dictionary_);
  } else {
    report = pivot(revised_, options);
    if (report.status == LcpStatus::kSolved) collect_support(revised_);
  }
  return report;
}

template <class Real>
void LemkeLcp<Real>::prepare(const MixedLcp<Real>& lcp, const LemkeOptions& options) {
  const int n = lcp.num_complementary;
  num_free_ = lcp.num_free;
  num_complementary_ = n;
  tolerances_ = options.has_fine_ties ? &kFineTolerances<Real> : &kTolerances<Real>;
  independent_.clear();
  data_ = {.size = n, .matrix = lcp.matrix.data(), .stride = n, .q = lcp.vector.data()};
  if (num_free_ > 0) eliminate_free(lcp);
  cover_.resize(n);
  Random random(options.cover_seed);
  for (Real& d : cover_) d = options.cover_seed == 0 ? 1 : std::exp2(random.uniform(-1, 1));
  data_.cover = cover_.data();
  starts_feasible_ = std::all_of(data_.q, data_.q + n, [](Real q) { return q >= 0; });
}

/// Gaussian elimination of the free variables with diagonal pivots, largest first. With A = G M⁻¹Gᵀ
/// and M positive definite, a zero diagonal means that the whole row and column are zero, hence
/// that the remaining rows depend on the eliminated ones.
template <class Real>
void LemkeLcp<Real>::eliminate_free(const MixedLcp<Real>& lcp) {
  const int size = lcp.size();
  const int stride = size + 1;
  reduced_.resize(static_cast<std::size_t>(size) * stride);
  Real largest_q = 0;
  for (int i = 0; i < size; ++i) {
    std::copy(lcp.row(i), lcp.row(i) + size,
              reduced_.data() + static_cast<std::size_t>(i) * stride);
    reduced_[static_cast<std::size_t>(i) * stride + size] = lcp.vector[i];
    largest_q = std::max(largest_q, std::abs(lcp.vector[i]));
  }
  is_eliminated_.assign(num_free_, 0);
  growth_.assign(stride, Real(1));
  growth_[size] = largest_q;
  for (int best = largest_diagonal(stride); best >= 0; best = largest_diagonal(stride)) {
    is_eliminated_[best] = 1;
    independent_.push_back(best);
    eliminate(best, size);
  }
  reduced_q_.resize(lcp.num_complementary);
  for (int i = num_free_; i < size; ++i)
    reduced_q_[i - num_free_] = reduced_[static_cast<std::size_t>(i) * stride + size];
  data_.matrix = reduced_.data() + static_cast<std::size_t>(num_free_) * stride + num_free_;
  data_.stride = stride;
  data_.q = reduced_q_.data();
}

/// The free variable to eliminate next, −1 if the remaining rows depend on the eliminated ones.
template <class Real>
int LemkeLcp<Real>::largest_diagonal(int stride) const {
  int best = -1;
  Real largest = kRankTolerance<Real>;
  for (int i = 0; i < num_free_; ++i) {
    const Real diagonal = reduced_[static_cast<std::size_t>(i) * stride + i];
    if (!is_eliminated_[i] && diagonal > largest) largest = diagonal, best = i;
  }
  return best;
}

/// Joints may leave a row no room to move: what remains of it is rounding and is set to zero at
/// once, or later pivots would take it for data. Errors of entry (i, j) grow like growth_[i]
/// growth_[j].
template <class Real>
void LemkeLcp<Real>::eliminate(int free, int size) {
  constexpr Real kRounding = 16 * std::numeric_limits<Real>::epsilon();
  const int stride = size + 1;
  const Real* __restrict source = reduced_.data() + static_cast<std::size_t>(free) * stride;
  const Real reciprocal = Real(1) / source[free];
  for (int j = 0; j < stride; ++j)
    if (j != free) growth_[j] += std::abs(source[j] * reciprocal) * growth_[free];
  for (int i = 0; i < size; ++i) {
    if (i < num_free_ && is_eliminated_[i]) continue;
    Real* __restrict target = reduced_.data() + static_cast<std::size_t>(i) * stride;
    const Real factor = target[free] * reciprocal;
    if (factor == Real(0)) continue;
    const Real rounding = kRounding * growth_[i];
    for (int j = 0; j < stride; ++j) {
      const Real value = target[j] - factor * source[j];
      target[j] = std::abs(value) <= rounding * growth_[j] ? Real(0) : value;
    }
  }
}

template <class Real>
template <class Tableau>
LcpReport LemkeLcp<Real>::pivot(Tableau& tableau, const LemkeOptions& options) {
  const int limit = options.max_pivots > 0 ? options.max_pivots : 50 + 20 * data_.size;
  const Real dismissal = std::max(tolerances_->tie, Real(options.dismissal));
  tableau.reset(data_);
  int entering = tableau.z0();
  int leaving = tableau.first_leaving();
  int since_refresh = 0;
  for (int pivots = 1; pivots <= limit; ++pivots) {
    if (options.deadline != nullptr && options.deadline->has_passed())
      return {LcpStatus::kPivotLimit, pivots};
    tableau.exchange(leaving, entering);
    if (leaving == tableau.z0() || tableau.try_dismiss_z0(leaving, dismissal))
      return {LcpStatus::kSolved, pivots};
    const bool is_poor = tableau.last_pivot_quality() < Real(kPoorPivot);
    if (++since_refresh >= options.refresh_interval || is_poor) {
      if (!tableau.refresh()) return {LcpStatus::kSingular, pivots};
      since_refresh = 0;
    }
    entering = tableau.complement(leaving);
    const int left = leaving;
    leaving = tableau.blocking(entering, *tolerances_);
    if (leaving < 0 && since_refresh > 0) {  // rounding may have hidden what blocks
      if (!tableau.refresh()) return {LcpStatus::kSingular, pivots};
      since_refresh = 0;
      leaving = tableau.blocking(entering, *tolerances_);
    }
    if (leaving < 0)
      return {
          tableau.try_dismiss_z0(left, Real(kAlmostZero)) ? LcpStatus::kSolved : LcpStatus::kRay,
          pivots};
  }
  return {LcpStatus::kPivotLimit, limit};
}

template <class Real>
bool LemkeLcp<Real>::finish(const MixedLcp<Real>& lcp) {
  const int size = static_cast<int>(support_.size());
  basis_.resize(static_cast<std::size_t>(size) * size);
  basis_swap_.resize(size);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      basis_[static_cast<std::size_t>(i) * size + j] = lcp.row(support_[i])[support_[j]];
  if (!factor_lu(basis_.data(), size, basis_swap_.data())) return false;
  z_.assign(lcp.size(), 0.0L);
  for (int k = 0; k <= kRefinements; ++k) refine(lcp);
  return true;
}

template <class Real>
template <class Tableau>
void LemkeLcp<Real>::collect_support(const Tableau& tableau) {
  const int n = data_.size;
  for (int i = 0; i < n; ++i)
    if (tableau.is_basic(n + i)) support_.push_back(num_free_ + i);
}

/// z ← z − A⁻¹(A z + q) on the support; the residual is accumulated in long double.
template <class Real>
void LemkeLcp<Real>::refine(const MixedLcp<Real>& lcp) {
  const int size = static_cast<int>(support_.size());
  correction_.resize(size);
  for (int i = 0; i < size; ++i) {
    const Real* row = lcp.row(support_[i]);
    long double sum = lcp.vector[support_[i]];
    for (const int j : support_) sum += static_cast<long double>(row[j]) * z_[j];
    correction_[i] = static_cast<Real>(-sum);
  }
  apply_correction();
}

template <class Real>
void LemkeLcp<Real>::correct(const std::vector<Real>& y) {
  correction_.resize(support_.size());
  for (std::size_t i = 0; i < support_.size(); ++i) correction_[i] = -y[support_[i]];
  apply_correction();
}

template <class Real>
void LemkeLcp<Real>::apply_correction() {
  const int size = static_cast<int>(support_.size());
  solve_lu(basis_.data(), size, basis_swap_.data(), correction_.data());
  for (int i = 0; i < size; ++i) z_[support_[i]] += correction_[i];
}

template class LemkeLcp<double>;
template class LemkeLcp<long double>;

}  // namespace stiction
