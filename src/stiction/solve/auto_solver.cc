#include "stiction/solve/auto_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "stiction/base/infinity.h"
#include "stiction/base/known_size.h"
#include "stiction/solve/admm_solver.h"
#include "stiction/solve/block_pivot_solver.h"
#include "stiction/solve/body_newton.h"
#include "stiction/solve/contradiction.h"
#include "stiction/solve/dense_lu.h"
#include "stiction/solve/direct_iterative_solver.h"
#include "stiction/solve/interior_point_solver.h"
#include "stiction/solve/jointed_sweeps.h"
#include "stiction/solve/lemke_solver.h"
#include "stiction/solve/newton_solver.h"
#include "stiction/solve/nsgs_solver.h"
#include "stiction/solve/quick_discs.h"
#include "stiction/solve/saddle_polish.h"

namespace stiction {
namespace {

/// Lemke's method is cubic in this number; measured on polygons it stays below 2 ms.
constexpr int kMaxLemkeRows = 120;
/// Matrices of plain complementarity problems may be anything, which only pivoting takes; above
/// this size they are mostly sparse and tame.
constexpr int kMaxLcpRows = 300;
/// Where nothing else helps it may take longer, up to seconds.
constexpr int kMaxPatientLemkeRows = 1000;

/// Up to this size a first attempt is made before islands are looked for.
constexpr int kSmallRows = 60;

/// At this tolerance and above, what moves is a matter of some sweeps.
constexpr double kSweepable = 5e-6;
/// And here, of thousands of them.
constexpr double kRough = 5e-7;

/// Contacts from which on all threads work on one island.
constexpr int kLargeIsland = 400;

/// Sweeps before Newton's method takes over: about what it costs. Above the loose tolerance sweeps
/// alone mostly do.
constexpr double kLooseTolerance = 1e-6;
constexpr int kLooseSweeps = 200;
constexpr int kTightSweeps = 50;
constexpr int kPatientSweeps = 20000;
/// Of what moves in steps: a search of Newton's method costs as much as thousands of them, and ends
/// no better where impacts change all statuses. Sweeps that stall at once go on doing so.
constexpr int kMoreSweeps = 4000;
constexpr int kMoreStall = 1000;
/// Up to this number of contacts the chain ends with sweeps over everything from nothing, joints
/// row by row, and with Newton's method as long as it takes: seconds, but a step that fails costs
/// more.
constexpr int kMostColdDiscs = 1000;
/// At a loose tolerance this many over the whole problem often do, before it is taken apart.
constexpr int kFewSweeps = 20;
/// Above this number of contacts sweeps hardly ever reach a tight tolerance from a cold start.
constexpr int kManyDiscs = 300;
/// Up to this number Newton's method costs next to nothing.
constexpr int kFewDiscs = 30;
/// Up to this number what rests gets it first: its answers are right to rounding, so that in the
/// end one step is the same as the next, and costs next to nothing. Newton's method on the bodies
/// leaves errors in the forces, which rock a stack of 1,000 times the density on top.
constexpr int kSomeDiscs = 60;
/// From impulses of the step before they mostly do. What rests comes to rest entirely if there are
/// some in every step.
constexpr int kWarmSweeps = 300;
constexpr int kWarmStall = 50;
/// In packs they cost a tenth.
constexpr int kPackPatience = 10;
/// Of what is acceptable: what moves needs no better answers, and they cost three times as much for
/// every digit.
constexpr double kEnough = 0.7;
constexpr int kLeastSweeps = 5;
constexpr int kCheckGap = 3;
/// Newton's method ends in few iterations or is on the wrong track. The first answer of things at
/// rest is what all others start from.
constexpr double kPreciseShare = 1e-2;
/// Share of the energy of free motion below which bodies rest, and of an answer's error.
constexpr double kStillness = 1e-8, kErrorShare = 2;
/// A looser tolerance saves Newton's method next to nothing, and what rests would not stay at rest.
constexpr double kLoosest = 1e-7;
constexpr int kPreciseIterations = 60;
constexpr int kAdmmIterations = 500;
constexpr int kDirectRounds = 20;
/// Of Newton's method over contacts: half a second.
constexpr double kStepFlops = 2e9;
/// Of first attempts at few contacts, relative to the largest impulse: at first, and where that is
/// not enough, for what rests.
constexpr double kQuickGoal = 1e-8, kQuickRest = 1e-10;
/// What rests on forces of the step before has to be better: errors grow from step to step.
constexpr double kRestShare = 1e-3;
/// Of it, where velocities are zero and only forces may be wrong: those that a correction of
/// velocities has left. Ten is enough for some walls and not for others (measured); with a hundred
/// the balance of momenta is still a hundredth of the tolerance or better.
constexpr double kStandShare = 100;
/// Shares of the energy of free motion up to which impulses may hold things at rest, and above
/// which what moved in the step before moves now.
constexpr double kStandstill = 1e-16, kMotion = 1e-2;
/// Above which Newton's method on the bodies is given up soon, also where it is to make precise
/// what has come to rest: that will do so in the next step.
constexpr double kCreep = 1e-9;

/// Errors of islands in the published 2-norms add up, each relative to the largest of up to three
/// norms of its own. This share of the tolerance for each is always enough: (1/2)²·3 < 1.
constexpr double kIslandShare = 0.5;

/// kPolish takes what the others have come to for a start (saddle_polish.h), kColdNewton,
/// kColdSweeps and kPatientNewton nothing.
enum class Method {
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
struct Traits {
  bool is_lcp = true;        // no friction, but direct coupling: matrices may be anything
  bool is_smooth = false;    // discs in space, which have no corners to pivot between
  bool is_cornered = false;  // polygons or boxes in space, which have no smooth boundary
  int num_lemke_rows = 0;
  int num_contacts = 0;
  int num_joint_rows = 0;
  bool is_small() const { return num_lemke_rows <= kMaxLemkeRows; }  // for pivoting
  bool is_step = false;                                              // of a simulation
  bool is_impact = false;                                            // takes no time
  bool is_warm = false;    // there are impulses to start from
  bool is_loose = false;   // some sweeps will do for what moves
  bool is_rough = false;   // many of them mostly will
  bool is_moving = false;  // by the velocities before the step
  /// Sweeps over machines creep.
  bool is_machine() const { return 10 * num_joint_rows > num_contacts; }
  bool is_precise_at_rest() const { return num_contacts <= kSomeDiscs && !is_loose; }
};

Traits inspect(const StepProblem& problem) {
  Traits traits;
  traits.num_lemke_rows = problem.num_bilateral();
  traits.num_contacts = problem.num_contacts();
  traits.num_joint_rows = problem.num_bilateral();
  traits.is_impact = problem.h == 0;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int num_rows = problem.contacts.num_rows(j);
    const bool has_friction = num_rows > 1 && problem.mu[j] > 0;
    const bool is_disc = problem.section[j].kind == FrictionSection::Kind::kDisc;
    traits.is_lcp = traits.is_lcp && !has_friction;
    const bool is_spatial = num_rows == 3 && has_friction;
    traits.is_smooth = traits.is_smooth || (is_spatial && is_disc);
    traits.is_cornered = traits.is_cornered || (is_spatial && !is_disc);
    const int num_sides = std::max(4, problem.section[j].num_sides);
    traits.num_lemke_rows += is_spatial ? 3 + num_sides : num_rows == 1 ? 1 : 4;
  }
  traits.is_lcp = traits.is_lcp && !problem.coupling.is_empty();
  return traits;
}

/// What is tried first in the steps of a simulation with many contacts: methods that profit from
/// the step before, or whose answers are precise. Those that chains end with are slow.
std::span<const Method> choose_for_steps(const Traits& traits) {
  using enum Method;
  static constexpr Method kForFewDiscs[] = {kBodyNewton, kPreciseNewton};
  static constexpr Method kForFewLooseDiscs[] = {kBodyNewton, kWarmSweeps, kPreciseNewton};
  static constexpr Method kForSomeDiscs[] = {kBodyNewton, kPreciseNewton, kWarmSweeps};
  static constexpr Method kForDiscs[] = {kBodyNewton, kWarmSweeps};
  static constexpr Method kForFirstDiscs[] = {kBodyNewton, kPreciseNewton, kAdmm};
  static constexpr Method kForManyCorners[] = {kDirect};
  if (!traits.is_step || traits.is_lcp) return {};
  if (traits.is_cornered && !traits.is_small()) return kForManyCorners;
  if (traits.is_cornered || !traits.is_smooth) return {};
  if (traits.num_contacts <= kFewDiscs) {
    const std::span<const Method> methods =
        traits.is_loose ? std::span<const Method>(kForFewLooseDiscs) : kForFewDiscs;
    return methods.subspan(traits.is_warm ? 0 : 1);
  }
  if (traits.is_impact) return std::span(kForDiscs).subspan(1);
  if (traits.is_warm && traits.is_precise_at_rest()) return kForSomeDiscs;
  if (traits.is_warm) return kForDiscs;
  return std::span(kForFirstDiscs).subspan(traits.is_precise_at_rest() ? 1 : 0);
}

/// The methods for a problem, cheapest first. Steps of a simulation are worth an exact answer where
/// it costs as little as a good one.
std::span<const Method> choose_chain(const Traits& traits, bool prefers_exact, bool is_tight) {
  using enum Method;
  static constexpr Method kForLcp[] = {kLemke, kBlockPivot, kNewton, kPatientSweeps};
  static constexpr Method kForLargeLcp[] = {kSweeps, kNewton, kPatientSweeps, kLemke};
  static constexpr Method kForCorners[] = {kLemke, kSweeps, kPolish, kPatientSweeps};
  static constexpr Method kForManyCorners[] = {kSweeps, kPatientSweeps, kLemke};
  static constexpr Method kForDiscs[] = {kSweeps, kNewton,        kColdNewton, kInteriorPoint,
                                         kPolish, kPatientSweeps, kColdSweeps, kPatientNewton};
  static constexpr Method kForMovingDiscs[] = {kMoreSweeps,    kNewton,       kColdNewton,
                                               kInteriorPoint, kPolish,       kPatientSweeps,
                                               kColdSweeps,    kPatientNewton};
  static constexpr Method kForManyDiscs[] = {kNewton, kColdNewton, kInteriorPoint, kPatientSweeps};
  static constexpr Method kForManyMovingDiscs[] = {kMoreSweeps,    kNewton,        kColdNewton,
                                                   kInteriorPoint, kPatientSweeps, kColdSweeps,
                                                   kPatientNewton};
  static constexpr Method kForPlanes[] = {kSweeps,        kNewton, kLemke,
                                          kInteriorPoint, kPolish, kPatientSweeps};
  static constexpr Method kForSmallPlanes[] = {kLemke, kSweeps, kNewton, kPolish, kPatientSweeps};
  const bool is_small = traits.is_small();
  if (traits.is_lcp && traits.num_lemke_rows <= kMaxLcpRows) return kForLcp;
  if (traits.is_lcp) return kForLargeLcp;
  if (traits.is_cornered && is_small) return kForCorners;
  if (traits.is_cornered) return kForManyCorners;
  const bool has_many_discs = traits.is_smooth && traits.num_contacts > kManyDiscs;
  if (has_many_discs && traits.is_step && !traits.is_machine()) return kForManyMovingDiscs;
  if (has_many_discs && is_tight) return kForManyDiscs;
  const bool has_some_discs = traits.is_smooth && traits.num_contacts > kSomeDiscs;
  if (has_some_discs && traits.is_moving && traits.is_rough && !traits.is_machine())
    return kForMovingDiscs;
  if (traits.is_smooth) return kForDiscs;
  if (prefers_exact && is_small) return kForSmallPlanes;
  return kForPlanes;
}

/// Newton's method over very many contacts ends in vain where sweeps miss a tolerance that is
/// within their reach, and more sweeps hardly get further.
bool is_hopeless(Method method, const Traits& traits) {
  using enum Method;
  const bool is_last_resort = method == kNewton || method == kColdNewton ||
                              method == kInteriorPoint ||
                              (method == kPatientSweeps && !traits.is_machine());
  return is_last_resort && traits.is_smooth && traits.is_rough &&
         traits.num_contacts > kMostColdDiscs;
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool is_finite(const RowCoupling& coupling) {
  for (int e = 0; e < coupling.num_entries(); ++e)
    if (!std::isfinite(coupling.value(e))) return false;
  return true;
}

bool is_finite(const StepProblem& problem) {
  return all_finite(problem.mass_values) && all_finite(problem.p) && all_finite(problem.bias) &&
         all_finite(problem.contact_bias) && all_finite(problem.mu) &&
         all_finite(problem.compliance) && all_finite(problem.contact_compliance) &&
         is_finite(problem.coupling);
}

StoppingMeasure precise(StoppingMeasure measure) {
  return measure == StoppingMeasure::kCertificate ? StoppingMeasure::kVelocities : measure;
}

/// Squared velocities below this are no scale for an error. (problem/published_error.h)
constexpr double kLeastSquare = 2.2e-16 * 2.2e-16;

/// Zero impulses where nothing pushes, in a problem without bodies: û is then in the dual cone of
/// every contact, or misses it by no more than the negative part of its normal velocity.
bool needs_no_impulse(const StepProblem& problem, const AutoOptions& options) {
  if (problem.num_blocks() > 0 || problem.num_bilateral() > 0) return false;
  const bool is_published = options.measure == StoppingMeasure::kPublished;
  double push = 0, square = 0;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const double normal = problem.contact_bias[problem.contacts.row_start(j)];
    if (normal >= 0) continue;
    if (!is_published) return false;
    push += normal * normal;
  }
  for (const double bias : problem.contact_bias) square += bias * bias;
  const double scale = square > kLeastSquare ? square : 1;
  if (!(push <= options.tolerance * options.tolerance * scale)) return false;
  // Beyond what the judge can measure, or no problem at all.
  return std::isfinite(square) && is_finite(problem.coupling);
}

bool has_impulses(const StepProblem& problem, const StepSolution& solution) {
  return static_cast<int>(solution.lambda.size()) == problem.num_bilateral() &&
         static_cast<int>(solution.r.size()) == problem.num_contact_rows();
}

bool fits(const StepProblem& problem, const StepSolution& solution) {
  return static_cast<int>(solution.w.size()) == problem.num_dofs() &&
         has_impulses(problem, solution);
}

bool all_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return x == 0; });
}

