#include "stiction/solve/quick_discs.h"

#include <algorithm>
#include <cmath>

#include "stiction/base/infinity.h"
#include "stiction/base/pair.h"
#include "stiction/solve/dense_lu.h"
#include "stiction/solve/six_pairs.h"

namespace stiction {
namespace {

/// ε relative to the mobility of a unit: an iteration leaves this share of what impulses are wrong
/// by, and the factors lose as many digits, which the next iteration makes good.
constexpr double kCompliance = 1e-6;

/// What rows and contacts may be off by, relative to the largest impulse, for an answer to be worth
/// showing to a judge; as long as each iteration gains so much. Statuses settle in a few steps, or
/// go round in circles.
constexpr double kUsable = 1e-4, kLeastGain = 0.5;
constexpr int kMaxSteps = 10;

/// Impulses of the step before are the answer if they are wrong by less than this share of the body
/// that moves least: some hundred times what an iteration leaves. It has so large a share of
/// momenta and impulses; what rests is to come to rest to rounding.
constexpr double kSteady = 1e-9, kMotion = 1e-2;

using Six = Eigen::Matrix<double, QuickMatrix::kSize, 1>;
using SixMap = Eigen::Map<Six>;
using ConstSixMap = Eigen::Map<const Six>;

/// √(a² + b²) of numbers far from the ends of the range; of others the certificate knows.
double length(double a, double b) { return std::sqrt(a * a + b * b); }

double dot6(const double* a, const double* b) { return ConstSixMap(a).dot(ConstSixMap(b)); }

}  // namespace

bool QuickDiscs::is_for(const StepProblem& problem) {
  return problem.num_blocks() > 0 && problem.num_blocks() <= QuickMatrix::kMaxBodies &&
         problem.num_contacts() > 0 && problem.num_contacts() <= kMaxContacts &&
         problem.num_bilateral() <= kMaxBilateral && problem.coupling.is_empty();
}

bool QuickDiscs::try_solve(const StepProblem& problem, const StepSolution& start, double goal,
                           StepSolution& answer, int& iterations) {
  if (!set_up(problem, start)) return false;
  is_factored_ = false;
  find_velocities(problem);
  for (Unit& unit : units_) {
    compute_velocity_at(unit);
    guess_status(unit);
  }
  if (slides_off_disc()) return false;
  if (is_start_exact(problem)) {
    for (Unit& unit : units_) unit.x = unit.before;
    write(problem, answer);
    return true;
  }
  return go_on(problem, goal, answer, iterations);
}

/// Whether x̂ with the velocities that it gives is the answer: what slides or rolls steadily has the
/// impulses of the step before.
bool QuickDiscs::is_start_exact(const StepProblem& problem) const {
  double momentum = 0, least_motion = kInfinity;
  for (std::size_t first = 0; first < inverse_.size(); first += kSize) {
    double motion = 0;
    for (std::size_t i = first; i < first + kSize; ++i) {
      const double inverse = std::abs(inverse_[i]);
      momentum = std::max(momentum, problem.p[i] * problem.p[i] * inverse);
      motion = std::max(motion, w_[i] * w_[i] / inverse);
    }
    least_motion = std::min(least_motion, motion);
  }
  double scale = std::sqrt(momentum);
  for (const Unit& unit : units_) scale = std::max(scale, std::abs(unit.before[0]) * unit.root);
  const double speed = std::sqrt(least_motion);
  return speed > kMotion * scale &&
         std::all_of(units_.begin(), units_.end(),
                     [&](const Unit& unit) { return error_of_start(unit) <= kSteady * speed; });
}

/// How far x̂ is from what the status says of it, in √J.
double QuickDiscs::error_of_start(const Unit& unit) {
  const auto velocity = [&](int a) { return unit.u[a] + unit.compliance[a] * unit.before[a]; };
  if (unit.status == Status::kOff) {
    double error =
        unit.is_contact ? std::abs(unit.before[0]) : std::abs(unit.before[0] - unit.x[0]);
    for (int a = 1; a < unit.dim; ++a) error = std::max(error, std::abs(unit.before[a]));
    return error * unit.root;
  }
  double error = std::abs(velocity(0));
  if (unit.status == Status::kHolds) {
    for (int a = 1; a < unit.dim; ++a) error = std::max(error, std::abs(velocity(a)));
    return error / unit.root;
  }
  const double friction = unit.mu * unit.before[0];
  return std::max(error / unit.root, unit.root * length(unit.before[1] + friction * unit.slip[0],
                                                        unit.before[2] + friction * unit.slip[1]));
}

bool QuickDiscs::go_on(const StepProblem& problem, double goal, StepSolution& answer,
                       int& iterations) {
  double error = kInfinity;
  for (int step = 0; step < kMaxSteps; ++step) {
    if (!take_step(problem, iterations)) return false;
    const bool is_right = review_all();
    if (slides_off_disc()) return false;
    if (!is_right) {
      error = kInfinity;  // of other statuses
      continue;
    }
    const double before = error;
    error = settle(problem);
    if (error <= goal || !(error <= kLeastGain * before)) break;
  }
  if (!(error <= kUsable)) return false;
  write(problem, answer);
  return true;
}

bool QuickDiscs::set_up(const StepProblem& problem, const StepSolution& start) {
  if (!take_masses(problem)) return false;
  units_.resize(problem.num_bilateral() + problem.num_contacts());
  is_laid_out_ = false;
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    Unit& unit = units_[i];
    unit.is_contact = false;
    unit.has_disc = true;
    unit.bias = &problem.bias[i];
    unit.compliance = &problem.compliance[i];
    unit.lower = problem.lower[i];
    unit.upper = problem.upper[i];
    unit.before = {start.lambda[i], 0, 0};
    unit.dim = 1;
    if (!add_unit(problem.bilateral, i, unit)) return false;
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    Unit& unit = units_[problem.num_bilateral() + j];
    const int row = problem.contacts.row_start(j), dim = problem.contacts.num_rows(j);
    unit.is_contact = true;
    unit.has_disc = problem.section[j].kind == FrictionSection::Kind::kDisc;
    unit.mu = problem.mu[j];
    unit.dim = unit.mu > 0 ? dim : 1;
    if (unit.dim == 2) return false;
    unit.bias = &problem.contact_bias[row];
    unit.compliance = &problem.contact_compliance[row];
    unit.before = {};
    std::copy_n(start.r.data() + row, unit.dim, unit.before.data());
    const bool is_soft_along = unit.dim == 3 && (unit.compliance[1] > 0 || unit.compliance[2] > 0);
    if (is_soft_along || !add_unit(problem.contacts, j, unit)) return false;
  }
  return true;
}

