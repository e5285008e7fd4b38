// When an answer is good enough. Solvers iterate by measures of their own, which are cheap and
// close to the certificate but not the same; before one of them calls an answer converged it asks
// here, and goes on, or admits that it failed, if the answer is refused. The judge shares no code
// with any solver (docs/decisions/0013-who-decides.md).
#pragma once

#include "stiction/problem/certificate.h"
#include "stiction/problem/published_error.h"
#include "stiction/problem/solver.h"

namespace stiction {

/// What has to fall below the tolerance.
enum class StoppingMeasure {
  kCertificate,  // (T20)–(T23), free of units: steps of the engine
  /// The certificate, with the root of (T23) over ten: velocities themselves, not their energy.
  /// Errors of velocities that rest add up from step to step.
  kVelocities,
  kPublished,  // the error of the problem's collection (problem/published_error.h)
  kBoth,
};

constexpr bool asks_certificate(StoppingMeasure measure) {
  return measure != StoppingMeasure::kPublished;
}
constexpr bool asks_published(StoppingMeasure measure) {
  return measure == StoppingMeasure::kPublished || measure == StoppingMeasure::kBoth;
}

/// Of the root of (T23) in kVelocities.
constexpr double kVelocityShare = 0.1;

class Acceptance {
 public:
  /// Workers share out what certificates take; they must outlive this.
  explicit Acceptance(double tolerance, StoppingMeasure measure = StoppingMeasure::kCertificate,
                      WorkerPool* workers = nullptr)
      : tolerance_(tolerance), measure_(measure), certifier_(workers) {}

  double tolerance() const { return tolerance_; }

  /// The worst of the measures asked for, relative to nothing else; infinite if not finite.
  [[nodiscard]] double measure(const StepProblem& problem, const StepSolution& solution);
  [[nodiscard]] bool accepts(const StepProblem& problem, const StepSolution& solution) {
    return measure(problem, solution) <= tolerance_;
  }
  const Certifier& certifier() const { return certifier_; }
  void forget_last() { certifier_.forget_last(); }

 private:
  double tolerance_;
  StoppingMeasure measure_;
  Certifier certifier_;
  PublishedError published_;
};

}  // namespace stiction
