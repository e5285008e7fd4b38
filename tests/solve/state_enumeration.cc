#include "tests/solve/state_enumeration.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace stiction::testing {

// ------------------------------------------------------------------------------------------- dense

DenseProblem::DenseProblem(const StepProblem& problem) {
  const int n = problem.num_dofs(), rows = problem.num_rows(), first = problem.num_bilateral();
  MatrixXd mass = MatrixXd::Zero(n, n), R = MatrixXd::Zero(rows, n);
  for (int b = 0; b < problem.num_blocks(); ++b)
    mass.block(problem.dof_start[b], problem.dof_start[b], problem.block_size(b),
               problem.block_size(b)) = problem.mass_block(b);
  const auto fill = [&](const BlockRows& blocks, int offset) {
    for (int i = 0; i < blocks.num_row_blocks(); ++i)
      for (int e = blocks.entry_start(i); e < blocks.entry_start(i + 1); ++e)
        R.block(offset + blocks.row_start(i), problem.dof_start[blocks.entry_block(e)],
                blocks.num_rows(i), blocks.entry_columns(e)) = blocks.entry_matrix(i, e);
  };
  fill(problem.bilateral, 0);
  fill(problem.contacts, first);
  V = MatrixXd::Zero(n, rows);
  w_free = VectorXd::Zero(n);
  if (n > 0 && rows > 0) V = mass.partialPivLu().solve(R.transpose());
  if (n > 0) w_free = mass.partialPivLu().solve(ConstVectorMap(problem.p.data(), n));
  W = R * V;
  a = R * w_free;
  for (int i = 0; i < first; ++i) {
    W(i, i) += problem.compliance[i];
    a[i] -= problem.bias[i];
  }
  for (int i = first; i < rows; ++i) {
    W(i, i) += problem.contact_compliance[i - first];
    a[i] += problem.contact_bias[i - first];
  }
  const RowCoupling& K = problem.coupling;
  for (int i = 0; i < K.num_rows(); ++i)
    for (int e = K.entry_start(i); e < K.entry_start(i + 1); ++e) W(i, K.column(e)) += K.value(e);
}

// ------------------------------------------------------------------------------------------ states

StateEnumerator::StateEnumerator(const StepProblem& problem, double slack)
    : dense_(problem), size_(problem.num_rows()), slack_(slack) {
  for (int i = 0; i < problem.num_bilateral(); ++i) add_bilateral_states(problem, i);
  for (int j = 0; j < problem.num_contacts(); ++j) add_contact_states(problem, j);
}

StateEnumerator::Affine StateEnumerator::velocity(int row) const {
  Affine v(size_ + 1);
  v << dense_.W.row(row), dense_.a[row];
  return v;
}

void StateEnumerator::add_bilateral_states(const StepProblem& problem, int i) {
  std::vector<State>& states = blocks_.emplace_back();
  const Affine s = velocity(i), lambda = impulse(i);
  const double lower = problem.lower[i], upper = problem.upper[i];
  State free{{s}, {}};
  if (std::isfinite(lower)) {
    states.push_back({{lambda - constant(lower)}, {s}});
    free.nonnegative.push_back(lambda - constant(lower));
  }
  if (std::isfinite(upper)) {
    states.push_back({{lambda - constant(upper)}, {-s}});
    free.nonnegative.push_back(constant(upper) - lambda);
  }
  states.push_back(free);
}

