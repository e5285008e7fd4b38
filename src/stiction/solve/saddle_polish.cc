#include "stiction/solve/saddle_polish.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "stiction/problem/certificate.h"
#include "stiction/solve/dense_lu.h"
#include "stiction/solve/saddle_system.h"

namespace stiction {
namespace {

using Real = long double;

/// Of a small problem. Larger ones get fewer, so that the sum of size³ stays below the second.
constexpr int kMinIterations = 4, kDigitIterations = 12, kMaxIterations = 40;
constexpr double kBudget = 2e7;
/// Newton steps for given statuses, all but the first of which take back rounding.
constexpr int kRefinements = 3;
/// After as many, statuses change one at a time, which cannot cycle as easily.
constexpr int kBlockIterations = 8;
/// A step that is smaller than this share of velocities and of impulses changes nothing in double.
constexpr Real kSettled = 1e-17L;

/// Rounding of momenta and impulses to double.
constexpr Real kBalanced = 16 * std::numeric_limits<double>::epsilon();
/// Friction below this share of μν is inside of any section.
constexpr double kSurelyStuck = 0.7;

// What a row or a contact does. Sides and corners of a section are counted from kCorner on: corner
// i is kCorner + 2i, the side from it to the next one kCorner + 2i + 1.
enum Status : int { kUnknown, kHeld, kAtLower, kAtUpper, kOpen, kStick, kDiscSlip, kCorner };

/// The corners of a friction section, evenly spread on a circle.
struct Corners {
  int count;
  Real radius, first_angle;

  static Corners of(const FrictionSection& section) {
    constexpr Real kPi = std::numbers::pi_v<Real>;
    if (section.kind == FrictionSection::Kind::kBox) return {4, std::sqrt(Real(2)), kPi / 4};
    return {section.num_sides, 1, 0};
  }
  Real half_angle() const { return std::numbers::pi_v<Real> / count; }
  /// Of a corner or of the middle of a side, as status codes count them.
  Real angle(int status) const { return first_angle + (status - kCorner) * half_angle(); }
  Real apothem() const { return radius * std::cos(half_angle()); }
};

/// Share of μν by which a point on the edge of μν·B is moved along −u_T to see on which side of it
/// that points. Only the direction of u_T matters there, and beside a large impulse any other unit
/// would hide it.
constexpr Real kProbe = 1e-3L;

/// Of μν, the rounding of friction that is meant to be on the edge of its section.
constexpr Real kEdge = 8 * std::numeric_limits<double>::epsilon();

/// Where the point of scale·B that is nearest to t lies.
int find_side(const Corners& corners, Real scale, const std::array<Real, 2>& t) {
  constexpr Real kTurn = 2 * std::numbers::pi_v<Real>;
  Real turn = std::atan2(t[1], t[0]) - corners.first_angle;
  if (turn < 0) turn += kTurn;
  const int index =
      std::min(static_cast<int>(turn / (2 * corners.half_angle())), corners.count - 1);
  const int side = kCorner + 2 * index + 1;
  const Real c = std::cos(corners.angle(side)), s = std::sin(corners.angle(side));
  if (c * t[0] + s * t[1] <= scale * corners.apothem()) return kStick;
  const Real along = c * t[1] - s * t[0];
  const Real half_length = scale * corners.radius * std::sin(corners.half_angle());
  if (std::abs(along) < half_length) return side;
  return kCorner + 2 * (along < 0 ? index : (index + 1) % corners.count);
}

/// The equations A x + B u = 0 of a contact of up to three rows.
struct ContactLaw {
  std::array<std::array<Real, 3>, 3> A = {}, B = {};
};

}  // namespace

struct SaddlePolish::Workspace : SaddleSystem {
  void start(const StepProblem& problem, const StepSolution& answer);
  bool step(const StepProblem& problem, bool one_by_one);
  bool move(const StepProblem& problem);
  int count_statuses(const StepProblem& problem, int index) const;
  int choose_status(const StepProblem& problem, int index, int choice) const;
  bool choose_statuses(const StepProblem& problem, int combination);
  void write(const StepProblem& problem, StepSolution& solution);
  void balance_block(const StepProblem& problem, int block, StepSolution& solution);

