// A time-stepping scheme turns one step of a model into step problems, has them solved, and
// advances the state. It sees solvers only through the Solver interface, and every solve is
// certified on the way.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/base/stepping_options.h"
#include "stiction/base/stopwatch.h"
#include "stiction/contact/contact_model.h"
#include "stiction/problem/certificate.h"
#include "stiction/problem/contact_status.h"
#include "stiction/problem/solver.h"
#include "stiction/scheme/step_phase.h"

namespace stiction {

/// What one active contact did in a step.
struct ContactOutcome {
  int contact = 0;               // index among all contacts of the model in this step; −1: sleeps
  std::uint64_t key = 0;         // the same contact in all steps
  System::ContactPlace place{};  // at the end of the step
  ContactStatus status = ContactStatus::kOpen;
  double gap = 0;                          // [m] at the end of the step
  std::array<double, 3> impulse{0, 0, 0};  // [N s] normal, tangent 1, tangent 2
  std::array<double, 2> slip{0, 0};        // [m/s] relative tangential velocity at the end
  Eigen::Vector3d slid{0, 0, 0};           // [m] ∫ of slip over this step, in the world
  /// [m] the same since the contact was made, along tangents 1 and 2 at the end of the step (T38).
  std::array<double, 2> accumulated_slip{0, 0};
};

/// How far a contact has slipped since it was made, and its normal then: the plane that it lies in.
struct AccumulatedSlip {
  Eigen::Vector3d way{0, 0, 0};     // [m] world frame
  Eigen::Vector3d normal{0, 0, 0};  // [-] at the end of the step
};

/// Energy given to the system during a step, [J]; losses are negative (T30).
struct StepWork {
  double applied = 0;  // by forces that have no potential
  double motor = 0;    // by driven surfaces, driven constraints and motors
  // The next two are losses but for terms of order (gh)² where a contact that already separates, or
  // a slip that reverses, falls within a step.
  double friction = 0;  // by friction and dampers
  double impact = 0;    // by normal impulses
};

/// What a scheme carries from step to step beside the state. A plain value: a step that is not
/// taken leaves it alone, and a checkpoint keeps it.
struct SchemeMemory {
  std::vector<ContactStatus> contacts;  // one per contact of the model, as the last step left it
  std::vector<std::uint64_t> keys;      // of those contacts
  double substep = 0;                   // [s] to try next, of error control; 0: none yet
  // Mean forces of the last step: what solvers start from, and the geometric stiffness.
  std::vector<double> joint_forces;    // one per joint row; empty: none yet
  std::vector<double> contact_forces;  // three per contact, likewise
  /// Written by the simulation, schemes need not know: one per contact; empty: none yet.
  std::vector<AccumulatedSlip> slips;
};

enum class EventKind : std::uint8_t {
  kCollision,  // a contact closed, an impact followed
  kStick,      // slip came to rest
  kSlip,       // a sticking contact began to slip, or slip reversed
  kTakeOff,    // a closed contact lost its force
  kFloor,      // events too close to be located; the rest of the step was taken without
};

inline constexpr int kNumEventKinds = 5;
std::string_view to_text(EventKind kind);

struct StepEvent {
  EventKind kind = EventKind::kCollision;
  double time = 0;           // [s]
  int contact = 0;           // index among all contacts of the model in this step; −1 for kFloor
  std::uint64_t key = 0;     // of that contact
  double energy_change = 0;  // [J] of the whole impact; 0 for other events
};

struct StepResult {
  State end;
  std::vector<ContactOutcome> contacts;  // those that took part, in the order of the model
  std::vector<double> joint_impulses;    // [N s] one per joint row of the model
  StepWork work;
  SchemeMemory memory;            // for the next step
  std::vector<StepEvent> events;  // located within the step, in order of time
  PhaseLog phases;                // in order of time, where the caller has switched them on
  int substeps = 1;               // that the step consists of
  int rejected_substeps = 0;      // by error control
  int iterations = 0;             // of the scheme itself, where it is nonlinear
  int linear_steps = 0;           // of a nonlinear scheme whose iteration did not converge
  /// Why the step is no good although its problems are solved; empty if it is.
  std::string_view failure{};
};

/// Solves step problems and keeps the evidence of one step: reports added up, certificates at their
/// worst, time spent.
class SolveStage {
 public:
  /// `tolerance` tells which contacts of a solve count as offending. Workers share out what
  /// certificates take.
  SolveStage(Solver& solver, double tolerance, WorkerPool* workers = nullptr)
      : solver_(&solver), tolerance_(tolerance), certifier_(workers) {}

  /// Solves of the step get what is left until then.
  void begin_step(const Deadline& deadline = Deadline());
  /// Solves and books the evidence. `start`, if there is one, has impulses for the solver to start
  /// from, and the velocities before the step, which tell what rests; none: they are not known.
  const StepSolution& solve(const StepProblem& problem, const StepSolution* start = nullptr);
  /// Solves for a look at the answer: nothing is certified or booked until it is committed.
  const StepSolution& probe(const StepProblem& problem, SolverReport& report,
                            const StepSolution* start = nullptr);
  /// Books a problem that has not changed since it was probed, and the answer.
  void commit(const StepProblem& problem, const StepSolution& solution, const SolverReport& report);