void StateEnumerator::add_contact_states(const StepProblem& problem, int j) {
  blocks_.emplace_back();
  const int row = problem.num_bilateral() + problem.contacts.row_start(j);
  const int num_rows = problem.contacts.num_rows(j);
  const double mu = problem.mu[j];
  const FrictionSection& section = problem.section[j];
  blocks_.back().push_back(open(row, num_rows));
  if (num_rows == 1 || mu == 0) {
    State closed = open(row, num_rows);  // friction impulses are zero here too
    closed.zero[0] = velocity(row);
    closed.nonnegative = {impulse(row)};
    blocks_.back().push_back(closed);
    return;
  }
  if (num_rows == 2) return add_planar_states(row, mu);
  if (section.kind == FrictionSection::Kind::kDisc) return add_disc_states(row, mu);
  if (section.kind == FrictionSection::Kind::kBox)
    return add_polygon_states(row, mu, {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}});
  std::vector<Eigen::Vector2d> vertices;
  for (int i = 0; i < section.num_sides; ++i) {
    const double angle = 2 * std::numbers::pi * i / section.num_sides;
    vertices.emplace_back(std::cos(angle), std::sin(angle));
  }
  add_polygon_states(row, mu, vertices);
}

StateEnumerator::State StateEnumerator::open(int row, int num_rows) const {
  State state{{}, {velocity(row)}};
  for (int i = 0; i < num_rows; ++i) state.zero.push_back(impulse(row + i));
  return state;
}

void StateEnumerator::add_planar_states(int row, double mu) {
  const Affine nu = impulse(row), beta = impulse(row + 1), u = velocity(row + 1);
  blocks_.back().push_back({{velocity(row), u}, {mu * nu - beta, mu * nu + beta}});
  for (const double sign : {1.0, -1.0})
    blocks_.back().push_back({{velocity(row), beta - sign * mu * nu}, {nu, -sign * u}});
}

void StateEnumerator::add_polygon_states(int row, double mu,
                                         const std::vector<Eigen::Vector2d>& vertices) {
  const Affine nu = impulse(row), b1 = impulse(row + 1), b2 = impulse(row + 2);
  const Affine u1 = velocity(row + 1), u2 = velocity(row + 2);
  State stick{{velocity(row), u1, u2}, {nu}};
  const std::size_t n = vertices.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Eigen::Vector2d d = vertices[i], next = vertices[(i + 1) % n];
    const Eigen::Vector2d before = vertices[(i + n - 1) % n], along = next - d;
    const Eigen::Vector2d outward(along[1], -along[0]);
    const Affine margin = mu * outward.dot(d) * nu - outward[0] * b1 - outward[1] * b2;
    const auto dissipation = [&](const Eigen::Vector2d& e) -> Affine {
      return -e[0] * u1 - e[1] * u2;
    };
    stick.nonnegative.push_back(margin);
    blocks_.back().push_back({{velocity(row), b1 - mu * d[0] * nu, b2 - mu * d[1] * nu},
                              {nu, dissipation(d - next), dissipation(d - before)}});
    const Affine place = along[0] * b1 + along[1] * b2;
    blocks_.back().push_back({{velocity(row), margin, dissipation(along)},
                              {nu, dissipation(outward), place - mu * along.dot(d) * nu,
                               mu * along.dot(next) * nu - place}});
  }
  blocks_.back().push_back(stick);
}

/// Sticking is bounded by a cone that is not polyhedral: checked by is_feasible.
void StateEnumerator::add_disc_states(int row, double mu) {
  State stick{{velocity(row), velocity(row + 1), velocity(row + 2)}, {impulse(row)}};
  stick.mu = mu;
  State slide{{velocity(row)}, {impulse(row)}};
  slide.sliding_disc = row;
  slide.mu = mu;
  blocks_.back().push_back(stick);
  blocks_.back().push_back(slide);
}

// ------------------------------------------------------------------------------------------ search

Enumeration StateEnumerator::run() {
  std::vector<int> choice(blocks_.size(), 0);
  for (;;) {
    const System system = combine(choice);
    system.discs.empty() ? solve(system) : search_directions(system);
    std::size_t i = 0;
    for (; i < choice.size(); ++i) {
      if (++choice[i] < static_cast<int>(blocks_[i].size())) break;
      choice[i] = 0;
    }
    if (i == choice.size()) return found_;
  }
}