bool QuickDiscs::take_masses(const StepProblem& problem) {
  const int n = problem.num_blocks();
  w_.resize(problem.num_dofs());
  momentum_.resize(problem.num_dofs());
  inverse_.resize(problem.num_dofs());
  is_diagonal_.resize(n);
  for (int b = 0; b < n; ++b) {
    if (problem.block_size(b) != kSize) return false;
    const double* mass = problem.mass_values.data() + problem.mass_start[b];
    is_diagonal_[b] = is_diagonal_matrix(mass, kSize) ? 1 : 0;
    for (int k = 0; k < kSize; ++k) inverse_[kSize * b + k] = 1 / mass[(kSize + 1) * k];
    if (is_diagonal_[b]) continue;
    mass_lu_.resize(static_cast<std::size_t>(n) * kSize * kSize);
    swap_.resize(problem.num_dofs());
    double* lu = mass_lu_.data() + static_cast<std::ptrdiff_t>(b) * kSize * kSize;
    std::copy_n(mass, kSize * kSize, lu);
    if (!factor_lu(lu, kSize, swap_.data() + kSize * b)) return false;
  }
  return true;
}

bool QuickDiscs::add_unit(const BlockRows& rows, int row_block, Unit& unit) {
  const int begin = rows.entry_start(row_block), end = rows.entry_start(row_block + 1);
  unit.num_pieces = end - begin;
  if (unit.num_pieces < 1 || unit.num_pieces > 2) return false;
  for (int e = begin; e < end; ++e) {
    unit.body[e - begin] = rows.entry_block(e);
    unit.rows[e - begin] = rows.entry_values(e);
  }
  set_compliance(unit);
  return unit.epsilon > 0 && std::isfinite(unit.epsilon + unit.epsilon_along);
}

/// By the diagonals of masses: the size of ω is enough.
void QuickDiscs::set_compliance(Unit& unit) const {
  std::array<double, 3> own = {};
  for (int e = 0; e < unit.num_pieces; ++e) {
    const SixPairs inverse(&inverse_[kSize * unit.body[e]]);
    for (int a = 0; a < unit.dim; ++a) own[a] += inverse.dot_squares(unit.rows[e] + a * kSize);
  }
  double omega = 0;
  for (int a = 0; a < unit.dim; ++a) omega = std::max(omega, own[a]);
  unit.root = std::sqrt(omega + unit.compliance[0]);
  unit.effective_mass = 1 / (omega + unit.compliance[0]);
  unit.epsilon_along = kCompliance * omega;
  unit.epsilon = std::max(unit.epsilon_along, unit.compliance[0]);
}