bool has_zero_impulses(const StepSolution& solution) {
  return all_zero(solution.r) && all_zero(solution.lambda);
}

/// What is asked of the velocities of things at rest.
double rest_goal(const AutoOptions& options) {
  return kRestShare * std::min(options.tolerance, kLoosest);
}

/// wᵀM̂w of a mass block.
double energy_of(const double* mass, int size, const double* w) {
  return with_known_size<6>(size, [&]<int kSize>() {
    const int n = known<kSize>(size);
    double energy = 0;
    for (int i = 0; i < n; ++i) {
      double momentum = 0;
      for (int j = 0; j < n; ++j) momentum += mass[i * n + j] * w[j];
      energy += w[i] * momentum;
    }
    return energy;
  });
}

/// What ends a search of methods whose answers will do for a step, no more.
double enough(const AutoOptions& options) {
  return std::max(options.tolerance, options.is_for_steps() ? kEnough * options.acceptable : 0);
}

}  // namespace

/// The solvers that are tried, all with the same tolerance.
class AutoSolver::Team {
 public:
  /// `workers` share out what a solver has to do; none: one thread does it.
  explicit Team(const AutoOptions& options, WorkerPool* workers = nullptr)
      : judge_(options.tolerance, options.measure, workers),
        rest_judge_(kStandShare * rest_goal(options), StoppingMeasure::kVelocities, workers),
        quick_judge_(rest_goal(options), precise(options.measure)),
        lemke_({.tolerance = options.tolerance, .measure = options.measure}),
        block_pivot_({.tolerance = options.tolerance, .measure = options.measure}),
        sweeps_(
            {.tolerance = options.tolerance,
             .measure = options.measure,
             .max_iterations = options.tolerance >= kLooseTolerance ? kLooseSweeps : kTightSweeps,
             .focuses = options.is_for_steps(),
             .workers = workers},
            workshop_),
        few_sweeps_({.tolerance = options.tolerance,
                     .measure = options.measure,
                     .max_iterations = kFewSweeps,
                     .workers = workers},
                    workshop_),
        warm_sweeps_({.tolerance = enough(options),
                      .measure = options.measure,
                      .max_iterations = kWarmSweeps,
                      .stall_sweeps = kWarmStall,
                      .start_measure = precise(options.measure),
                      .least_sweeps = kLeastSweeps,
                      .shortens_start = options.is_for_steps(),
                      .pack_patience = options.is_for_steps() ? kPackPatience : 1,
                      .check_gap = kCheckGap,
                      .focuses = options.is_for_steps(),
                      .workers = workers},
                     workshop_),
        direct_iterative_({.tolerance = options.tolerance,
                           .measure = precise(options.measure),
                           .max_rounds = kDirectRounds}),
        body_newton_({.tolerance = std::min(options.tolerance, kLoosest),
                      .goal = rest_goal(options),
                      .enough = options.is_for_steps() ? enough(options) : 0,
                      .leaves_motion = enough(options) >= kSweepable,
                      .measure = precise(options.measure),
                      .workers = workers},
                     workshop_),
        precise_newton_({.tolerance = kPreciseShare * std::min(options.tolerance, kLoosest),
                         .measure = precise(options.measure),
                         .max_iterations = kPreciseIterations,
                         .max_flops = kStepFlops,
                         .has_interior_stage = false,
                         .improves_starts = true}),
        admm_({.tolerance = enough(options),
               .measure = options.measure,
               .max_iterations = kAdmmIterations}),
        newton_({.tolerance = enough(options),
                 .measure = options.measure,
                 .max_flops = options.is_for_steps() ? kStepFlops : kMaxFlops}),
        interior_point_({.tolerance = enough(options),
                         .measure = options.measure,
                         .max_flops = options.is_for_steps() ? kStepFlops : kMaxFlops}),
        more_sweeps_({.tolerance = enough(options),
                      .measure = options.measure,
                      .max_iterations = kMoreSweeps,
                      .stall_sweeps = kMoreStall,
                      .focuses = options.is_for_steps(),
                      .workers = workers},
                     workshop_),
        patient_sweeps_({.tolerance = enough(options),
                         .measure = options.measure,
                         .max_iterations = kPatientSweeps,
                         .focuses = options.is_for_steps(),
                         .workers = workers},
                        workshop_),
        cold_sweeps_({.tolerance = enough(options),
                      .measure = options.measure,
                      .max_iterations = kPatientSweeps,
                      .workers = workers},
                     workshop_),
        patient_newton_({.tolerance = enough(options), .measure = options.measure}),
        enough_(enough(options)),
        acceptable_(std::max(options.tolerance, options.acceptable)),
        prefers_exact_(options.measure != StoppingMeasure::kPublished),
        is_for_steps_(options.is_for_steps()),
        is_tight_(options.tolerance < kLooseTolerance) {}

