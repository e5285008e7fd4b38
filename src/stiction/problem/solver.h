// The interface between schemes and solvers: one virtual call per step problem. A solver knows
// nothing of mechanics, a scheme nothing of factorisations.
#pragma once

#include <span>
#include <string_view>

#include "stiction/problem/step_problem.h"

namespace stiction {

class Certifier;

enum class SolverStatus {
  kConverged,      // the solver believes in its answer; the certificate decides
  kMaxIterations,  // gave up; the answer is the best iterate
  kNoSolution,     // stopped on a ray or an inconsistent system: no solution was found
  kInfeasible,     // no solution exists: rows contradict each other (solve/contradiction.h)
  kUnsupported,    // this solver does not take this kind of problem
  kNonFinite,      // not-a-number or infinity in the problem or on the way
};

std::string_view to_text(SolverStatus status);

struct [[nodiscard]] SolverReport {
  SolverStatus status = SolverStatus::kConverged;
  int iterations = 0;      // pivots, sweeps, …
  int stage = 0;           // 0: the first attempt sufficed; k: the k-th fallback
  bool has_answer = true;  // false: the solution is filled with zeros, there is no iterate
  /// [s] of wall time in the stages of a splitting, for reports; 0 where the solver is none, or
  /// does not tell. The rest of its time went into preparing and judging.
  double direct_wall = 0, sweeps_wall = 0;
};

/// A part of a problem that was solved by itself, with its part of the answer.
struct SolvedPart {
  const StepProblem* problem = nullptr;
  const StepSolution* solution = nullptr;
  int first_block = -1;  // of the whole, where the part is an island at rest; −1: all the others
};

class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::string_view name() const = 0;
  /// Solves `problem` into `solution` (resized as needed; its old content may serve as a start).
  /// All of `solution` is finite and of the right size afterwards, whatever the status. Never
  /// throws for a problem without fault; does not allocate once its workspace is warm.
  virtual SolverReport solve(const StepProblem& problem, StepSolution& solution) = 0;
  /// From now on solves return their best answer so far after about so many seconds; 0: never.
  /// Solvers whose methods have no such answer take no notice.
  virtual void set_time_limit(double /*seconds*/) {}
  /// Whether impulses of the step before help it to an answer that is as good as from nothing.
  /// Other solvers may call a start that just passes their answer, and errors of steps at rest
  /// grow.
  virtual bool profits_from_starts() const { return false; }
  /// The judge of this solver, if it has one that may know the certificate of the last answer.
  /// Whoever needs a certificate may ask it to recall that one instead of computing it again.
  virtual const Certifier* certifier() const { return nullptr; }
  /// The parts that the last answer is made of, each to be certified by itself; none: the problem
  /// as a whole. What is in no part has been certified before, and is the same still.
  virtual std::span<const SolvedPart> parts() const { return {}; }
  /// Whether it takes friction of this section where a contact has two tangents, and mass blocks
  /// that are not symmetric. Of other problems it says kUnsupported; whoever asks first need not
  /// meet that in the midst of a run.
  virtual bool takes_section(const FrictionSection& /*section*/) const { return true; }
  virtual bool takes_nonsymmetric_masses() const { return true; }
  /// Whether an answer follows from the problem and the start alone, so that it may be remembered.
  virtual bool depends_on_problem_alone() const { return true; }
};

}  // namespace stiction
