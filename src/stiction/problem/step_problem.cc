#include "stiction/problem/step_problem.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <bit>
#include <cmath>

#include "stiction/base/all_finite.h"
#include "stiction/base/check.h"
#include "stiction/base/same_bits.h"
#include "stiction/problem/solver.h"

namespace stiction {

void StepProblem::clear() {
  h = 0;
  dof_start.resize(1);
  mass_start.clear();
  mass_values.clear();
  p.clear();
  bilateral.clear();
  compliance.clear();
  bias.clear();
  lower.clear();
  upper.clear();
  contacts.clear();
  contact_compliance.clear();
  contact_bias.clear();
  mu.clear();
  section.clear();
  key.clear();
  coupling.clear();
}

RowMatrixMap StepProblem::add_mass_block(int size) {
  ST_DEMAND(size > 0);
  mass_start.push_back(static_cast<int>(mass_values.size()));
  dof_start.push_back(dof_start.back() + size);
  mass_values.resize(mass_values.size() + static_cast<std::size_t>(size) * size, 0.0);
  p.resize(dof_start.back(), 0.0);
  return {mass_values.data() + mass_start.back(), size, size};
}

void StepProblem::add_bilateral_row(const BilateralRow& row) {
  bilateral.add_row_block(1);
  compliance.push_back(row.compliance);
  bias.push_back(row.bias);
  lower.push_back(row.lower);
  upper.push_back(row.upper);
}

void StepProblem::add_bilateral_numbers(int count) {
  for (std::vector<double>* list : {&compliance, &bias, &lower, &upper})
    list->resize(list->size() + count, 0.0);
}

void StepProblem::add_contact(const Contact& contact) {
  ST_DEMAND(contact.num_tangents >= 0 && contact.num_tangents <= 2);
  contacts.add_row_block(1 + contact.num_tangents);
  contact_compliance.resize(contacts.num_rows(), 0.0);
  contact_bias.resize(contacts.num_rows(), 0.0);
  mu.push_back(contact.mu);
  section.push_back(contact.section);
  key.push_back(contact.key);
}

void StepSolution::resize(const StepProblem& problem) {
  w.resize(problem.num_dofs());
  lambda.resize(problem.num_bilateral());
  r.resize(problem.num_contact_rows());
}

void StepSolution::set_zero(const StepProblem& problem) {
  w.assign(problem.num_dofs(), 0.0);
  lambda.assign(problem.num_bilateral(), 0.0);
  r.assign(problem.num_contact_rows(), 0.0);
}

bool StepProblem::is_identical(const StepProblem& other) const {
  return is_same_bits(p, other.p) && is_same_bits(bias, other.bias) &&
         is_same_bits(mass_values, other.mass_values) && bilateral.is_identical(other.bilateral) &&
         contacts.is_identical(other.contacts) && is_same_bits(compliance, other.compliance) &&
         is_same_bits(lower, other.lower) && is_same_bits(upper, other.upper) &&
         is_same_bits(contact_compliance, other.contact_compliance) &&
         is_same_bits(contact_bias, other.contact_bias) && is_same_bits(mu, other.mu) &&
         std::bit_cast<std::uint64_t>(h) == std::bit_cast<std::uint64_t>(other.h) &&
         dof_start == other.dof_start && mass_start == other.mass_start &&
         section == other.section && key == other.key && coupling.is_identical(other.coupling);
}

bool StepSolution::is_identical(const StepSolution& other) const {
  return is_same_bits(w, other.w) && is_same_bits(lambda, other.lambda) && is_same_bits(r, other.r);
}

bool StepSolution::is_finite() const {
  return all_finite(w) && all_finite(lambda) && all_finite(r);
}

namespace {

std::string find_row_fault(const StepProblem& problem, const BlockRows& rows, const char* what) {
  for (int i = 0; i < rows.num_row_blocks(); ++i) {
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
      const int block = rows.entry_block(e);
      if (block < 0 || block >= problem.num_blocks())
        return fmt::format("{} {} touches mass block {}, but there are {}", what, i, block,
                           problem.num_blocks());
      if (rows.entry_columns(e) != problem.block_size(block))
        return fmt::format("{} {} has {} columns in mass block {} of size {}", what, i,
                           rows.entry_columns(e), block, problem.block_size(block));
      for (int other = rows.entry_start(i); other < e; ++other)
        if (rows.entry_block(other) == block)
          return fmt::format("{} {} names mass block {} twice", what, i, block);
      if (!rows.entry_matrix(i, e).allFinite())
        return fmt::format("{} {} has an entry that is not finite", what, i);
    }
  }
  return {};
}

std::string find_mass_fault(const StepProblem& problem) {
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const ConstRowMatrixMap block = problem.mass_block(b);
    if (!block.allFinite()) return fmt::format("mass block {} is not finite", b);
    const MatrixXd symmetric = 0.5 * (block + block.transpose());
    if (Eigen::LLT<MatrixXd>(symmetric).info() != Eigen::Success)
      return fmt::format("mass block {} is not positive definite", b);
  }
  return {};
}