void QuickDiscs::divide_by_mass(double* momentum) const {
  for (std::size_t b = 0; b < is_diagonal_.size(); ++b) {
    double* own = momentum + kSize * b;
    if (is_diagonal_[b])
      for (int k = 0; k < kSize; k += 2)
        store_pair(load_pair(own + k) * load_pair(&inverse_[kSize * b + k]), own + k);
    else
      solve_lu_of_size<kSize>(mass_lu_.data() + kSize * kSize * b, kSize, swap_.data() + kSize * b,
                              own);
  }
}

/// Of the bodies under the impulses x̂.
void QuickDiscs::find_velocities(const StepProblem& problem) {
  std::fill(w_.begin(), w_.end(), 0.0);
  for (Unit& unit : units_) {
    unit.x = unit.before;
    unit.status = Status::kHolds;
  }
  balance(problem);
  w_.swap(momentum_);
  divide_by_mass(w_.data());
}

void QuickDiscs::compute_velocity_at(Unit& unit) const {
  for (int a = 0; a < unit.dim; ++a) unit.u[a] = unit.is_contact ? unit.bias[a] : -unit.bias[a];
  for (int e = 0; e < unit.num_pieces; ++e) {
    const SixPairs w(w_.data() + kSize * unit.body[e]);
    for (int a = 0; a < unit.dim; ++a) unit.u[a] += w.dot(unit.rows[e] + a * kSize);
  }
}

/// What x̂ and the velocities that it gives say together, by the natural map of the laws (T2)–(T4)
/// with the mobility of the unit: what slides fast is not held by friction that is a bit too small.
void QuickDiscs::guess_status(Unit& unit) {
  Local z = {};
  for (int a = 0; a < unit.dim; ++a)
    z[a] = unit.before[a] - unit.effective_mass * (unit.u[a] + unit.compliance[a] * unit.before[a]);
  unit.x = unit.before;
  if (!unit.is_contact) {
    unit.status = z[0] > unit.lower && z[0] < unit.upper ? Status::kHolds : Status::kOff;
    if (unit.status == Status::kOff) unit.x[0] = z[0] <= unit.lower ? unit.lower : unit.upper;
    return;
  }
  unit.status = z[0] > 0 ? Status::kHolds : Status::kOff;
  if (unit.dim == 1 || !(z[0] > 0) || is_within(z, unit.mu)) return;
  unit.status = Status::kSlides;
  if (!turn_slip(unit)) begin_slip(unit, z);
}

QuickDiscs::Local QuickDiscs::held_impulse(const Unit& unit) {
  const double sigma = unit.epsilon - unit.compliance[0];
  Local x = {(sigma * unit.before[0] - unit.u[0]) / unit.epsilon, 0, 0};
  for (int a = 1; a < unit.dim; ++a) x[a] = unit.before[a] - unit.u[a] / unit.epsilon_along;
  return x;
}

/// x(w), by its status. Rows at a bound are there already.
void QuickDiscs::respond(Unit& unit) {
  if (unit.status == Status::kHolds) {
    unit.x = held_impulse(unit);
  } else if (unit.status == Status::kSlides) {
    const double sigma = unit.epsilon - unit.compliance[0];
    const double normal = (sigma * unit.before[0] - unit.u[0]) / unit.epsilon;
    unit.x = {normal, -unit.mu * normal * unit.slip[0], -unit.mu * normal * unit.slip[1]};
  } else if (unit.is_contact) {
    unit.x = {};
  }
}

/// Whether an impulse that presses is in the cone.
bool QuickDiscs::is_within(const Local& x, double mu) {
  const double most = mu * x[0];
  return x[1] * x[1] + x[2] * x[2] <= most * most;
}

/// A contact begins to slip against the friction that would hold it.
void QuickDiscs::begin_slip(Unit& unit, const Local& held) {
  const double friction = length(held[1], held[2]);
  unit.status = Status::kSlides;
  unit.slip = {-held[1] / friction, -held[2] / friction};
  unit.slip_speed = 0;
}