  /// Runs the level-th method and keeps its answer in `solution` if it is the better one. `best` is
  /// the measure of `solution`, infinite if unknown. False if there is no such method.
  bool improve(const StepProblem& problem, int level, const StepSolution& start,
               StepSolution& solution, double& best, SolverReport& report,
               const Deadline& deadline) {
    Traits traits = traits_of(problem);
    traits.is_step = is_for_steps_;
    traits.is_warm = !has_zero_impulses(start);
    traits.is_loose = enough_ >= kSweepable;
    traits.is_rough = enough_ >= kRough;
    traits.is_moving = is_for_steps_ && moved_before(problem);
    const std::span<const Method> quick = choose_for_steps(traits);
    const std::span<const Method> chain = choose_chain(traits, prefers_exact_, is_tight_);
    const int num_quick = static_cast<int>(quick.size()), place = level - num_quick;
    if (place >= static_cast<int>(chain.size())) return false;
    const Method method = place < 0 ? quick[level] : chain[place];
    // Sweeps aim at less than what is acceptable; where they stall in between, it still is.
    const bool is_acceptable = place > 0 || (num_quick > 0 && traits.is_loose);
    limit_ = is_acceptable ? acceptable_ : num_quick > 0 ? enough_ : judge_.tolerance();
    if (method == Method::kLemke && traits.num_lemke_rows > kMaxPatientLemkeRows) return true;
    if (method == Method::kColdNewton && !traits.is_warm) return true;
    if (traits.is_step && is_hopeless(method, traits)) return true;
    if (method == Method::kBodyNewton && traits.is_loose && traits.is_moving) return true;
    const bool is_last = method == Method::kColdSweeps || method == Method::kPatientNewton;
    if (is_last && (!traits.is_step || traits.num_contacts > kMostColdDiscs)) return true;
    report.stage = std::max(report.stage, level);
    if (method == Method::kPolish) {
      polish(problem, solution, best);
      return true;
    }
    // Newton's method gets on better from the start than from where sweeps got stuck: measured, up
    // to five times. Sweeps that what the step before left was of no use to begin from nothing, but
    // at rough tolerances those before them mostly ended for want of patience.
    const bool is_newton = method == Method::kNewton || method == Method::kPreciseNewton;
    const bool goes_on = method == Method::kMoreSweeps && traits.is_warm && traits.is_rough;
    const bool is_cold = method == Method::kColdNewton || is_last ||
                         (num_quick > 0 && place == 0 && !is_newton && !goes_on);
    if (is_cold) cold_.set_zero(problem);
    constexpr double kShortest = 1e-4;  // [s] no limit would be none at all
    const double seconds = deadline.is_limited() ? std::max(deadline.remaining(), kShortest) : 0;
    solver(method).set_time_limit(seconds);
    body_newton_.set_leaves_rest(place < 0 && traits.is_precise_at_rest());
    body_newton_.set_leaves_motion(place < 0 && traits.num_contacts > kSomeDiscs);
    body_newton_.set_gives_up_soon(traits.num_contacts > kSomeDiscs && traits.is_rough &&
                                   is_for_steps_ && !before_.empty() &&
                                   measure_motion_before(problem) > kCreep);
    run(problem, solver(method),
        is_cold     ? cold_
        : is_newton ? start
                    : solution,
        solution, best, report);
    const bool has_loose_joints = (method == Method::kNewton || method == Method::kColdNewton) &&
                                  traits.is_loose && traits.num_joint_rows > 0;
    if (has_loose_joints && best <= limit_) {
      sweeps_.set_time_limit(deadline.is_limited() ? std::max(deadline.remaining(), kShortest) : 0);
      hold_joints(problem, solution, best, report);
    }
    if (num_quick > 0 && traits.is_smooth && best <= limit_)
      settle(problem, method, place < 0, solution, best, report);
    return true;
  }

