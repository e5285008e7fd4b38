// Gauss–Seidel sweeps over the contacts of machines. Sweeps over the rows of joints one by one
// creep where heavy parts are carried by light ones; here bodies that are held together by rows
// without bounds are one body to a sweep. With compliances ε ≥ C that are tiny beside the mobility
// of a row, and impulses λ̂ close to those sought,
//
//   (M̂ + Gᵀε⁻¹G) w = p + Gᵀε⁻¹(b + (ε − C) λ̂) + Jᵀr,     λ = ε⁻¹(b − G w + (ε − C) λ̂)
//
// replaces (T1) and (T2) by mass blocks as large as a machine, and a contact of the bucket moves
// all of it at once. Bounded rows (motors, limits, friction in joints) stay rows of the sweep.
// Where λ̂ = λ that is the step itself; a correction with the same factors gets there once the
// impulses of the contacts are known.
//
// Problems without such rows, or with mechanisms too large for dense factors, are swept as they
// are.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stiction/base/disjoint_sets.h"
#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"
#include "stiction/solve/nsgs_solver.h"

namespace stiction {

class JointedSweeps final : public Solver {
 public:
  /// Who shares a workshop answers for its layout.
  explicit JointedSweeps(const NsgsOptions& options,
                         std::shared_ptr<SweepWorkshop> workshop = nullptr);

  std::string_view name() const override { return "jointed-sweeps"; }
  void set_time_limit(double seconds) override {
    max_seconds_ = seconds;
    sweeps_.set_time_limit(seconds);
  }
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;
  const Certifier* certifier() const override {
    return num_machines_ > 0 ? &acceptance_.certifier() : sweeps_.certifier();
  }

 private:
  /// Bodies that are one to a sweep, and the rows that hold them together.
  struct Machine {
    int size = 0;                        // degrees of freedom
    int body_begin = 0, num_bodies = 0;  // in bodies_
    int row_begin = 0, num_rows = 0;     // in rows_
  };

  bool find_machines(const StepProblem& problem);
  bool hold_together(const StepProblem& problem);
  bool number_machines(const StepProblem& problem);
  void list_parts(const StepProblem& problem);
  std::span<const int> bodies(const Machine& machine) const {
    return std::span(bodies_).subspan(machine.body_begin, machine.num_bodies);
  }
  std::span<const int> rows(const Machine& machine) const {
    return std::span(rows_).subspan(machine.row_begin, machine.num_rows);
  }
  void set_compliance(const StepProblem& problem);
  void build(const StepProblem& problem, const StepSolution& solution);
  void add_machine(const StepProblem& problem, const Machine& machine);
  void add_joint(const StepProblem& problem, int row, RowMatrixMap mass, VectorMap p);
  void copy_entries(const BlockRows& from, int row_block, BlockRows& to);
  bool recover(const StepProblem& problem, StepSolution& solution);
  void read_machine(const StepProblem& problem, int m, StepSolution& solution) const;
  void add_impulses(const StepProblem& problem, const BlockRows& rows, const double* x);
  void move_bodies(const StepProblem& problem, const Machine& machine, StepSolution& solution);
  void correct_joints(const StepProblem& problem, const Machine& machine, StepSolution& solution);

  std::shared_ptr<SweepWorkshop> workshop_;
  bool is_alone_;             // in its workshop
  NsgsSolver sweeps_;         // of problems as they are
  NsgsSolver joined_sweeps_;  // of reduced_
  Acceptance acceptance_;
  double tolerance_;
  double max_seconds_ = 0;
  StepProblem reduced_;
  StepSolution part_;
  DisjointSets sets_;
  std::vector<int> block_, offset_;  // of a body: its block in reduced_, and where in it
  std::vector<Machine> machines_;
  std::vector<int> bodies_, rows_;  // of all machines, one after the other
  int num_machines_ = 0;
  std::vector<int> held_;  // per bilateral row: its place in reduced_, −1 if it is eliminated
  std::vector<double> epsilon_;  // per bilateral row
  std::vector<double> guess_;    // λ̂ per bilateral row
  std::vector<double> mass_lu_, momentum_, change_;
  std::vector<int> mass_swap_;
  std::vector<double> machine_lu_;  // of one machine
  std::vector<int> machine_swap_;
};

}  // namespace stiction
