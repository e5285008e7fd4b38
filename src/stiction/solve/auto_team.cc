#include "stiction/solve/auto_team.h"

#include <algorithm>
#include <cmath>

#include "stiction/base/infinity.h"
#include "stiction/base/known_size.h"
#include "stiction/solve/dense_lu.h"

namespace stiction {
namespace {

/// Bodies that one task takes: some ten microseconds.
constexpr int kBodyGrain = 256;

/// Where nothing else helps it may take longer, up to seconds.
constexpr int kMaxPatientLemkeRows = 1000;
/// At this tolerance and above, what moves is a matter of some sweeps.
constexpr double kSweepable = 5e-6;
/// And here, of thousands of them.
constexpr double kRough = 5e-7;
/// Sweeps before Newton's method takes over: about what it costs.
constexpr int kLooseSweeps = 200;
constexpr int kTightSweeps = 50;
constexpr int kPatientSweeps = 20000;
/// Of what moves in steps: a search of Newton's method costs as much as thousands of them, and ends
/// no better where impacts change all statuses. Sweeps that stall at once go on doing so.
constexpr int kMoreSweeps = 4000;
constexpr int kMoreStall = 1000;
/// At a loose tolerance this many over the whole problem often do, before it is taken apart.
constexpr int kFewSweeps = 20;
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
/// Under a time limit: what is aimed at before anything else, and the sweeps that are made whatever
/// the time, so that no body is left without impulses.
constexpr double kRoughGoal = 1e-3;
constexpr int kTimelessSweeps = 12;
/// Of Newton's method, by which time ten iterations are mostly done where bodies have some ten rows
/// each; one that is cut off before is worse than sweeps, and has kept them from going on.
constexpr double kSecondsPerRow = 2e-5;
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
/// Of the energy of the step before. What creeps, as round things in a heap do for long, keeps more
/// of it than what comes to rest, and a search for rest ends in vain there.
constexpr double kArrival = 0.1;
/// A body with less than this share of its energy of free motion may be at rest. Where fewer than
/// this share of many bodies are, impulses of the step before are not those that hold them: of 300
/// steps of logs that settle and of walls that were knocked down, at 1e-3, Newton's method on the
/// bodies ended none, and of 192 of dominoes that it did end one in ten.
constexpr double kRestingBody = 1e-6, kRestingShare = 0.25;

StoppingMeasure precise(StoppingMeasure measure) {
  return measure == StoppingMeasure::kCertificate ? StoppingMeasure::kVelocities : measure;
}

bool all_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return x == 0; });
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

/// Whether a method lays out and factors matrices, which cannot be cut short, and there is hardly
/// time for it.
bool is_too_slow(AutoMethod method, const StepProblem& problem, const Deadline& deadline) {
  using enum AutoMethod;
  const bool is_factoring = method == kPreciseNewton || method == kNewton ||
                            method == kColdNewton || method == kPatientNewton ||
                            method == kInteriorPoint || method == kAdmm || method == kDirect ||
                            method == kPolish;
  return is_factoring && deadline.remaining() < kSecondsPerRow * problem.num_rows();
}

/// What ends a search of methods whose answers will do for a step, no more.
double enough(const AutoOptions& options) {
  return std::max(options.tolerance, options.is_for_steps() ? kEnough * options.acceptable : 0);
}

}  // namespace

bool has_zero_impulses(const StepSolution& solution) {
  return all_zero(solution.r) && all_zero(solution.lambda);
}