  void evaluate();
  void update_statuses(const StepProblem& problem, bool one_by_one);
  int read_bilateral(const StepProblem& problem, int row) const;
  int read_contact(const StepProblem& problem, int contact) const;
  int read_friction(const StepProblem& problem, int contact, Real scale) const;
  Real scaled_mu(const StepProblem& problem, int contact) const;
  bool slips_at_edge(int row, int num_tangents, Real scale, int was) const;
  std::array<Real, 2> shifted_friction(int row, int num_tangents) const;
  ContactLaw make_law(const StepProblem& problem, int contact) const;
  void set_slip(const StepProblem& problem, int contact, ContactLaw& law) const;
  void set_disc_slip(int row, Real mu, ContactLaw& law) const;
  void set_equations(const StepProblem& problem);
  void set_equation(int row, const std::array<Real, 3>& a, const std::array<Real, 3>& b, int first,
                    int count);

  std::vector<Real> z;       // w, λ, r, scaled
  std::vector<Real> u;       // num_rows, scaled
  std::vector<Real> defect;  // of all equations, then the step
  std::vector<int> status;   // bilateral rows, contacts
  PivotedLu lu;
  std::vector<Real> block_lu;  // of a mass block
  std::vector<int> swap;
  StepSolution trial;
  Certifier certifier;
};

void SaddlePolish::Workspace::start(const StepProblem& problem, const StepSolution& answer) {
  z.resize(size);
  std::copy(answer.w.begin(), answer.w.end(), z.begin());
  std::copy(answer.lambda.begin(), answer.lambda.end(), z.begin() + num_dofs);
  std::copy(answer.r.begin(), answer.r.end(), z.begin() + num_dofs + num_bilateral);
  for (int i = 0; i < size; ++i) z[i] *= unit[i];
  u.resize(num_rows);
  defect.resize(size);
  lu.resize(size);
  status.assign(num_bilateral + problem.num_contacts(), kUnknown);
}

/// u, and what is left of the balance of momentum.
void SaddlePolish::Workspace::evaluate() {
  for (int i = 0; i < num_rows; ++i) {
    u[i] = bias[i];
    for (int j = 0; j < size; ++j) u[i] += u_row(i)[j] * z[j];
  }
  for (int i = 0; i < num_dofs; ++i) {
    defect[i] = -momentum[i];
    for (int j = 0; j < num_dofs; ++j) defect[i] += mass_row(i)[j] * z[j];
    for (int j = 0; j < num_rows; ++j) defect[i] -= u_row(j)[i] * z[num_dofs + j];
  }
}

/// By the natural map: where the projection of x − u lies.
void SaddlePolish::Workspace::update_statuses(const StepProblem& problem, bool one_by_one) {
  for (int i = 0; i < static_cast<int>(status.size()); ++i) {
    const int now =
        i < num_bilateral ? read_bilateral(problem, i) : read_contact(problem, i - num_bilateral);
    if (now == status[i]) continue;
    status[i] = now;
    if (one_by_one) return;
  }
}

int SaddlePolish::Workspace::read_bilateral(const StepProblem& problem, int row) const {
  const Real shifted = z[num_dofs + row] - u[row], own = unit[num_dofs + row];
  if (shifted <= problem.lower[row] * own) return kAtLower;
  if (shifted >= problem.upper[row] * own) return kAtUpper;
  return kHeld;
}

Real SaddlePolish::Workspace::scaled_mu(const StepProblem& problem, int contact) const {
  const Real* own = unit.data() + num_dofs + num_bilateral + problem.contacts.row_start(contact);
  return problem.contacts.num_rows(contact) > 1 ? problem.mu[contact] * own[1] / own[0] : 0;
}

/// β − u_T
std::array<Real, 2> SaddlePolish::Workspace::shifted_friction(int row, int num_tangents) const {
  std::array<Real, 2> t = {};
  for (int k = 0; k < num_tangents; ++k) t[k] = z[num_dofs + row + 1 + k] - u[row + 1 + k];
  return t;
}

int SaddlePolish::Workspace::read_contact(const StepProblem& problem, int contact) const {
  const int row = num_bilateral + problem.contacts.row_start(contact);
  const int num_tangents = problem.contacts.num_rows(contact) - 1;
  const Real normal = z[num_dofs + row] - u[row];
  if (normal <= 0) return kOpen;
  if (num_tangents == 0) return kStick;
  const Real scale = scaled_mu(problem, contact) * normal;
  if (num_tangents == 2 && problem.section[contact].kind != FrictionSection::Kind::kDisc)
    return read_friction(problem, contact, scale);
  std::array<Real, 2> t = shifted_friction(row, num_tangents);
  if (slips_at_edge(row, num_tangents, scale, status[num_bilateral + contact]))
    t = {z[num_dofs + row + 1], num_tangents == 2 ? z[num_dofs + row + 2] : 0};
  else if (scale > 0 && std::hypot(t[0], t[1]) <= scale)
    return kStick;
  return num_tangents == 2 ? kDiscSlip : t[0] >= 0 ? kCorner : kCorner + 2;
}

/// Whether friction of a round section is on its edge to the rounding of the answer that all began
/// with, and against a velocity that the rounding would hide.
bool SaddlePolish::Workspace::slips_at_edge(int row, int num_tangents, Real scale, int was) const {
  if (was == kStick || was == kOpen) return false;  // these have friction, or u, from equations
  Real work = 0, square = 0;
  for (int k = 1; k <= num_tangents; ++k) {
    const Real friction = z[num_dofs + row + k];
    work += friction * u[row + k];
    square += friction * friction;
  }
  return work < 0 && std::sqrt(square) >= (1 - kEdge) * scale;
}

/// Of a section with corners. From the edge of it statuses walk from a corner to the sides next to
/// it and from a side to its corners, as pivoting does.
int SaddlePolish::Workspace::read_friction(const StepProblem& problem, int contact,
                                           Real scale) const {
  const int row = num_bilateral + problem.contacts.row_start(contact);
  const int was = status[num_bilateral + contact];
  const Corners corners = Corners::of(problem.section[contact]);
  const std::array<Real, 2> beta = {z[num_dofs + row + 1], z[num_dofs + row + 2]};
  const bool is_at_edge =
      was == kUnknown && find_side(corners, (1 - kEdge) * scale, beta) != kStick;
  if (was < kCorner && !is_at_edge) return find_side(corners, scale, shifted_friction(row, 2));
  const Real speed = std::hypot(u[row + 1], u[row + 2]);
  const Real probe = speed > 0 ? kProbe * scale / speed : 0;
  if (is_at_edge || (was - kCorner) % 2 == 0)
    return find_side(corners, scale, {beta[0] - probe * u[row + 1], beta[1] - probe * u[row + 2]});
  const Real c = std::cos(corners.angle(was)), s = std::sin(corners.angle(was));
  const Real along = c * beta[1] - s * beta[0];
  if (std::abs(along) <= scale * corners.radius * std::sin(corners.half_angle()))
    return c * u[row + 1] + s * u[row + 2] > 0 ? kStick : was;
  const int index = (was - kCorner) / 2;
  return kCorner + 2 * (along < 0 ? index : (index + 1) % corners.count);
}

ContactLaw SaddlePolish::Workspace::make_law(const StepProblem& problem, int contact) const {
  ContactLaw law;
  const int is = status[num_bilateral + contact];
  for (int k = 0; k < problem.contacts.num_rows(contact); ++k)
    (is == kOpen ? law.A : law.B)[k][k] = 1;
  if (is != kOpen && is != kStick) set_slip(problem, contact, law);
  return law;
}

/// Tangential equations of a contact that slips.
void SaddlePolish::Workspace::set_slip(const StepProblem& problem, int contact,
                                       ContactLaw& law) const {
  const int is = status[num_bilateral + contact];
  const int num_tangents = problem.contacts.num_rows(contact) - 1;
  const Real mu = scaled_mu(problem, contact);
  law.A[1][1] = law.A[2][2] = 1;
  law.B[1][1] = law.B[2][2] = 0;
  if (num_tangents == 1) {
    law.A[1][0] = is == kCorner ? -mu : mu;
  } else if (is == kDiscSlip) {
    set_disc_slip(num_bilateral + problem.contacts.row_start(contact), mu, law);
  } else {
    const Corners corners = Corners::of(problem.section[contact]);
    const Real c = std::cos(corners.angle(is)), s = std::sin(corners.angle(is));
    if ((is - kCorner) % 2 == 0) {  // a corner: β = μν d
      law.A[1][0] = -mu * corners.radius * c;
      law.A[2][0] = -mu * corners.radius * s;
    } else {  // a side: β on it, no velocity along it
      law.A[1] = {-mu * corners.apothem(), c, s};
      law.A[2] = {};
      law.B[2] = {0, -s, c};
    }
  }
}

/// β = μν t/‖t‖ with t = β − u_T, linearised: A x + B u is its defect all the same.
void SaddlePolish::Workspace::set_disc_slip(int row, Real mu, ContactLaw& law) const {
  std::array<Real, 2> t = shifted_friction(row, 2);
  const Real length = std::hypot(t[0], t[1]);
  if (!(length > 0)) return;
  const Real turn = std::min(mu * std::max(z[num_dofs + row], Real(0)) / length, Real(1));
  for (Real& component : t) component /= length;
  for (int i = 0; i < 2; ++i) {
    law.A[i + 1][0] = -mu * t[i];
    for (int j = 0; j < 2; ++j) {
      const Real across = (i == j ? 1 : 0) - t[i] * t[j];
      law.A[i + 1][j + 1] -= turn * across;
      law.B[i + 1][j + 1] += turn * across;
    }
  }
}

/// A row of the matrix, and of the defect, for Σ a x + Σ b u = 0 over rows from `first` on.
void SaddlePolish::Workspace::set_equation(int row, const std::array<Real, 3>& a,
                                           const std::array<Real, 3>& b, int first, int count) {
  Real* target = lu.row(num_dofs + row);
  std::fill(target, target + size, Real(0));
  Real& left = defect[num_dofs + row] = 0;
  for (int k = 0; k < count; ++k) {
    left += a[k] * z[num_dofs + first + k] + b[k] * u[first + k];
    target[num_dofs + first + k] += a[k];
    if (b[k] == 0) continue;
    for (int j = 0; j < size; ++j) target[j] += b[k] * u_row(first + k)[j];
  }
}

void SaddlePolish::Workspace::set_equations(const StepProblem& problem) {
  for (int i = 0; i < num_dofs; ++i) copy_balance(i, lu.row(i));
  for (int i = 0; i < num_bilateral; ++i) {
    const bool is_held = status[i] == kHeld;
    set_equation(i, {is_held ? Real(0) : Real(1)}, {is_held ? Real(1) : Real(0)}, i, 1);
    if (!is_held)
      defect[num_dofs + i] -=
          (status[i] == kAtLower ? problem.lower : problem.upper)[i] * unit[num_dofs + i];
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const ContactLaw law = make_law(problem, j);
    const int first = num_bilateral + problem.contacts.row_start(j);
    const int count = problem.contacts.num_rows(j);
    for (int k = 0; k < count; ++k) set_equation(first + k, law.A[k], law.B[k], first, count);
  }
}

bool SaddlePolish::Workspace::step(const StepProblem& problem, bool one_by_one) {
  evaluate();
  update_statuses(problem, one_by_one);
  return move(problem);
}

/// One Newton step for the statuses at hand; false if it leads nowhere or changes nothing any more.
bool SaddlePolish::Workspace::move(const StepProblem& problem) {
  set_equations(problem);
  lu.factor();
  lu.solve(defect);
  bool is_settled = true;
  for (const auto& [begin, end] : {std::pair(0, num_dofs), std::pair(num_dofs, size)}) {
    Real largest = 0, change = 0;
    for (int i = begin; i < end; ++i) {
      z[i] -= defect[i];
      if (!std::isfinite(z[i])) return false;
      largest = std::max(largest, std::abs(z[i]));
      change = std::max(change, std::abs(defect[i]));
    }
    is_settled = is_settled && change <= kSettled * largest;
  }
  return !is_settled;
}

void SaddlePolish::Workspace::write(const StepProblem& problem, StepSolution& solution) {
  solution.resize(problem);
  for (int i = 0; i < num_dofs; ++i) solution.w[i] = static_cast<double>(z[i] / unit[i]);
  for (int i = 0; i < num_rows; ++i) {
    const auto impulse = static_cast<double>(z[num_dofs + i] / unit[num_dofs + i]);
    if (i < num_bilateral)
      solution.lambda[i] = std::clamp(impulse, problem.lower[i], problem.upper[i]);
    else
      solution.r[i - num_bilateral] = impulse;
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    double* r = solution.r.data() + problem.contacts.row_start(j);
    if (status[num_bilateral + j] == kOpen || !(r[0] > 0))
      std::fill(r, r + problem.contacts.num_rows(j), 0.0);
  }
  for (int b = 0; b < problem.num_blocks(); ++b) balance_block(problem, b, solution);
}

/// Where momentum does not balance to rounding of what acts on a block, its velocities are those of
/// the impulses: a body at rest that is not pushed would creep by the rounding of others.
void SaddlePolish::Workspace::balance_block(const StepProblem& problem, int block,
                                            StepSolution& solution) {
  const int start = problem.dof_start[block], n = problem.block_size(block);
  Real worst = 0, involved = 0;
  for (int i = start; i < start + n; ++i) {
    Real& pushed = defect[i] = momentum[i];
    Real size = std::abs(pushed), moved = 0;
    for (int j = 0; j < num_rows; ++j) {
      const double x = j < num_bilateral ? solution.lambda[j] : solution.r[j - num_bilateral];
      const Real term = u_row(j)[i] * unit[num_dofs + j] * x;
      pushed += term;
      size += std::abs(term);
    }
    for (int j = start; j < start + n; ++j) moved += mass_row(i)[j] * solution.w[j] * unit[j];
    worst = std::max(worst, std::abs(moved - pushed));
    involved = std::max(involved, size);
  }
  if (worst <= kBalanced * involved) return;
  block_lu.resize(static_cast<std::size_t>(n) * n);
  swap.resize(n);
  for (int i = 0; i < n; ++i) std::copy_n(mass_row(start + i) + start, n, block_lu.data() + i * n);
  if (!factor_lu(block_lu.data(), n, swap.data())) return;
  solve_lu(block_lu.data(), n, swap.data(), defect.data() + start);
  for (int i = start; i < start + n; ++i) solution.w[i] = static_cast<double>(defect[i] / unit[i]);
}

namespace {

/// Where the certificate is content statuses are mostly right, and only digits are wanting.
int count_iterations(int size, bool is_content) {
  const double affordable = kBudget / (1.0 * size * size * size);
  return static_cast<int>(std::clamp<double>(affordable, kMinIterations,
                                             is_content ? kDigitIterations : kMaxIterations));
}

/// Velocity of a row, and what bodies could give it that have as much energy as these, in motion
/// or by their momenta alone.
struct RowSum {
  double u = 0, size = 0;
  double mobility = 0;  // Σ J_k²/M_kk
};

RowSum sum_row(const StepProblem& problem, const BlockRows& rows, int row_block, int row,
               const std::vector<double>& w) {
  RowSum sum;
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
    const int block = rows.entry_block(e), columns = rows.entry_columns(e);
    const double* values = rows.entry_values(e) + row * columns;
    const double* mass = problem.mass_values.data() + problem.mass_start[block];
    const double* velocity = w.data() + problem.dof_start[block];
    const double* momentum = problem.p.data() + problem.dof_start[block];
    double mobility = 0, energy = 0;
    for (int k = 0; k < columns; ++k) {
      const double m = mass[k * (columns + 1)], inverse = 1 / m;
      sum.u += values[k] * velocity[k];
      mobility += values[k] * values[k] * inverse;
      energy += velocity[k] * velocity[k] * m + momentum[k] * momentum[k] * inverse;
    }
    sum.size += std::sqrt(mobility * energy);
    sum.mobility += mobility;
  }
  return sum;
}

/// Of all rows that hold.
struct MissSum {
  double error = 0, data = 0;  // [J], the largest squares
  double of_motion = 0;

