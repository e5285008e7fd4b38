// A time-stepping scheme turns one step of a model into step problems, has them solved, and
// advances the state. It sees solvers only through the Solver interface, and every solve is
// certified on the way.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/model/model.h"
#include "stiction/problem/certificate.h"
#include "stiction/problem/contact_status.h"
#include "stiction/problem/solver.h"

namespace stiction {

/// What one active contact did in a step.
struct ContactOutcome {
  int contact = 0;  // index among all contacts of the model
  ContactStatus status = ContactStatus::kOpen;
  double gap = 0;                          // [m] at the end of the step
  std::array<double, 3> impulse{0, 0, 0};  // [N s] normal, tangent 1, tangent 2
  std::array<double, 2> slip{0, 0};        // [m/s] relative tangential velocity at the end
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

struct StepResult {
  State end;
  std::vector<ContactOutcome> contacts;  // the active ones
  std::vector<double> joint_impulses;    // [N s] one per joint row of the model
  StepWork work;
};

/// Solves step problems and keeps the evidence of one step: reports added up, certificates at their
/// worst, time spent.
class SolveStage {
 public:
  explicit SolveStage(Solver& solver) : solver_(solver) {}

  void begin_step();
  const StepSolution& solve(const StepProblem& problem);

  /// Adds the gap and joint figures of the state that the step ends in.
  void certify_state(const Model& model, const State& state);

  const Certificate& certificate() const { return certificate_; }
  const SolverReport& report() const { return report_; }
  double wall() const { return wall_; }  // [s] in the solver

 private:
  Solver& solver_;
  Certifier certifier_;
  ModelEvaluator evaluator_;
  StepSolution solution_;
  Certificate certificate_;
  SolverReport report_;
  double wall_ = 0;
};

class Scheme {
 public:
  virtual ~Scheme() = default;
  virtual std::string_view name() const = 0;
  /// Advances from `start` by h ≥ 0; h = 0 is the pure impact equation. `result` is overwritten and
  /// its storage reused. Whether the step is good enough is for the caller to read from `solve`.
  virtual void step(const Model& model, const State& start, double h, SolveStage& solve,
                    StepResult& result) = 0;
  /// The step problem that was solved last, for dumping it to a file.
  virtual const StepProblem& last_problem() const = 0;
};

struct SchemeOptions {
  /// The section for contacts with two tangent rows; with one tangent row all sections agree.
  FrictionSection friction{FrictionSection::Kind::kPolygon, 8};
};

/// Names in the order in which `list schemes` shows them.
std::vector<std::string> scheme_names();
/// Throws InputError that lists the names if there is no such scheme.
std::unique_ptr<Scheme> make_scheme(std::string_view name, const SchemeOptions& options);

}  // namespace stiction
