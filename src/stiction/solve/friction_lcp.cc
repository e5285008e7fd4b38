#include "stiction/solve/friction_lcp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace stiction {
namespace {

/// Share of the motion that counts as an impulse where there are none, as in the certificate.
constexpr double kMotionShare = 1e-4;

bool is_free(const StepProblem& problem, int row) {
  return problem.lower[row] == -StepProblem::kUnbounded &&
         problem.upper[row] == StepProblem::kUnbounded;
}

struct Vertex {
  double t1, t2;
};

int num_vertices(const FrictionSection& section, int num_tangents) {
  if (num_tangents == 1) return 2;
  return section.kind == FrictionSection::Kind::kBox ? 4 : section.num_sides;
}

/// Vertex i of the friction section. Opposite vertices are exact negatives, so that what cancels in
/// theory cancels in the dictionary too.
Vertex vertex(const FrictionSection& section, int num_tangents, int i) {
  if (num_tangents == 1) return {i == 0 ? 1.0 : -1.0, 0.0};
  if (section.kind == FrictionSection::Kind::kBox)
    return {i == 0 || i == 3 ? 1.0 : -1.0, i < 2 ? 1.0 : -1.0};
  const int half = section.num_sides / 2;
  const double sign = i < half ? 1.0 : -1.0;
  if (2 * (i % half) == half) return {0.0, sign};
  const double angle = std::numbers::pi * (i % half) / half;
  return {sign * std::cos(angle), sign * std::sin(angle)};
}

template <class Real>
bool all_finite(const std::vector<Real>& values) {
  return std::all_of(values.begin(), values.end(), [](Real x) { return std::isfinite(x); });
}

}  // namespace

template <class Real>
typename FrictionLcp<Real>::Outcome FrictionLcp<Real>::assemble(const StepProblem& problem) {
  if (!delassus_.factor_mass(problem)) return Outcome::kSingularMass;
  shift_bounded(problem);
  if (problem.num_bilateral() == 0)
    delassus_.compute_free_velocity(problem, w_);
  else
    delassus_.compute_velocity(problem, shift_, w_);
  delassus_.compute_row_velocity(problem, shift_, w_, u_, magnitude_);
  if (!all_finite(w_) || !all_finite(u_)) return Outcome::kNonFinite;
  impulse_ = shift_;
  if (is_trivial(problem)) return Outcome::kTrivial;
  delassus_.assemble(problem);
  compute_scales(problem);
  variables_.clear();
  couplings_.clear();
  add_free_rows(problem);
  num_free_ = static_cast<int>(variables_.size());
  for (int i = 0; i < problem.num_bilateral(); ++i) add_bounded_row(problem, i);
  for (int j = 0; j < problem.num_contacts(); ++j) add_contact(problem, j);
  fill();
  return all_finite(lcp_.matrix) && all_finite(lcp_.vector) ? Outcome::kAssembled
                                                            : Outcome::kNonFinite;
}

/// Bounded rows count their impulse from the value in [lo, hi] that is nearest to zero.
template <class Real>
void FrictionLcp<Real>::shift_bounded(const StepProblem& problem) {
  shift_.assign(problem.num_bilateral() + problem.num_contact_rows(), 0.0L);
  for (int i = 0; i < problem.num_bilateral(); ++i)
    if (!is_free(problem, i)) shift_[i] = std::clamp(0.0, problem.lower[i], problem.upper[i]);
}

/// No row can move, or nothing but contacts can and all of them separate.
template <class Real>
bool FrictionLcp<Real>::is_trivial(const StepProblem& problem) const {
  for (int i = 0; i < problem.num_bilateral(); ++i)
    if (problem.lower[i] < problem.upper[i]) return false;
  for (int j = 0; j < problem.num_contacts(); ++j)
    if (u_[problem.num_bilateral() + problem.contacts.row_start(j)] < 0) return false;
  return true;
}