/// Whether the slip of a contact may be no more than what ε leaves of rest, as where all of its
/// friction holds it.
bool QuickDiscs::may_rest(const Unit& unit) {
  constexpr double kSlow = 3;
  const double slow = kSlow * unit.epsilon_along * unit.mu * unit.x[0];
  return slow >= 0 && unit.u[1] * unit.u[1] + unit.u[2] * unit.u[2] <= slow * slow;
}

/// t of the velocities at hand; of what may rest, where these have no direction, that of the
/// impulse x̂ − u/ε that would hold it. Of what slips it is the same in the end. False, with nothing
/// done, where there is no direction.
bool QuickDiscs::turn_slip(Unit& unit) {
  if (may_rest(unit)) {
    const Local held = held_impulse(unit);
    const double friction = length(held[1], held[2]);
    if (!(friction > 0)) return false;
    unit.slip = {-held[1] / friction, -held[2] / friction};
    unit.slip_speed = unit.epsilon_along * friction;
    return true;
  }
  const double speed = length(unit.u[1], unit.u[2]);
  if (!(speed > 0)) return false;
  unit.slip = {unit.u[1] / speed, unit.u[2] / speed};
  unit.slip_speed = speed;
  return true;
}

/// Whether a unit does what its status says, which is changed if not.
bool QuickDiscs::review(Unit& unit) {
  return unit.is_contact ? review_contact(unit) : review_row(unit);
}

bool QuickDiscs::review_row(Unit& unit) {
  if (unit.status == Status::kHolds) {
    const double impulse = held_impulse(unit)[0];
    if (impulse >= unit.lower && impulse <= unit.upper) return true;
    unit.x[0] = impulse < unit.lower ? unit.lower : unit.upper;
    unit.status = Status::kOff;
    return false;
  }
  const double slack = unit.u[0] + unit.compliance[0] * unit.x[0];
  const bool is_wrong = (unit.x[0] <= unit.lower && slack < 0 && unit.lower < unit.upper) ||
                        (unit.x[0] >= unit.upper && slack > 0 && unit.lower < unit.upper);
  if (is_wrong) unit.status = Status::kHolds;
  return !is_wrong;
}

bool QuickDiscs::review_contact(Unit& unit) {
  if (unit.status == Status::kOff) {
    if (!(unit.u[0] < 0)) return true;
    unit.before = {};
    guess_status(unit);
    return false;
  }
  const Local held = held_impulse(unit);
  if (!(held[0] > 0)) {
    unit.status = Status::kOff;
    return false;
  }
  if (unit.status == Status::kHolds) {
    if (unit.dim == 1 || is_within(held, unit.mu)) return true;
    begin_slip(unit, held);
    return false;
  }
  const bool sticks = may_rest(unit) ? is_within(held, unit.mu)
                                     : unit.u[1] * unit.slip[0] + unit.u[2] * unit.slip[1] < 0;
  if (sticks) {
    unit.status = Status::kHolds;
    return false;
  }
  (void)turn_slip(unit);
  return true;
}

/// Along which direction a polygon or a box slides is for pivoting to find.
bool QuickDiscs::slides_off_disc() const {
  return std::any_of(units_.begin(), units_.end(), [](const Unit& unit) {
    return unit.status == Status::kSlides && !unit.has_disc;
  });
}

bool QuickDiscs::review_all() {
  bool is_right = true;
  for (Unit& unit : units_) {
    is_right = review(unit) && is_right;
    // What slides turns, and with it the matrix.
    if (unit.status == Status::kSlides) is_factored_ = false;
  }
  is_factored_ = is_factored_ && is_right;
  return is_right;
}

/// momentum_ = p + Rᵀx − M̂w.
void QuickDiscs::balance(const StepProblem& problem) {
  std::copy(problem.p.begin(), problem.p.end(), momentum_.begin());
  for (const Unit& unit : units_) {
    if (unit.status == Status::kOff && unit.x[0] == 0) continue;
    for (int e = 0; e < unit.num_pieces; ++e) {
      SixMap own(momentum_.data() + kSize * unit.body[e]);
      for (int a = 0; a < unit.dim; ++a) own += unit.x[a] * ConstSixMap(unit.rows[e] + a * kSize);
    }
  }
  for (std::size_t b = 0; b < is_diagonal_.size(); ++b) {
    const double* mass = problem.mass_values.data() + problem.mass_start[b];
    const double* w = w_.data() + kSize * b;
    double* own = momentum_.data() + kSize * b;
    if (is_diagonal_[b])
      for (int k = 0; k < kSize; k += 2)
        store_pair(load_pair(own + k) -
                       Pair{mass[(kSize + 1) * k], mass[(kSize + 1) * (k + 1)]} * load_pair(w + k),
                   own + k);
    else
      for (int k = 0; k < kSize; ++k) own[k] -= dot6(mass + kSize * k, w);
  }
}

