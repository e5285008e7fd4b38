// One smooth step of an event scheme: a single step problem with a fixed set of contacts, on
// velocity level. What happens between such steps (collisions, impacts, transitions) is the
// business of EventScheme.
//
//   anitescu-potra            M(q) v⁺ = M v + h k(t, q, v), springs in k           (AP02, eq. 7)
//   linearly-implicit-euler   (M + h S) v⁺ = M v + h (k + S v), springs as rows    (AP02, eq. 32)
//   trapezoidal-1             M̃ v⁺ = M̃ v + h k̃, rows at q + h v                    (T17, T18)
//   trapezoidal-2             2M̃ w = 2M̃ v + h k̃, w = (v + v⁺)/2, rows at q + h v/2
#pragma once

#include <memory>
#include <span>

#include "stiction/scheme/outcome.h"
#include "stiction/scheme/reflected_rounding.h"

namespace stiction {

class SubstepRule {
 public:
  virtual ~SubstepRule() = default;
  virtual std::string_view name() const = 0;
  /// Throws InputError if the model lacks what the rule needs.
  virtual void check(const ContactModel&) const {}
  /// As Scheme::has_symmetric_masses().
  virtual bool has_symmetric_masses(const ContactModel& model, const State& state) const = 0;
  /// Of accuracy, between events.
  virtual int order() const = 0;
  /// Whether q is quadratic and v linear over a step, so that states within it can be read off.
  /// Otherwise they are found by shorter steps.
  virtual bool has_interpolant() const = 0;
  /// Whether positions are projected onto the constraints unless the options say otherwise.
  virtual bool projects_by_default() const = 0;

  /// Contacts have their rows at q + (that share of h) v.
  virtual double rows_ahead() const = 0;

  virtual void assemble(const ContactModel& model, const State& start, double h,
                        std::span<const int> contacts, StepAssembly& assembly) = 0;
  /// Changes biases of the assembled problem where velocities of its rows are nothing but rounding.
  /// `impulses` are those that the last substep lets expect.
  virtual void take_back_rounding(const State&, const StepSolution&, StepAssembly&) {}
  /// The state after the step from the unknown w of the problem.
  virtual void advance(const ContactModel& model, const State& start, double h,
                       const StepSolution& solution, State& end) = 0;
  /// Work of the applied forces as the rule has taken them.
  virtual void add_applied_work(const ContactModel& model, const State& start, const State& end,
                                double duration, const OutcomeReader::Phase& phase,
                                OutcomeReader& reader, StepResult& result) const = 0;
};

enum class EulerKind { kExplicit, kLinearlyImplicit };

class EulerSubstep final : public SubstepRule {
 public:
  EulerSubstep(EulerKind kind, GyroscopicTerm gyroscopic)
      : kind_(kind),
        is_gyroscopic_implicit_(gyroscopic == GyroscopicTerm::kOfScheme
                                    ? kind == EulerKind::kLinearlyImplicit
                                    : gyroscopic == GyroscopicTerm::kImplicit) {}

  std::string_view name() const override;
  bool has_symmetric_masses(const ContactModel& model, const State& state) const override;
  int order() const override { return 1; }
  bool has_interpolant() const override { return false; }
  bool projects_by_default() const override { return true; }
  double rows_ahead() const override { return 0; }
  void assemble(const ContactModel& model, const State& start, double h,
                std::span<const int> contacts, StepAssembly& assembly) override;
  void advance(const ContactModel& model, const State& start, double h,
               const StepSolution& solution, State& end) override;
  void add_applied_work(const ContactModel& model, const State& start, const State& end,
                        double duration, const OutcomeReader::Phase& phase, OutcomeReader& reader,
                        StepResult& result) const override;

 private:
  EulerKind kind_;
  bool is_gyroscopic_implicit_;
};

enum class TrapezoidalKind {
  kEnd,   // scheme I of Potra et al. 2006: contact and joints act on v⁺
  kMean,  // scheme II: they act on the mean velocity
};

class TrapezoidalSubstep final : public SubstepRule {
 public:
  TrapezoidalSubstep(TrapezoidalKind kind, ForceJacobians jacobians)
      : kind_(kind), jacobians_(jacobians) {}

  std::string_view name() const override;
  void check(const ContactModel& model) const override;
  bool has_symmetric_masses(const ContactModel& model, const State& state) const override;
  int order() const override { return 2; }
  bool has_interpolant() const override { return true; }
  bool projects_by_default() const override { return false; }
  double rows_ahead() const override { return kind_ == TrapezoidalKind::kMean ? 0.5 : 1; }
  void assemble(const ContactModel& model, const State& start, double h,
                std::span<const int> contacts, StepAssembly& assembly) override;
  void take_back_rounding(const State& start, const StepSolution& impulses,
                          StepAssembly& assembly) override;
  void advance(const ContactModel& model, const State& start, double h,
               const StepSolution& solution, State& end) override;
  void add_applied_work(const ContactModel& model, const State& start, const State& end,
                        double duration, const OutcomeReader::Phase& phase, OutcomeReader& reader,
                        StepResult& result) const override;

 private:
  TrapezoidalKind kind_;
  ForceJacobians jacobians_;
  ReflectedRounding rounding_;
  VectorXd q_mid_, q_end_, mean_velocity_;
};

/// The rule of that name; null if there is none.
std::unique_ptr<SubstepRule> make_substep_rule(std::string_view name,
                                               const SteppingOptions& options);

}  // namespace stiction