  void add(const RowSum& sum, double compliance, double impulse, double bias) {
    const double compliant = compliance * impulse, size = sum.size + std::abs(bias);
    const double u = std::abs(sum.u + compliant + bias);
    const double omega = sum.mobility + compliance;
    if (u > 0) of_motion = std::max(of_motion, u / (size + std::abs(compliant)));
    if (!(omega > 0)) return;
    const double inverse = 1 / omega;
    error = std::max(error, u * u * inverse);
    data = std::max(data, size * size * inverse);
  }
};

/// Errors of the data below this are rounding.
constexpr double kDataRounding = 16 * std::numeric_limits<double>::epsilon();

}  // namespace

bool SaddlePolish::Miss::operator<(const Miss& other) const {
  return std::pair(std::max(of_data, kDataRounding), of_motion) <
         std::pair(std::max(other.of_data, kDataRounding), other.of_motion);
}

SaddlePolish::Miss SaddlePolish::compute_miss(const StepProblem& problem,
                                              const StepSolution& answer) {
  if (!problem.coupling.is_empty()) return {};
  MissSum worst;
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    const double lambda = answer.lambda[i];
    if (lambda > problem.lower[i] && lambda < problem.upper[i])
      worst.add(sum_row(problem, problem.bilateral, i, 0, answer.w), problem.compliance[i], lambda,
                -problem.bias[i]);
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int first = problem.contacts.row_start(j), num_rows = problem.contacts.num_rows(j);
    const double* r = answer.r.data() + first;
    if (!(r[0] > 0)) continue;
    const double friction = num_rows == 1 ? 0 : std::hypot(r[1], num_rows == 3 ? r[2] : 0);
    const int num_held = friction < kSurelyStuck * problem.mu[j] * r[0] ? num_rows : 1;
    for (int k = 0; k < num_held; ++k)
      worst.add(sum_row(problem, problem.contacts, j, k, answer.w),
                problem.contact_compliance[first + k], r[k], problem.contact_bias[first + k]);
  }
  return {worst.data > 0 ? std::sqrt(worst.error / worst.data) : 0, worst.of_motion};
}

