// The solvers that `auto` tries on a problem or an island, all with the same tolerance. Internal to
// this room.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/solve/admm_solver.h"
#include "stiction/solve/auto_methods.h"
#include "stiction/solve/auto_solver.h"
#include "stiction/solve/block_pivot_solver.h"
#include "stiction/solve/body_newton.h"
#include "stiction/solve/direct_attempt.h"
#include "stiction/solve/direct_iterative_solver.h"
#include "stiction/solve/interior_point_solver.h"
#include "stiction/solve/jointed_sweeps.h"
#include "stiction/solve/lemke_solver.h"
#include "stiction/solve/newton_solver.h"
#include "stiction/solve/nsgs_solver.h"
#include "stiction/solve/quick_discs.h"
#include "stiction/solve/saddle_polish.h"

namespace stiction {

bool has_zero_impulses(const StepSolution& solution);

class AutoTeam {
 public:
  /// Here and above sweeps alone mostly do.
  static constexpr double kLooseTolerance = 1e-6;

  /// `workers` share out what a solver has to do; none: one thread does it.
  explicit AutoTeam(const AutoOptions& options, WorkerPool* workers = nullptr);
  /// Runs the level-th method and keeps its answer in `solution` if it is the better one. `best` is
  /// the measure of `solution`, infinite if unknown. False if there is no such method.
  bool improve(const StepProblem& problem, int level, const StepSolution& start,
               StepSolution& solution, double& best, SolverReport& report,
               const Deadline& deadline);
  /// For another problem. Velocities before the step; none: they are not known.
  void begin(std::span<const double> velocities);
  /// Whether impulses of the step before hold things at rest that were all but at rest, with the
  /// answer in `solution`. To take back small velocities in one step pushes too hard for the next,
  /// and goes on so for ever.
  bool stands_still(const StepProblem& problem, StepSolution& solution);
  /// A first attempt at a problem with friction, worth its while at a loose tolerance.
  void try_few_sweeps(const StepProblem& problem, StepSolution& solution, double& best,
                      SolverReport& report);
  /// Sweeps to a rough tolerance, some of them whatever the time: what is held on to while others
  /// try for more under a time limit. The measure of the answer in `solution`; infinite if there is
  /// none.
  double sweep_roughly(const StepProblem& problem, StepSolution& solution, SolverReport& report,
                       const Deadline& deadline);
  double measure(const StepProblem& problem, const StepSolution& solution) {
    return judge_.measure(problem, solution);
  }
  /// A first attempt at a joint system.
  void try_direct(const StepProblem& problem, StepSolution& solution, double& best,
                  SolverReport& report);
  /// A first attempt at what few contacts hold, from impulses of the step before.
  void try_quick(const StepProblem& problem, StepSolution& solution, double& best,
                 SolverReport& report);
  /// Who may have certified the best answer, since forget_certifier().
  const Certifier* certifier() const { return certifier_; }
  void forget_certifier() { certifier_ = nullptr; }

  /// After the method that was run last.
  bool is_good(double measure) const { return measure <= limit_; }

 private:
  void run(const StepProblem& problem, Solver& solver, const StepSolution& start,
           StepSolution& solution, double& best, SolverReport& report);
  /// What moves needs no better answer than others have.
  bool is_quick_accepted(const StepProblem& problem);
  /// Of the problem itself.
  const AutoTraits& traits_of(const StepProblem& problem);
  bool moved_before(const StepProblem& problem);
  /// Many contacts of things that were not at rest, at a tolerance where sweeps do.
  bool crept_before(const StepProblem& problem, const AutoTraits& traits);
  /// Many bodies, of which hardly any were at rest.
  bool hardly_rested_before(const StepProblem& problem, const AutoTraits& traits);
  double measure_motion_before(const StepProblem& problem);
  /// The energy of velocities, as a share of that which the bodies would have without impulses.
  double measure_motion(const StepProblem& problem, std::span<const double> velocities);
  /// pᵀM̂⁻¹p of a diagonal block; negative if it is not, or is singular.
  static double measure_diagonal(const StepProblem& problem, int block);
  /// Infinite if a mass block is singular.
  double measure_free_energy(const StepProblem& problem);
  /// Hardly anything is left of the motion that the bodies would have without impulses, or no more
  /// than what errors amount to: an answer that will do is one up to them in the energy.
  bool rests(const StepProblem& problem, const StepSolution& solution);
  /// What rests is asked for more than a step: errors would add up. Mostly it is there already once
  /// statuses are right.
  void settle(const StepProblem& problem, AutoMethod method, bool has_others,
              StepSolution& solution, double& best, SolverReport& report);
  /// Newton's method has joints to the tolerance: where they hold little mass they come apart
  /// visibly. Sweeps have exact ones, and from its answer they converge soon.
  void hold_joints(const StepProblem& problem, StepSolution& solution, double& best,
                   SolverReport& report);
  void polish(const StepProblem& problem, StepSolution& solution, double& best);
  Solver& solver(AutoMethod method);

  WorkerPool* workers_ = nullptr;
  std::shared_ptr<SweepWorkshop> workshop_ = std::make_shared<SweepWorkshop>();
  Acceptance judge_, rest_judge_, quick_judge_;
  const Certifier* certifier_ = nullptr;
  LemkeSolver lemke_;
  BlockPivotSolver block_pivot_;
  JointedSweeps sweeps_;
  NsgsSolver few_sweeps_;
  JointedSweeps warm_sweeps_, rough_sweeps_;
  DirectIterativeSolver direct_iterative_;
  BodyNewton body_newton_;
  NewtonSolver precise_newton_;
  AdmmSolver admm_;
  NewtonSolver newton_;
  InteriorPointSolver interior_point_;
  JointedSweeps more_sweeps_, patient_sweeps_;
  NsgsSolver cold_sweeps_;
  NewtonSolver patient_newton_;
  SaddlePolish polish_;
  DirectAttempt direct_;
  QuickDiscs quick_;
  StepSolution trial_;
  std::span<const double> before_;
  double enough_, acceptable_;
  double limit_ = judge_.tolerance();  // what will do after the last method
  StepSolution cold_;
  static constexpr double kUnknown = -1;
  double free_energy_ = kUnknown, motion_before_ = kUnknown;  // of the problem
  std::vector<double> energies_;                              // per body, scratch
  std::vector<double> mass_, free_;                           // of one
  std::vector<int> swap_;
  AutoTraits traits_;  // see traits_of
  bool has_traits_ = false;
  bool is_settling_vain_ = false;  // since begin(): was tried and failed
  bool prefers_exact_, is_for_steps_, is_tight_;
};

}  // namespace stiction