StateEnumerator::System StateEnumerator::combine(const std::vector<int>& choice) const {
  std::vector<Affine> zero, nonnegative;
  System system;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const State& state = blocks_[i][choice[i]];
    zero.insert(zero.end(), state.zero.begin(), state.zero.end());
    nonnegative.insert(nonnegative.end(), state.nonnegative.begin(), state.nonnegative.end());
    if (state.sliding_disc >= 0) system.discs.push_back(&state);
  }
  system.zero.resize(static_cast<int>(zero.size()), size_ + 1);
  for (std::size_t i = 0; i < zero.size(); ++i) {
    const double length = zero[i].head(size_).norm();
    system.zero.row(static_cast<int>(i)) = zero[i] / (length > 0 ? length : 1);
  }
  system.nonnegative.resize(static_cast<int>(nonnegative.size()), size_ + 1);
  for (std::size_t i = 0; i < nonnegative.size(); ++i)
    system.nonnegative.row(static_cast<int>(i)) = nonnegative[i];
  return system;
}

bool StateEnumerator::is_feasible(const System& system, const VectorXd& x) const {
  if (!x.allFinite()) return false;
  const VectorXd margin = system.nonnegative.leftCols(size_) * x + system.nonnegative.col(size_);
  const double slack = slack_ * (1 + x.norm());
  if (margin.size() > 0 && margin.minCoeff() < -slack) return false;
  for (const std::vector<State>& states : blocks_) {  // the discs
    const State& last = states.back();
    const int row = last.sliding_disc;
    if (row >= 0 && x.segment<2>(row + 1).norm() > last.mu * x[row] + slack) return false;
  }
  return true;
}

void StateEnumerator::solve(const System& system) {
  const MatrixXd A = system.zero.leftCols(size_);
  const VectorXd c = -system.zero.col(size_);
  Eigen::FullPivLU<MatrixXd> lu;
  lu.setThreshold(1e-10);
  lu.compute(A);
  const VectorXd x = size_ == 0 ? VectorXd() : VectorXd(lu.solve(c));
  if ((A * x - c).norm() > slack_ * (1 + c.norm() + x.norm())) return;  // inconsistent
  if (lu.rank() < size_) return search_continuum(system, x, lu.kernel());
  if (is_feasible(system, x)) keep(x, size_ == 0 ? 0 : A.inverse().norm());
}

/// The corners of the polyhedron {start + kernel·y} ∩ {inequalities}: as many inequalities as have
/// independent rows are made equations, in all ways. A polyhedron without corners (it contains
/// lines) has minimal faces instead, which the solutions of least norm visit just as well.
void StateEnumerator::search_continuum(const System& system, const VectorXd& start,
                                       const MatrixXd& kernel) {
  constexpr int kMaxRank = 4, kMaxRows = 24;
  const auto take = [&](const VectorXd& x) {
    if (!is_feasible(system, x)) return;
    found_.has_continuum = true;
    keep(x, 1e9);
  };
  take(start);
  const MatrixXd B = system.nonnegative.leftCols(size_) * kernel;
  const VectorXd d = system.nonnegative.leftCols(size_) * start + system.nonnegative.col(size_);
  Eigen::ColPivHouseholderQR<MatrixXd> qr(B);
  qr.setThreshold(1e-10);
  const int rank = B.rows() == 0 ? 0 : static_cast<int>(qr.rank());
  const int rows = static_cast<int>(B.rows());
  if (rank == 0) return;
  if (rank > kMaxRank || rows > kMaxRows) {
    found_.is_complete = false;
    return;
  }
  std::vector<int> subset(rank);
  for (int i = 0; i < rank; ++i) subset[i] = i;
  for (;;) {
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> least(MatrixXd(B(subset, Eigen::all)));
    if (least.rank() == rank) take(start + kernel * least.solve(VectorXd(-d(subset))));
    int i = rank - 1;
    while (i >= 0 && subset[i] == rows - rank + i) --i;
    if (i < 0) return;
    ++subset[i];
    for (int k = i + 1; k < rank; ++k) subset[k] = subset[k - 1] + 1;
  }
}