std::string find_size_fault(const StepProblem& problem) {
  const auto rows = static_cast<std::size_t>(problem.num_bilateral());
  const auto contact_rows = static_cast<std::size_t>(problem.num_contact_rows());
  const auto contacts = static_cast<std::size_t>(problem.num_contacts());
  if (problem.p.size() != static_cast<std::size_t>(problem.num_dofs())) return "size of p";
  if (static_cast<std::size_t>(problem.bilateral.num_row_blocks()) != rows ||
      static_cast<std::size_t>(problem.bilateral.num_rows()) != rows ||
      problem.compliance.size() != rows || problem.lower.size() != rows ||
      problem.upper.size() != rows)
    return "sizes of the bilateral rows differ";
  if (static_cast<std::size_t>(problem.contacts.num_row_blocks()) != contacts ||
      problem.contact_compliance.size() != contact_rows ||
      problem.contact_bias.size() != contact_rows || problem.section.size() != contacts ||
      problem.key.size() != contacts)
    return "sizes of the contact arrays differ";
  return {};
}

std::string find_coupling_fault(const StepProblem& problem) {
  const RowCoupling& coupling = problem.coupling;
  if (coupling.is_empty()) return {};
  if (coupling.num_rows() != problem.num_rows())
    return fmt::format("coupling has {} rows, the problem has {}", coupling.num_rows(),
                       problem.num_rows());
  std::vector<int> last_row(problem.num_rows(), -1);  // that named a column
  for (int i = 0; i < coupling.num_rows(); ++i)
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e) {
      if (coupling.column(e) < 0 || coupling.column(e) >= problem.num_rows())
        return fmt::format("coupling of row {} names row {}, but there are {}", i,
                           coupling.column(e), problem.num_rows());
      if (last_row[coupling.column(e)] == i)
        return fmt::format("coupling of row {} names row {} twice", i, coupling.column(e));
      last_row[coupling.column(e)] = i;
      if (!std::isfinite(coupling.value(e)))
        return fmt::format("coupling of row {} has an entry that is not finite", i);
    }
  return {};
}

}  // namespace

std::string find_fault(const StepProblem& problem) {
  if (std::string fault = find_size_fault(problem); !fault.empty()) return fault;
  if (!std::isfinite(problem.h) || problem.h < 0) return "h is not a finite number >= 0";
  if (!all_finite(problem.p)) return "p is not finite";
  if (!all_finite(problem.bias)) return "bias of a bilateral row is not finite";
  if (!all_finite(problem.contact_bias)) return "bias of a contact is not finite";
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    if (!(problem.lower[i] <= problem.upper[i]) || problem.lower[i] == StepProblem::kUnbounded ||
        problem.upper[i] == -StepProblem::kUnbounded)
      return fmt::format("bilateral row {} has the bounds {} and {}", i, problem.lower[i],
                         problem.upper[i]);
    if (!(problem.compliance[i] >= 0) || !std::isfinite(problem.compliance[i]))
      return fmt::format("bilateral row {} has the compliance {}", i, problem.compliance[i]);
  }
  for (std::size_t i = 0; i < problem.contact_compliance.size(); ++i)
    if (!(problem.contact_compliance[i] >= 0) || !std::isfinite(problem.contact_compliance[i]))
      return fmt::format("contact row {} has the compliance {}", i, problem.contact_compliance[i]);
  for (int i = 0; i < problem.num_contacts(); ++i) {
    if (!(problem.mu[i] >= 0) || !std::isfinite(problem.mu[i]))
      return fmt::format("contact {} has the friction coefficient {}", i, problem.mu[i]);
    const int rows = problem.contacts.num_rows(i);
    if (rows < 1 || rows > 3) return fmt::format("contact {} has {} rows", i, rows);
  }
  if (std::string f = find_row_fault(problem, problem.bilateral, "bilateral row"); !f.empty())
    return f;
  if (std::string f = find_row_fault(problem, problem.contacts, "contact"); !f.empty()) return f;
  if (std::string f = find_coupling_fault(problem); !f.empty()) return f;
  return find_mass_fault(problem);
}

std::string_view to_text(SolverStatus status) {
  switch (status) {
    case SolverStatus::kConverged:
      return "converged";
    case SolverStatus::kMaxIterations:
      return "too many iterations";
    case SolverStatus::kNoSolution:
      return "no solution found";
    case SolverStatus::kInfeasible:
      return "no solution exists";
    case SolverStatus::kUnsupported:
      return "problem not supported by this solver";
    case SolverStatus::kNonFinite:
      return "not finite";
  }
  return "unknown";
}

}  // namespace stiction