  /// For another problem. Velocities before the step; none: they are not known.
  void begin(std::span<const double> velocities) {
    before_ = velocities;
    workshop_->forget();
    has_traits_ = is_settling_vain_ = false;
    free_energy_ = kUnknown;
    motion_before_ = kUnknown;
  }

  /// Whether impulses of the step before hold things at rest that were all but at rest, with the
  /// answer in `solution`. To take back small velocities in one step pushes too hard for the next,
  /// and goes on so for ever.
  bool stands_still(const StepProblem& problem, StepSolution& solution) {
    if (problem.num_contacts() <= kSomeDiscs || problem.h == 0 || before_.empty()) return false;
    if (measure_motion_before(problem) > kStandstill) return false;
    trial_ = solution;
    trial_.w.assign(problem.num_dofs(), 0.0);
    if (!rest_judge_.accepts(problem, trial_)) return false;
    solution = trial_;
    certifier_ = &rest_judge_.certifier();
    return true;
  }

  /// A first attempt at a problem with friction, worth its while at a loose tolerance.
  void try_few_sweeps(const StepProblem& problem, StepSolution& solution, double& best,
                      SolverReport& report) {
    const Traits& traits = traits_of(problem);
    // What rests would not stay at rest.
    const bool is_too_rough = is_for_steps_ && traits.is_smooth;
    if (!is_tight_ && !traits.is_lcp && !is_too_rough)
      run(problem, few_sweeps_, solution, solution, best, report);
  }

