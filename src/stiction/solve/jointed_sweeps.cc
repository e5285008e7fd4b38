#include "stiction/solve/jointed_sweeps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/base/deadline.h"
#include "stiction/solve/dense_lu.h"

namespace stiction {
namespace {

/// ε relative to the mobility of a row: as many digits of the factors are lost, and as many are
/// gained by a correction.
constexpr double kCompliance = 1e-8;

/// Degrees of freedom beyond which a dense mass block costs more than it saves.
constexpr int kMaxSize = 150;

/// Until the judge agrees, sweeps go on to a better residual, and from better impulses of joints.
constexpr int kMaxRounds = 4;
/// A refused answer makes the target smaller by a factor in this range.
constexpr double kStrictest = 0.01, kLeastGain = 0.5;

NsgsOptions without_judge(NsgsOptions options) {
  options.asks_judge = false;
  return options;
}

bool is_free(const StepProblem& problem, int row) {
  return problem.lower[row] == -StepProblem::kUnbounded &&
         problem.upper[row] == StepProblem::kUnbounded;
}

}  // namespace

JointedSweeps::JointedSweeps(const NsgsOptions& options, std::shared_ptr<SweepWorkshop> workshop)
    : workshop_(share_or_make(workshop)),
      is_alone_(workshop == nullptr),
      sweeps_(options, workshop_),
      joined_sweeps_(without_judge(options), workshop_),
      acceptance_(options.tolerance, options.measure, options.workers),
      tolerance_(options.tolerance) {}

SolverReport JointedSweeps::solve(const StepProblem& problem, StepSolution& solution) {
  if (is_alone_) workshop_->forget();
  if (!find_machines(problem)) {
    num_machines_ = 0;
    return sweeps_.solve(problem, solution);
  }
  const Deadline deadline(max_seconds_);
  acceptance_.forget_last();
  set_compliance(problem);
  SolverReport total{.status = SolverStatus::kMaxIterations};
  double target = tolerance_;
  for (int round = 0; round < kMaxRounds; ++round) {
    build(problem, solution);
    joined_sweeps_.set_tolerance(target);
    joined_sweeps_.set_time_limit(deadline.time_limit());
    workshop_->forget();  // what was laid out for another reduced problem
    const SolverReport report = joined_sweeps_.solve(reduced_, part_);
    total.iterations += report.iterations;
    if (!report.has_answer || !recover(problem, solution)) {
      solution.set_zero(problem);
      return {
          .status = SolverStatus::kNonFinite, .iterations = total.iterations, .has_answer = false};
    }
    const double measured = acceptance_.measure(problem, solution);
    if (measured <= tolerance_) {
      total.status = SolverStatus::kConverged;
      return total;
    }
    if (report.status != SolverStatus::kConverged || deadline.has_passed()) return total;
    target *= std::clamp(0.5 * tolerance_ / measured, kStrictest, kLeastGain);
  }
  return total;
}

/// Which bodies go together, and where they are in the reduced problem. False if none do, or too
/// many.
bool JointedSweeps::find_machines(const StepProblem& problem) {
  if (!problem.coupling.is_empty() || problem.num_bilateral() == 0) return false;
  if (!hold_together(problem) || !number_machines(problem)) return false;
  list_parts(problem);
  return true;
}

/// Joins bodies by rows without bounds; false if there are none.
bool JointedSweeps::hold_together(const StepProblem& problem) {
  sets_.reset(problem.num_blocks());
  held_.assign(problem.num_bilateral(), -1);
  int num_bounded = 0;
  for (int row = 0; row < problem.num_bilateral(); ++row) {
    const int first = problem.bilateral.entry_start(row);
    const int end = problem.bilateral.entry_start(row + 1);
    if (!is_free(problem, row) || first == end) {
      held_[row] = num_bounded++;
      continue;
    }
    for (int e = first + 1; e < end; ++e)
      sets_.join(problem.bilateral.entry_block(first), problem.bilateral.entry_block(e));
  }
  return num_bounded < problem.num_bilateral();
}

/// False if one is too large.
bool JointedSweeps::number_machines(const StepProblem& problem) {
  const int num_bodies = problem.num_blocks();
  block_.assign(num_bodies, -1);
  offset_.assign(num_bodies, 0);
  machines_.clear();
  for (int body = 0; body < num_bodies; ++body) {
    const int leader = sets_.root(body);
    if (leader == body) {
      block_[body] = static_cast<int>(machines_.size());
      machines_.emplace_back();
    }
    block_[body] = block_[leader];
    Machine& machine = machines_[block_[body]];
    offset_[body] = machine.size;
    machine.size += problem.block_size(body);
    ++machine.num_bodies;
    if (machine.size > kMaxSize) return false;
  }
  num_machines_ = static_cast<int>(machines_.size());
  return true;
}

void JointedSweeps::list_parts(const StepProblem& problem) {
  const auto machine_of = [&](int row) -> Machine& {
    return machines_[block_[problem.bilateral.entry_block(problem.bilateral.entry_start(row))]];
  };
  for (int row = 0; row < problem.num_bilateral(); ++row)
    if (held_[row] < 0) ++machine_of(row).num_rows;
  int num_bodies = 0, num_rows = 0;
  for (Machine& machine : machines_) {
    machine.body_begin = std::exchange(num_bodies, num_bodies + machine.num_bodies);
    machine.row_begin = std::exchange(num_rows, num_rows + machine.num_rows);
    machine.num_bodies = machine.num_rows = 0;
  }
  bodies_.resize(num_bodies);
  rows_.resize(num_rows);
  for (int body = 0; body < num_bodies; ++body) {
    Machine& machine = machines_[block_[body]];
    bodies_[machine.body_begin + machine.num_bodies++] = body;
  }
  for (int row = 0; row < problem.num_bilateral(); ++row) {
    if (held_[row] >= 0) continue;
    Machine& machine = machine_of(row);
    rows_[machine.row_begin + machine.num_rows++] = row;
  }
}

void JointedSweeps::set_compliance(const StepProblem& problem) {
  mass_lu_.assign(problem.mass_values.begin(), problem.mass_values.end());
  mass_swap_.resize(problem.num_dofs());
  for (int b = 0; b < problem.num_blocks(); ++b)
    (void)factor_lu(mass_lu_.data() + problem.mass_start[b], problem.block_size(b),
                    mass_swap_.data() + problem.dof_start[b]);
  epsilon_.assign(problem.num_bilateral(), 0.0);
  for (int row = 0; row < problem.num_bilateral(); ++row) {
    if (held_[row] >= 0) continue;
    double mobility = 0;
    for (int e = problem.bilateral.entry_start(row); e < problem.bilateral.entry_start(row + 1);
         ++e) {
      const int body = problem.bilateral.entry_block(e), n = problem.block_size(body);
      const ConstVectorMap J(problem.bilateral.entry_values(e), n);
      change_.assign(J.data(), J.data() + n);
      solve_lu(mass_lu_.data() + problem.mass_start[body], n,
               mass_swap_.data() + problem.dof_start[body], change_.data());
      mobility += J.dot(ConstVectorMap(change_.data(), n));
    }
    epsilon_[row] = std::max(problem.compliance[row], kCompliance * mobility);
  }
}

/// The reduced problem, and where its sweeps start.
void JointedSweeps::build(const StepProblem& problem, const StepSolution& solution) {
  const bool has_start = static_cast<int>(solution.lambda.size()) == problem.num_bilateral() &&
                         static_cast<int>(solution.r.size()) == problem.num_contact_rows();
  guess_.assign(problem.num_bilateral(), 0.0);
  if (has_start) guess_ = solution.lambda;
  reduced_.clear();
  reduced_.h = problem.h;
  for (int m = 0; m < num_machines_; ++m) add_machine(problem, machines_[m]);
  part_.w.clear();
  part_.lambda.clear();
  for (int row = 0; row < problem.num_bilateral(); ++row) {
    if (held_[row] < 0) continue;
    reduced_.add_bilateral_row({.compliance = problem.compliance[row],
                                .bias = problem.bias[row],
                                .lower = problem.lower[row],
                                .upper = problem.upper[row]});
    copy_entries(problem.bilateral, row, reduced_.bilateral);
    part_.lambda.push_back(guess_[row]);
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    reduced_.add_contact({.num_tangents = problem.contacts.num_rows(j) - 1,
                          .mu = problem.mu[j],
                          .section = problem.section[j],
                          .key = problem.key[j]});
    copy_entries(problem.contacts, j, reduced_.contacts);
  }
  reduced_.contact_compliance = problem.contact_compliance;
  reduced_.contact_bias = problem.contact_bias;
  part_.r.assign(problem.num_contact_rows(), 0.0);
  if (has_start) part_.r = solution.r;
}

void JointedSweeps::add_machine(const StepProblem& problem, const Machine& machine) {
  RowMatrixMap mass = reduced_.add_mass_block(machine.size);
  VectorMap p = reduced_.block_p(reduced_.num_blocks() - 1);
  mass.setZero();
  for (const int body : bodies(machine)) {
    const int first = offset_[body], n = problem.block_size(body);
    mass.block(first, first, n, n) = problem.mass_block(body);
    p.segment(first, n) = ConstVectorMap(problem.p.data() + problem.dof_start[body], n);
  }
  for (const int row : rows(machine)) add_joint(problem, row, mass, p);
}

void JointedSweeps::add_joint(const StepProblem& problem, int row, RowMatrixMap mass, VectorMap p) {
  const BlockRows& rows = problem.bilateral;
  const double weight = 1 / epsilon_[row];
  const double pull =
      weight * (problem.bias[row] + (epsilon_[row] - problem.compliance[row]) * guess_[row]);
  for (int e = rows.entry_start(row); e < rows.entry_start(row + 1); ++e) {
    const int first = offset_[rows.entry_block(e)], n = rows.entry_columns(e);
    const ConstVectorMap J(rows.entry_values(e), n);
    p.segment(first, n) += pull * J;
    for (int f = rows.entry_start(row); f < rows.entry_start(row + 1); ++f) {
      const int second = offset_[rows.entry_block(f)], m = rows.entry_columns(f);
      const double* K = rows.entry_values(f);
      for (int a = 0; a < n; ++a)
        for (int b = 0; b < m; ++b) mass(first + a, second + b) += weight * J[a] * K[b];
    }
  }
}

/// Pieces of bodies that have become one are one piece.
void JointedSweeps::copy_entries(const BlockRows& from, int row_block, BlockRows& to) {
  const int first = from.entry_start(row_block), end = from.entry_start(row_block + 1);
  for (int e = first; e < end; ++e) {
    const int block = block_[from.entry_block(e)];
    const auto is_same = [&](int f) { return block_[from.entry_block(f)] == block; };
    bool is_done = false;
    for (int f = first; f < e; ++f) is_done = is_done || is_same(f);
    if (is_done) continue;
    RowMatrixMap piece = to.add_entry(block, machines_[block].size);
    for (int f = e; f < end; ++f)
      if (is_same(f))
        piece.middleCols(offset_[from.entry_block(f)], from.entry_columns(f)) +=
            from.entry_matrix(row_block, f);
  }
}

/// Impulses of all rows, and velocities that belong to them.
bool JointedSweeps::recover(const StepProblem& problem, StepSolution& solution) {
  solution.w.resize(problem.num_dofs());
  solution.lambda.resize(problem.num_bilateral());
  solution.r = part_.r;
  for (int row = 0; row < problem.num_bilateral(); ++row)
    if (held_[row] >= 0) solution.lambda[row] = part_.lambda[held_[row]];
  for (int m = 0; m < num_machines_; ++m) read_machine(problem, m, solution);
  momentum_ = problem.p;
  add_impulses(problem, problem.bilateral, solution.lambda.data());
  add_impulses(problem, problem.contacts, solution.r.data());
  for (int m = 0; m < num_machines_; ++m) {
    const Machine& machine = machines_[m];
    if (machine.num_rows == 0) continue;
    const double* mass = reduced_.mass_values.data() + reduced_.mass_start[m];
    machine_lu_.assign(mass, mass + static_cast<std::ptrdiff_t>(machine.size) * machine.size);
    machine_swap_.resize(machine.size);
    if (!factor_lu(machine_lu_.data(), machine.size, machine_swap_.data())) return false;
    move_bodies(problem, machine, solution);
    correct_joints(problem, machine, solution);
    move_bodies(problem, machine, solution);
  }
  return solution.is_finite();
}

/// Velocities of the bodies, and the impulses of joints that follow from them.
void JointedSweeps::read_machine(const StepProblem& problem, int m, StepSolution& solution) const {
  const Machine& machine = machines_[m];
  const double* w = part_.w.data() + reduced_.dof_start[m];
  for (const int body : bodies(machine))
    std::copy_n(w + offset_[body], problem.block_size(body),
                solution.w.data() + problem.dof_start[body]);
  for (const int row : rows(machine)) {
    const double speed =
        problem.bilateral.times(row, 0, problem.dof_start.data(), solution.w.data());
    const double added = epsilon_[row] - problem.compliance[row];
    solution.lambda[row] = (problem.bias[row] - speed + added * guess_[row]) / epsilon_[row];
  }
}

/// momentum_ += Rᵀx.
void JointedSweeps::add_impulses(const StepProblem& problem, const BlockRows& rows,
                                 const double* x) {
  for (int i = 0; i < rows.num_row_blocks(); ++i)
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e)
      VectorMap(momentum_.data() + problem.dof_start[rows.entry_block(e)], rows.entry_columns(e)) +=
          rows.entry_matrix(i, e).transpose().lazyProduct(
              ConstVectorMap(x + rows.row_start(i), rows.num_rows(i)));
}