void StateEnumerator::search_directions(const System& system) {
  found_.is_complete = false;
  const int num_discs = static_cast<int>(system.discs.size());
  const int grid = num_discs == 1 ? 24 : num_discs == 2 ? 10 : 6;
  const int num_starts = static_cast<int>(std::pow(grid, num_discs) + 0.5);
  for (int start = 0; start < num_starts; ++start) {
    VectorXd theta(num_discs);
    for (int k = 0, rest = start; k < num_discs; ++k, rest /= grid)
      theta[k] = 2 * std::numbers::pi * (rest % grid + 0.3) / grid;
    find_directions(system, theta);
  }
}

/// Newton's method for x and the directions θ of sliding together: β = −μν d, u_T × d = 0 with
/// d = (cos θ, sin θ). Every contact keeps the sign u_Tᵀd ≥ 0 only at a solution.
void StateEnumerator::find_directions(const System& system, VectorXd theta) {
  const int m = static_cast<int>(system.discs.size()), linear = size_ - 2 * m;
  VectorXd x = VectorXd::Zero(size_);
  for (int iteration = 0; iteration < 30; ++iteration) {
    MatrixXd jacobian = MatrixXd::Zero(size_ + m, size_ + m);
    VectorXd residual = VectorXd::Zero(size_ + m);
    jacobian.topLeftCorner(linear, size_) = system.zero.leftCols(size_);
    residual.head(linear) = system.zero.leftCols(size_) * x + system.zero.col(size_);
    bool slides_backwards = false;
    for (int k = 0; k < m; ++k) {
      const int row = system.discs[k]->sliding_disc, at = linear + 3 * k;
      const double mu = system.discs[k]->mu, c = std::cos(theta[k]), s = std::sin(theta[k]);
      const Eigen::Vector2d u = dense_.W.middleRows<2>(row + 1) * x + dense_.a.segment<2>(row + 1);
      jacobian(at, row + 1) = jacobian(at + 1, row + 2) = 1;
      jacobian(at, row) = mu * c;
      jacobian(at + 1, row) = mu * s;
      jacobian(at, size_ + k) = -mu * x[row] * s;
      jacobian(at + 1, size_ + k) = mu * x[row] * c;
      jacobian.row(at + 2).head(size_) = c * dense_.W.row(row + 2) - s * dense_.W.row(row + 1);
      jacobian(at + 2, size_ + k) = -s * u[1] - c * u[0];
      residual[at] = x[row + 1] + mu * x[row] * c;
      residual[at + 1] = x[row + 2] + mu * x[row] * s;
      residual[at + 2] = c * u[1] - s * u[0];
      slides_backwards = slides_backwards || c * u[0] + s * u[1] < -slack_;
    }
    if (iteration > 0 && residual.norm() < 1e-12 * (1 + x.norm() + dense_.a.norm())) {
      if (!slides_backwards && is_feasible(system, x)) keep(x, jacobian.inverse().norm());
      return;
    }
    VectorXd step = jacobian.partialPivLu().solve(-residual);
    if (!step.allFinite()) return;
    const double turn = step.tail(m).lpNorm<Eigen::Infinity>();
    if (turn > 0.7) step.tail(m) *= 0.7 / turn;  // x is linear for given θ and takes its full step
    x += step.head(size_);
    theta += step.tail(m);
  }
}

void StateEnumerator::keep(const VectorXd& x, double sensitivity) {
  for (const Enumeration::Solution& s : found_.solutions)
    if ((s.x - x).norm() <= 1e-7 * (1 + x.norm())) return;
  found_.solutions.push_back({x, sensitivity});
}

double Enumeration::relative_distance(const VectorXd& x, double scale, double residual) const {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Solution& s : solutions) {
    const double distance = (s.x - x).norm();
    const double explained = (1 + s.sensitivity) * residual * (scale + s.x.norm());
    nearest = std::min(nearest, distance == 0 ? 0 : distance / explained);
  }
  return nearest;
}

}  // namespace stiction::testing