  /// A first attempt at a joint system.
  void try_direct(const StepProblem& problem, StepSolution& solution, double& best,
                  SolverReport& report) {
    SolverReport outcome;
    if (!DirectAttempt::is_for(problem) || !direct_.try_solve(problem, judge_, solution, outcome))
      return;
    best = 0;
    report.iterations += outcome.iterations;
    report.has_answer = true;
  }

  /// A first attempt at what few contacts hold, from impulses of the step before.
  void try_quick(const StepProblem& problem, StepSolution& solution, double& best,
                 SolverReport& report) {
    if (!is_for_steps_ || !QuickDiscs::is_for(problem)) return;
    quick_judge_.forget_last();
    const bool is_found =
        quick_.try_solve(problem, solution, kQuickGoal, trial_, report.iterations) &&
        (is_quick_accepted(problem) ||
         (quick_.go_on(problem, kQuickRest, trial_, report.iterations) &&
          is_quick_accepted(problem)));
    if (!is_found) return;
    best = 0;
    limit_ = judge_.tolerance();
    solution = trial_;
    certifier_ = &quick_judge_.certifier();
    report.has_answer = true;
  }

  /// Who may have certified the best answer, since forget_certifier().
  const Certifier* certifier() const { return certifier_; }
  void forget_certifier() { certifier_ = nullptr; }

  /// After the method that was run last.
  bool is_good(double measure) const { return measure <= limit_; }

 private:
  void run(const StepProblem& problem, Solver& solver, const StepSolution& start,
           StepSolution& solution, double& best, SolverReport& report) {
    trial_ = start;
    const SolverReport outcome = solver.solve(problem, trial_);
    report.iterations += outcome.iterations;
    if (outcome.status == SolverStatus::kUnsupported || !outcome.has_answer) return;
    report.has_answer = true;
    // They ask the same judge before they say so.
    const bool is_confirmed = outcome.status == SolverStatus::kConverged;
    const double found = is_confirmed ? 0 : judge_.measure(problem, trial_);
    if (found < best) {
      best = found;
      solution = trial_;
      certifier_ = is_confirmed ? solver.certifier() : &judge_.certifier();
    }
  }

  /// What moves needs no better answer than others have.
  bool is_quick_accepted(const StepProblem& problem) {
    const double found = quick_judge_.measure(problem, trial_);
    return found <= quick_judge_.tolerance() ||
           (found <= enough_ &&
            measure_motion(problem, trial_.w) > std::max(kMotion, kErrorShare * enough_));
  }

  /// Of the problem itself.
  const Traits& traits_of(const StepProblem& problem) {
    if (!has_traits_) traits_ = inspect(problem);
    has_traits_ = true;
    return traits_;
  }

  bool moved_before(const StepProblem& problem) {
    return !before_.empty() &&
           measure_motion_before(problem) > std::max(kMotion, kErrorShare * enough_);
  }

  double measure_motion_before(const StepProblem& problem) {
    if (motion_before_ == kUnknown) motion_before_ = measure_motion(problem, before_);
    return motion_before_;
  }

  /// The energy of velocities, as a share of that which the bodies would have without impulses.
  double measure_motion(const StepProblem& problem, std::span<const double> velocities) {
    double energy = 0;
    for (int b = 0; b < problem.num_blocks(); ++b)
      energy += energy_of(problem.mass_values.data() + problem.mass_start[b], problem.block_size(b),
                          velocities.data() + problem.dof_start[b]);
    if (free_energy_ == kUnknown) free_energy_ = measure_free_energy(problem);
    if (free_energy_ == kInfinity) return kInfinity;
    return energy == 0 ? 0 : free_energy_ > 0 ? energy / free_energy_ : kInfinity;
  }

  /// pᵀM̂⁻¹p of a diagonal block; negative if it is not, or is singular.
  static double measure_diagonal(const StepProblem& problem, int block) {
    const int n = problem.block_size(block);
    const double* mass = problem.mass_values.data() + problem.mass_start[block];
    const double* p = problem.p.data() + problem.dof_start[block];
    return with_known_size<6>(n, [&]<int kSize>() {
      const int size = known<kSize>(n);
      double energy = 0;
      if (!is_diagonal_matrix(mass, size)) return -1.0;
      for (int i = 0; i < size; ++i) energy += p[i] * p[i] / mass[i * size + i];
      return std::isfinite(energy) ? energy : -1.0;
    });
  }

