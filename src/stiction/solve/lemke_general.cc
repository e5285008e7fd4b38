#include "stiction/solve/lemke_general.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/solve/dense_lu.h"

namespace stiction {
namespace {

constexpr int kRefinements = 2;

/// Signs within this share of the largest number are rounding when a basis is judged.
template <class Real>
const Real kSignTolerance = std::pow(std::numeric_limits<Real>::epsilon(), Real(0.75));

/// The block of `lcp` on given rows and columns, row-major.
template <class Real>
void gather(const MixedLcp<Real>& lcp, const std::vector<int>& rows,
            const std::vector<int>& columns, std::vector<Real>& block) {
  block.resize(rows.size() * columns.size());
  Real* target = block.data();
  for (const int i : rows)
    for (const int j : columns) *target++ = lcp.row(i)[j];
}

}  // namespace

template <class Real>
void LemkeGeneral<Real>::prepare(const MixedLcp<Real>& lcp) {
  lcp_ = &lcp;
  num_free_ = lcp.num_free;
  num_complementary_ = lcp.num_complementary;
  has_basis_ = false;
  reduction_.scale(lcp);
  reduction_.reduce();
}

template <class Real>
bool LemkeGeneral<Real>::try_last_basis(const MixedLcp<Real>& lcp) {
  if (!has_basis_ || lcp.num_free != num_free_ || lcp.num_complementary != num_complementary_)
    return false;
  lcp_ = &lcp;
  reduction_.scale(lcp);
  return finish_basis();
}

template <class Real>
LcpReport LemkeGeneral<Real>::solve(const LemkeOptions& options) {
  LcpReport report = lemke_.find_basis(reduction_.reduced(), options);
  if (report.status == LcpStatus::kSolved && !finish(lemke_.support()))
    report.status = LcpStatus::kSingular;
  return report;
}

template <class Real>
LcpReport LemkeGeneral<Real>::solve_by_enumeration() {
  const int n = reduction_.reduced().size();
  if (n > kMaxEnumerated) return {LcpStatus::kSingular, 0};
  for (int set = 0; set < 1 << n; ++set) {
    candidate_.clear();
    for (int i = 0; i < n; ++i)
      if (set >> i & 1) candidate_.push_back(i);
    if (is_solution(candidate_) && finish(candidate_)) return {LcpStatus::kSolved, set};
  }
  return {LcpStatus::kRay, 1 << n};
}

/// Whether z ≥ 0 and y ≥ 0 in the reduced problem when the z of the support are basic.
template <class Real>
bool LemkeGeneral<Real>::is_solution(const std::vector<int>& support) {
  const MixedLcp<Real>& lcp = reduction_.reduced();
  const int size = static_cast<int>(support.size());
  gather(lcp, support, support, basis_);
  basis_swap_.resize(size);
  if (!factor_lu(basis_.data(), size, basis_swap_.data())) return false;
  candidate_z_.resize(size);
  for (int i = 0; i < size; ++i) candidate_z_[i] = -lcp.vector[support[i]];
  solve_lu(basis_.data(), size, basis_swap_.data(), candidate_z_.data());
  Real scale = 0;
  for (const Real z : candidate_z_) scale = std::max(scale, std::abs(z));
  if (!std::isfinite(scale)) return false;
  for (const Real z : candidate_z_)
    if (z < -kSignTolerance<Real> * scale) return false;
  for (int i = 0; i < lcp.size(); ++i) {
    Real y = lcp.vector[i], magnitude = std::abs(y);
    for (int k = 0; k < size; ++k) {
      const Real term = lcp.row(i)[support[k]] * candidate_z_[k];
      y += term;
      magnitude += std::abs(term);
    }
    // Entries are about one at most, and a z that should be zero may be rounding of the others.
    if (y < -kSignTolerance<Real> * (magnitude + scale)) return false;
  }
  return true;
}

template <class Real>
bool LemkeGeneral<Real>::finish(const std::vector<int>& support) {
  collect_basis(support);
  return finish_basis();
}

template <class Real>
bool LemkeGeneral<Real>::finish_basis() {
  gather(reduction_.scaled(), rows_, columns_, basis_);
  const int size = static_cast<int>(rows_.size());
  basis_swap_.resize(size);
  if (!factor_lu(basis_.data(), size, basis_swap_.data())) return false;
  z_.assign(lcp_->size(), 0.0L);
  for (int k = 0; k <= kRefinements; ++k) refine();
  has_basis_ = true;
  return true;
}

/// A complementary variable is in the basis of the whole problem if it is in that of the reduced
/// one, or else if its roles are exchanged there.
template <class Real>
void LemkeGeneral<Real>::collect_basis(const std::vector<int>& support) {
  rows_.assign(reduction_.equations().begin(), reduction_.equations().end());
  columns_.assign(reduction_.free_variables().begin(), reduction_.free_variables().end());
  auto next = support.begin();
  for (int i = 0; i < lcp_->num_complementary; ++i) {
    const bool is_in_support = next != support.end() && *next == i;
    if (is_in_support) ++next;
    if (is_in_support == reduction_.is_swapped(i)) continue;
    rows_.push_back(lcp_->num_free + i);
    columns_.push_back(lcp_->num_free + i);
  }
}

/// z ← z − A⁻¹(A z + q) on the basis; the residual is accumulated in long double.
template <class Real>
void LemkeGeneral<Real>::refine() {
  correction_.resize(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Real* row = lcp_->row(rows_[i]);
    long double sum = lcp_->vector[rows_[i]];
    for (const int j : columns_) sum += static_cast<long double>(row[j]) * z_[j];
    correction_[i] = static_cast<Real>(-sum);
  }
  apply_correction();
}

template <class Real>
void LemkeGeneral<Real>::correct(const std::vector<Real>& y) {
  correction_.resize(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) correction_[i] = -y[rows_[i]];
  apply_correction();
}

template <class Real>
void LemkeGeneral<Real>::apply_correction() {
  const int size = static_cast<int>(rows_.size());
  for (int i = 0; i < size; ++i) correction_[i] *= reduction_.row_scale()[rows_[i]];
  solve_lu(basis_.data(), size, basis_swap_.data(), correction_.data());
  for (int j = 0; j < size; ++j)
    z_[columns_[j]] += reduction_.column_scale()[columns_[j]] * correction_[j];
}

template class LemkeGeneral<double>;
template class LemkeGeneral<long double>;

}  // namespace stiction
