#include "stiction/problem/certificate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/base/all_finite.h"
#include "stiction/base/infinity.h"
#include "stiction/problem/certificate_contact.h"

namespace stiction {
namespace {

/// Share of the impulses on the most loaded block that counts as an impulse of every row, so that
/// the rounding of velocities (2e-16 of them) stays below 1e-11 where the rows' own impulses are
/// zero or tiny. (T21), (T22)
constexpr double kBackgroundShare = 1e-4;

/// Impulses that cancel each other can be arbitrarily large, and would hide any error if it were
/// measured by them. They count up to this multiple of what the momenta and biases of the problem
/// amount to; light bodies under heavy ones, of mass ratio ρ, need √ρ per body. (T21), (T22)
constexpr double kDataFactor = 1e7;

/// Share of the data of the whole problem that counts as data of every row, so that rows with none
/// of their own are not asked for more than rounding allows. (T23)
constexpr double kLocalShare = 1e-4;

/// Share of the impulses at a row that counts likewise: their rounding, 2e-16, is then far below.
constexpr double kRoundingShare = 1e-7;

/// Share of the work of an impulse on the data that counts beside the energy at hand: the rounding
/// of rows, some 2e-16 of the data, is then below 1e-11. (T23)
constexpr double kWorkRoundingShare = 1e-4;

/// Share of the impulses on a block beyond the cap that counts in the balance of its momentum:
/// their rounding, some 2e-16 of them, is then below 1e-10. (T20)
constexpr double kBalanceShare = 1e-5;

/// Contacts that one task takes: some ten microseconds.
constexpr int kContactGrain = 64;

/// Contacts whose cones are judged in turn: as many as a processor has under way.
constexpr int kAtOnce = 4;

/// std::max returns its first argument when the second is not a number; this never loses one.
double worse(double a, double b) {
  if (b <= a) return a;  // as a rule: neither is a NaN
  return std::isnan(a) || std::isnan(b) ? kInfinity : b;
}

/// Residual over scale, where both vanish together. A scale that is not finite hides the residual.
double relative(double residual, double scale) {
  if (!std::isfinite(scale)) return kInfinity;
  if (residual == 0) return 0;
  return scale > 0 ? residual / scale : kInfinity;
}

/// The squared error of a row against the energy at hand there. An error that is small beside
/// impulses of heavy neighbours may still be all the motion of a light body. (T23)
double energy_error(double error, double data) {
  if (error == 0) return 0;
  return data > 0 ? error / data * (error / data) : 0;  // without any data impulses decide alone
}

double worst_of(const std::vector<double>& errors, double scale) {
  double worst = 0;
  for (const double error : errors) worst = worse(worst, error);
  return relative(worst, scale);
}

}  // namespace

Certificate Certificate::invalid() {
  return {kInfinity, kInfinity, kInfinity, kInfinity, -kInfinity, kInfinity};
}

double Certificate::residual() const {
  return worse(worse(momentum, bilateral), worse(cone, motion));
}

void Certificate::include(const Certificate& other) {
  momentum = worse(momentum, other.momentum);
  bilateral = worse(bilateral, other.bilateral);
  cone = worse(cone, other.cone);
  motion = worse(motion, other.motion);
  gap = -worse(-gap, -other.gap);
  joint = worse(joint, other.joint);
}

Certificate Certifier::certify(const StepProblem& problem, const StepSolution& solution) {
  last_ = judge(problem, solution);
  last_problem_ = &problem;
  last_solution_ = solution;
  return last_;
}

Certificate Certifier::judge(const StepProblem& problem, const StepSolution& solution) {
  const bool fits = static_cast<int>(solution.w.size()) == problem.num_dofs() &&
                    static_cast<int>(solution.lambda.size()) == problem.num_bilateral() &&
                    static_cast<int>(solution.r.size()) == problem.num_contact_rows();
  if (!fits || !all_finite(solution.w) || !all_finite(solution.lambda) || !all_finite(solution.r))
    return Certificate::invalid();
  if (!rows_.gather(problem, solution)) return Certificate::invalid();

  Certificate certificate;
  data_ = measure_data(problem);
  // Without any data the impulses are all there is.
  data_cap_ = data_ > 0 ? kDataFactor * data_ : kInfinity;
  data_floor_ = kLocalShare * data_;
  root_energy_ = measure_root_energy(problem);
  certificate.momentum = momentum_residual();
  double largest = 0;
  for (const MassBlockView& block : rows_.blocks()) largest = std::max(largest, block.involved);
  load_ = std::min(largest, data_cap_);
  motion_ = 0;
  certificate.bilateral = bilateral_residual(problem, solution);
  certificate.cone = cone_residual(problem, solution);
  certificate.motion = motion_;
  if (!std::isfinite(certificate.residual())) return Certificate::invalid();
  return certificate;
}

std::optional<Certificate> Certifier::recall_last(const StepProblem& problem,
                                                  const StepSolution& solution) const {
  const bool is_same = last_problem_ == &problem && solution.is_identical(last_solution_);
  return is_same ? std::optional(last_) : std::nullopt;
}

double Certifier::momentum_residual() const {
  double worst = 0;
  for (const MassBlockView& block : rows_.blocks()) {
    const double scale =
        block.involved > data_cap_ ? data_cap_ + kBalanceShare * block.involved : block.involved;
    worst = worse(worst, relative(block.defect, scale));
  }
  return worst;
}

/// The size of the data in √J: the largest momentum of a block, and the largest impulse that a bias
/// or the bounds of a row call for.
double Certifier::measure_data(const StepProblem& problem) {
  double largest = 0;
  row_root_.resize(problem.num_bilateral());
  for (const MassBlockView& block : rows_.blocks()) largest = worse(largest, block.momentum);
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    const double own = rows_.bilateral()[i].own + problem.compliance[i];
    if (!(own > 0)) continue;
    const double root = row_root_[i] = std::sqrt(own);
    largest = worse(largest, std::abs(problem.bias[i]) / root);
    const double least = std::clamp(0.0, problem.lower[i], problem.upper[i]);
    if (least != 0) largest = worse(largest, std::abs(least) * root);
  }
  for (int j = 0; j < problem.num_contacts(); ++j)
    for (int row = problem.contacts.row_start(j), k = 0; row < problem.contacts.row_start(j + 1);
         ++row, ++k) {
      const double own = rows_.contacts()[j].own[k] + problem.contact_compliance[row];
      if (own > 0 && problem.contact_bias[row] != 0)
        largest = worse(largest, std::abs(problem.contact_bias[row]) / std::sqrt(own));
    }
  return largest;
}