  /// Infinite if a mass block is singular.
  double measure_free_energy(const StepProblem& problem) {
    double energy = 0;
    for (int b = 0; b < problem.num_blocks(); ++b) {
      const double diagonal = measure_diagonal(problem, b);
      if (diagonal >= 0) {
        energy += diagonal;
        continue;
      }
      const int first = problem.dof_start[b], n = problem.block_size(b);
      const ConstVectorMap p(problem.p.data() + first, n);
      const double* mass = problem.mass_values.data() + problem.mass_start[b];
      mass_.assign(mass, mass + static_cast<std::ptrdiff_t>(n) * n);
      swap_.resize(n);
      free_.assign(p.data(), p.data() + n);
      if (!factor_lu(mass_.data(), n, swap_.data())) return kInfinity;
      solve_lu(mass_.data(), n, swap_.data(), free_.data());
      energy += p.dot(ConstVectorMap(free_.data(), n));
    }
    return energy;
  }

  /// Hardly anything is left of the motion that the bodies would have without impulses, or no more
  /// than what errors amount to: an answer that will do is one up to them in the energy.
  bool rests(const StepProblem& problem, const StepSolution& solution) {
    return measure_motion(problem, solution.w) <= std::max(kStillness, kErrorShare * enough_);
  }

  /// What rests is asked for more than a step: errors would add up. Mostly it is there already once
  /// statuses are right.
  void settle(const StepProblem& problem, Method method, bool has_others, StepSolution& solution,
              double& best, SolverReport& report) {
    const bool is_precise = method == Method::kBodyNewton || method == Method::kPreciseNewton;
    if ((best == 0 && is_precise) || !rests(problem, solution)) return;
    if (method != Method::kBodyNewton && !is_settling_vain_) {
      trial_ = solution;
      body_newton_.set_leaves_rest(false);
      body_newton_.set_leaves_motion(false);
      const SolverReport outcome = body_newton_.solve(problem, trial_);
      report.iterations += outcome.iterations;
      if (outcome.status == SolverStatus::kConverged) {
        solution = trial_;
        certifier_ = body_newton_.certifier();
        return;
      }
      is_settling_vain_ = true;
    }
    if (best == 0) best = judge_.measure(problem, solution);
    if (has_others) limit_ = judge_.tolerance();
  }

  /// Newton's method has joints to the tolerance: where they hold little mass they come apart
  /// visibly. Sweeps have exact ones, and from its answer they converge soon.
  void hold_joints(const StepProblem& problem, StepSolution& solution, double& best,
                   SolverReport& report) {
    trial_ = solution;
    const SolverReport outcome = sweeps_.solve(problem, trial_);
    report.iterations += outcome.iterations;
    if (outcome.status != SolverStatus::kConverged) return;
    best = 0;
    solution = trial_;
    certifier_ = sweeps_.certifier();
  }

  void polish(const StepProblem& problem, StepSolution& solution, double& best) {
    if (!std::isfinite(best) || !polish_.polish(problem, solution, 0, trial_)) return;
    const double found = judge_.measure(problem, trial_);
    if (found < best) {
      best = found;
      solution = trial_;
    }
  }

  Solver& solver(Method method) {
    switch (method) {
      case Method::kLemke:
        return lemke_;
      case Method::kBlockPivot:
        return block_pivot_;
      case Method::kSweeps:
        return sweeps_;
      case Method::kWarmSweeps:
        return warm_sweeps_;
      case Method::kDirect:
        return direct_iterative_;
      case Method::kBodyNewton:
        return body_newton_;
      case Method::kPreciseNewton:
        return precise_newton_;
      case Method::kAdmm:
        return admm_;
      case Method::kNewton:
      case Method::kColdNewton:
        return newton_;
      case Method::kInteriorPoint:
        return interior_point_;
      case Method::kMoreSweeps:
        return more_sweeps_;
      case Method::kColdSweeps:
        return cold_sweeps_;
      case Method::kPatientNewton:
        return patient_newton_;
      case Method::kPolish:  // is none
      case Method::kPatientSweeps:
        break;
    }
    return patient_sweeps_;
  }

  std::shared_ptr<SweepWorkshop> workshop_ = std::make_shared<SweepWorkshop>();
  Acceptance judge_, rest_judge_, quick_judge_;
  const Certifier* certifier_ = nullptr;
  LemkeSolver lemke_;
  BlockPivotSolver block_pivot_;
  JointedSweeps sweeps_;
  NsgsSolver few_sweeps_;
  JointedSweeps warm_sweeps_;
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
  std::vector<double> mass_, free_;                           // of a body, scratch
  std::vector<int> swap_;
  Traits traits_;  // see traits_of
  bool has_traits_ = false;
  bool is_settling_vain_ = false;  // since begin(): was tried and failed
  bool prefers_exact_, is_for_steps_, is_tight_;
};

struct AutoSolver::Desk {
  std::unique_ptr<Team> team;
  StepProblem part;
  StepSolution start, solution;
  std::vector<double> before;
};

AutoSolver::AutoSolver(const AutoOptions& options)
    : options_(options),
      pool_(options.workers != nullptr ? options.workers
                                       : std::make_shared<WorkerPool>(options.num_threads)),
      acceptance_(options.tolerance, options.measure, pool_.get()),
      quick_(std::make_unique<QuickLcp>()),
      direct_(std::make_unique<DirectAttempt>()),
      whole_(std::make_unique<Team>(options, pool_.get())) {}