SaddlePolish::SaddlePolish() : workspace_(std::make_unique<Workspace>()) {}
SaddlePolish::~SaddlePolish() = default;

/// What a row or contact may do; 0: more than can be counted.
int SaddlePolish::Workspace::count_statuses(const StepProblem& problem, int index) const {
  if (index < num_bilateral)
    return 1 + std::isfinite(problem.lower[index]) + std::isfinite(problem.upper[index]);
  const int contact = index - num_bilateral, num_tangents = problem.contacts.num_rows(contact) - 1;
  if (num_tangents == 0) return 2;
  if (num_tangents == 1) return problem.mu[contact] > 0 ? 4 : 2;
  if (problem.section[contact].kind == FrictionSection::Kind::kDisc) return 0;
  return problem.mu[contact] > 0 ? 2 + 2 * Corners::of(problem.section[contact]).count : 2;
}

int SaddlePolish::Workspace::choose_status(const StepProblem& problem, int index,
                                           int choice) const {
  if (index < num_bilateral)
    return choice == 0                                          ? kHeld
           : choice == 1 && std::isfinite(problem.lower[index]) ? kAtLower
                                                                : kAtUpper;
  if (choice == 0) return kOpen;
  const int contact = index - num_bilateral, num_tangents = problem.contacts.num_rows(contact) - 1;
  if (num_tangents > 0 && !(problem.mu[contact] > 0)) return kCorner;  // with no friction at all
  return choice == 1 ? kStick : kCorner + (num_tangents == 1 ? 2 : 1) * (choice - 2);
}