template <class Real>
void FrictionLcp<Real>::compute_scales(const StepProblem& problem) {
  const int num_rows = delassus_.num_rows();
  scale_.resize(num_rows);
  Real largest = 0;
  for (int i = 0; i < num_rows; ++i) largest = std::max(largest, scale_[i] = delassus_.row(i)[i]);
  // Both tangents of a contact share a scale, since vertices of the section mix them.
  for (int j = 0; j < problem.num_contacts(); ++j) {
    Real* s = scale_.data() + problem.num_bilateral() + problem.contacts.row_start(j);
    if (problem.contacts.num_rows(j) == 3) s[1] = s[2] = std::max(s[1], s[2]);
  }
  // A row that nothing moves has no scale of its own; any will do.
  for (Real& s : scale_) s = Real(1) / std::sqrt(s > 0 ? s : largest > 0 ? largest : Real(1));
}

template <class Real>
int FrictionLcp<Real>::add_variable(const Variable& variable) {
  variables_.push_back(variable);
  return static_cast<int>(variables_.size()) - 1;
}

template <class Real>
void FrictionLcp<Real>::add_free_rows(const StepProblem& problem) {
  for (int i = 0; i < problem.num_bilateral(); ++i)
    if (is_free(problem, i))
      add_variable({.row = {i, i}, .weight = {scale_[i], 0}, .unit = scale_[i]});
}

template <class Real>
void FrictionLcp<Real>::add_bounded_row(const StepProblem& problem, int row) {
  if (is_free(problem, row)) return;
  const auto start = static_cast<double>(shift_[row]);
  if (problem.upper[row] > start) add_part(row, 1, problem.upper[row] - start);
  if (problem.lower[row] < start) add_part(row, -1, start - problem.lower[row]);
}

template <class Real>
void FrictionLcp<Real>::add_part(int row, Real sign, double room) {
  const Real s = scale_[row];
  const int part = add_variable({.row = {row, row}, .weight = {sign * s, 0}, .unit = s});
  if (room == StepProblem::kUnbounded) return;
  const int multiplier = add_variable({.unit = s});
  couplings_.push_back({part, multiplier, Real(1)});
  couplings_.push_back({multiplier, part, Real(-1)});
  couplings_.push_back({multiplier, -1, room / s});
}

template <class Real>
void FrictionLcp<Real>::add_contact(const StepProblem& problem, int contact) {
  const int row = problem.num_bilateral() + problem.contacts.row_start(contact);
  const int normal = add_variable(
      {.row = {row, row}, .weight = {scale_[row], 0}, .unit = scale_[row], .is_contact = true});
  if (problem.mu[contact] > 0 && problem.contacts.num_rows(contact) > 1)
    add_friction(problem, contact, normal, scale_[row + 1]);
}

template <class Real>
void FrictionLcp<Real>::add_friction(const StepProblem& problem, int contact, int normal,
                                     Real friction_scale) {
  const int num_tangents = problem.contacts.num_rows(contact) - 1;
  const int row = variables_[normal].row[0] + 1;
  const Real s = friction_scale;
  const int count = num_vertices(problem.section[contact], num_tangents);
  const int multiplier = static_cast<int>(variables_.size()) + count;
  for (int i = 0; i < count; ++i) {
    const Vertex d = vertex(problem.section[contact], num_tangents, i);
    const int part = add_variable({.row = {row, row + num_tangents - 1},
                                   .weight = {s * Real(d.t1), s * Real(d.t2)},
                                   .unit = s,
                                   .is_contact = true});
    couplings_.push_back({part, multiplier, Real(1)});
    couplings_.push_back({multiplier, part, Real(-1)});
  }
  add_variable({.unit = s, .is_contact = true});
  couplings_.push_back({multiplier, normal, problem.mu[contact] * variables_[normal].unit / s});
}