/// w = M̂⁻¹(p + Rᵀx).
void JointedSweeps::move_bodies(const StepProblem& problem, const Machine& machine,
                                StepSolution& solution) {
  for (const int body : bodies(machine)) {
    double* w = solution.w.data() + problem.dof_start[body];
    std::copy_n(momentum_.data() + problem.dof_start[body], problem.block_size(body), w);
    solve_lu(mass_lu_.data() + problem.mass_start[body], problem.block_size(body),
             mass_swap_.data() + problem.dof_start[body], w);
  }
}

/// One step of refinement: what the joints miss by rounding and by λ̂.
void JointedSweeps::correct_joints(const StepProblem& problem, const Machine& machine,
                                   StepSolution& solution) {
  const BlockRows& rows = problem.bilateral;
  const std::span<const int> joints = this->rows(machine);
  change_.assign(machine.size + machine.num_rows, 0.0);
  double* defect = change_.data() + machine.size;
  for (std::size_t k = 0; k < joints.size(); ++k) {
    const int row = joints[k];
    defect[k] = problem.bias[row] -
                rows.times(row, 0, problem.dof_start.data(), solution.w.data()) -
                problem.compliance[row] * solution.lambda[row];
    for (int e = rows.entry_start(row); e < rows.entry_start(row + 1); ++e)
      VectorMap(change_.data() + offset_[rows.entry_block(e)], rows.entry_columns(e)) +=
          defect[k] / epsilon_[row] * ConstVectorMap(rows.entry_values(e), rows.entry_columns(e));
  }
  solve_lu(machine_lu_.data(), machine.size, machine_swap_.data(), change_.data());
  for (std::size_t k = 0; k < joints.size(); ++k) {
    const int row = joints[k];
    double moved = 0;
    for (int e = rows.entry_start(row); e < rows.entry_start(row + 1); ++e)
      moved += ConstVectorMap(rows.entry_values(e), rows.entry_columns(e))
                   .dot(ConstVectorMap(change_.data() + offset_[rows.entry_block(e)],
                                       rows.entry_columns(e)));
    const double added = (defect[k] - moved) / epsilon_[row];
    solution.lambda[row] += added;
    for (int e = rows.entry_start(row); e < rows.entry_start(row + 1); ++e)
      VectorMap(momentum_.data() + problem.dof_start[rows.entry_block(e)], rows.entry_columns(e)) +=
          added * ConstVectorMap(rows.entry_values(e), rows.entry_columns(e));
  }
}

}  // namespace stiction