void QuickDiscs::fill_matrix(const StepProblem& problem) {
  if (!is_laid_out_) {
    matrix_.begin(problem.num_blocks(), inverse_.data(), is_diagonal_.data(), units_);
    is_laid_out_ = true;
  }
  matrix_.set_masses(problem);
  for (std::size_t k = 0; k < units_.size(); ++k)
    if (units_[k].status != Status::kOff)
      matrix_.add(static_cast<int>(k), compute_stiffness(units_[k]));
}

/// D = −∂x/∂u of a unit that is not off.
QuickMatrix::Local QuickDiscs::compute_stiffness(const Unit& unit) {
  const double stiffness = 1 / unit.epsilon, along = 1 / unit.epsilon_along;
  if (unit.status == Status::kHolds) return {stiffness, 0, 0, 0, along, 0, 0, 0, along};
  const auto& t = unit.slip;
  const double across =
      unit.slip_speed > 0 ? unit.mu * std::max(unit.x[0], 0.0) / unit.slip_speed : 0;
  return {stiffness,
          0,
          0,
          -unit.mu * t[0] * stiffness,
          across * (1 - t[0] * t[0]),
          -across * t[0] * t[1],
          -unit.mu * t[1] * stiffness,
          -across * t[0] * t[1],
          across * (1 - t[1] * t[1])};
}

/// Of Newton's method, with the statuses at hand.
bool QuickDiscs::take_step(const StepProblem& problem, int& iterations) {
  for (Unit& unit : units_) respond(unit);
  balance(problem);
  if (!is_factored_) {
    fill_matrix(problem);
    ++iterations;
    is_factored_ = matrix_.factor();
    if (!is_factored_) return false;
  }
  matrix_.solve(momentum_.data());
  for (std::size_t i = 0; i < w_.size(); ++i) w_[i] += momentum_[i];
  double sum = 0;
  for (const double w : w_) sum += w;
  if (!std::isfinite(sum)) return false;
  for (Unit& unit : units_) compute_velocity_at(unit);
  return true;
}

/// Takes x(w) for the impulses, with the velocities that they give; how wrong x̂ was for these,
/// relative to the largest impulse.
double QuickDiscs::settle(const StepProblem& problem) {
  for (Unit& unit : units_) respond(unit);
  balance(problem);
  divide_by_mass(momentum_.data());
  for (std::size_t i = 0; i < w_.size(); ++i) w_[i] += momentum_[i];
  double worst = 0, largest = 0, sum = 0;
  for (Unit& unit : units_) {
    compute_velocity_at(unit);
    double error = 0, impulse = 0;
    for (int a = 0; a < unit.dim; ++a) impulse = std::max(impulse, std::abs(unit.x[a]));
    if (unit.status != Status::kOff)
      for (int a = 0; a < (unit.status == Status::kHolds ? unit.dim : 1); ++a)
        error = std::max(error, std::abs(unit.u[a] + unit.compliance[a] * unit.x[a]));
    if (unit.status == Status::kSlides) {
      const std::array<double, 2> slip = unit.slip;
      (void)turn_slip(unit);
      const double turn = length(unit.slip[0] - slip[0], unit.slip[1] - slip[1]);
      error = std::max(error, unit.mu * unit.x[0] * turn * unit.root * unit.root);
    }
    worst = std::max(worst, error / unit.root);
    largest = std::max(largest, impulse * unit.root);
    sum += error + impulse;
    unit.before = unit.x;
  }
  if (!std::isfinite(sum)) return kInfinity;  // std::max loses what is not a number
  return largest > 0 ? worst / largest : worst == 0 ? 0 : 1;
}

void QuickDiscs::write(const StepProblem& problem, StepSolution& answer) const {
  answer.set_zero(problem);
  std::copy(w_.begin(), w_.end(), answer.w.begin());
  for (int i = 0; i < problem.num_bilateral(); ++i) answer.lambda[i] = units_[i].x[0];
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const Unit& unit = units_[problem.num_bilateral() + j];
    std::copy_n(unit.x.data(), unit.dim, answer.r.data() + problem.contacts.row_start(j));
  }
}

}  // namespace stiction