AutoTeam::AutoTeam(const AutoOptions& options, WorkerPool* workers)
    : workers_(workers),
      judge_(options.tolerance, options.measure, workers),
      rest_judge_(kStandShare * rest_goal(options), StoppingMeasure::kVelocities, workers),
      quick_judge_(rest_goal(options), precise(options.measure)),
      lemke_({.tolerance = options.tolerance, .measure = options.measure}),
      block_pivot_({.tolerance = options.tolerance, .measure = options.measure}),
      sweeps_({.tolerance = options.tolerance,
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
      rough_sweeps_({.tolerance = std::max(options.tolerance, kRoughGoal),
                     .measure = options.measure,
                     .max_iterations = kWarmSweeps,
                     .stall_sweeps = kWarmStall,
                     .least_sweeps = kLeastSweeps,
                     .timeless_sweeps = kTimelessSweeps,
                     .shortens_start = options.is_for_steps(),
                     .check_gap = kCheckGap,
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

bool AutoTeam::improve(const StepProblem& problem, int level, const StepSolution& start,
                       StepSolution& solution, double& best, SolverReport& report,
                       const Deadline& deadline) {
  AutoTraits traits = traits_of(problem);
  traits.is_step = is_for_steps_;
  traits.is_warm = !has_zero_impulses(start);
  traits.is_loose = enough_ >= kSweepable;
  traits.is_rough = enough_ >= kRough;
  traits.is_moving = is_for_steps_ && moved_before(problem);
  const std::span<const AutoMethod> quick = choose_for_steps(traits);
  const std::span<const AutoMethod> chain = choose_chain(traits, prefers_exact_, is_tight_);
  const int num_quick = static_cast<int>(quick.size()), place = level - num_quick;
  if (place >= static_cast<int>(chain.size())) return false;
  const AutoMethod method = place < 0 ? quick[level] : chain[place];
  // Sweeps aim at less than what is acceptable; where they stall in between, it still is.
  const bool is_acceptable = place > 0 || (num_quick > 0 && traits.is_loose);
  limit_ = is_acceptable ? acceptable_ : num_quick > 0 ? enough_ : judge_.tolerance();
  if (method == AutoMethod::kLemke && traits.num_lemke_rows > kMaxPatientLemkeRows) return true;
  if (method == AutoMethod::kColdNewton && !traits.is_warm) return true;
  if (traits.is_step && is_hopeless(method, traits)) return true;
  if (method == AutoMethod::kBodyNewton && traits.is_loose &&
      (traits.is_moving || (place < 0 && hardly_rested_before(problem, traits))))
    return true;
  const bool is_last = method == AutoMethod::kColdSweeps || method == AutoMethod::kPatientNewton;
  if (is_last && (!traits.is_step || traits.num_contacts > AutoTraits::kMostColdDiscs)) return true;
  if (best < kInfinity && is_too_slow(method, problem, deadline)) return true;
  report.stage = std::max(report.stage, level);
  if (method == AutoMethod::kPolish) {
    polish(problem, solution, best);
    return true;
  }
  // Newton's method gets on better from the start than from where sweeps got stuck: measured, up
  // to five times. Sweeps that what the step before left was of no use to begin from nothing, but
  // at rough tolerances those before them mostly ended for want of patience.
  const bool is_newton = method == AutoMethod::kNewton || method == AutoMethod::kPreciseNewton;
  const bool goes_on = method == AutoMethod::kMoreSweeps && traits.is_warm && traits.is_rough;
  const bool is_cold = method == AutoMethod::kColdNewton || is_last ||
                       (num_quick > 0 && place == 0 && !is_newton && !goes_on);
  if (is_cold) cold_.set_zero(problem);
  solver(method).set_time_limit(deadline.time_limit());
  body_newton_.set_leaves_rest(place < 0 && traits.is_precise_at_rest());
  body_newton_.set_leaves_motion(place < 0 && traits.num_contacts > AutoTraits::kSomeDiscs);
  body_newton_.set_gives_up_soon(crept_before(problem, traits));
  // Sweeps before a time limit have not changed this for Newton's method on the bodies.
  const bool is_from_start =
      is_newton || (method == AutoMethod::kBodyNewton && deadline.is_limited());
  run(problem, solver(method),
      is_cold         ? cold_
      : is_from_start ? start
                      : solution,
      solution, best, report);
  const bool has_loose_joints =
      (method == AutoMethod::kNewton || method == AutoMethod::kColdNewton) && traits.is_loose &&
      traits.num_joint_rows > 0;
  if (has_loose_joints && best <= limit_) {
    sweeps_.set_time_limit(deadline.time_limit());
    hold_joints(problem, solution, best, report);
  }
  body_newton_.set_time_limit(deadline.time_limit());
  if (num_quick > 0 && traits.is_smooth && best <= limit_ && !deadline.has_passed())
    settle(problem, method, place < 0, solution, best, report);
  return true;
}

void AutoTeam::begin(std::span<const double> velocities) {
  before_ = velocities;
  workshop_->forget();
  has_traits_ = is_settling_vain_ = false;
  free_energy_ = kUnknown;
  motion_before_ = kUnknown;
}

bool AutoTeam::stands_still(const StepProblem& problem, StepSolution& solution) {
  if (problem.num_contacts() <= AutoTraits::kSomeDiscs || problem.h == 0 || before_.empty())
    return false;
  if (measure_motion_before(problem) > kStandstill) return false;
  trial_ = solution;
  trial_.w.assign(problem.num_dofs(), 0.0);
  if (!rest_judge_.accepts(problem, trial_)) return false;
  solution = trial_;
  certifier_ = &rest_judge_.certifier();
  return true;
}

void AutoTeam::try_few_sweeps(const StepProblem& problem, StepSolution& solution, double& best,
                              SolverReport& report) {
  const AutoTraits& traits = traits_of(problem);
  // What rests would not stay at rest.
  const bool is_too_rough = is_for_steps_ && traits.is_smooth;
  if (!is_tight_ && !traits.is_lcp && !is_too_rough)
    run(problem, few_sweeps_, solution, solution, best, report);
}

double AutoTeam::sweep_roughly(const StepProblem& problem, StepSolution& solution,
                               SolverReport& report, const Deadline& deadline) {
  trial_ = solution;
  rough_sweeps_.set_time_limit(deadline.time_limit());
  const SolverReport outcome = rough_sweeps_.solve(problem, trial_);
  report.iterations += outcome.iterations;
  if (outcome.status == SolverStatus::kUnsupported || !outcome.has_answer) return kInfinity;
  report.has_answer = true;
  solution = trial_;
  return judge_.measure(problem, solution);
}

void AutoTeam::try_direct(const StepProblem& problem, StepSolution& solution, double& best,
                          SolverReport& report) {
  SolverReport outcome;
  if (!DirectAttempt::is_for(problem) || !direct_.try_solve(problem, judge_, solution, outcome))
    return;
  best = 0;
  report.iterations += outcome.iterations;
  report.has_answer = true;
}

void AutoTeam::try_quick(const StepProblem& problem, StepSolution& solution, double& best,
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

void AutoTeam::run(const StepProblem& problem, Solver& solver, const StepSolution& start,
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

bool AutoTeam::is_quick_accepted(const StepProblem& problem) {
  const double found = quick_judge_.measure(problem, trial_);
  return found <= quick_judge_.tolerance() ||
         (found <= enough_ &&
          measure_motion(problem, trial_.w) > std::max(kMotion, kErrorShare * enough_));
}

const AutoTraits& AutoTeam::traits_of(const StepProblem& problem) {
  if (!has_traits_) traits_ = inspect(problem);
  has_traits_ = true;
  return traits_;
}

bool AutoTeam::moved_before(const StepProblem& problem) {
  return !before_.empty() &&
         measure_motion_before(problem) > std::max(kMotion, kErrorShare * enough_);
}

bool AutoTeam::crept_before(const StepProblem& problem, const AutoTraits& traits) {
  return is_for_steps_ && enough_ >= kRough && traits.num_contacts > AutoTraits::kSomeDiscs &&
         !before_.empty() && measure_motion_before(problem) > kCreep;
}

bool AutoTeam::hardly_rested_before(const StepProblem& problem, const AutoTraits& traits) {
  if (!is_for_steps_ || traits.num_contacts <= AutoTraits::kSomeDiscs || before_.empty())
    return false;
  int num_resting = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const double energy = energy_of(problem.mass_values.data() + problem.mass_start[b],
                                    problem.block_size(b), before_.data() + problem.dof_start[b]);
    const double free = measure_diagonal(problem, b);
    num_resting += free < 0 || energy <= kRestingBody * free ? 1 : 0;  // of others nothing is said
  }
  return num_resting < kRestingShare * problem.num_blocks();
}

double AutoTeam::measure_motion_before(const StepProblem& problem) {
  if (motion_before_ == kUnknown) motion_before_ = measure_motion(problem, before_);
  return motion_before_;
}

double AutoTeam::measure_motion(const StepProblem& problem, std::span<const double> velocities) {
  energies_.resize(problem.num_blocks());
  run_numbers(workers_, problem.num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b)
      energies_[b] = energy_of(problem.mass_values.data() + problem.mass_start[b],
                               problem.block_size(b), velocities.data() + problem.dof_start[b]);
  });
  double energy = 0;
  for (const double of_block : energies_) energy += of_block;
  if (free_energy_ == kUnknown) free_energy_ = measure_free_energy(problem);
  if (free_energy_ == kInfinity) return kInfinity;
  return energy == 0 ? 0 : free_energy_ > 0 ? energy / free_energy_ : kInfinity;
}

double AutoTeam::measure_diagonal(const StepProblem& problem, int block) {
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

double AutoTeam::measure_free_energy(const StepProblem& problem) {
  energies_.resize(problem.num_blocks());
  run_numbers(workers_, problem.num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) energies_[b] = measure_diagonal(problem, b);
  });
  double energy = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const double diagonal = energies_[b];
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

bool AutoTeam::rests(const StepProblem& problem, const StepSolution& solution) {
  return measure_motion(problem, solution.w) <= std::max(kStillness, kErrorShare * enough_);
}

void AutoTeam::settle(const StepProblem& problem, AutoMethod method, bool has_others,
                      StepSolution& solution, double& best, SolverReport& report) {
  const bool is_precise = method == AutoMethod::kBodyNewton || method == AutoMethod::kPreciseNewton;
  if ((best == 0 && is_precise) || !rests(problem, solution)) return;
  if (crept_before(problem, traits_of(problem)) &&
      measure_motion(problem, solution.w) > kArrival * measure_motion_before(problem))
    return;
  if (method != AutoMethod::kBodyNewton && !is_settling_vain_) {
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

void AutoTeam::hold_joints(const StepProblem& problem, StepSolution& solution, double& best,
                           SolverReport& report) {
  trial_ = solution;
  const SolverReport outcome = sweeps_.solve(problem, trial_);
  report.iterations += outcome.iterations;
  if (outcome.status != SolverStatus::kConverged) return;
  best = 0;
  solution = trial_;
  certifier_ = sweeps_.certifier();
}

void AutoTeam::polish(const StepProblem& problem, StepSolution& solution, double& best) {
  if (!std::isfinite(best) || !polish_.polish(problem, solution, 0, trial_)) return;
  const double found = judge_.measure(problem, trial_);
  if (found < best) {
    best = found;
    solution = trial_;
  }
}

Solver& AutoTeam::solver(AutoMethod method) {
  switch (method) {
    case AutoMethod::kLemke:
      return lemke_;
    case AutoMethod::kBlockPivot:
      return block_pivot_;
    case AutoMethod::kSweeps:
      return sweeps_;
    case AutoMethod::kWarmSweeps:
      return warm_sweeps_;
    case AutoMethod::kDirect:
      return direct_iterative_;
    case AutoMethod::kBodyNewton:
      return body_newton_;
    case AutoMethod::kPreciseNewton:
      return precise_newton_;
    case AutoMethod::kAdmm:
      return admm_;
    case AutoMethod::kNewton:
    case AutoMethod::kColdNewton:
      return newton_;
    case AutoMethod::kInteriorPoint:
      return interior_point_;
    case AutoMethod::kMoreSweeps:
      return more_sweeps_;
    case AutoMethod::kColdSweeps:
      return cold_sweeps_;
    case AutoMethod::kPatientNewton:
      return patient_newton_;
    case AutoMethod::kPolish:  // is none
    case AutoMethod::kPatientSweeps:
      break;
  }
  return patient_sweeps_;
}

}  // namespace stiction
