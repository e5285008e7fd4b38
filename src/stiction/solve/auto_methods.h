// Which methods `auto` tries on a problem, and in which order. Internal to this room.
#pragma once

#include <span>

#include "stiction/problem/step_problem.h"

namespace stiction {

/// kPolish takes what the others have come to for a start (saddle_polish.h), kColdNewton,
/// kColdSweeps and kPatientNewton nothing.
enum class AutoMethod {
  kLemke,
  kBlockPivot,
  kSweeps,
  kWarmSweeps,
  kDirect,
  kBodyNewton,
  kPreciseNewton,
  kAdmm,
  kNewton,
  kColdNewton,
  kInteriorPoint,
  kPolish,
  kMoreSweeps,
  kPatientSweeps,
  kColdSweeps,
  kPatientNewton
};

/// What decides which methods a problem gets.
struct AutoTraits {
  /// Up to this number of contacts the chain ends with sweeps over everything from nothing, joints
  /// row by row, and with Newton's method as long as it takes: seconds, but a step that fails costs
  /// more.
  static constexpr int kMostColdDiscs = 1000;
  /// Above this number of contacts sweeps hardly ever reach a tight tolerance from a cold start.
  static constexpr int kManyDiscs = 300;
  /// Up to this number what rests gets it first: its answers are right to rounding, so that in the
  /// end one step is the same as the next, and costs next to nothing. Newton's method on the bodies
  /// leaves errors in the forces, which rock a stack of 1,000 times the density on top.
  static constexpr int kSomeDiscs = 60;

  bool is_lcp = true;        // no friction, but direct coupling: matrices may be anything
  bool is_smooth = false;    // discs in space, which have no corners to pivot between
  bool is_cornered = false;  // polygons or boxes in space, which have no smooth boundary
  int num_lemke_rows = 0;
  int num_contacts = 0;
  int num_joint_rows = 0;
  bool is_small() const;   // enough for pivoting
  bool is_step = false;    // of a simulation
  bool is_impact = false;  // takes no time
  bool is_warm = false;    // there are impulses to start from
  bool is_loose = false;   // some sweeps will do for what moves
  bool is_rough = false;   // many of them mostly will
  bool is_moving = false;  // by the velocities before the step
  /// Sweeps over machines creep.
  bool is_machine() const { return 10 * num_joint_rows > num_contacts; }
  bool is_precise_at_rest() const { return num_contacts <= kSomeDiscs && !(is_loose && is_moving); }
};

/// Of the problem itself; the caller knows the rest.
AutoTraits inspect(const StepProblem& problem);

/// What is tried first in the steps of a simulation with many contacts: methods that profit from
/// the step before, or whose answers are precise. Those that chains end with are slow.
std::span<const AutoMethod> choose_for_steps(const AutoTraits& traits);

/// The methods for a problem, cheapest first. Steps of a simulation are worth an exact answer where
/// it costs as little as a good one.
std::span<const AutoMethod> choose_chain(const AutoTraits& traits, bool prefers_exact,
                                         bool is_tight);

/// Newton's method over very many contacts ends in vain where sweeps miss a tolerance that is
/// within their reach, and more sweeps hardly get further.
bool is_hopeless(AutoMethod method, const AutoTraits& traits);

}  // namespace stiction