/// A = CᵀW C and q = Cᵀu with the weights C of the variables, plus the couplings.
template <class Real>
void FrictionLcp<Real>::fill() {
  const int size = static_cast<int>(variables_.size());
  lcp_.resize(num_free_, size - num_free_);
  const int num_rows = delassus_.num_rows();
  combined_.resize(num_rows);
  for (int i = 0; i < size; ++i) {
    const Variable& left = variables_[i];
    if (left.row[0] < 0) continue;
    const Real* w0 = delassus_.row(left.row[0]);
    const Real* w1 = delassus_.row(left.row[1]);
    for (int k = 0; k < num_rows; ++k)
      combined_[k] = left.weight[0] * w0[k] + left.weight[1] * w1[k];
    Real* target = lcp_.row(i);
    for (int j = 0; j < size; ++j) {
      const Variable& right = variables_[j];
      if (right.row[0] < 0) continue;
      target[j] =
          combined_[right.row[0]] * right.weight[0] + combined_[right.row[1]] * right.weight[1];
    }
    lcp_.vector[i] = left.weight[0] * u_[left.row[0]] + left.weight[1] * u_[left.row[1]];
  }
  for (const Coupling& c : couplings_)
    (c.column < 0 ? lcp_.vector[c.row] : lcp_.row(c.row)[c.column]) += c.value;
}

template <class Real>
Real FrictionLcp<Real>::evaluate(const StepProblem& problem, const std::vector<long double>& z) {
  recover(z);
  delassus_.compute_velocity(problem, impulse_, w_);
  delassus_.compute_row_velocity(problem, impulse_, w_, u_, magnitude_);
  compute_y(z);
  return violation(z);
}

template <class Real>
void FrictionLcp<Real>::recover(const std::vector<long double>& z) {
  impulse_ = shift_;
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const Variable& v = variables_[i];
    if (v.row[0] < 0) continue;
    const long double x = static_cast<int>(i) < num_free_ ? z[i] : std::max(z[i], 0.0L);
    impulse_[v.row[0]] += v.weight[0] * x;
    impulse_[v.row[1]] += v.weight[1] * x;
  }
}

template <class Real>
void FrictionLcp<Real>::compute_y(const std::vector<long double>& z) {
  y_.assign(variables_.size(), Real(0));
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const Variable& v = variables_[i];
    if (v.row[0] >= 0) y_[i] = v.weight[0] * u_[v.row[0]] + v.weight[1] * u_[v.row[1]];
  }
  for (const Coupling& c : couplings_)
    y_[c.row] += static_cast<Real>(c.column < 0 ? c.value : c.value * z[c.column]);
}

template <class Real>
Real FrictionLcp<Real>::violation(const std::vector<long double>& z) const {
  // [0]: bilateral rows in the unit √J of the scaled impulses, [1]: contacts in N s.
  Real worst[2] = {0, 0}, total[2] = {0, 0}, unit_max[2] = {0, 0};
  Real background = 0;  // of impulses and motion, in √J
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const Variable& v = variables_[i];
    const Real unit = v.is_contact ? v.unit : Real(1);
    const bool is_free_variable = static_cast<int>(i) < num_free_;
    const auto slack = static_cast<Real>(z[i]);
    const Real error = std::abs(is_free_variable ? y_[i] : std::min(slack, y_[i])) * unit;
    if (!std::isfinite(error)) return std::numeric_limits<Real>::infinity();
    worst[v.is_contact] = std::max(worst[v.is_contact], error);
    if (v.row[0] < 0) continue;
    total[v.is_contact] += std::abs(slack) * unit;
    unit_max[v.is_contact] = std::max(unit_max[v.is_contact], unit);
    const Real motion = std::max(magnitude_[v.row[0]], magnitude_[v.row[1]]) * v.unit;
    background = std::max({background, motion, std::abs(slack)});
  }
  Real result = 0;
  for (int k = 0; k < 2; ++k)
    if (worst[k] > 0)
      result =
          std::max(result, worst[k] / (total[k] + Real(kMotionShare) * background * unit_max[k]));
  return result;
}

template <class Real>
void FrictionLcp<Real>::write(const StepProblem& problem, StepSolution& solution) const {
  const int num_bilateral = problem.num_bilateral();
  for (int i = 0; i < num_bilateral; ++i) solution.lambda[i] = static_cast<double>(impulse_[i]);
  for (int i = 0; i < problem.num_contact_rows(); ++i)
    solution.r[i] = static_cast<double>(impulse_[num_bilateral + i]);
  for (std::size_t i = 0; i < w_.size(); ++i) solution.w[i] = static_cast<double>(w_[i]);
}

template class FrictionLcp<double>;
template class FrictionLcp<long double>;

}  // namespace stiction
