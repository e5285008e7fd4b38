#include "stiction/solve/friction_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {

int BlockMatrix::find(int block, int column) const {
  const auto first = entry_block.begin() + entry_start[block];
  const auto last = entry_block.begin() + entry_start[block + 1];
  const auto found = std::lower_bound(first, last, column);
  return found != last && *found == column ? static_cast<int>(found - entry_block.begin()) : -1;
}

void BlockMatrix::multiply(const double* x, double* y) const {
  for (int i = 0; i < num_blocks(); ++i) {
    const int rows = size(i);
    double sum[3] = {0, 0, 0};
    for (int e = entry_start[i]; e < entry_start[i + 1]; ++e) {
      const int j = entry_block[e], columns = size(j);
      const double* a = values.data() + value_start[e];
      const double* xj = x + row_start[j];
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) sum[r] += a[r * columns + c] * xj[c];
    }
    for (int r = 0; r < rows; ++r) y[row_start[i] + r] = sum[r];
  }
}

bool FrictionBlocks::assemble(const StepProblem& problem) {
  if (!classify(problem)) return false;
  collect_pieces(problem);
  if (!move_pieces(problem)) return false;
  build_pattern(problem);
  add_products(problem);
  add_coupling(problem);
  compute_free(problem);
  compute_mobility();
  return true;
}

bool FrictionBlocks::classify(const StepProblem& problem) {
  const int num_bilateral = problem.num_bilateral();
  const int num_blocks = num_bilateral + problem.num_contacts();
  kind.assign(num_blocks, Kind::kContact);
  mu.assign(num_blocks, 0);
  lower.assign(num_blocks, 0);
  upper.assign(num_blocks, 0);
  W.row_start.assign(1, 0);
  for (int i = 0; i < num_bilateral; ++i) {
    lower[i] = problem.lower[i];
    upper[i] = problem.upper[i];
    const bool is_free = std::isinf(lower[i]) && std::isinf(upper[i]);
    kind[i] = is_free ? Kind::kFree : Kind::kBounded;
    W.row_start.push_back(i + 1);
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int rows = problem.contacts.num_rows(j);
    if (rows > 2 && problem.section[j].kind != FrictionSection::Kind::kDisc && problem.mu[j] > 0)
      return false;
    mu[num_bilateral + j] = problem.mu[j];
    W.row_start.push_back(W.row_start.back() + rows);
  }
  block_of_row_.resize(W.row_start.back());
  for (int i = 0; i < num_blocks; ++i)
    for (int r = W.row_start[i]; r < W.row_start[i + 1]; ++r) block_of_row_[r] = i;
  has_coupling_only_ = problem.num_blocks() == 0;
  return true;
}

void FrictionBlocks::append_pieces(const BlockRows& rows, int first_block) {
  for (int i = 0; i < rows.num_row_blocks(); ++i)
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e)
      pieces_.push_back({first_block + i, rows.entry_block(e), rows.entry_values(e), 0});
}

void FrictionBlocks::collect_pieces(const StepProblem& problem) {
  pieces_.clear();
  append_pieces(problem.bilateral, 0);
  append_pieces(problem.contacts, problem.num_bilateral());
  const int num_masses = problem.num_blocks();
  mass_piece_start_.assign(num_masses + 1, 0);
  for (const Piece& piece : pieces_) ++mass_piece_start_[piece.mass + 1];
  for (int k = 0; k < num_masses; ++k) mass_piece_start_[k + 1] += mass_piece_start_[k];
  mass_pieces_.resize(pieces_.size());
  std::vector<int> next(mass_piece_start_.begin(), mass_piece_start_.end());
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    mass_pieces_[next[pieces_[i].mass]++] = static_cast<int>(i);
}

bool FrictionBlocks::move_pieces(const StepProblem& problem) {
  mass_lu_.resize(problem.num_blocks());
  for (int k = 0; k < problem.num_blocks(); ++k) {
    mass_lu_[k].compute(problem.mass_block(k));
    const auto diagonal = mass_lu_[k].matrixLU().diagonal().cwiseAbs();
    if (!(diagonal.minCoeff() > 0)) return false;
  }
  moved_.clear();
  for (Piece& piece : pieces_) {
    const int rows = size(piece.block), columns = problem.block_size(piece.mass);
    const ConstRowMatrixMap values(piece.values, rows, columns);
    piece.moved_start = static_cast<int>(moved_.size());
    moved_.resize(moved_.size() + static_cast<std::size_t>(rows) * columns);
    Eigen::Map<MatrixXd>(moved_.data() + piece.moved_start, columns, rows) =
        mass_lu_[piece.mass].solve(values.transpose());
  }
  return true;
}