/// The root of the energy at hand: the data, or what a compliant row holds before the step, b²/C. A
/// spring of stiffness γ and extension φ has γφ², far more than b²/ω where masses are light beside
/// it. Not below the data. (T22)
double Certifier::measure_root_energy(const StepProblem& problem) const {
  double largest = 0;
  const auto include = [&](double bias, double compliance) {
    if (compliance > 0) largest = worse(largest, bias * bias / compliance);
  };
  for (int i = 0; i < problem.num_bilateral(); ++i) include(problem.bias[i], problem.compliance[i]);
  for (int i = 0; i < problem.num_contact_rows(); ++i)
    include(problem.contact_bias[i], problem.contact_compliance[i]);
  return worse(data_, std::sqrt(largest));
}

/// Where impulses grow against a contradiction their rounding is an error, too: beyond the cap, as
/// a share of the energy at hand instead of the data. Exact answers of stiff springs that press
/// light bodies against contacts have impulses beyond any multiple of the data alone.
double Certifier::excess_rounding(double impulse) const {
  if (!(impulse > data_cap_) || !(impulse > kDataFactor * root_energy_)) return 0;
  return std::numeric_limits<double>::epsilon() * impulse * (data_ / root_energy_);
}

/// What an impulse beyond the cap does on the error of its row, as a share of the energy at hand.
/// An error that is small beside the data can be friction that drives what it should brake. (T23)
double Certifier::work_error(double impulse, double error) const {
  if (error == 0 || !(impulse > data_cap_)) return 0;
  const double inverse = 1 / root_energy_, share = impulse * inverse;
  return share * error * inverse / (1 + kWorkRoundingShare * share * data_ * inverse);
}

/// The largest momentum of the blocks that a row touches, in √J.
double Certifier::local_data(const BlockRows& rows, int row_block) const {
  double largest = 0;
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e)
    largest = std::max(largest, rows_.blocks()[rows.entry_block(e)].momentum);
  return largest;
}

double Certifier::bilateral_residual(const StepProblem& problem, const StepSolution& solution) {
  row_error_.assign(problem.num_bilateral(), 0.0);
  row_motion_.assign(problem.num_bilateral(), 0.0);
  total_ = background_ = row_scale_ = 0;
  if (problem.num_bilateral() == 0) return 0;
  for (int i = 0; i < problem.num_bilateral(); ++i) judge_row(problem, i, solution.lambda[i]);
  row_scale_ = std::min(total_, data_cap_) + kBackgroundShare * background_;
  return worst_of(row_error_, row_scale_);
}