AutoSolver::~AutoSolver() = default;

const Certifier* AutoSolver::certifier() const {
  return whole_->certifier() != nullptr ? whole_->certifier() : &acceptance_.certifier();
}

SolverReport AutoSolver::solve(const StepProblem& problem, StepSolution& solution) {
  deadline_ = Deadline(max_seconds_);
  acceptance_.forget_last();
  whole_->forget_certifier();
  SolverReport first;
  take_velocities(problem, solution);
  if (whole_->stands_still(problem, solution)) return first;
  if (is_solved_at_once(problem, solution, first)) return first;
  prepare_start(problem, solution);
  SolverReport report{.status = SolverStatus::kMaxIterations, .has_answer = false};
  double best = kInfinity;
  whole_->try_quick(problem, solution, best, report);
  if (best == 0) return {SolverStatus::kConverged, report.iterations, report.stage};
  start_ = solution;
  int level = 0;
  // Taking a small problem apart costs as much as a first attempt at solving it.
  if (problem.num_rows() <= kSmallRows) {
    (void)whole_->improve(problem, level++, start_, solution, best, report, deadline_);
  } else {
    whole_->try_few_sweeps(problem, solution, best, report);
  }
  if (whole_->is_good(best)) return {SolverStatus::kConverged, report.iterations, report.stage};
  islands_.find(problem);
  pending_.clear();
  bool is_solved = false;
  if (is_worth_splitting()) {
    is_solved = solve_islands(problem, report, solution);
    best = kInfinity;  // that of another answer
    whole_->forget_certifier();
  }
  // Parts that all pass by themselves may still fail together, where data of one limit what counts
  // as an impulse of another (T22); published errors are of the whole. A step that fails costs more
  // than another search on other paths.
  const bool is_worth_it = pending_.empty() || options_.measure == StoppingMeasure::kPublished ||
                           (options_.is_for_steps() && problem.num_contacts() <= kManyDiscs);
  if (!is_solved && is_worth_it) is_solved = solve_whole(problem, level, best, report, solution);
  if (is_solved) report.status = SolverStatus::kConverged;
  return is_solved ? report : admit_failure(problem, report, solution);
}

/// Impulses without velocities are a guess from elsewhere. Small problems that pivoting takes are
/// solved exactly without, and as fast; an answer that is only just accepted would be the loss.
void AutoSolver::prepare_start(const StepProblem& problem, StepSolution& solution) {
  if (fits(problem, solution)) return;
  const bool is_used = problem.num_rows() > kSmallRows || inspect(problem).is_smooth;
  if (has_impulses(problem, solution) && is_used)
    solution.w.assign(problem.num_dofs(), 0.0);
  else
    solution.set_zero(problem);
}

/// By the start, by nothing at all, or by an attempt that costs less than laying out the problem.
bool AutoSolver::is_solved_at_once(const StepProblem& problem, StepSolution& solution,
                                   SolverReport& report) {
  // Zeros are what an answer is before the first solve; that they are one is rare and cheap to find
  // out otherwise.
  const bool is_cold = has_zero_impulses(solution) && all_zero(solution.w) &&
                       (problem.num_blocks() == 0 || !all_zero(problem.p));
  const bool is_start = fits(problem, solution) && !is_cold;
  if (is_start && is_start_accepted(problem, solution)) return true;
  if (DirectAttempt::is_for(problem))
    return direct_->try_solve(problem, acceptance_, solution, report);
  if (is_start || problem.num_blocks() > 0) return false;
  if (needs_no_impulse(problem, options_)) {
    solution.set_zero(problem);
    return true;
  }
  return quick_->try_solve(problem, acceptance_, solution, report);
}

/// Whether there is no time for another method. Without an answer there has to be.
bool AutoSolver::is_late(const SolverReport& report) const {
  return report.has_answer && deadline_.has_passed();
}

/// The judge costs about as much as solving a joint system, whose starts have mostly moved on.
bool AutoSolver::is_start_accepted(const StepProblem& problem, const StepSolution& solution) {
  const bool is_refused = options_.tolerance < kLooseTolerance &&
                          options_.measure == StoppingMeasure::kCertificate &&
                          DirectAttempt::is_for(problem) && direct_->is_far_off(problem, solution);
  return !is_refused && acceptance_.accepts(problem, solution);
}

/// Not if nearly all contacts belong to one island.
bool AutoSolver::is_worth_splitting() const {
  constexpr double kDominant = 0.95;
  int largest = 0, total = 0;
  for (int island = 0; island < islands_.num_islands(); ++island) {
    largest = std::max(largest, islands_.num_contacts(island));
    total += islands_.num_contacts(island);
  }
  return islands_.num_islands() > 1 && largest <= kDominant * total;
}

/// The chain of methods from `level` on; `best` is the measure of `solution`, if known.
bool AutoSolver::solve_whole(const StepProblem& problem, int level, double best,
                             SolverReport& report, StepSolution& solution) {
  if (report.has_answer && best == kInfinity) best = acceptance_.measure(problem, solution);
  while (!is_late(report) &&
         whole_->improve(problem, level, start_, solution, best, report, deadline_)) {
    if (whole_->is_good(best)) return true;
    ++level;
  }
  return false;
}

/// True if the answer is accepted; otherwise islands that failed remain in pending_.
bool AutoSolver::solve_islands(const StepProblem& problem, SolverReport& report,
                               StepSolution& solution) {
  const auto furnish = [&](std::vector<Desk>& desks, const AutoOptions& options) {
    if (!desks.empty()) return;
    desks.resize(pool_->num_threads() + 1);
    for (Desk& desk : desks)
      desk.team = std::make_unique<Team>(options, &desk == &desks.back() ? pool_.get() : nullptr);
  };
  move_loose_blocks(problem, solution);
  furnish(desks_, options_);
  if (run_islands(problem, desks_, report, solution)) return true;
  if (!pending_.empty() || options_.measure == StoppingMeasure::kCertificate) return false;
  furnish(strict_, {.tolerance = std::max(kIslandShare * options_.tolerance,
                                          std::numeric_limits<double>::min()),
                    .measure = options_.measure});
  return run_islands(problem, strict_, report, solution);
}