void FrictionBlocks::build_pattern(const StepProblem& problem) {
  std::vector<std::vector<int>> neighbours(num_blocks());
  for (int i = 0; i < num_blocks(); ++i) neighbours[i].push_back(i);
  for (const Piece& piece : pieces_)
    for (int k = mass_piece_start_[piece.mass]; k < mass_piece_start_[piece.mass + 1]; ++k)
      neighbours[piece.block].push_back(pieces_[mass_pieces_[k]].block);
  for (int row = 0; row < problem.coupling.num_rows(); ++row)
    for (int e = problem.coupling.entry_start(row); e < problem.coupling.entry_start(row + 1);
         ++e) {
      const int i = block_of_row_[row], j = block_of_row_[problem.coupling.column(e)];
      if (problem.coupling.value(e) == 0) continue;
      neighbours[i].push_back(j);
      neighbours[j].push_back(i);
    }
  W.entry_start.assign(1, 0);
  W.value_start.assign(1, 0);
  W.entry_block.clear();
  W.diagonal.resize(num_blocks());
  for (int i = 0; i < num_blocks(); ++i) {
    std::vector<int>& list = neighbours[i];
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (const int j : list) {
      if (j == i) W.diagonal[i] = static_cast<int>(W.entry_block.size());
      W.entry_block.push_back(j);
      W.value_start.push_back(W.value_start.back() + size(i) * size(j));
    }
    W.entry_start.push_back(static_cast<int>(W.entry_block.size()));
  }
  W.values.assign(W.value_start.back(), 0.0);
}

void FrictionBlocks::add_products(const StepProblem& problem) {
  for (const Piece& piece : pieces_) {
    const int columns = problem.block_size(piece.mass);
    const ConstRowMatrixMap left(piece.values, size(piece.block), columns);
    for (int k = mass_piece_start_[piece.mass]; k < mass_piece_start_[piece.mass + 1]; ++k) {
      const Piece& other = pieces_[mass_pieces_[k]];
      const Eigen::Map<const MatrixXd> right(moved_.data() + other.moved_start, columns,
                                             size(other.block));
      W.entry(piece.block, W.find(piece.block, other.block)) += left.lazyProduct(right);
    }
  }
}

void FrictionBlocks::add_coupling(const StepProblem& problem) {
  for (int row = 0; row < problem.coupling.num_rows(); ++row) {
    const int i = block_of_row_[row];
    for (int e = problem.coupling.entry_start(row); e < problem.coupling.entry_start(row + 1);
         ++e) {
      const int column = problem.coupling.column(e), j = block_of_row_[column];
      if (problem.coupling.value(e) == 0) continue;
      W.entry(i, W.find(i, j))(row - W.row_start[i], column - W.row_start[j]) +=
          problem.coupling.value(e);
    }
  }
  for (int row = 0; row < num_rows(); ++row) {
    const int i = block_of_row_[row], local = row - W.row_start[i];
    const double compliance = row < problem.num_bilateral()
                                  ? problem.compliance[row]
                                  : problem.contact_compliance[row - problem.num_bilateral()];
    W.entry(i, W.diagonal[i])(local, local) += compliance;
  }
}

void FrictionBlocks::compute_free(const StepProblem& problem) {
  free_velocity_.resize(problem.num_dofs());
  for (int k = 0; k < problem.num_blocks(); ++k) {
    const int start = problem.dof_start[k], count = problem.block_size(k);
    free_velocity_.segment(start, count) =
        mass_lu_[k].solve(ConstVectorMap(problem.p.data() + start, count));
  }
  q.resize(num_rows());
  for (int row = 0; row < num_rows(); ++row)
    q[row] = row < problem.num_bilateral() ? -problem.bias[row]
                                           : problem.contact_bias[row - problem.num_bilateral()];
  for (const Piece& piece : pieces_) {
    const int columns = problem.block_size(piece.mass);
    q.segment(W.row_start[piece.block], size(piece.block)) +=
        ConstRowMatrixMap(piece.values, size(piece.block), columns) *
        free_velocity_.segment(problem.dof_start[piece.mass], columns);
  }
}

void FrictionBlocks::compute_mobility() {
  mobility.resize(num_blocks());
  double largest = 0;
  for (int i = 0; i < num_blocks(); ++i) {
    mobility[i] = W.entry(i, W.diagonal[i]).diagonal().cwiseAbs().mean();
    largest = std::max(largest, mobility[i]);
  }
  // A row that nothing can move still needs a positive scale.
  const double least = largest > 0 ? 1e-12 * largest : 1;
  for (double& omega : mobility) omega = std::max(omega, least);
}

void FrictionBlocks::compute_velocity(const VectorXd& x, VectorXd& u) const {
  u.resize(num_rows());
  W.multiply(x.data(), u.data());
  u += q;
}