/// Impulses of rows with different units are made comparable by √W: their unit is then √J.
void Certifier::judge_row(const StepProblem& problem, int row, double lambda) {
  const RowView& view = rows_.bilateral()[row];
  const double lower = problem.lower[row], upper = problem.upper[row], bias = problem.bias[row];
  double& row_error = row_error_[row];
  if (!(lower <= upper)) {  // std::clamp drops a NaN
    row_error = kInfinity;
    return;
  }
  const double slack = view.u + problem.compliance[row] * lambda - bias;
  double delassus = view.delassus + problem.compliance[row];
  if (delassus <= 0) delassus = view.largest_coupling;
  if (delassus <= 0) {  // a row that nothing can move: it holds or it does not
    const bool is_at_bound = slack > 0 ? lambda == lower : lambda == upper;
    const bool is_within = lambda >= lower && lambda <= upper;
    if (!is_within || (slack != 0 && !is_at_bound)) row_error = kInfinity;
    return;
  }
  const double step = slack / delassus, shifted = lambda - step;
  const double projected = std::clamp(shifted, lower, upper);
  const bool is_own = delassus == view.own + problem.compliance[row];
  const double weight = is_own ? row_root_[row] : std::sqrt(delassus),
               impulse = std::abs(lambda) * weight;
  // Within the bounds the error is the step itself, which the difference would lose beside a large
  // impulse.
  const double error = projected == shifted ? step : lambda - projected;
  row_error = std::abs(error) * weight;
  double& row_motion = row_motion_[row];
  row_motion = work_error(impulse, row_error);
  row_error += excess_rounding(impulse);
  const double inverse = 1 / weight, bias_impulse = std::abs(bias) * inverse;
  const double reach =
      std::min((view.arm * load_ + view.reach) * inverse + bias_impulse, data_cap_);
  const double data =
      local_data(problem.bilateral, row) + bias_impulse + kRoundingShare * reach + data_floor_;
  row_motion = worse(row_motion, energy_error(row_error, data));
  motion_ = worse(motion_, row_motion);
  total_ += impulse;
  background_ = std::max(background_, reach);
}

double Certifier::cone_residual(const StepProblem& problem, const StepSolution& solution) {
  total_ = background_ = 0;
  contact_error_.assign(problem.num_contacts(), 0.0);
  verdicts_.resize(problem.num_contacts());
  run_numbers(workers_, problem.num_contacts(), kContactGrain, [&](int begin, int end) {
    for (int j = begin; j < end; j += kAtOnce)
      judge_contacts(problem, solution, j, std::min(j + kAtOnce, end));
  });
  // In their order, whoever judged them.
  for (int j = 0; j < problem.num_contacts(); ++j) {
    contact_error_[j] = verdicts_[j].error;
    motion_ = worse(motion_, verdicts_[j].motion);
    total_ += verdicts_[j].impulse;
    background_ = std::max(background_, verdicts_[j].reach);
  }
  contact_scale_ = std::min(total_, data_cap_) + kBackgroundShare * background_;
  return worst_of(contact_error_, contact_scale_);
}

void Certifier::judge_contacts(const StepProblem& problem, const StepSolution& solution, int begin,
                               int end) {
  std::array<ScaledContact, kAtOnce> scaled;
  for (int j = begin; j < end; ++j)
    scale_contact(problem, j, rows_.contacts()[j],
                  solution.r.data() + problem.contacts.row_start(j), {load_, data_cap_},
                  scaled[j - begin]);
  for (int j = begin; j < end; ++j) {
    ContactFigures& figures = scaled[j - begin].figures;
    figures.error = compute_cone_error(scaled[j - begin], data_cap_);
    judge_contact(problem, j, figures, verdicts_[j]);
  }
}

/// Written where it stays: a copy of numbers just written one by one would wait for them.
void Certifier::judge_contact(const StepProblem& problem, int contact,
                              const ContactFigures& figures, Verdict& verdict) const {
  const double error = figures.error + excess_rounding(figures.impulse);
  verdict = {};
  verdict.error = error;
  if (!figures.is_scaled) return;
  const double reach = std::min(figures.reach, data_cap_);
  const double data = local_data(problem.contacts, contact) + data_floor_ + kRoundingShare * reach;
  verdict.motion = worse(work_error(figures.impulse, figures.error),
                         energy_error(error, std::max(data, figures.bias)));
  verdict.impulse = figures.impulse;
  verdict.reach = reach;
}

Offenders Certifier::offenders(double tolerance) const {
  Offenders offenders;
  for (std::size_t i = 0; i < row_error_.size(); ++i)
    if (!(worse(relative(row_error_[i], row_scale_), row_motion_[i]) <= tolerance))
      offenders.rows.push_back(static_cast<int>(i));
  for (std::size_t j = 0; j < contact_error_.size(); ++j)
    if (!(worse(relative(contact_error_[j], contact_scale_), verdicts_[j].motion) <= tolerance))
      offenders.contacts.push_back(static_cast<int>(j));
  return offenders;
}

Certificate certify(const StepProblem& problem, const StepSolution& solution) {
  return Certifier().certify(problem, solution);
}

}  // namespace stiction