  /// Whether it measures its time; at first it does.
  void set_timed(bool is_timed) { is_timed_ = is_timed; }
  /// Adds the gap and joint figures of the state that the step ends in.
  void certify_state(const ContactModel& model, const State& state);
  /// The same where all gaps at that state are known.
  void certify_state(const ContactModel& model, const State& state, const ConstVectorRef& gaps);
  /// Adds what has been certified in an earlier step and is the same still.
  void include(const Certificate& certificate) { certificate_.include(certificate); }
  /// Of islands at rest that were certified by themselves in this step, by their first block.
  struct PartCertificate {
    int first_block = 0;
    Certificate certificate;
  };
  const std::vector<PartCertificate>& part_certificates() const { return part_certificates_; }

  double tolerance() const { return tolerance_; }
  const Certificate& certificate() const { return certificate_; }
  const SolverReport& report() const { return report_; }
  double wall() const { return wall_; }  // [s] in the solver
  /// [s] What the step has taken since its last solve, and what that took beyond the deadline if it
  /// had begun before.
  double after_solve() { return late_ + after_solve_.lap(); }
  double certify_wall() const { return certify_wall_; }  // [s] in certificates after it
  /// Contacts above tolerance in the first solve of the step that missed it, by their key.
  const std::vector<std::uint64_t>& offending_contacts() const { return offending_contacts_; }
  /// That solve's problem; only if one missed the tolerance.
  const StepProblem& offending_problem() const { return offending_problem_; }

 private:
  /// A solve with all that its answer depends on.
  struct Solved {
    StepProblem problem;
    StepSolution start, solution;
    SolverReport report;
    std::optional<Certificate> certificate{};  // once it was asked for
  };
  void limit_time(const StepProblem& problem);
  void look(const StepProblem& problem, SolverReport& report, const StepSolution* start,
            Stopwatch& watch);
  void book(const StepProblem& problem, const StepSolution& solution, const SolverReport& report,
            Stopwatch& watch);
  bool recall(const StepProblem& problem, SolverReport& report);
  bool may_come_again() const;
  void keep(const StepProblem& problem, const SolverReport& report);
  void book_part(const StepProblem& problem, const StepSolution& solution, int first_block,
                 Stopwatch& watch);
  Certificate certify(const StepProblem& problem, const StepSolution& solution, Stopwatch& watch);

  Solver* solver_;
  double tolerance_;
  Deadline deadline_;
  Stopwatch after_solve_;
  double late_ = 0;                           // [s]
  int num_solves_ = 0, expected_solves_ = 1;  // of problems that take time, under a deadline
  Certifier certifier_;
  ContactEvaluator evaluator_;
  KeptVector gaps_;
  StepSolution start_, solution_;
  std::array<Solved, 2> last_;               // impact, step
  const StepProblem* last_asked_ = nullptr;  // of the solver, for the answer in solution_
  const StepProblem* last_probed_ = nullptr;
  Solved* last_kept_ = nullptr;  // where problem and answer are kept to the bit
  Certificate certificate_;
  SolverReport report_;
  bool is_timed_ = true;
  double wall_ = 0, certify_wall_ = 0;
  std::vector<std::uint64_t> offending_contacts_;
  StepProblem offending_problem_;
  std::vector<PartCertificate> part_certificates_;
};

class Scheme {
 public:
  virtual ~Scheme() = default;
  virtual std::string_view name() const = 0;
  /// Throws InputError if the model lacks what the scheme needs.
  virtual void check(const ContactModel&) const {}
  /// Whether mass blocks of its problems stay symmetric, as far as `state` tells.
  virtual bool has_symmetric_masses(const ContactModel&, const State& /*state*/) const {
    return true;
  }
  /// Whether the scheme keeps shapes apart at the end of the step, and chooses among alternatives
  /// of contacts (ContactModel) while it iterates.
  virtual bool wants_alternatives() const { return false; }
  /// Whether bodies at rest whose step problem has the answer w = 0 stay as they are to the bit, so
  /// that they may sleep (T37).
  virtual bool keeps_rest() const { return false; }
  /// What the scheme leaves out of the model, in sentences for the user; empty as a rule.
  virtual std::vector<std::string> notes(const ContactModel&) const { return {}; }
  /// Advances from `start` by h ≥ 0; h = 0 is the pure impact equation. `memory` is what the last
  /// step left, or empty. `result` is overwritten and its storage reused. Whether the step is good
  /// enough is for the caller to read from `solve`.
  virtual void step(const ContactModel& model, const State& start, const SchemeMemory& memory,
                    double h, SolveStage& solve, StepResult& result) = 0;
  /// The step problem that was solved last, for dumping it to a file.
  virtual const StepProblem& last_problem() const = 0;
};

/// Throws InputError if a contact has a compliance: only spook and stewart-trinkle know gaps while
/// a contact is closed.
void check_contacts_are_rigid(std::string_view scheme, const ContactModel& model);

struct SchemeOptions {
  /// The section for contacts with two tangent rows; with one tangent row all sections agree.
  FrictionSection friction{FrictionSection::Kind::kPolygon, 8};
  SteppingOptions stepping{};
};

/// Throws InputError if a number is out of range.
void check_options(const SteppingOptions& options);

/// Names in the order in which `list schemes` shows them.
std::vector<std::string> scheme_names();
/// Throws InputError that lists the names if there is no such scheme.
std::unique_ptr<Scheme> make_scheme(std::string_view name, const SchemeOptions& options);

}  // namespace stiction