void FrictionBlocks::write_solution(const StepProblem& problem, const VectorXd& x,
                                    StepSolution& solution) const {
  solution.resize(problem);
  const int num_bilateral = problem.num_bilateral();
  std::copy_n(x.data(), num_bilateral, solution.lambda.begin());
  std::copy_n(x.data() + num_bilateral, problem.num_contact_rows(), solution.r.begin());
  VectorXd impulse = ConstVectorMap(problem.p.data(), problem.num_dofs());
  for (const Piece& piece : pieces_) {
    const int columns = problem.block_size(piece.mass);
    impulse.segment(problem.dof_start[piece.mass], columns) +=
        ConstRowMatrixMap(piece.values, size(piece.block), columns).transpose() *
        x.segment(W.row_start[piece.block], size(piece.block));
  }
  for (int k = 0; k < problem.num_blocks(); ++k) {
    const int start = problem.dof_start[k], count = problem.block_size(k);
    solution.w_vector().segment(start, count) = mass_lu_[k].solve(impulse.segment(start, count));
  }
}

void FrictionBlocks::read_solution(const StepProblem& problem, const StepSolution& solution,
                                   VectorXd& x) const {
  x.setZero(num_rows());
  const int num_bilateral = problem.num_bilateral();
  if (static_cast<int>(solution.lambda.size()) != num_bilateral ||
      static_cast<int>(solution.r.size()) != problem.num_contact_rows())
    return;
  std::copy(solution.lambda.begin(), solution.lambda.end(), x.data());
  std::copy(solution.r.begin(), solution.r.end(), x.data() + num_bilateral);
  if (!x.allFinite()) x.setZero();
}

void FrictionBlocks::clear_rounding(VectorXd& x) const {
  constexpr double kRounding = 1e-17;
  double energy = 0;
  for (int i = 0; i < num_blocks(); ++i)
    energy += mobility[i] * x.segment(W.row_start[i], size(i)).squaredNorm();
  for (int i = 0; i < num_blocks(); ++i) {
    auto impulse = x.segment(W.row_start[i], size(i));
    if (mobility[i] * impulse.squaredNorm() < kRounding * kRounding * energy) impulse.setZero();
  }
}

void FrictionBlocks::project(int block, const double* z, double* out) const {
  const int rows = size(block);
  if (kind[block] != Kind::kContact) {
    out[0] = kind[block] == Kind::kFree ? z[0] : std::clamp(z[0], lower[block], upper[block]);
    return;
  }
  const double friction = mu[block];
  const double tangent = rows == 1 ? 0 : rows == 2 ? std::abs(z[1]) : std::hypot(z[1], z[2]);
  if (z[0] >= 0 && tangent <= friction * z[0]) {  // the first matters where μ = 0
    std::copy_n(z, rows, out);
    return;
  }
  const double normal =
      std::max(0.0, rows == 1 ? z[0] : (z[0] + friction * tangent) / (1 + friction * friction));
  const double scale = tangent > 0 ? friction * normal / tangent : 0;
  out[0] = normal;
  for (int i = 1; i < rows; ++i) out[i] = scale * z[i];
}

void FrictionBlocks::shift(int block, const double* u, double* out) const {
  const int rows = size(block);
  std::copy_n(u, rows, out);
  if (rows == 2) out[0] += mu[block] * std::abs(u[1]);
  if (rows == 3) out[0] += mu[block] * std::hypot(u[1], u[2]);
}

double FrictionBlocks::squared_defect(int block, const VectorXd& x, const VectorXd& u,
                                      double rho) const {
  const int start = W.row_start[block], rows = size(block);
  double shifted[3] = {}, z[3] = {}, p[3] = {};
  shift(block, u.data() + start, shifted);
  for (int k = 0; k < rows; ++k) z[k] = x[start + k] - rho * shifted[k];
  project(block, z, p);
  double sum = 0;
  for (int k = 0; k < rows; ++k) sum += (x[start + k] - p[k]) * (x[start + k] - p[k]);
  return sum;
}

double FrictionBlocks::residual(const VectorXd& x, const VectorXd& u) const {
  double plain = 0, energy = 0, energy_x = 0, energy_u = 0, energy_q = 0;
  for (int i = 0; i < num_blocks(); ++i) {
    const int start = W.row_start[i], rows = size(i);
    const double omega = mobility[i];
    plain += squared_defect(i, x, u, 1);
    energy += omega * squared_defect(i, x, u, 1 / omega);
    energy_x += omega * x.segment(start, rows).squaredNorm();
    energy_u += u.segment(start, rows).squaredNorm() / omega;
    energy_q += q.segment(start, rows).squaredNorm() / omega;
  }
  if (!std::isfinite(plain + energy)) return std::numeric_limits<double>::infinity();
  const double plain_q = has_coupling_only_ ? q.squaredNorm() : 0;
  const double plain_scale = std::max({x.squaredNorm(), u.squaredNorm(), plain_q});
  const double energy_scale = std::max({energy_x, energy_u, energy_q});
  const double velocity_scale = std::max(energy_u, energy_q);
  return std::max({std::sqrt(plain_scale > 0 ? plain / plain_scale : plain),
                   std::sqrt(energy_scale > 0 ? energy / energy_scale : energy),
                   velocity_scale > 0 ? energy / velocity_scale : 0.0});
}

}  // namespace stiction