/// The chain of methods on every island, level by level.
bool AutoSolver::run_islands(const StepProblem& problem, std::vector<Desk>& desks,
                             SolverReport& report, StepSolution& solution) {
  pending_.resize(islands_.num_islands());
  std::iota(pending_.begin(), pending_.end(), 0);
  level_of_.assign(islands_.num_islands(), kInfinity);
  for (int level = 0; !pending_.empty(); ++level) {
    if (run_level(problem, level, desks, report, solution) == 0) return false;
    // What is too rough for an island by itself may be fine beside the others. The first methods
    // may have been asked for more.
    if ((level > 0 || pending_.empty() || !options_.is_for_steps()) &&
        acceptance_.accepts(problem, solution))
      return true;
  }
  return false;
}

/// The level-th method on every pending island; how many had one.
int AutoSolver::run_level(const StepProblem& problem, int level, std::vector<Desk>& desks,
                          SolverReport& report, StepSolution& solution) {
  outcomes_.assign(pending_.size(), {});
  const bool is_over = is_late(report);
  const auto run_one = [&](int k, Desk& desk) {
    outcomes_[k].report.has_answer = false;
    if (!is_over || level_of_[pending_[k]] == kInfinity)
      run_island(problem, pending_[k], level, desk, outcomes_[k], solution);
  };
  // Large islands one after the other, by all threads; the others at once, each by one.
  shared_.clear();
  single_.clear();
  for (int k = 0; k < static_cast<int>(pending_.size()); ++k)
    (islands_.num_contacts(pending_[k]) >= kLargeIsland ? shared_ : single_).push_back(k);
  for (const int k : shared_) run_one(k, desks.back());
  pool_->run(static_cast<int>(single_.size()),
             [&](int number, int worker) { run_one(single_[number], desks[worker]); });
  int num_tried = 0;
  std::size_t num_left = 0;
  for (std::size_t k = 0; k < outcomes_.size(); ++k) {
    const Outcome& outcome = outcomes_[k];
    num_tried += outcome.was_tried ? 1 : 0;
    report.iterations += outcome.report.iterations;
    report.stage = std::max(report.stage, outcome.report.stage);
    report.has_answer = report.has_answer || outcome.report.has_answer;
    if (!outcome.is_done) pending_[num_left++] = pending_[k];
  }
  pending_.resize(num_left);
  return num_tried;
}

/// Reads and writes what belongs to the island only: others are solved at the same time.
void AutoSolver::run_island(const StepProblem& problem, int island, int level, Desk& desk,
                            Outcome& outcome, StepSolution& solution) {
  islands_.extract(problem, island, desk.part);
  islands_.gather(problem, island, start_, desk.start);
  islands_.gather(problem, island, solution, desk.solution);
  double& best = level_of_[island];
  gather_velocities(problem, island, desk.before);
  desk.team->begin(desk.before);
  if (level == 0 && desk.team->stands_still(desk.part, desk.solution)) best = 0;
  if (level == 0 && best != 0)
    desk.team->try_direct(desk.part, desk.solution, best, outcome.report);
  if (level == 0 && best != 0) desk.team->try_quick(desk.part, desk.solution, best, outcome.report);
  const bool is_solved = best == 0;
  outcome.was_tried = is_solved || desk.team->improve(desk.part, level, desk.start, desk.solution,
                                                      best, outcome.report, deadline_);
  if (!outcome.was_tried) return;
  islands_.scatter(problem, island, desk.solution, solution);
  outcome.is_done = is_solved || desk.team->is_good(best);
}

/// Velocities of the step before are no start, but tell what moves.
void AutoSolver::take_velocities(const StepProblem& problem, StepSolution& solution) {
  before_.clear();
  if (options_.is_for_steps() && fits(problem, solution)) before_.swap(solution.w);
  whole_->begin(before_);
}

void AutoSolver::gather_velocities(const StepProblem& problem, int island,
                                   std::vector<double>& out) const {
  out.clear();
  if (before_.empty()) return;
  for (const int b : islands_.blocks(island))
    out.insert(out.end(), before_.begin() + problem.dof_start[b],
               before_.begin() + problem.dof_start[b + 1]);
}

/// Bodies that no row touches: w = M̂⁻¹p.
void AutoSolver::move_loose_blocks(const StepProblem& problem, StepSolution& solution) {
  for (const int block : islands_.loose_blocks()) {
    const int start = problem.dof_start[block], size = problem.block_size(block);
    const double* mass = problem.mass_values.data() + problem.mass_start[block];
    lu_.assign(mass, mass + static_cast<std::ptrdiff_t>(size) * size);
    swap_.resize(size);
    double* w = solution.w.data() + start;
    std::copy_n(problem.p.data() + start, size, w);
    if (factor_lu(lu_.data(), size, swap_.data())) solve_lu(lu_.data(), size, swap_.data(), w);
  }
}

/// All of an answer is finite, whatever it is worth.
SolverReport AutoSolver::admit_failure(const StepProblem& problem, SolverReport report,
                                       StepSolution& solution) const {
  if (!report.has_answer || !fits(problem, solution) || !solution.is_finite())
    solution.set_zero(problem);
  if (!is_finite(problem))
    report.status = SolverStatus::kNonFinite;
  else if (find_contradiction(problem).is_found())
    report.status = SolverStatus::kInfeasible;
  return report;
}

}  // namespace stiction