/// The combination with this number, in mixed radix; false if there is none.
bool SaddlePolish::Workspace::choose_statuses(const StepProblem& problem, int combination) {
  for (int i = 0; i < static_cast<int>(status.size()); ++i) {
    const int count = count_statuses(problem, i);
    if (count == 0) return false;
    status[i] = choose_status(problem, i, combination % count);
    combination /= count;
  }
  return combination == 0;
}

bool SaddlePolish::enumerate(const StepProblem& problem, double enough, StepSolution& best) {
  Workspace& work = *workspace_;
  if (problem.num_rows() == 0 || problem.num_dofs() + problem.num_rows() > kMaxSize) return false;
  if (!problem.coupling.is_empty() || !work.load(problem)) return false;
  work.trial.set_zero(problem);
  work.start(problem, work.trial);
  double least = std::numeric_limits<double>::infinity();
  if (work.choose_statuses(problem, kMaxCombinations)) return false;  // there are more
  for (int combination = 0; work.choose_statuses(problem, combination); ++combination) {
    std::fill(work.z.begin(), work.z.end(), Real(0));
    for (int k = 0; k < kRefinements; ++k) {
      work.evaluate();
      if (!work.move(problem)) break;
    }
    work.write(problem, work.trial);
    if (!work.trial.is_finite()) continue;
    const double found = work.certifier.certify(problem, work.trial).residual();
    if (!(found < least)) continue;
    least = found;
    best = work.trial;
    if (found <= enough) break;
  }
  return std::isfinite(least);
}

bool SaddlePolish::polish(const StepProblem& problem, const StepSolution& answer, double enough,
                          StepSolution& polished) {
  Workspace& work = *workspace_;
  if (problem.num_rows() == 0 || problem.num_dofs() + problem.num_rows() > kMaxSize) return false;
  if (!work.load(problem)) return false;
  work.start(problem, answer);
  const auto judge = [&](const StepSolution& solution) {
    return std::pair(std::max(work.certifier.certify(problem, solution).residual(), enough),
                     compute_miss(problem, solution));
  };
  std::pair best = judge(answer);
  bool is_better = false, goes_on = true;
  const int max_iterations = count_iterations(work.size, best.first <= enough);
  for (int iteration = 0; iteration < max_iterations && goes_on; ++iteration) {
    goes_on = work.step(problem, iteration >= kBlockIterations);
    work.write(problem, work.trial);
    const std::pair now = judge(work.trial);
    const bool is_invalid = now.first > enough && std::isinf(now.first);
    if (is_invalid || !(now < best)) continue;
    best = now;
    polished = work.trial;
    is_better = true;
  }
  return is_better;
}

}  // namespace stiction
